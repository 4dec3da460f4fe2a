/* SPDX-License-Identifier: Apache-2.0
 * The engine of tensor contraction: its table, its life, and units of a batch. */
#include "runtime/exec/tensor/tensor_plan.h"
#include "runtime/exec/tensor/tensor_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/profile/recorder.h"
#include "runtime/base/system/cpus.h"
#include "runtime/base/system/resource_limits.h"
#include "runtime/exec/target.h"
#include "runtime/program/anti_hermitian.h"

enum {
	QUBITS_LEAST = 16, /* with fewer, 2^n amplitudes are few: not worth looking for an order of contraction */
	MIB = 1 << 20,
	ALIGNMENT = 64
};

/* Of one worker. */
struct tensor_worker {
	double *entry;           /* (nsample * lanes) */
	double *gradient_sample; /* (ngradient_sample * lanes) */
	double *gradient_shared; /* (ngradient_shared) */
	double *pack;
	double *transfer;         /* (nsample_entry * lanes), those of class SAMPLE */
	double *dtransfer;        /* the same of gradients */
	double *dtransfer_shared; /* (ntransfer_entry) */
	double *value;            /* (lanes, nexpr) */
	cplx *u;                  /* (lanes, nmatrix_entry) */
	uint64_t version;         /* of the weights whose shared matrices are in u */
	double *read;             /* (nterm, lanes) */
	double *dread;
	double *anti_hermitian;        /* (nmatrix_entry) of shared matrices */
	double *anti_hermitian_sample; /* of one sample */
	double *pauli_gradient, *dexpr;
	double *dthreshold; /* (nchannel, NOISE_WORDS_MAX) of shared channels */
	uint32_t first, count;
};

struct tensor {
	const struct program *p;
	struct evaluator_options o;
	const struct contraction *kernels;
	struct tensor_plan *pl;
	struct arena arena;
	unsigned nworker;
	bool taken;
	struct tensor_worker *worker;
	/* With these weights. */
	const double *weight;
	uint64_t version;
	double *value, *transfer, *entry, *pack;
	cplx *u, *kept;
	bool weighted;
	/* Of a transfer matrix of class SAMPLE: the first of its entries among those of all these. */
	size_t *sample_offset, nsample_entry;
	/* Matrices: of class SAMPLE, those they refer to included; whose reduced transition matrices are summed over units, and
	 * with those that they refer to; the same of samples. */
	bool *need_sample, *transition, *reverse, *transition_sample, *reverse_sample;
	bool *channel; /* (nchannel) shared ones with gradients with respect to their probabilities */
	const char *improper; /* a shared channel that has no probabilities with these weights, or NULL */
	bool direct;          /* some weight gradients are made unit by unit */
	size_t nvector;
	/* Of the finish. */
	double *anti_hermitian, *pauli_gradient, *dexpr;
	struct batch batch;
	bool gradient;
};

/* ---- before it is open ---- */

static const char *tensor_obstacle(const struct engine_problem *p)
{
	const struct evaluator_options *o = p->options;

	if (o->method == METHOD_STATEVECTOR)
		return "state vectors are asked for";
	if (o->method == METHOD_AUTO && program_nwire(p->program) < QUBITS_LEAST
		&& !engine_statevector.obstacle(p))
		return "state vectors of less than 16 qubits are small";
	if (!target_or_best(o->target)->contraction)
		return "only the device cpu contracts tensors (run.device)";
	if (o->shots)
		return "readouts are drawn from state vectors";
	if (o->gradient > GRADIENT_ADJOINT)
		return "the gradient method is not adjoint";
	if (o->split > 1 || o->rank)
		return "states are split over ranks";
	return network_obstacle(p->program, o->trajectories != TRAJECTORIES_NONE);
}

static int tensor_cost(const struct engine_problem *p, struct engine_cost *out)
{
	uint32_t n = p->nsample ? p->nsample : tensor_usual_samples(p->program);
	bool gradient = p->options->gradient != GRADIENT_NONE;
	struct tensor_plan *pl = tensor_plan_within(p->program, p->options, n, gradient,
		p->most > 0 ? p->most : INFINITY);

	if (!pl)
		return -ERR_CONFIG;
	*out = (struct engine_cost){ .flops = tensor_plan_flops(pl, n, gradient) / n,
		.effort = tensor_plan_effort(pl, n, gradient) / n };
	tensor_plan_free(pl);
	return 0;
}

static int tensor_check(const struct engine_problem *p, struct err *e)
{
	struct tensor_plan *pl = tensor_plan_new(p->program, p->options);

	if (!pl)
		return err_set(e, -ERR_CONFIG,
			"each order of contraction that was found has tensors of more than 2^32 entries");
	tensor_plan_free(pl);
	return 0;
}

