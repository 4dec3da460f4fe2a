# SPDX-License-Identifier: Apache-2.0
# The files of runtime/net/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libnet.a
libnet_a_SOURCES = \
	runtime/net/cluster/cluster_state.h \
	runtime/net/cluster/coordinator.c \
	runtime/net/cluster/coordinator.h \
	runtime/net/cluster/coordinator_loop.c \
	runtime/net/cluster/coordinator_step.c \
	runtime/net/cluster/descriptors.c \
	runtime/net/cluster/listen.c \
	runtime/net/cluster/liveness.c \
	runtime/net/cluster/pending.c \
	runtime/net/cluster/shutdown.c \
	runtime/net/cluster/worker.c \
	runtime/net/cluster/worker_job.c \
	runtime/net/cluster/worker_messages.c \
	runtime/net/cluster/worker_restart.c \
	runtime/net/cluster/worker_state.c \
	runtime/net/cluster/worker_state.h \
	runtime/net/launch/allocation.c \
	runtime/net/launch/allocation.h \
	runtime/net/launch/connect.c \
	runtime/net/launch/connect.h \
	runtime/net/launch/hint.def \
	runtime/net/launch/hostfile.c \
	runtime/net/launch/hostfile.h \
	runtime/net/launch/join.c \
	runtime/net/launch/join.def \
	runtime/net/launch/join.h \
	runtime/net/launch/launch.c \
	runtime/net/launch/launch.def \
	runtime/net/launch/launch.h \
	runtime/net/launch/launch_process.c \
	runtime/net/launch/rendezvous.c \
	runtime/net/launch/rendezvous.h \
	runtime/net/launch/stdio_tunnel.c \
	runtime/net/launch/stdio_tunnel.h \
	runtime/net/protocol/handshake.c \
	runtime/net/protocol/handshake.h \
	runtime/net/protocol/peer.c \
	runtime/net/protocol/peer.h \
	runtime/net/protocol/protocol.h \
	runtime/net/protocol/spin.c \
	runtime/net/protocol/spin.h \
	runtime/net/protocol/wire.c \
	runtime/net/protocol/wire.def \
	runtime/net/protocol/wire.h \
	runtime/net/protocol/wire_parts.c \
	runtime/net/protocol/wire_parts.h \
	runtime/net/protocol/wire_work.c \
	runtime/net/scheduler/assign.c \
	runtime/net/scheduler/ledger.c \
	runtime/net/scheduler/ledger.h \
	runtime/net/scheduler/pool_threads.c \
	runtime/net/scheduler/pool_threads.h \
	runtime/net/scheduler/results.c \
	runtime/net/scheduler/scheduler.c \
	runtime/net/scheduler/scheduler.h \
	runtime/net/scheduler/scheduler_state.h \
	runtime/net/scheduler/shard.c \
	runtime/net/worker_process.c \
	runtime/net/worker_process.h
