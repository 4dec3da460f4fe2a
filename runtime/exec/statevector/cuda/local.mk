# SPDX-License-Identifier: Apache-2.0
# The files of runtime/exec/statevector/cuda/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

# The host's part is always compiled; a program has it where backend_cuda is asked for, with one of two device parts: that of
# nvcc, or that of the emulated device (tests/gpu).
noinst_LIBRARIES += libgpu.a
libgpu_a_SOURCES = \
	runtime/exec/statevector/cuda/cuda.c \
	runtime/exec/statevector/cuda/cuda_cupti.c \
	runtime/exec/statevector/cuda/cuda_cupti.h \
	runtime/exec/statevector/cuda/cuda_device.h \
	runtime/exec/statevector/cuda/cuda_exchange.c \
	runtime/exec/statevector/cuda/cuda_join.c \
	runtime/exec/statevector/cuda/cuda_launch.h \
	runtime/exec/statevector/cuda/cuda_layout.c \
	runtime/exec/statevector/cuda/cuda_layout.h \
	runtime/exec/statevector/cuda/cuda_loss.c \
	runtime/exec/statevector/cuda/cuda_matrix.c \
	runtime/exec/statevector/cuda/cuda_nccl.c \
	runtime/exec/statevector/cuda/cuda_nccl.h \
	runtime/exec/statevector/cuda/cuda_place.c \
	runtime/exec/statevector/cuda/cuda_readout.c \
	runtime/exec/statevector/cuda/cuda_state.c \
	runtime/exec/statevector/cuda/cuda_stage.h \
	runtime/exec/statevector/cuda/cuda_state.h \
	runtime/exec/statevector/cuda/cuda_state_cache.c \
	runtime/exec/statevector/cuda/cuda_tail.c \
	runtime/exec/statevector/cuda/cuda_unit.c \
	runtime/exec/statevector/cuda/cuda_work.c
libgpu_a_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) $(CUPTI_CFLAGS) $(NCCL_CFLAGS)
cuda_folder = runtime/exec/statevector/cuda
cuda_sources = \
	runtime/exec/statevector/cuda/cuda_cache_kernels.cu \
	runtime/exec/statevector/cuda/cuda_device.cu \
	runtime/exec/statevector/cuda/cuda_readout_kernels.cu \
	runtime/exec/statevector/cuda/cuda_stage_kernels.cu
cuda_headers = \
	runtime/base/loss_terms.h \
	runtime/exec/target.h \
	runtime/exec/statevector/cuda/cuda_complex.cuh \
	runtime/exec/statevector/cuda/cuda_cupti.h \
	runtime/exec/statevector/cuda/cuda_device.h \
	runtime/exec/statevector/cuda/cuda_index.cuh \
	runtime/exec/statevector/cuda/cuda_launch.cuh \
	runtime/exec/statevector/cuda/cuda_launch.h \
	runtime/exec/statevector/cuda/cuda_nccl.h \
	runtime/exec/statevector/cuda/cuda_products.cuh \
	runtime/exec/statevector/cuda/cuda_stage.h
EXTRA_DIST += $(cuda_sources) \
	runtime/exec/statevector/cuda/cuda_complex.cuh \
	runtime/exec/statevector/cuda/cuda_index.cuh \
	runtime/exec/statevector/cuda/cuda_launch.cuh \
	runtime/exec/statevector/cuda/cuda_products.cuh

if CUDA
# -fmad=false: operations are those that the source has, so that an emulated device gives the same bits.
cuda_flags = -std=c++17 -O3 -fmad=false -Xcompiler -ffp-contract=off $(CUDA_HOST_FLAGS) $(NVCCFLAGS) $(DEFS) -I$(srcdir) -I.
cuda_objects = $(cuda_sources:.cu=.nvo)
$(cuda_objects): $(cuda_headers)
%.nvo: %.cu
	@$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(NVCC) $(cuda_flags) $(CUDA_ARCH_FLAGS) -c -o $@ $<
# The machine code that make check-cuda looks at: that of the build, with numbers of lines.
cuda_cubins = $(patsubst %.cu,%.cubin,$(filter %_kernels.cu,$(cuda_sources)))
$(cuda_cubins): $(cuda_headers)
%.cubin: %.cu
	@$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(NVCC) $(cuda_flags) -gencode arch=compute_80,code=sm_90 -lineinfo -cubin -o $@ $<
AM_V_NVCC = $(am__v_NVCC_$(V))
am__v_NVCC_ = $(am__v_NVCC_$(AM_DEFAULT_VERBOSITY))
am__v_NVCC_0 = @echo "  NVCC    " $@;
libgpu_device.a: $(cuda_objects)
	$(AM_V_at)rm -f $@
	$(AM_V_AR)$(AR) $(ARFLAGS) $@ $(cuda_objects)
CLEANFILES += $(cuda_objects) $(cuda_cubins) libgpu_device.a
cuda_libs += libgpu.a libgpu_device.a
cuda_LIBS += $(CUDA_LIBS)
AM_LDFLAGS += -Wl,-u,backend_cuda
endif