static void tensor_describe(const struct engine_problem *p, struct buf *out)
{
	bool gradient = p->options->gradient != GRADIENT_NONE;
	struct tensor_summary s;

	if (!tensor_summary(p, &s)) {
		buf_str(out, "too large");
		return;
	}
	buf_printf(out,
		"%.4g operations a sample in batches of %u, in double precision; %u network%s, %u contraction%s, the largest tensor of "
		"%.4g entries; units of %u sample%s, %.4g MiB a thread and %.4g MiB for all",
		gradient ? s.gradient_flops : s.forward_flops, s.batch, s.nnetwork,
		s.nnetwork == 1 ? "" : "s", s.ncontraction, s.ncontraction == 1 ? "" : "s", s.largest,
		s.width, s.width == 1 ? "" : "s", s.thread_bytes / MIB, s.shared_bytes / MIB);
}

/* ---- life ---- */

static void tensor_close(void *state)
{
	mem_auto struct tensor *t = state;

	for (unsigned k = 0; k < t->nworker && t->worker; k++) {
		free(t->worker[k].entry);
		free(t->worker[k].gradient_sample);
	}
	free(t->entry);
	tensor_plan_free(t->pl);
	arena_release(&t->arena);
}

/* m and all that it refers to. */
static void mark(const struct matrix_set *s, uint32_t m, bool *list)
{
	if (list[m])
		return;
	list[m] = true;
	for (uint32_t k = 0; k < s->def[m]->nitem; k++)
		if (s->def[m]->item[k].gate == GATE_NONE)
			mark(s, s->def[m]->item[k].ref, list);
}

static void list_matrices(struct tensor *t)
{
	const struct network_set *s = &t->pl->set;
	uint32_t n = s->set.n;

	t->sample_offset = arena_alloc(&t->arena, s->ntransfer, sizeof *t->sample_offset);
	t->need_sample = arena_alloc(&t->arena, n, sizeof(bool));
	t->transition = arena_alloc(&t->arena, n, sizeof(bool));
	t->reverse = arena_alloc(&t->arena, n, sizeof(bool));
	t->transition_sample = arena_alloc(&t->arena, n, sizeof(bool));
	t->reverse_sample = arena_alloc(&t->arena, n, sizeof(bool));
	t->channel = arena_alloc(&t->arena, s->nchannel, sizeof(bool));
	for (uint32_t k = 0; k < s->ntransfer; k++) {
		const struct transfer *x = &s->transfer[k];
		bool sample = x->cls == VALUE_SAMPLE;

		if (sample) {
			t->sample_offset[k] = t->nsample_entry;
			t->nsample_entry += (size_t)1 << (4 * x->nqubit);
		}
		if (sample && x->channel == INDEX_NONE)
			mark(&s->set, x->matrix, t->need_sample);
		if (!t->pl->depends[x->matrix] || t->o.gradient == GRADIENT_NONE)
			continue;
		if (x->channel != INDEX_NONE) {
			t->channel[x->channel] = !sample;
			t->direct |= sample;
			continue;
		}
		(sample ? t->transition_sample : t->transition)[x->matrix] = true;
		mark(&s->set, x->matrix, sample ? t->reverse_sample : t->reverse);
		t->direct |= sample;
	}
	for (uint32_t m = 0; m < n; m++)
		t->nvector += t->transition[m] ? s->set.offset[m + 1] - s->set.offset[m] : 0;
	for (uint32_t c = 0; c < s->nchannel; c++)
		t->nvector += t->channel[c] ? s->channel[c].nword : 0;
	t->nvector += (t->direct ? t->p->nweight_circuit : 0) + t->p->nweight - t->p->nweight_circuit;
}

static void take_lists(struct tensor *t)
{
	const struct network_set *s = &t->pl->set;
	size_t nmatrix = s->set.offset[s->set.n], nexpr = t->p->nexpr;

	t->value = arena_alloc(&t->arena, nexpr, sizeof(double));
	t->u = arena_alloc(&t->arena, nmatrix, sizeof(cplx));
	t->kept = arena_alloc(&t->arena, s->set.nkept, sizeof(cplx));
	t->transfer = arena_alloc(&t->arena, s->ntransfer_entry, sizeof(double));
	t->anti_hermitian = arena_alloc(&t->arena, nmatrix, sizeof(double));
	t->pauli_gradient = arena_alloc(&t->arena, nmatrix, sizeof(double));
	t->dexpr = arena_alloc(&t->arena, nexpr, sizeof(double));
	t->worker = arena_alloc(&t->arena, t->nworker, sizeof *t->worker);
}

