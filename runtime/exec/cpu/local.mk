# SPDX-License-Identifier: Apache-2.0
# The files of runtime/exec/cpu/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libcpu.a
libcpu_a_SOURCES = \
	runtime/exec/cpu/cpu.c \
	runtime/exec/cpu/cpu_backward.c \
	runtime/exec/cpu/cpu_bank.c \
	runtime/exec/cpu/cpu_compile.c \
	runtime/exec/cpu/cpu_fork.c \
	runtime/exec/cpu/cpu_fork.h \
	runtime/exec/cpu/cpu_layout.c \
	runtime/exec/cpu/cpu_layout.h \
	runtime/exec/cpu/cpu_matrix.c \
	runtime/exec/cpu/cpu_norm.c \
	runtime/exec/cpu/cpu_ops.c \
	runtime/exec/cpu/cpu_part.c \
	runtime/exec/cpu/cpu_readout.c \
	runtime/exec/cpu/cpu_state.h \
	runtime/exec/cpu/cpu_sweep.c \
	runtime/exec/cpu/cpu_sweep.h \
	runtime/exec/cpu/cpu_tail.c \
	runtime/exec/cpu/cpu_way.c \
	runtime/exec/cpu/cpu_z.c \
	runtime/exec/cpu/kernels.c \
	runtime/exec/cpu/kernels.h \
	runtime/exec/cpu/limits.c \
	runtime/exec/cpu/limits.h
libcpu_a_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)

# One library per precision and instruction set, which alone carries that set's flags.
# KERNEL is the suffix of the set's one table of functions.
kernels_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -ffp-contract=fast -O3 $(KERNEL_CFLAGS) $(SANITIZE_CFLAGS)
kernel_sources = \
	runtime/exec/cpu/blocks_tmpl.h \
	runtime/exec/cpu/cross_tmpl.h \
	runtime/exec/cpu/dense_tmpl.h \
	runtime/exec/cpu/diagonal_tmpl.h \
	runtime/exec/cpu/finish_tmpl.h \
	runtime/exec/cpu/flips_tmpl.h \
	runtime/exec/cpu/fresh_tmpl.h \
	runtime/exec/cpu/kernels_tmpl.c \
	runtime/exec/cpu/limits_tmpl.c \
	runtime/exec/cpu/ones_tmpl.h \
	runtime/exec/cpu/pairs_tmpl.h \
	runtime/exec/cpu/readouts_tmpl.h \
	runtime/exec/cpu/skew_tmpl.h \
	runtime/exec/cpu/totals_tmpl.h \
	runtime/exec/cpu/unapply_tmpl.h \
	runtime/exec/cpu/vectors_tmpl.h \
	runtime/exec/cpu/z_products_tmpl.h

noinst_LIBRARIES += libkernels_single_base.a libkernels_double_base.a
kernel_libs += libkernels_single_base.a libkernels_double_base.a
libkernels_single_base_a_SOURCES = $(kernel_sources)
libkernels_single_base_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=float -DKERNEL=single_base
libkernels_single_base_a_CFLAGS = $(kernels_CFLAGS)
libkernels_double_base_a_SOURCES = $(kernel_sources)
libkernels_double_base_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=double -DKERNEL=double_base
libkernels_double_base_a_CFLAGS = $(kernels_CFLAGS)

if X86_KERNELS
noinst_LIBRARIES += libkernels_single_avx2.a libkernels_double_avx2.a libkernels_single_avx512.a libkernels_double_avx512.a
kernel_libs += libkernels_single_avx2.a libkernels_double_avx2.a libkernels_single_avx512.a libkernels_double_avx512.a
libkernels_single_avx2_a_SOURCES = $(kernel_sources)
libkernels_single_avx2_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=float -DKERNEL=single_avx2
libkernels_single_avx2_a_CFLAGS = $(kernels_CFLAGS) $(AVX2_CFLAGS)
libkernels_double_avx2_a_SOURCES = $(kernel_sources)
libkernels_double_avx2_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=double -DKERNEL=double_avx2
libkernels_double_avx2_a_CFLAGS = $(kernels_CFLAGS) $(AVX2_CFLAGS)
libkernels_single_avx512_a_SOURCES = $(kernel_sources)
libkernels_single_avx512_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=float -DKERNEL=single_avx512
libkernels_single_avx512_a_CFLAGS = $(kernels_CFLAGS) $(AVX512_CFLAGS)
libkernels_double_avx512_a_SOURCES = $(kernel_sources)
libkernels_double_avx512_a_CPPFLAGS = $(AM_CPPFLAGS) -DREAL=double -DKERNEL=double_avx512
libkernels_double_avx512_a_CFLAGS = $(kernels_CFLAGS) $(AVX512_CFLAGS)
endif
