/* SPDX-License-Identifier: Apache-2.0
 * The protocol between coordinator and worker, for the other folders of runtime/net.
 *
 * wire.h: the messages, as structs and as bytes.  handshake.h: how both sides prove the job's key.  peer.h: a session,
 * which is a connected socket that sends and receives messages as frames, sealed once the key is proved.  spin.h: short
 * waits for the next frame.  Nothing here knows what a message is for. */
#pragma once

#include "runtime/net/protocol/handshake.h"
#include "runtime/net/protocol/peer.h"
#include "runtime/net/protocol/spin.h"
#include "runtime/net/protocol/wire.h"