static void take_worker_lists(struct tensor *t, struct tensor_worker *w)
{
	const struct network_set *s = &t->pl->set;
	size_t nmatrix = s->set.offset[s->set.n], nexpr = t->p->nexpr, lanes = t->pl->lanes;

	w->transfer = arena_alloc(&t->arena, t->nsample_entry * lanes, sizeof(double));
	w->dtransfer = arena_alloc(&t->arena, t->nsample_entry * lanes, sizeof(double));
	w->dtransfer_shared = arena_alloc(&t->arena, s->ntransfer_entry, sizeof(double));
	w->value = arena_alloc(&t->arena, nexpr * lanes, sizeof(double));
	w->u = arena_alloc(&t->arena, nmatrix * lanes, sizeof(cplx));
	w->read = arena_alloc(&t->arena, s->nterm * lanes, sizeof(double));
	w->dread = arena_alloc(&t->arena, s->nterm * lanes, sizeof(double));
	w->anti_hermitian = arena_alloc(&t->arena, nmatrix, sizeof(double));
	w->anti_hermitian_sample = arena_alloc(&t->arena, nmatrix, sizeof(double));
	w->pauli_gradient = arena_alloc(&t->arena, nmatrix, sizeof(double));
	w->dexpr = arena_alloc(&t->arena, nexpr, sizeof(double));
	w->dthreshold = arena_alloc(&t->arena, (size_t)s->nchannel * NOISE_WORDS_MAX, sizeof(double));
}

/* Bytes of take_lists. */
static double engine_lists(const struct tensor *t)
{
	const struct network_set *s = &t->pl->set;
	double nmatrix = s->set.offset[s->set.n];

	return sizeof(double) * (2.0 * t->p->nexpr + (double)s->ntransfer_entry + 2 * nmatrix)
		+ sizeof(cplx) * (nmatrix + (double)s->set.nkept);
}

/* Numbers of take_worker_lists. */
static double worker_lists(const struct tensor *t)
{
	const struct network_set *s = &t->pl->set;
	double nmatrix = s->set.offset[s->set.n], nexpr = t->p->nexpr;

	return t->pl->lanes * (2 * (double)t->nsample_entry + nexpr + 2 * nmatrix + 2.0 * s->nterm)
		+ (double)s->ntransfer_entry + 3 * nmatrix + nexpr
		+ (double)s->nchannel * NOISE_WORDS_MAX;
}

