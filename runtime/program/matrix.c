/* SPDX-License-Identifier: Apache-2.0
 * Small matrices from their definitions: M = I_n ... I_1 is built by row operations on the d x d product, one item after the
 * other. */
#include "runtime/program/matrix_place.h"

#include "runtime/base/shuffle.h"

static const double sign_of[2] = { 1, -1 };
/* Row r of an identity begins r numbers before the 1. */
static const double unit_rows[2 * MATRIX_DIM_MAX - 1] = { [MATRIX_DIM_MAX - 1] = 1 };

#define TARGET
#define D 2
#define WIDTH 2
#define NAME(name) name##_2
#include "runtime/program/matrix_tmpl.h"
#define D 4
#define WIDTH 2
#define NAME(name) name##_4
#include "runtime/program/matrix_tmpl.h"
#define D 8
#define WIDTH 2
#define NAME(name) name##_8
#include "runtime/program/matrix_tmpl.h"
#undef TARGET

#ifdef QCNN_X86_KERNELS
#define TARGET __attribute__((target("avx2")))
#define D 2
#define WIDTH 2
#define NAME(name) name##_2_avx2
#include "runtime/program/matrix_tmpl.h"
#define D 4
#define WIDTH 4
#define NAME(name) name##_4_avx2
#include "runtime/program/matrix_tmpl.h"
#define D 8
#define WIDTH 4
#define NAME(name) name##_8_avx2
#include "runtime/program/matrix_tmpl.h"
#undef TARGET
#endif

/* By the number of targets. */
struct matrix_code {
	void (*build[MATRIX_TARGETS_MAX + 1])(const struct matrix_set *s, uint32_t number, const double *expr_value, cplx *u,
		const cplx *kept);
	void (*apply[MATRIX_TARGETS_MAX + 1])(const struct seat *seat, const cplx *g, unsigned form, const cplx *in, cplx *out);
};

static bool plain_only;

void matrix_plain(bool on) { plain_only = on; }

bool matrix_wide(void)
{
#ifdef QCNN_X86_KERNELS
	return !plain_only && __builtin_cpu_supports("avx2");
#else
	return false;
#endif
}

/* Any gives the same bits: there is no fused multiplication and addition in either. */
static const struct matrix_code *code(void)
{
	static const struct matrix_code plain = { { NULL, build_2, build_4, build_8 }, { NULL, apply_2, apply_4, apply_8 } };
#ifdef QCNN_X86_KERNELS
	static const struct matrix_code avx2 = { { NULL, build_2_avx2, build_4_avx2, build_8_avx2 },
		{ NULL, apply_2_avx2, apply_4_avx2, apply_8_avx2 } };
	if (matrix_wide())
		return &avx2;
#endif
	return &plain;
}

static bool wanted(const struct matrix_set *s, uint32_t m, enum value_class lo, enum value_class hi, const bool *need)
{
	enum value_class cls = s->def[m]->cls;
	return cls >= lo && cls <= hi && (!need || need[m]);
}

void matrix_set_close(const struct matrix_set *s, bool *mark)
{
	for (uint32_t m = s->n; m-- > 0;)
		for (uint32_t i = 0; mark[m] && i < s->def[m]->nitem; i++)
			if (s->def[m]->item[i].gate == GATE_NONE)
				mark[s->def[m]->item[i].ref] = true;
}

/* kept: of a build with the same values, or NULL. */
static void build_one(const struct matrix_set *s, uint32_t m, const double *expr_value, cplx *u,
	const cplx *kept)
{
	if (s->def[m]->nitem == 1)
		place_one(s, s->def[m], s->place + s->first_place[m], expr_value, u, kept, u + s->offset[m]);
	else
		code()->build[s->def[m]->ntarget](s, m, expr_value, u, kept);
}

void matrix_build(const struct matrix_set *s, const double *expr_value, enum value_class lo,
	enum value_class hi, const bool *need, cplx *u, cplx *kept)
{
	if (kept)
		keep_all(s, need, expr_value, kept);
	for (uint32_t i = 0; i < s->n; i++)
		if (wanted(s, i, lo, hi, need))
			build_one(s, i, expr_value, u, kept);
}

void seat_apply(const struct seat *s, const cplx *g, enum form form, const cplx *in, cplx *out)
{
	code()->apply[__builtin_ctz(s->d)](s, g, form, in, out);
}

enum { SAMPLES_TOGETHER = 16 };

/* A matrix that is one gate. */
static void build_gate(const struct matrix_set *s, uint32_t m, uint32_t nsample, double *const *expr_value, cplx *const *u)
{
	const struct item *it = s->def[m]->item;
	unsigned nangle = gate_row(it->gate)->nangle;
	for (uint32_t first = 0; first < nsample; first += SAMPLES_TOGETHER) {
		uint32_t n = nsample - first < SAMPLES_TOGETHER ? nsample - first : SAMPLES_TOGETHER;
		double angle[GATE_ANGLES_MAX * SAMPLES_TOGETHER];
		cplx *out[SAMPLES_TOGETHER];
		for (uint32_t k = 0; k < n; k++) {
			out[k] = u[first + k] + s->offset[m];
			for (unsigned i = 0; i < nangle; i++)
				angle[i * n + k] = expr_value[first + k][it->angle[i]];
		}
		gate_matrices(it->gate, it->word, n, angle, out);
	}
}

void matrix_build_samples(const struct matrix_set *s, uint32_t m, uint32_t nsample, double *const *expr_value, cplx *const *u)
{
	const struct matrix *def = s->def[m];
	if (def->nitem == 1 && def->item->gate != GATE_NONE && !def->item->adjoint && item_is_whole(def->item, def->ntarget)) {
		build_gate(s, m, nsample, expr_value, u);
		return;
	}
	for (uint32_t k = 0; k < nsample; k++)
		build_one(s, m, expr_value[k], u[k], NULL);
}

void item_matrix(const struct matrix_set *s, const struct item *it, unsigned ntarget,
	const double *expr_value, const cplx *u, cplx *out)
{
	cplx g[MATRIX_ENTRIES_MAX];
	struct seat seat;
	seat_find(it, ntarget, &seat);
	item_small(s, it, seat.dim, expr_value, u, g);
	seat_place(&seat, g, out);
}

void matrix_multiply(unsigned d, const cplx *a, const cplx *b, cplx *c)
{
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++) {
			cplx sum = 0;
			for (unsigned k = 0; k < d; k++)
				sum += cplx_mul(a[i * d + k], b[k * d + j]);
			c[i * d + j] = sum;
		}
}

void matrix_adjoint(unsigned d, const cplx *a, cplx *out)
{
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++)
			out[j * d + i] = conj(a[i * d + j]);
}
