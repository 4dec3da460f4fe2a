/* SPDX-License-Identifier: Apache-2.0
 * Dice over gates, angles, wires, controls and observables. */
#include "tests/kernels/random_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/rng.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/kernels/build.h"
#include "tests/kernels/targets.h"

enum { NMATRIX = 12, ITEMS_MAX = 5 };

struct dice { uint64_t seed, n; };

static unsigned below(struct dice *d, unsigned n)
{
	return (unsigned)(rng_u64(d->seed, RNG_TEST, 0, d->n++) % n);
}

static double real(struct dice *d, double scale)
{
	return scale * (2 * rng_uniform(d->seed, RNG_TEST, 0, d->n++) - 1);
}

void random_numbers(uint64_t seed, double scale, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = scale * (2 * rng_uniform(seed, RNG_TEST, 1, i) - 1);
}

struct maker {
	const struct random_shape *r;
	struct dice dice;
	struct build b;
	enum value_class cls;        /* of the matrix in work */
	bool diagonal;               /* it shall be */
	uint32_t matrix[NMATRIX];
	enum value_class matrix_class[NMATRIX];
	unsigned nmatrix;
};

/* ---- angles ---- */

static uint32_t any_weight(struct maker *m)
{
	return build_weight(&m->b, below(&m->dice, m->b.p->nweight_circuit));
}

static uint32_t any_input(struct maker *m)
{
	return build_input(&m->b, below(&m->dice, m->r->ninput));
}

/* An expression of a weight, smooth near any value in reach. */
static uint32_t of_weight(struct maker *m)
{
	uint32_t w = any_weight(m);

	switch (below(&m->dice, 6)) {
	case 0:  return build_op(&m->b, EXPR_MUL, build_const(&m->b, real(&m->dice, 1.5)), w);
	case 1:  return build_op(&m->b, EXPR_SIN, w, 0);
	case 2:  return build_op(&m->b, EXPR_SUB, any_weight(m), w);
	case 3:  return build_op(&m->b, EXPR_NEG, w, 0);
	default: return w;
	}
}

static uint32_t of_input(struct maker *m)
{
	uint32_t x = any_input(m);

	switch (below(&m->dice, 5)) {
	case 0:  return build_op(&m->b, EXPR_MUL, x, any_weight(m));
	case 1:  return build_op(&m->b, EXPR_ADD, x, any_weight(m));
	case 2:  return build_op(&m->b, EXPR_MUL, x, x);
	default: return x;
	}
}

static uint32_t any_angle(struct maker *m)
{
	if (m->cls == VALUE_CONSTANT || below(&m->dice, 5) == 0)
		return build_const(&m->b, real(&m->dice, 3));
	return m->cls == VALUE_SHARED ? of_weight(m) : of_input(m);
}

/* ---- matrices ---- */

/* n distinct numbers below `of`. */
static void choose(struct maker *m, unsigned n, unsigned of, uint32_t *out)
{
	uint32_t all[64];

	for (unsigned k = 0; k < of; k++)
		all[k] = k;
	for (unsigned k = 0; k < n; k++) {
		unsigned j = k + below(&m->dice, of - k);
		uint32_t t = all[j];

		all[j] = all[k];
		out[k] = all[k] = t;
	}
}

static void choose_gate(struct maker *m, unsigned ntarget, struct item *it)
{
	unsigned most = ntarget < 3 ? ntarget : 3, ngate = m->r->ngate ? m->r->ngate : GATE_COUNT - 1;

	for (;;) {
		const struct gate_row *row = gate_row((enum gate)(1 + below(&m->dice, ngate)));

		it->gate = row->id;
		it->word = 0;
		if (row->ncontrol || row->flags & GATE_COMPOSITE)
			continue;
		if (row->flags & GATE_WORD)
			for (unsigned k = 0, n = 1 + below(&m->dice, most); k < n; k++)
				it->word |= (uint8_t)((1 + below(&m->dice, 3)) << 2 * k);
		if (m->diagonal && !(gate_flags(row->id, it->word) & GATE_DIAGONAL))
			continue;
		if (m->r->gate_flags & ~gate_flags(row->id, it->word))
			continue;
		if (gate_ntarget(row->id, it->word) >= 1 && gate_ntarget(row->id, it->word) <= ntarget)
			break;
	}
	for (unsigned k = 0; k < gate_row(it->gate)->nangle; k++)
		it->angle[k] = any_angle(m);
}

