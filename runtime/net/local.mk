# SPDX-License-Identifier: Apache-2.0
# The files of runtime/net/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libnet.a
libnet_a_SOURCES = \
	runtime/net/cluster/clock_offset.c \
	runtime/net/cluster/clock_offset.h \
	runtime/net/cluster/cluster_state.h \
	runtime/net/cluster/coordinator.c \
	runtime/net/cluster/coordinator.h \
	runtime/net/cluster/coordinator_group.c \
	runtime/net/cluster/coordinator_loop.c \
	runtime/net/cluster/listen.c \
	runtime/net/cluster/liveness.c \
	runtime/net/cluster/pending.c \
	runtime/net/cluster/shutdown.c \
	runtime/net/cluster/worker.c \
	runtime/net/cluster/worker_job.c \
	runtime/net/cluster/worker_messages.c \
	runtime/net/cluster/worker_profile.c \
	runtime/net/cluster/worker_restart.c \
	runtime/net/cluster/worker_state.c \
	runtime/net/cluster/worker_state.h \
	runtime/net/comm/digest.c \
	runtime/net/comm/digest.h \
	runtime/net/comm/group.c \
	runtime/net/comm/group.h \
	runtime/net/comm/group_liveness.c \
	runtime/net/comm/group_liveness.h \
	runtime/net/comm/mpi_load.c \
	runtime/net/comm/mpi_load.h \
	runtime/net/comm/mpi_messages.c \
	runtime/net/comm/mpi_messages.h \
	runtime/net/comm/mpi_module.h \
	runtime/net/comm/mpi_process.c \
	runtime/net/comm/mpi_process.h \
	runtime/net/comm/shm_group.c \
	runtime/net/comm/shm_group.h \
	runtime/net/comm/strided.c \
	runtime/net/comm/strided.h \
	runtime/net/comm/tcp_join.c \
	runtime/net/comm/tcp_join.h \
	runtime/net/comm/tcp_link.c \
	runtime/net/comm/tcp_link.h \
	runtime/net/comm/transport.h \
	runtime/net/comm/transport_mpi.c \
	runtime/net/comm/transport_shm.c \
	runtime/net/comm/transport_tcp.c \
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
	runtime/net/launch/own_address.c \
	runtime/net/launch/own_address.h \
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

# A module for each MPI that configure has found, compiled by its mpicc, which runs $(CC). Program and module are of one build if these
# files were the same.
mpi_built_of = config.h $(srcdir)/runtime/net/comm/mpi_module.h $(srcdir)/runtime/net/comm/mpi_module.c
BUILT_SOURCES += runtime/net/comm/mpi_build.h
CLEANFILES += runtime/net/comm/mpi_build.h $(mpi_modules)
runtime/net/comm/mpi_load.$(OBJEXT): runtime/net/comm/mpi_build.h
EXTRA_DIST += runtime/net/comm/mpi_module.c
runtime/net/comm/mpi_build.h: $(mpi_built_of) Makefile
	$(AM_V_GEN)$(MKDIR_P) runtime/net/comm && \
	{ echo '/* Made by make. */'; \
	  echo '#define MPI_BUILD_MARK "qcnn-mpi-build "'; \
	  echo "#define MPI_BUILD MPI_BUILD_MARK \"$(PACKAGE_VERSION) `cat $(mpi_built_of) | cksum`\""; \
	  echo '#define MPI_MODULE_FOLDER "$(pkglibdir)"'; \
	  echo '#define MPI_BUILD_FOLDER "$(abs_top_builddir)"'; } >$@.new && mv $@.new $@

moduledir = $(pkglibdir)
module_DATA = $(mpi_modules)
mpi_compile = $(AM_CPPFLAGS) $(CPPFLAGS) -I. $(AM_CFLAGS) $(CFLAGS) -fPIC -shared $(LDFLAGS) $(srcdir)/runtime/net/comm/mpi_module.c
qcnn-mpi-openmpi.so: runtime/net/comm/mpi_module.c runtime/net/comm/mpi_module.h runtime/net/comm/mpi_build.h
	$(AM_V_CCLD)OMPI_CC='$(CC)' $(MPICC_OPENMPI) $(mpi_compile) -o $@
qcnn-mpi-mpich.so: runtime/net/comm/mpi_module.c runtime/net/comm/mpi_module.h runtime/net/comm/mpi_build.h
	$(AM_V_CCLD)MPICH_CC='$(CC)' $(MPICC_MPICH) $(mpi_compile) -o $@
