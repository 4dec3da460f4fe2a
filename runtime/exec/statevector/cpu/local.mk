# SPDX-License-Identifier: Apache-2.0
# The files of runtime/exec/statevector/cpu/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libcpu.a
libcpu_a_SOURCES = \
	runtime/exec/statevector/cpu/cpu.c \
	runtime/exec/statevector/cpu/cpu_backward.c \
	runtime/exec/statevector/cpu/cpu_compile.c \
	runtime/exec/statevector/cpu/cpu_exchange.c \
	runtime/exec/statevector/cpu/cpu_fork.c \
	runtime/exec/statevector/cpu/cpu_fork.h \
	runtime/exec/statevector/cpu/cpu_layout.c \
	runtime/exec/statevector/cpu/cpu_matrix.c \
	runtime/exec/statevector/cpu/cpu_ops.c \
	runtime/exec/statevector/cpu/cpu_part.c \
	runtime/exec/statevector/cpu/cpu_readout.c \
	runtime/exec/statevector/cpu/cpu_record.c \
	runtime/exec/statevector/cpu/cpu_record.h \
	runtime/exec/statevector/cpu/cpu_state.h \
	runtime/exec/statevector/cpu/cpu_state_cache.c \
	runtime/exec/statevector/cpu/cpu_sweep.c \
	runtime/exec/statevector/cpu/cpu_sweep.h \
	runtime/exec/statevector/cpu/cpu_tail.c \
	runtime/exec/statevector/cpu/cpu_target.c \
	runtime/exec/statevector/cpu/cpu_target.h \
	runtime/exec/statevector/cpu/cpu_transfer.c \
	runtime/exec/statevector/cpu/cpu_z.c \
	runtime/exec/statevector/cpu/kernels.c \
	runtime/exec/statevector/cpu/kernels.h \
	runtime/exec/statevector/cpu/limits.c \
	runtime/exec/statevector/cpu/limits.h
libcpu_a_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)

# One library per precision and instruction set, which alone carries that set's flags.
# KERNEL is the suffix of the set's one table of functions. The baseline fuses no multiplications and additions: it has the same
# bits on every processor.
kernels_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -O3 $(KERNEL_CFLAGS) $(SANITIZE_CFLAGS)
fused_CFLAGS = $(kernels_CFLAGS) -ftree-vectorize -ffp-contract=fast
kernel_sources = \
	runtime/exec/statevector/cpu/anti_hermitian_tmpl.h \
	runtime/exec/statevector/cpu/blocks_tmpl.h \
	runtime/exec/statevector/cpu/dense_tmpl.h \
	runtime/exec/statevector/cpu/diagonal_tmpl.h \
	runtime/exec/statevector/cpu/finish_tmpl.h \
	runtime/exec/statevector/cpu/kernels_tmpl.c \
	runtime/exec/statevector/cpu/limits_tmpl.h \
	runtime/exec/statevector/cpu/pairs_tmpl.h \
	runtime/exec/statevector/cpu/readouts_tmpl.h \
	runtime/exec/statevector/cpu/totals_tmpl.h \
	runtime/exec/statevector/cpu/unapply_tmpl.h \
	runtime/exec/statevector/cpu/vectors_tmpl.h \
	runtime/exec/statevector/cpu/products_tmpl.h

noinst_LIBRARIES += libkernels_single_base.a libkernels_double_base.a
kernel_libs += libkernels_single_base.a libkernels_double_base.a
libkernels_single_base_a_SOURCES = $(kernel_sources)
libkernels_single_base_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=float -DKERNEL=single_base -DKERNEL_ISA=ISA_BASELINE -DVECTOR_BYTES=16
libkernels_single_base_a_CFLAGS = $(kernels_CFLAGS)
libkernels_double_base_a_SOURCES = $(kernel_sources)
libkernels_double_base_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=double -DKERNEL=double_base -DKERNEL_ISA=ISA_BASELINE -DVECTOR_BYTES=16
libkernels_double_base_a_CFLAGS = $(kernels_CFLAGS)

