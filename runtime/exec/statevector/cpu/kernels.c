/* SPDX-License-Identifier: Apache-2.0
 * Which tables of kernels this build has, and the mode of the floating-point unit. */
#include "runtime/exec/statevector/cpu/kernels.h"

#if defined __SSE2__
#include <xmmintrin.h>
#endif

extern const struct kernels kernels_single_base, kernels_double_base;
#ifdef QCNN_X86_KERNELS
extern const struct kernels kernels_single_avx2, kernels_double_avx2;
extern const struct kernels kernels_single_avx512, kernels_double_avx512;
#endif
#ifdef QCNN_NEON_KERNELS
extern const struct kernels kernels_single_neon, kernels_double_neon;
#endif

static const struct {
	enum isa isa;
	const struct kernels *single, *twice;
} table[] = {
	{ ISA_BASELINE, &kernels_single_base, &kernels_double_base },
#ifdef QCNN_X86_KERNELS
	{ ISA_AVX2, &kernels_single_avx2, &kernels_double_avx2 },
	{ ISA_AVX512, &kernels_single_avx512, &kernels_double_avx512 },
#endif
#ifdef QCNN_NEON_KERNELS
	{ ISA_NEON, &kernels_single_neon, &kernels_double_neon },
#endif
};

const struct kernels *kernels_find(enum isa isa, enum precision p)
{
	for (size_t k = 0; k < sizeof table / sizeof *table; k++)
		if (table[k].isa == isa)
			return p == PRECISION_DOUBLE ? table[k].twice : table[k].single;
	return NULL;
}

#if defined __SSE2__
enum { MXCSR_FLUSH_TO_ZERO = 0x8000, MXCSR_DENORMALS_ARE_ZERO = 0x0040 };

unsigned kernels_flush_enter(void)
{
	unsigned saved = _mm_getcsr();
	_mm_setcsr(saved | MXCSR_FLUSH_TO_ZERO | MXCSR_DENORMALS_ARE_ZERO);
	return saved;
}

void kernels_flush_leave(unsigned saved) { _mm_setcsr(saved); }
#elif defined __aarch64__
unsigned kernels_flush_enter(void)
{
	uint64_t saved;
	__asm__ volatile("mrs %0, fpcr" : "=r"(saved));
	__asm__ volatile("msr fpcr, %0" : : "r"(saved | (UINT64_C(1) << 24)));
	return (unsigned)saved;
}

void kernels_flush_leave(unsigned saved)
{
	__asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)saved));
}
#else
unsigned kernels_flush_enter(void) { return 0; }
void kernels_flush_leave(unsigned saved) { (void)saved; }
#endif