/* An earlier matrix that fits, or false. */
static bool choose_reference(struct maker *m, unsigned ntarget, struct item *it)
{
	unsigned k;

	if (!m->nmatrix || m->diagonal || below(&m->dice, 3))
		return false;
	k = below(&m->dice, m->nmatrix);
	if (m->b.p->matrix[m->matrix[k]].ntarget > ntarget || m->matrix_class[k] > m->cls)
		return false;
	it->gate = GATE_NONE;
	it->ref = m->matrix[k];
	return true;
}

static struct item any_item(struct maker *m, unsigned ntarget)
{
	struct item it = { .gate = GATE_NONE };
	unsigned n, left;
	uint32_t wire[MATRIX_TARGETS_MAX];

	if (!choose_reference(m, ntarget, &it))
		choose_gate(m, ntarget, &it);
	n = it.gate == GATE_NONE ? m->b.p->matrix[it.ref].ntarget : gate_ntarget(it.gate, it.word);
	left = ntarget - n;
	it.adjoint = below(&m->dice, 4) == 0;
	it.ncontrol = m->r->controls && left && below(&m->dice, 3) == 0 ? (uint8_t)(1 + below(&m->dice, left)) : 0;
	it.control_ones = (uint8_t)below(&m->dice, 1u << it.ncontrol);
	it.nwire = (uint8_t)(n + it.ncontrol);
	choose(m, it.nwire, ntarget, wire);
	for (unsigned k = 0; k < it.nwire; k++)
		it.wire[k] = (uint8_t)wire[k];
	return it;
}

/* X, perhaps under controls. */
static struct item any_permutation(struct maker *m, unsigned ntarget)
{
	struct item it = { .gate = GATE_PAULI, .word = 1, .ncontrol = (uint8_t)below(&m->dice, ntarget) };
	uint32_t wire[MATRIX_TARGETS_MAX];

	it.nwire = (uint8_t)(1 + it.ncontrol);
	it.control_ones = (uint8_t)below(&m->dice, 1u << it.ncontrol);
	choose(m, it.nwire, ntarget, wire);
	for (unsigned k = 0; k < it.nwire; k++)
		it.wire[k] = (uint8_t)wire[k];
	return it;
}

static void add_matrix(struct maker *m)
{
	unsigned most = m->r->wide ? 3 : 2, ntarget;
	struct item item[ITEMS_MAX];
	unsigned nitem = 1 + below(&m->dice, ITEMS_MAX);

	most = most < m->r->nwire ? most : m->r->nwire;
	ntarget = 1 + below(&m->dice, most);
	m->cls = (enum value_class)below(&m->dice, m->r->sample_matrices ? 3 : 2);
	m->diagonal = m->r->diagonals && m->nmatrix % 2;
	for (unsigned k = 0; k < nitem; k++)
		item[k] = m->r->permutes && m->nmatrix % 2 == 0 ? any_permutation(m, ntarget) : any_item(m, ntarget);
	m->matrix[m->nmatrix] = build_matrix(&m->b, ntarget, nitem, item);
	m->matrix_class[m->nmatrix++] = m->cls;
}

/* ---- circuits ---- */

static void add_vectors(struct maker *m, uint32_t c, unsigned nwire)
{
	uint32_t wire[64], expr[4];
	unsigned n = nwire < 4 ? nwire : 4;

	if (!m->r->vectors || n < 2)
		return;
	choose(m, n, nwire, wire);
	for (unsigned k = 0; k < 3; k++)
		expr[k] = k ? any_input(m) : build_const(&m->b, 0.7);
	build_amplitudes(&m->b, c, 3, expr, 2, wire);
	if (n == 4)
		build_state(&m->b, c, 2, wire + 2);
}