if X86_KERNELS
noinst_LIBRARIES += libkernels_single_avx2.a libkernels_double_avx2.a libkernels_single_avx512.a libkernels_double_avx512.a
kernel_libs += libkernels_single_avx2.a libkernels_double_avx2.a libkernels_single_avx512.a libkernels_double_avx512.a
libkernels_single_avx2_a_SOURCES = $(kernel_sources)
libkernels_single_avx2_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=float -DKERNEL=single_avx2 -DKERNEL_ISA=ISA_AVX2 -DVECTOR_BYTES=32
libkernels_single_avx2_a_CFLAGS = $(fused_CFLAGS) $(AVX2_CFLAGS)
libkernels_double_avx2_a_SOURCES = $(kernel_sources)
libkernels_double_avx2_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=double -DKERNEL=double_avx2 -DKERNEL_ISA=ISA_AVX2 -DVECTOR_BYTES=32
libkernels_double_avx2_a_CFLAGS = $(fused_CFLAGS) $(AVX2_CFLAGS)
libkernels_single_avx512_a_SOURCES = $(kernel_sources)
libkernels_single_avx512_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=float -DKERNEL=single_avx512 -DKERNEL_ISA=ISA_AVX512 -DVECTOR_BYTES=64
libkernels_single_avx512_a_CFLAGS = $(fused_CFLAGS) $(AVX512_CFLAGS)
libkernels_double_avx512_a_SOURCES = $(kernel_sources)
libkernels_double_avx512_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=double -DKERNEL=double_avx512 -DKERNEL_ISA=ISA_AVX512 -DVECTOR_BYTES=64
libkernels_double_avx512_a_CFLAGS = $(fused_CFLAGS) $(AVX512_CFLAGS)
endif

if NEON_KERNELS
noinst_LIBRARIES += libkernels_single_neon.a libkernels_double_neon.a
kernel_libs += libkernels_single_neon.a libkernels_double_neon.a
libkernels_single_neon_a_SOURCES = $(kernel_sources)
libkernels_single_neon_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=float -DKERNEL=single_neon -DKERNEL_ISA=ISA_NEON -DVECTOR_BYTES=16
libkernels_single_neon_a_CFLAGS = $(fused_CFLAGS)
libkernels_double_neon_a_SOURCES = $(kernel_sources)
libkernels_double_neon_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=double -DKERNEL=double_neon -DKERNEL_ISA=ISA_NEON -DVECTOR_BYTES=16
libkernels_double_neon_a_CFLAGS = $(fused_CFLAGS)
endif

# Kernels that contract tensors, one library per instruction set in the same way. No call passes their vectors, which are wider
# than registers: no ABI is theirs.
noinst_LIBRARIES += libcontraction_base.a
kernel_libs += libcontraction_base.a
libcontraction_base_a_SOURCES = runtime/exec/tensor/contract_tmpl.c
libcontraction_base_a_CPPFLAGS = $(AM_CPPFLAGS) -DKERNEL=base -DVECTOR_BYTES=16
libcontraction_base_a_CFLAGS = $(kernels_CFLAGS) -O2 -Wno-psabi

if X86_KERNELS
noinst_LIBRARIES += libcontraction_avx2.a libcontraction_avx512.a
kernel_libs += libcontraction_avx2.a libcontraction_avx512.a
libcontraction_avx2_a_SOURCES = runtime/exec/tensor/contract_tmpl.c
libcontraction_avx2_a_CPPFLAGS = $(AM_CPPFLAGS) -DKERNEL=avx2 -DVECTOR_BYTES=32
libcontraction_avx2_a_CFLAGS = $(fused_CFLAGS) $(AVX2_CFLAGS) -O2 -Wno-psabi
libcontraction_avx512_a_SOURCES = runtime/exec/tensor/contract_tmpl.c
libcontraction_avx512_a_CPPFLAGS = $(AM_CPPFLAGS) -DKERNEL=avx512 -DVECTOR_BYTES=64
libcontraction_avx512_a_CFLAGS = $(fused_CFLAGS) $(AVX512_CFLAGS) -O2 -Wno-psabi
endif

if NEON_KERNELS
noinst_LIBRARIES += libcontraction_neon.a
kernel_libs += libcontraction_neon.a
libcontraction_neon_a_SOURCES = runtime/exec/tensor/contract_tmpl.c
libcontraction_neon_a_CPPFLAGS = $(AM_CPPFLAGS) -DKERNEL=neon -DVECTOR_BYTES=16
libcontraction_neon_a_CFLAGS = $(fused_CFLAGS) -O2 -Wno-psabi
endif
