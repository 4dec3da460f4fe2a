/* SPDX-License-Identifier: Apache-2.0
 * How ranks of different hosts connect: each to all below it, from all above it, with the handshake of handshake.h, in
 * which the rank that is connected to takes the coordinator's part. */
#pragma once

#include "runtime/net/comm/tcp_link.h"

int tcp_offer(struct group_offer *o, char address[GROUP_ADDRESS_MAX], struct err *e);
/* link[size]: all but the own are open; on failure none is, and those that were have been sent the reason. */
int tcp_join(const struct group_opening *g, struct tcp_link *link, struct err *e);