static void add_apply(struct maker *m, uint32_t c, unsigned nwire)
{
	uint32_t number = m->matrix[below(&m->dice, m->nmatrix)], wire[64];
	unsigned ntarget = m->b.p->matrix[number].ntarget, ncontrol = 0, free_wires;
	struct apply *a;

	if (ntarget > nwire)
		return;
	free_wires = (m->r->most && m->r->most < nwire ? m->r->most : nwire) - ntarget;
	if (m->r->controls && free_wires && below(&m->dice, 3) == 0)
		ncontrol = 1 + below(&m->dice, free_wires < 3 ? free_wires : 3);
	choose(m, ntarget + ncontrol, nwire, wire);
	a = build_controlled(&m->b, c, number, ncontrol, ntarget + ncontrol, wire);
	a->adjoint = below(&m->dice, 4) == 0;
	a->control_ones = below(&m->dice, 1u << ncontrol);
}

static void add_sum(struct maker *m, uint32_t c, unsigned nwire)
{
	struct pauli_factor factor[3][64];
	struct pauli_term term[3];
	unsigned nterm = 1 + below(&m->dice, 3);

	for (unsigned t = 0; t < nterm; t++) {
		term[t] = (struct pauli_term){ .coefficient = real(&m->dice, 1), .factor = factor[t] };
		for (unsigned w = 0; w < nwire; w++)
			if (below(&m->dice, 3) == 0)
				factor[t][term[t].nfactor++] = (struct pauli_factor){ w, (uint8_t)(1 + below(&m->dice, 3)) };
	}
	build_pauli(&m->b, c, nterm, term);
}

/* Many products of Z, in two sums. */
static void add_products(struct maker *m, uint32_t c, unsigned nwire)
{
	enum { MOST = 128 };
	struct pauli_factor factor[MOST][64];
	struct pauli_term term[MOST];
	unsigned left = m->r->nz;

	for (unsigned half = 0; half < 2; half++) {
		unsigned n = half ? left : left / 2;

		left -= n;
		for (unsigned t = 0; t < n; t++) {
			term[t] = (struct pauli_term){ .coefficient = real(&m->dice, 1) / n, .factor = factor[t] };
			for (unsigned w = 0; w < nwire; w++)
				if (below(&m->dice, 2) == 0)
					factor[t][term[t].nfactor++] = (struct pauli_factor){ w, 3 };
		}
		if (n)
			build_pauli(&m->b, c, n, term);
	}
}

/* Products with x or y on most wires, or on all, in one sum. */
static void add_long(struct maker *m, uint32_t c, unsigned nwire)
{
	enum { MOST = 8 };
	struct pauli_factor factor[MOST][64];
	struct pauli_term term[MOST];

	for (unsigned t = 0; t < m->r->nlong; t++) {
		term[t] = (struct pauli_term){ .coefficient = real(&m->dice, 1), .factor = factor[t] };
		for (unsigned w = 0; w < nwire; w++)
			if (!t || below(&m->dice, 4))
				factor[t][term[t].nfactor++] = (struct pauli_factor){ w,
					(uint8_t)(1 + below(&m->dice, 2 + t % 2)) };
	}
	if (m->r->nlong)
		build_pauli(&m->b, c, m->r->nlong, term);
}

/* Products that flip the same bits as others, in one sum. */
static void add_same(struct maker *m, uint32_t c, unsigned nwire)
{
	enum { MOST = 400, FLIPS = 3 };
	static struct pauli_factor factor[MOST][64];
	struct pauli_term term[MOST];
	uint32_t flip[FLIPS];

	for (unsigned k = 0; k < FLIPS && m->r->nsame; k++)
		flip[k] = below(&m->dice, 1u << nwire);
	for (unsigned t = 0; t < m->r->nsame; t++) {
		uint32_t own = flip[below(&m->dice, FLIPS)];

		term[t] = (struct pauli_term){ .coefficient = real(&m->dice, 1) / m->r->nsame,
			.factor = factor[t] };
		for (unsigned w = 0; w < nwire; w++)
			if (own >> w & 1 || below(&m->dice, 2))
				factor[t][term[t].nfactor++] = (struct pauli_factor){ w,
					own >> w & 1 ? (uint8_t)(1 + below(&m->dice, 2)) : 3 };
	}
	if (m->r->nsame)
		build_pauli(&m->b, c, m->r->nsame, term);
}

