# SPDX-License-Identifier: Apache-2.0
# The files of runtime/net/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libnet.a
libnet_a_SOURCES = \
	runtime/net/cluster/coordinator.c \
	runtime/net/cluster/coordinator.h \
	runtime/net/cluster/dismiss.c \
	runtime/net/cluster/listen.c \
	runtime/net/cluster/member.c \
	runtime/net/cluster/member.h \
	runtime/net/cluster/replace.c \
	runtime/net/cluster/stranger.c \
	runtime/net/launch/allocation.c \
	runtime/net/launch/allocation.h \
	runtime/net/launch/attach.c \
	runtime/net/launch/attach.def \
	runtime/net/launch/attach.h \
	runtime/net/launch/carry.c \
	runtime/net/launch/carry.h \
	runtime/net/launch/cure.def \
	runtime/net/launch/descriptors.c \
	runtime/net/launch/dial.c \
	runtime/net/launch/dial.h \
	runtime/net/launch/hostfile.c \
	runtime/net/launch/hostfile.h \
	runtime/net/launch/launch.c \
	runtime/net/launch/launch.def \
	runtime/net/launch/launch.h \
	runtime/net/launch/launch_process.c \
	runtime/net/launch/meeting.c \
	runtime/net/launch/meeting.h \
	runtime/net/protocol/handshake.c \
	runtime/net/protocol/handshake.h \
	runtime/net/protocol/peer.c \
	runtime/net/protocol/peer.h \
	runtime/net/protocol/wire.c \
	runtime/net/protocol/wire.def \
	runtime/net/protocol/wire.h \
	runtime/net/protocol/wire_parts.c \
	runtime/net/protocol/wire_parts.h \
	runtime/net/protocol/wire_work.c \
	runtime/net/scheduler/coordinator_step.c \
	runtime/net/scheduler/deal.c \
	runtime/net/scheduler/dispatch.c \
	runtime/net/scheduler/ledger.c \
	runtime/net/scheduler/ledger.h \
	runtime/net/scheduler/pool_threads.c \
	runtime/net/scheduler/pool_threads.h \
	runtime/net/scheduler/shard.c \
	runtime/net/spin.c \
	runtime/net/spin.h \
	runtime/net/worker.c \
	runtime/net/worker.h