static const char *size_text(double nbyte, char text[32])
{
	static const char *const unit[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
	unsigned k = 0;

	for (nbyte /= 1024; nbyte >= 1024 && k + 1 < sizeof unit / sizeof *unit; k++)
		nbyte /= 1024;
	snprintf(text, 32, "%.1f %s", nbyte, unit[k]);
	return text;
}

static uint64_t memory_available(const struct tensor *t)
{
	uint64_t machine = cpus_memory_available(), process = ulimit_address_space(t->nworker);

	if (t->o.memory_limit)
		return t->o.memory_limit;
	return process < machine ? process : machine;
}

static int check_memory(const struct tensor *t, struct err *e)
{
	double need = tensor_plan_bytes(t->pl, t->nworker, t->o.gradient != GRADIENT_NONE)
		+ engine_lists(t)
		+ sizeof(double) * t->nworker * (worker_lists(t) + CONTRACTION_PACK);
	double have = (double)memory_available(t);
	char needed[32], available[32];

	if (need <= have)
		return 0;
	return err_set(e, -ERR_CONFIG,
		"the tensors of %u thread%s need %s, the largest of %.4g entries, %s available%s",
		t->nworker, t->nworker == 1 ? "" : "s", size_text(need, needed), t->pl->widest,
		size_text(have, available),
		t->nworker == 1 ? "" : "; fewer threads (--threads) need less");
}

/* Numbers from the start of a cache line on; *at may be NULL. */
static double *take_numbers(size_t n)
{
	void *at = NULL;

	return posix_memalign(&at, ALIGNMENT, (n + 1) * sizeof(double)) ? NULL : at;
}

static size_t round_up(size_t n) { return (n + 7) / 8 * 8; }

static bool take_worker(const struct tensor *t, struct tensor_worker *w)
{
	const struct tensor_plan *pl = t->pl;
	bool gradient = t->o.gradient != GRADIENT_NONE;
	size_t lanes = pl->lanes, sample = round_up(pl->ngradient_sample * lanes),
	       shared = round_up(pl->ngradient_shared);

	w->entry = take_numbers(pl->nsample * lanes);
	w->gradient_sample = take_numbers((gradient ? sample + shared : 0) + CONTRACTION_PACK);
	if (!w->entry || !w->gradient_sample)
		return false;
	w->gradient_shared = w->gradient_sample + (gradient ? sample : 0);
	w->pack = w->gradient_shared + (gradient ? shared : 0);
	return true;
}

static void make_shared(struct tensor *t);

static int take_memory(struct tensor *t, struct err *e)
{
	int code = t->taken ? 0 : check_memory(t, e);
	bool good = true;

	if (code || t->taken)
		return code;
	tensor_plan_offsets(t->pl);
	t->entry = take_numbers(t->pl->nshared);
	for (unsigned k = 0; k < t->nworker; k++)
		good = take_worker(t, &t->worker[k]) && good;
	if (!good || !t->entry)
		return err_set(e, -ERR_CONFIG, "no memory for the tensors of %u thread%s",
			t->nworker, t->nworker == 1 ? "" : "s");
	for (unsigned k = 0; k < t->nworker; k++)
		take_worker_lists(t, &t->worker[k]);
	t->taken = true;
	if (t->weighted)
		make_shared(t);
	return 0;
}

static int tensor_open(const struct engine_problem *p, void **state, struct err *e)
{
	struct tensor *t = mem_alloc(1, sizeof *t);
	int code = 0;

	t->p = p->program;
	t->o = *p->options;
	t->o.target = target_or_best(t->o.target);
	t->kernels = t->o.target->contraction;
	t->nworker = t->o.nthread;
	t->pl = tensor_plan_new(t->p, &t->o);
	if (!t->pl)
		code = err_set(e, -ERR_CONFIG, "tensors of more than 2^32 entries are too large");
	if (!code)
		list_matrices(t);
	if (!code && !t->o.remote)
		code = check_memory(t, e);
	if (!code)
		take_lists(t);
	if (!code && !t->o.remote)
		code = take_memory(t, e);
	if (code)
		tensor_close(t);
	else
		*state = t;
	return code;
}

static void tensor_layout(const void *state, struct engine_layout *out)
{
	const struct tensor *t = state;

	*out = (struct engine_layout){ .width = t->pl->lanes,
		.nvector = t->nvector,
		.nworker = t->nworker,
		.precision = PRECISION_DOUBLE };
}

/* ---- contractions ---- */

/* The memory of a node's tensor, or of its gradient. */
static struct contraction_operand operand(const struct tensor *t, const struct tensor_worker *w,
	const struct tensor_node *x, const uint32_t *row, const uint32_t *column)
{
	struct contraction_operand o = {
		.row = row, .column = column, .by_lane = x->by_sample && t->pl->lanes > 1
	};

	o.at = x->by_sample ? w->entry + x->at * t->pl->lanes : t->entry + x->at;
	return o;
}

static struct contraction_operand gradient_operand(const struct tensor *t,
	const struct tensor_worker *w, const struct tensor_node *x, const uint32_t *row,
	const uint32_t *column)
{
	struct contraction_operand o = {
		.row = row, .column = column, .by_lane = x->by_sample && t->pl->lanes > 1
	};

	o.at = x->by_sample ? w->gradient_sample + x->gradient_at * t->pl->lanes
			    : w->gradient_shared + x->gradient_at;
	return o;
}

static void contract(const struct tensor *t, const struct tensor_worker *w,
	const struct tensor_term *term, uint32_t node, double *pack)
{
	const struct tensor_node *x = &term->node[node];
	const uint32_t *child = term->tree.child[node - term->network->nleaf];
	struct contraction_operand a = operand(t, w, &term->node[child[0]], x->a_row, x->a_column);
	struct contraction_operand b = operand(t, w, &term->node[child[1]], x->b_row, x->b_column);
	struct contraction_operand c = operand(t, w, x, x->c_row, x->c_column);

	t->kernels->multiply(x->m, x->n, x->k, &a, &b, &c, pack);
}

/* lanes: 1 of shared ones. */
static void fill_leaf(const struct network_leaf *f, const double *r, unsigned lanes, double *out)
{
	const uint16_t *e = f->entry;

	for (uint32_t i = 0; i < f->size; i++)
		for (unsigned l = 0; l < lanes; l++) {
			double sum = 0;

			for (uint32_t k = 0; k < f->sum; k++)
				sum += r[(size_t)e[i * f->sum + k] * lanes + l];
			out[(size_t)i * lanes + l] = sum;
		}
}

static void spread_leaf(const struct network_leaf *f, const double *g, unsigned lanes, double *dr)
{
	const uint16_t *e = f->entry;

	for (uint32_t i = 0; i < f->size; i++)
		for (uint32_t k = 0; k < f->sum; k++)
			for (unsigned l = 0; l < lanes; l++)
				dr[(size_t)e[i * f->sum + k] * lanes + l] += g[(size_t)i * lanes + l];
}

/* ---- transfer matrices ---- */

/* r from the values of expressions, and matrices u made of them. Returns a channel that has no probabilities, or NULL. */
static const char *make_transfer(const struct tensor *t, const struct transfer *x,
	const double *value, const cplx *u, double *r)
{
	const struct network_set *s = &t->pl->set;
	double probability[NOISE_WORDS_MAX + 1];

	if (x->channel == INDEX_NONE) {
		transfer_make(x, u + s->set.offset[x->matrix], r);
		return NULL;
	}
	bool good = noise_probabilities(&s->channel[x->channel], value, probability);
	const char *name = s->set.def[x->matrix]->name;
	noise_transfer(&s->channel[x->channel], x, probability, r);
	return good ? NULL : name ? name : "channel";
}

static void keep_name(const char **name, const char *other)
{
	if (other)
		*name = other;
}

static int refuse_channel(const char *name, struct err *e)
{
	return err_set(e, -ERR_NOT_FINITE,
		"a probability of the noise channel `%s` is not between 0 and 1, or they add up to more",
		name);
}

/* ---- with new weights ---- */

static void make_shared(struct tensor *t)
{
	const struct network_set *s = &t->pl->set;

	for (uint32_t k = 0; k < s->nterm; k++) {
		const struct tensor_term *term = &t->pl->term[k];

		for (uint32_t i = 0; i < term->tree.nnode; i++) {
			const struct tensor_node *x = &term->node[i];

			if (x->by_sample)
				continue;
			if (i < term->network->nleaf) {
				const struct network_leaf *f = &term->network->leaf[i];

				fill_leaf(f, t->transfer + s->transfer[f->transfer].offset, 1,
					t->entry + x->at);
			} else {
				contract(t, NULL, term, i, t->worker[0].pack);
			}
		}
	}
}

static void tensor_set_weights(void *state, const double *weight)
{
	struct tensor *t = state;
	const struct network_set *s = &t->pl->set;

	t->weight = weight;
	t->version++;
	t->improper = NULL;
	program_eval(t->p, weight, NULL, t->value);
	matrix_build(&s->set, t->value, t->weighted ? VALUE_SHARED : VALUE_CONSTANT, VALUE_SHARED,
		NULL, t->u, t->kept);
	for (uint32_t k = 0; k < s->ntransfer; k++) {
		const struct transfer *x = &s->transfer[k];

		if (x->cls == VALUE_SHARED || (x->cls == VALUE_CONSTANT && !t->weighted))
			keep_name(&t->improper,
				make_transfer(t, x, t->value, t->u, t->transfer + x->offset));
	}
	t->weighted = true;
	recorder_mark(PHASE_MATRICES);
	if (t->taken)
		make_shared(t);
	recorder_mark(PHASE_FORWARD);
}

/* ---- a batch ---- */

static bool tensor_prepare(void *state, const struct batch *b, bool gradient, struct engine_units *out)
{
	struct tensor *t = state;
	uint32_t lanes = t->pl->lanes;

	t->batch = *b;
	t->gradient = gradient;
	*out = (struct engine_units){ .nunit = (b->nsample + lanes - 1) / lanes,
		.nstate = b->nsample,
		.flops = tensor_plan_effort(t->pl, lanes, gradient) };
	return true;
}

static void tensor_work(const void *state, double *flops, double *bytes)
{
	const struct tensor *t = state;

	*flops = tensor_plan_flops(t->pl, t->batch.nsample, t->gradient);
	*bytes = 0;
}

static double tensor_plain_flops(const void *state, const struct program *written)
{
	const struct tensor *t = state;

	(void)written;
	uint32_t n = tensor_usual_samples(written);

	return tensor_plan_flops(t->pl, n, t->o.gradient != GRADIENT_NONE) / n;
}

static void tensor_count(const void *state, const struct program *written,
	struct optimisation_tally *tally)
{
	(void)state, (void)written, (void)tally;
}

static const struct program *tensor_program(const struct program *p,
	const struct evaluator_options *o, struct arena *a)
{
	(void)o, (void)a;
	return p;
}

static int tensor_begin(void *state, struct err *e)
{
	const struct tensor *t = state;

	return t->improper ? refuse_channel(t->improper, e) : take_memory(state, e);
}

static void tensor_run(void *state, const struct unit_job *job)
{
	const struct tensor *t = state;

	t->kernels->run(t->nworker, job);
}

/* ---- forward ---- */

/* Returns a channel that has no probabilities, or NULL. */
static const char *fill_sample(const struct tensor *t, struct tensor_worker *w, unsigned lane,
	uint32_t sample)
{
	const struct network_set *s = &t->pl->set;
	size_t nmatrix = s->set.offset[s->set.n];
	double *value = w->value + (size_t)lane * t->p->nexpr;
	cplx *u = w->u + lane * nmatrix;
	const double *row = t->batch.input
		? t->batch.input + (size_t)batch_row(&t->batch, sample) * t->p->ninput
		: NULL;
	double r[TRANSFER_ENTRIES];
	const char *improper = NULL;

	program_eval(t->p, t->weight, row, value);
	matrix_build(&s->set, value, VALUE_SAMPLE, VALUE_SAMPLE, t->need_sample, u, NULL);
	for (uint32_t k = 0; k < s->ntransfer; k++) {
		const struct transfer *x = &s->transfer[k];
		double *out = w->transfer + t->sample_offset[k] * t->pl->lanes + lane;

		if (x->cls != VALUE_SAMPLE)
			continue;
		keep_name(&improper, make_transfer(t, x, value, u, r));
		for (size_t i = 0; i < (size_t)1 << (4 * x->nqubit); i++)
			out[i * t->pl->lanes] = r[i];
	}
	return improper;
}

/* A short unit repeats its first sample. Returns as fill_sample. */
static const char *fill_unit(const struct tensor *t, struct tensor_worker *w, uint32_t unit)
{
	const struct network_set *s = &t->pl->set;
	size_t nmatrix = s->set.offset[s->set.n];
	const char *improper = NULL;

	w->count = unit_states(unit, t->pl->lanes, t->batch.nsample, &w->first);
	if (w->version != t->version)
		for (unsigned l = 0; l < t->pl->lanes; l++)
			memcpy(w->u + l * nmatrix, t->u, nmatrix * sizeof *t->u);
	w->version = t->version;
	for (unsigned l = 0; l < t->pl->lanes; l++)
		keep_name(&improper, fill_sample(t, w, l, w->first + (l < w->count ? l : 0)));
	return improper;
}

static void forward_term(const struct tensor *t, struct tensor_worker *w,
	const struct tensor_term *term)
{
	for (uint32_t i = 0; i < term->tree.nnode; i++) {
		const struct tensor_node *x = &term->node[i];

		if (!x->by_sample)
			continue;
		if (i < term->network->nleaf) {
			const struct network_leaf *f = &term->network->leaf[i];

			fill_leaf(f, w->transfer + t->sample_offset[f->transfer] * t->pl->lanes,
				t->pl->lanes, w->entry + x->at * t->pl->lanes);
		} else {
			contract(t, w, term, i, w->pack);
		}
	}
}

/* <P> of each sample. */
static void read_term(const struct tensor *t, struct tensor_worker *w, uint32_t k)
{
	const struct tensor_term *term = &t->pl->term[k];
	unsigned lanes = t->pl->lanes;

	for (unsigned l = 0; l < lanes; l++) {
		double x = 1;

		if (term->tree.nnode) {
			const struct tensor_node *root = &term->node[term->tree.nnode - 1];

			x = root->by_sample ? w->entry[root->at * lanes + l] : t->entry[root->at];
		}
		w->read[k * lanes + l] = term->network->factor * x;
	}
}

static int tensor_forward(void *state, unsigned worker, uint32_t unit, double *readout, struct err *e)
{
	struct tensor *t = state;
	const struct network_set *s = &t->pl->set;
	struct tensor_worker *w = &t->worker[worker];
	const char *improper = fill_unit(t, w, unit);

	if (improper)
		return refuse_channel(improper, e);
	recorder_mark(PHASE_ENCODING);
	for (uint32_t k = 0; k < s->nterm; k++) {
		forward_term(t, w, &t->pl->term[k]);
		read_term(t, w, k);
	}
	for (uint32_t l = 0; l < w->count; l++)
		memcpy(readout + (size_t)l * t->p->nreadout, s->constant,
			t->p->nreadout * sizeof *readout);
	for (uint32_t k = 0; k < s->npart; k++)
		for (uint32_t l = 0; l < w->count; l++)
			readout[(size_t)l * t->p->nreadout + s->part[k].readout] +=
				s->part[k].coefficient
				* w->read[(size_t)s->part[k].term * t->pl->lanes + l];
	recorder_mark(PHASE_FORWARD);
	return 0;
}

/* ---- backward ---- */

static void backward_node(const struct tensor *t, struct tensor_worker *w,
	const struct tensor_term *term, uint32_t node)
{
	const struct tensor_node *x = &term->node[node];
	const uint32_t *child = term->tree.child[node - term->network->nleaf];
	const struct tensor_node *a = &term->node[child[0]], *b = &term->node[child[1]];
	struct contraction_operand dc = gradient_operand(t, w, x, x->c_row, x->c_column);

	if (a->trained) {
		struct contraction_operand bt = operand(t, w, b, x->b_column, x->b_row);
		struct contraction_operand da = gradient_operand(t, w, a, x->a_row, x->a_column);

		t->kernels->multiply(x->m, x->k, x->n, &dc, &bt, &da, w->pack);
	}
	if (b->trained) {
		struct contraction_operand at = operand(t, w, a, x->a_column, x->a_row);
		struct contraction_operand db = gradient_operand(t, w, b, x->b_row, x->b_column);

		t->kernels->multiply(x->k, x->n, x->m, &at, &dc, &db, w->pack);
	}
}

static bool any_of(const double *x, unsigned n)
{
	for (unsigned l = 0; l < n; l++)
		if (x[l] != 0)
			return true;
	return false;
}

static void backward_term(const struct tensor *t, struct tensor_worker *w, uint32_t k)
{
	const struct tensor_term *term = &t->pl->term[k];
	unsigned lanes = t->pl->lanes;
	const struct tensor_node *root;

	if (!term->tree.nnode || !term->node[term->tree.nnode - 1].trained
		|| !any_of(w->dread + (size_t)k * lanes, lanes))
		return;
	root = &term->node[term->tree.nnode - 1];
	if (!t->pl->keeps && root->by_sample)
		forward_term(t, w, term);
	if (root->by_sample) {
		for (unsigned l = 0; l < lanes; l++)
			w->gradient_sample[root->gradient_at * lanes + l] =
				term->network->factor * w->dread[k * lanes + l];
	} else {
		double sum = 0;

		for (unsigned l = 0; l < lanes; l++)
			sum += w->dread[k * lanes + l];
		w->gradient_shared[root->gradient_at] = term->network->factor * sum;
	}
	for (uint32_t i = term->tree.nnode; i-- > 0;) {
		const struct tensor_node *x = &term->node[i];

		if (!x->trained)
			continue;
		if (i >= term->network->nleaf) {
			backward_node(t, w, term, i);
			continue;
		}
		const struct network_leaf *f = &term->network->leaf[i];

		if (x->by_sample)
			spread_leaf(f, w->gradient_sample + x->gradient_at * lanes, lanes,
				w->dtransfer + t->sample_offset[f->transfer] * lanes);
		else
			spread_leaf(f, w->gradient_shared + x->gradient_at, 1,
				w->dtransfer_shared + t->pl->set.transfer[f->transfer].offset);
	}
}

/* Gradients with respect to transfer matrices become those that gradients of matrices need: of shared ones, and
 * of sample l of the others. */
static void chain_shared(const struct tensor *t, struct tensor_worker *w)
{
	const struct network_set *s = &t->pl->set;

	memset(w->anti_hermitian, 0, s->set.offset[s->set.n] * sizeof *w->anti_hermitian);
	memset(w->dthreshold, 0, (size_t)s->nchannel * NOISE_WORDS_MAX * sizeof *w->dthreshold);
	for (uint32_t k = 0; k < s->ntransfer; k++) {
		const struct transfer *x = &s->transfer[k];

		if (x->channel != INDEX_NONE && t->channel[x->channel])
			noise_gradient(&s->channel[x->channel], x, w->dtransfer_shared + x->offset,
				w->dthreshold + (size_t)x->channel * NOISE_WORDS_MAX);
		if (x->cls != VALUE_SAMPLE && t->transition[x->matrix])
			transfer_gradient(x, t->u + s->set.offset[x->matrix],
				t->transfer + x->offset, w->dtransfer_shared + x->offset,
				w->anti_hermitian + s->set.offset[x->matrix]);
	}
}

/* To the thresholds of a channel. */
static void add_thresholds(const struct noise_channel *c, const double *threshold, double *dexpr)
{
	for (unsigned k = 0; k < c->nword; k++)
		dexpr[c->threshold[k]] += threshold[k];
}

static void chain_sample(const struct tensor *t, struct tensor_worker *w, unsigned l, double *gradient)
{
	const struct network_set *s = &t->pl->set;
	size_t nmatrix = s->set.offset[s->set.n], lanes = t->pl->lanes;
	double r[TRANSFER_ENTRIES], g[TRANSFER_ENTRIES];
	const cplx *u = w->u + l * nmatrix;

	memset(w->anti_hermitian_sample, 0, nmatrix * sizeof *w->anti_hermitian_sample);
	memset(w->dexpr, 0, t->p->nexpr * sizeof *w->dexpr);
	for (uint32_t k = 0; k < s->ntransfer; k++) {
		const struct transfer *x = &s->transfer[k];

		bool channel = x->channel != INDEX_NONE && t->pl->depends[x->matrix];
		double threshold[NOISE_WORDS_MAX] = { 0 };

		if (x->cls != VALUE_SAMPLE || !(channel || t->transition_sample[x->matrix]))
			continue;
		for (size_t i = 0; i < (size_t)1 << (4 * x->nqubit); i++) {
			r[i] = w->transfer[(t->sample_offset[k] + i) * lanes + l];
			g[i] = w->dtransfer[(t->sample_offset[k] + i) * lanes + l];
		}
		if (channel) {
			noise_gradient(&s->channel[x->channel], x, g, threshold);
			add_thresholds(&s->channel[x->channel], threshold, w->dexpr);
			continue;
		}
		transfer_gradient(x, u + s->set.offset[x->matrix], r, g,
			w->anti_hermitian_sample + s->set.offset[x->matrix]);
	}
	matrix_reverse(&s->set, w->value + (size_t)l * t->p->nexpr, u, NULL, t->reverse_sample,
		t->transition_sample, w->anti_hermitian_sample, w->pauli_gradient, w->dexpr);
	program_eval_reverse(t->p, w->value + (size_t)l * t->p->nexpr, w->dexpr, gradient);
}

static int unit_vector(const struct tensor *t, const struct tensor_worker *w,
	const double *gradient, struct fixed *v, struct err *e)
{
	const struct network_set *s = &t->pl->set;
	uint32_t from = t->direct ? 0 : t->p->nweight_circuit;
	bool good = true;
	size_t at = 0;

	for (uint32_t m = 0; m < s->set.n; m++)
		if (t->transition[m]) {
			size_t n = s->set.offset[m + 1] - s->set.offset[m];

			good &= fixed_from_all(w->anti_hermitian + s->set.offset[m], n, v + at);
			at += n;
		}
	for (uint32_t c = 0; c < s->nchannel; c++)
		if (t->channel[c]) {
			good &= fixed_from_all(w->dthreshold + (size_t)c * NOISE_WORDS_MAX,
				s->channel[c].nword, v + at);
			at += s->channel[c].nword;
		}
	good &= fixed_from_all(gradient + from, t->p->nweight - from, v + at);
	if (good)
		return 0;
	return err_set(e, -ERR_NOT_FINITE,
		"samples %u to %u of the batch: their gradient is not finite or too large",
		w->first, w->first + w->count - 1);
}

static int tensor_backward(void *state, unsigned worker, uint32_t unit, const double *dreadout,
	double *gradient, struct fixed *v, struct err *e)
{
	struct tensor *t = state;
	const struct network_set *s = &t->pl->set;
	struct tensor_worker *w = &t->worker[worker];
	unsigned lanes = t->pl->lanes;

	(void)unit;
	memset(w->dread, 0, (size_t)s->nterm * lanes * sizeof *w->dread);
	for (uint32_t k = 0; k < s->npart; k++)
		for (uint32_t l = 0; l < w->count; l++)
			w->dread[(size_t)s->part[k].term * lanes + l] += s->part[k].coefficient
				* dreadout[(size_t)l * t->p->nreadout + s->part[k].readout];
	memset(w->dtransfer_shared, 0, s->ntransfer_entry * sizeof(double));
	memset(w->dtransfer, 0, t->nsample_entry * lanes * sizeof(double));
	for (uint32_t k = s->nterm; k-- > 0;)
		backward_term(t, w, k);
	recorder_mark(PHASE_BACKWARD);
	chain_shared(t, w);
	for (uint32_t l = 0; l < w->count && t->direct; l++)
		chain_sample(t, w, l, gradient);
	recorder_mark(PHASE_CHAIN);
	int code = unit_vector(t, w, gradient, v, e);
	recorder_mark(PHASE_SUMS);
	return code;
}

static void tensor_finish(void *state, const struct fixed *sum, double *gradient)
{
	struct tensor *t = state;
	const struct network_set *s = &t->pl->set;
	const struct program *p = t->p;
	size_t at = 0;

	memset(gradient, 0, p->nweight * sizeof *gradient);
	for (uint32_t m = 0; m < s->set.n; m++)
		for (size_t i = s->set.offset[m]; t->transition[m] && i < s->set.offset[m + 1]; i++)
			t->anti_hermitian[i] = fixed_value(sum[at++]);
	memset(t->dexpr, 0, p->nexpr * sizeof *t->dexpr);
	for (uint32_t c = 0; c < s->nchannel; c++)
		for (unsigned k = 0; t->channel[c] && k < s->channel[c].nword; k++)
			t->dexpr[s->channel[c].threshold[k]] += fixed_value(sum[at++]);
	matrix_reverse(&s->set, t->value, t->u, t->kept, t->reverse, t->transition,
		t->anti_hermitian, t->pauli_gradient, t->dexpr);
	program_eval_reverse(p, t->value, t->dexpr, gradient);
	for (uint32_t i = t->direct ? 0 : p->nweight_circuit; i < p->nweight; i++)
		gradient[i] += fixed_value(sum[at++]);
	program_clear_frozen(p, gradient);
}

const struct engine engine_tensor = {
	.name = "tensor",
	.obstacle = tensor_obstacle,
	.describe = tensor_describe,
	.cost = tensor_cost,
	.check = tensor_check,
	.program = tensor_program,
	.open = tensor_open,
	.close = tensor_close,
	.layout = tensor_layout,
	.set_weights = tensor_set_weights,
	.prepare = tensor_prepare,
	.work = tensor_work,
	.plain_flops = tensor_plain_flops,
	.count = tensor_count,
	.begin = tensor_begin,
	.run = tensor_run,
	.forward = tensor_forward,
	.backward = tensor_backward,
	.finish = tensor_finish,
};