/* Outputs of the wires seen[0..n) alone, of all kinds or of one. */
static void add_seen(struct maker *m, uint32_t c, const uint32_t *seen, unsigned n)
{
	struct pauli_factor factor[3][64];
	struct pauli_term term[3];
	unsigned kinds = 1 + below(&m->dice, 7);

	for (unsigned t = 0; t < 3; t++) {
		term[t] = (struct pauli_term){ .coefficient = real(&m->dice, 1), .factor = factor[t] };
		for (unsigned w = 0; w < n; w++)
			if (t == 0 || below(&m->dice, 2))
				factor[t][term[t].nfactor++] = (struct pauli_factor){ seen[w], (uint8_t)(1 + below(&m->dice, 3)) };
		for (unsigned f = 1; f < term[t].nfactor; f++)   /* in order of wires */
			for (unsigned g = f; g > 0 && factor[t][g].wire < factor[t][g - 1].wire; g--) {
				struct pauli_factor s = factor[t][g];

				factor[t][g] = factor[t][g - 1];
				factor[t][g - 1] = s;
			}
	}
	if (kinds & 1)
		build_pauli(&m->b, c, 3, term);
	if (kinds & 2)
		build_probs(&m->b, c, n, seen);
	if (kinds & 4)
		build_z(&m->b, c, seen[0]);
}

static void add_circuit(struct maker *m, uint32_t c)
{
	unsigned nwire = c == 0 ? m->r->nwire : 1 + below(&m->dice, m->r->nwire);
	unsigned nprobs = m->r->nprobs ? m->r->nprobs : 2;
	uint32_t wire[64];

	build_wires(&m->b, c, nwire);
	add_vectors(m, c, nwire);
	for (unsigned k = 0; k < m->r->napply; k++) {
		if (m->r->swaps && nwire > 1 && below(&m->dice, 6) == 0) {
			choose(m, 2, nwire, wire);
			build_swap(&m->b, c, wire[0], wire[1]);
		}
		add_apply(m, c, nwire);
	}
	if (m->r->nseen) {
		unsigned n = m->r->nseen < nwire ? m->r->nseen : nwire;

		choose(m, n, nwire, wire);
		add_seen(m, c, wire, n);
		return;
	}
	for (unsigned k = 0; k < 2 && !m->r->only_z; k++)
		add_sum(m, c, nwire);
	add_products(m, c, nwire);
	nprobs = nprobs < nwire ? nprobs : nwire;
	choose(m, nprobs, nwire, wire);
	if (!m->r->no_probs)
		build_probs(&m->b, c, nprobs, wire);
	build_z(&m->b, c, below(&m->dice, nwire));
	add_long(m, c, nwire);
	add_same(m, c, nwire);
}

struct program *random_program(const struct random_shape *r)
{
	struct maker m = { .r = r, .dice = { r->seed, 0 } };

	m.b = build_new(r->nweight, r->ninput, r->ncircuit);
	if (r->frozen)
		build_frozen(&m.b, 2);
	for (unsigned k = 0; k < NMATRIX; k++)
		add_matrix(&m);
	for (uint32_t c = 0; c < r->ncircuit; c++)
		add_circuit(&m, c);
	return build_done(&m.b);
}

/* ---- outcome ---- */

struct loss {
	const struct program *p;
	const struct loss_terms *terms;
	uint32_t nsample;
};

static double factor_of(uint32_t sample, uint32_t k)
{
	return rng_uniform(17, RNG_TEST, sample, k) - 0.4;
}

/* Scale, weight and labels of a sample, where the loss has terms. */
static void give(void *ctx, uint32_t sample, double *out)
{
	const struct loss *l = ctx;

	out[LOSS_SCALE] = 1.0 / l->nsample;
	out[LOSS_WEIGHT] = 0.5 + sample % 3;
	for (uint32_t k = 0; k < l->terms->nlabel; k++)
		out[LOSS_LABELS + k] = 2 * factor_of(sample, k);
}

static int terms_gradient(void *ctx, uint32_t sample, const double *readout, double *dreadout,
	double *head)
{
	const struct loss *l = ctx;
	uint32_t n = l->p->nreadout;
	double *number = mem_alloc(LOSS_LABELS + (size_t)n, sizeof *number);

	(void)head;
	give(ctx, sample, number);
	for (uint32_t k = 0; dreadout && k < n; k++) {
		loss_term_value(l->terms->term, l->terms->option, readout[k],
			number[LOSS_LABELS + k], &dreadout[k]);
		dreadout[k] = dreadout[k] / n * number[LOSS_WEIGHT] * number[LOSS_SCALE];
	}
	free(number);
	return 0;
}

