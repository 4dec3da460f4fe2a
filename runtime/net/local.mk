# SPDX-License-Identifier: Apache-2.0
# The files of runtime/net/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libnet.a
libnet_a_SOURCES = \
	runtime/net/allocation.c \
	runtime/net/allocation.h \
	runtime/net/attach.c \
	runtime/net/attach.def \
	runtime/net/attach.h \
	runtime/net/carry.c \
	runtime/net/carry.h \
	runtime/net/coordinator.c \
	runtime/net/coordinator.h \
	runtime/net/coordinator_step.c \
	runtime/net/cure.def \
	runtime/net/deal.c \
	runtime/net/descriptors.c \
	runtime/net/dial.c \
	runtime/net/dial.h \
	runtime/net/dismiss.c \
	runtime/net/dispatch.c \
	runtime/net/handshake.c \
	runtime/net/handshake.h \
	runtime/net/hostfile.c \
	runtime/net/hostfile.h \
	runtime/net/launch.c \
	runtime/net/launch.def \
	runtime/net/launch.h \
	runtime/net/launch_process.c \
	runtime/net/ledger.c \
	runtime/net/ledger.h \
	runtime/net/listen.c \
	runtime/net/meeting.c \
	runtime/net/meeting.h \
	runtime/net/member.c \
	runtime/net/member.h \
	runtime/net/peer.c \
	runtime/net/peer.h \
	runtime/net/pool_threads.c \
	runtime/net/pool_threads.h \
	runtime/net/replace.c \
	runtime/net/shard.c \
	runtime/net/spin.c \
	runtime/net/spin.h \
	runtime/net/stranger.c \
	runtime/net/wire.c \
	runtime/net/wire.def \
	runtime/net/wire.h \
	runtime/net/wire_parts.c \
	runtime/net/wire_parts.h \
	runtime/net/wire_work.c \
	runtime/net/worker.c \
	runtime/net/worker.h