static int test_gradient(void *ctx, uint32_t sample, const double *readout, double *dreadout,
	double *head)
{
	const struct program *p = ((struct loss *)ctx)->p;

	(void)head;
	for (uint32_t k = 0; dreadout && k < p->nreadout; k++)
		dreadout[k] = factor_of(sample, k) + readout[k];
	return 0;
}

struct outcome outcome_new(const struct program *p, uint32_t nsample)
{
	return (struct outcome){ .readout = mem_alloc((size_t)nsample * p->nreadout, sizeof(double)),
		.gradient = mem_alloc(p->nweight, sizeof(double)) };
}

void outcome_release(struct outcome *o)
{
	free(o->readout);
	free(o->gradient);
}

int outcome_of(const struct program *p, const struct evaluator_options *o, uint32_t nsample,
	const double *weight, const double *input, struct outcome *out, struct err *e)
{
	struct evaluator *ev = NULL;
	struct loss loss = { p, &o->terms, nsample };
	struct pool *pool = pool_threads_new(o->nthread ? o->nthread : 1);
	bool gradient = o->gradient != GRADIENT_NONE;
	int code = evaluator_new(p, o, &ev, e);

	if (!code)
		code = evaluator_weights(ev, weight, e);
	if (!code) {
		if (o->terms.term)
			evaluator_needs(ev,
				&(struct readout_gradient_needs){
					LOSS_LABELS + o->terms.nlabel, give });
		evaluator_prepare(ev, &(struct batch){ .nsample = nsample, .input = input }, gradient,
			o->terms.term ? terms_gradient : test_gradient, &loss, out->readout);
		code = evaluator_run(ev, pool, gradient ? out->gradient : NULL, e);
	}
	out->nstate = code ? 0 : evaluator_states_evolved(ev);
	evaluator_free(ev);
	pool->ops->free(pool);
	return code;
}

double largest_difference(const double *a, const double *b, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		double d = fabs(a[i] - b[i]);

		if (!(d <= most))
			most = isnan(d) ? HUGE_VAL : d;
	}
	return most;
}

struct apart outcomes_apart(const struct program *p, const struct evaluator_options *a, const struct evaluator_options *b,
	uint32_t nsample, uint64_t seed, struct err *e)
{
	struct outcome one = outcome_new(p, nsample), other = outcome_new(p, nsample);
	double *weight = mem_alloc(p->nweight, sizeof *weight), *input = mem_alloc((size_t)nsample * p->ninput, sizeof *input);
	struct apart apart = { HUGE_VAL, HUGE_VAL };

	random_numbers(seed, 2, p->nweight, weight);
	random_numbers(seed + 1, 2, (size_t)nsample * p->ninput, input);
	if (!outcome_of(p, a, nsample, weight, input, &one, e) && !outcome_of(p, b, nsample, weight, input, &other, e)) {
		apart.readouts = largest_difference(one.readout, other.readout, (size_t)nsample * p->nreadout);
		apart.gradients = largest_difference(one.gradient, other.gradient, p->nweight);
	}
	outcome_release(&one);
	outcome_release(&other);
	free(weight);
	free(input);
	return apart;
}

const struct target *tested_device(int argc, char **argv)
{
	const struct target *t = target_find(argc > 1 ? argv[1] : "cpu", NULL);
	const char *obstacle = t ? target_obstacle(t) : "this build has no such device";

	if (obstacle)
		tap_skip_all("%s", obstacle);
	return t;
}

enum shape first_shape(const struct target *t)
{
	return target_can(t, TARGET_BATCHED) ? SHAPE_BATCHED : SHAPE_PER_THREAD;
}

unsigned random_below(uint64_t seed, uint32_t k, unsigned n)
{
	return (unsigned)(rng_u64(seed, RNG_TEST, 9, k) % n);
}

const struct target *random_cpu_target(uint64_t seed, uint32_t k)
{
	unsigned n = 0, drawn;

	while (cpu_target_here(n))
		n++;
	drawn = random_below(seed, k, n + 1);
	return cpu_target_here(drawn ? drawn - 1 : n - 1);
}
