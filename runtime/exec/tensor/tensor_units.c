/* SPDX-License-Identifier: Apache-2.0
 * What units of a batch are computed by: contractions forward and back, and the chain from tensors to weights. */
#include "runtime/exec/tensor/tensor.h"

#include <string.h>

#include "runtime/base/profile/recorder.h"

/* ---- contractions ---- */

static unsigned lanes_of(const struct tensor *t, const struct tensor_node *x)
{
	return x->by_sample ? t->pl->lanes : 1;
}

/* The entries of a node's tensor, and of its gradient. */
static double *entry_of(const struct tensor *t, const struct tensor_worker *w,
	const struct tensor_node *x)
{
	return (x->by_sample ? w->entry : t->entry) + x->at * lanes_of(t, x);
}

static double *gradient_of(const struct tensor *t, const struct tensor_worker *w,
	const struct tensor_node *x)
{
	return (x->by_sample ? w->gradient_sample : w->gradient_shared)
		+ x->gradient_at * lanes_of(t, x);
}

/* Entries of a node, or of its gradient, as a matrix. */
static struct contraction_operand operand(const struct tensor *t, const struct tensor_node *x,
	double *at, const uint32_t *row, const uint32_t *column)
{
	return (struct contraction_operand){ at, row, column, lanes_of(t, x) > 1 };
}

/* One contraction of those of node x. */
static void multiply(const struct tensor *t, const struct tensor_worker *w,
	const struct tensor_node *x, const struct contraction_product *p)
{
	t->kernels->multiply(x->large ? t->together : 1, p, w->pack);
}

static void contract(const struct tensor *t, const struct tensor_worker *w,
	const struct tensor_term *term, uint32_t node)
{
	const struct tensor_node *x = &term->node[node];
	const uint32_t *child = term->tree.child[node - term->network->nleaf];
	const struct tensor_node *a = &term->node[child[0]], *b = &term->node[child[1]];

	multiply(t, w, x,
		&(struct contraction_product){ x->m, x->n, x->k,
			operand(t, a, entry_of(t, w, a), x->a_row, x->a_column),
			operand(t, b, entry_of(t, w, b), x->b_row, x->b_column),
			operand(t, x, entry_of(t, w, x), x->c_row, x->c_column) });
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

int tensor_refuse_channel(const char *name, struct err *e)
{
	return err_set(e, -ERR_NOT_FINITE,
		"a probability of the noise channel `%s` is not between 0 and 1, or they add up to more",
		name);
}

/* ---- with new weights ---- */

/* The tensors of a term that differ between samples, or the others. */
static void fill_term(const struct tensor *t, const struct tensor_worker *w,
	const struct tensor_term *term, bool by_sample)
{
	for (uint32_t i = 0; i < term->tree.nnode; i++) {
		const struct tensor_node *x = &term->node[i];

		if (x->by_sample != by_sample)
			continue;
		if (i < term->network->nleaf) {
			const struct network_leaf *f = &term->network->leaf[i];
			const double *r = by_sample
				? w->transfer + t->sample_offset[f->transfer] * t->pl->lanes
				: t->transfer + t->pl->set.transfer[f->transfer].offset;

			fill_leaf(f, r, lanes_of(t, x), entry_of(t, w, x));
		} else {
			contract(t, w, term, i);
		}
	}
}

static int make_term(void *ctx, unsigned worker, uint32_t k, struct err *e)
{
	const struct tensor *t = ctx;

	(void)e;
	fill_term(t, &t->worker[worker], &t->pl->term[k], false);
	return 0;
}

void tensor_make_shared(struct tensor *t)
{
	if (t->pl->nslice) {
		engine_items(&engine_tensor, t, t->pl->set.nterm, make_term, t, PHASE_FORWARD, NULL);
		return;
	}
	t->together = t->nthread;
	for (uint32_t k = 0; k < t->pl->set.nterm; k++)
		make_term(t, 0, k, NULL);
}

void tensor_set_weights(void *state, const double *weight)
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
		tensor_make_shared(t);
	recorder_mark(PHASE_FORWARD);
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

/* <P> of each sample. */
static void read_term(const struct tensor *t, struct tensor_worker *w, uint32_t k)
{
	const struct tensor_term *term = &t->pl->term[k];
	const struct tensor_node *root = term->tree.nnode ? &term->node[term->tree.nnode - 1] : NULL;
	unsigned lanes = t->pl->lanes;

	for (unsigned l = 0; l < lanes; l++) {
		double x = root ? entry_of(t, w, root)[root->by_sample ? l : 0] : 1;

		w->read[k * lanes + l] = term->network->factor * x;
	}
}

static void add_parts(const struct tensor *t, const struct tensor_worker *w, unsigned lane,
	double *readout)
{
	const struct network_set *s = &t->pl->set;

	memcpy(readout, s->constant, t->p->nreadout * sizeof *readout);
	for (uint32_t k = 0; k < s->npart; k++)
		readout[s->part[k].readout] += s->part[k].coefficient
			* w->read[(size_t)s->part[k].term * t->pl->lanes + lane];
}

int tensor_forward(void *state, unsigned worker, uint32_t unit, double *readout, struct err *e)
{
	struct tensor *t = state;
	const struct network_set *s = &t->pl->set;
	struct tensor_worker *w = &t->worker[worker];

	if (t->pl->nslice) /* made with the weights */
		return 0;
	const char *improper = fill_unit(t, w, unit);

	if (improper)
		return tensor_refuse_channel(improper, e);
	recorder_mark(PHASE_ENCODING);
	for (uint32_t k = 0; k < s->nterm; k++) {
		fill_term(t, w, &t->pl->term[k], true);
		read_term(t, w, k);
	}
	for (uint32_t l = 0; l < w->count; l++)
		add_parts(t, w, l, readout + (size_t)l * t->p->nreadout);
	recorder_mark(PHASE_FORWARD);
	return 0;
}

void tensor_readout(void *state, unsigned worker, uint32_t sample, double *readout)
{
	const struct tensor *t = state;

	(void)sample;
	for (uint32_t k = 0; k < t->pl->set.nterm; k++)
		read_term(t, &t->worker[worker], k);
	add_parts(t, &t->worker[worker], 0, readout);
}

/* ---- backward ---- */

static void backward_node(const struct tensor *t, struct tensor_worker *w,
	const struct tensor_term *term, uint32_t node)
{
	const struct tensor_node *x = &term->node[node];
	const uint32_t *child = term->tree.child[node - term->network->nleaf];
	const struct tensor_node *a = &term->node[child[0]], *b = &term->node[child[1]];
	struct contraction_operand dc = operand(t, x, gradient_of(t, w, x), x->c_row, x->c_column);

	if (a->trained)
		multiply(t, w, x,
			&(struct contraction_product){ x->m, x->k, x->n, dc,
				operand(t, b, entry_of(t, w, b), x->b_column, x->b_row),
				operand(t, a, gradient_of(t, w, a), x->a_row, x->a_column) });
	if (b->trained)
		multiply(t, w, x,
			&(struct contraction_product){ x->k, x->n, x->m,
				operand(t, a, entry_of(t, w, a), x->a_column, x->a_row), dc,
				operand(t, b, gradient_of(t, w, b), x->b_row, x->b_column) });
}

static bool any_of(const double *x, unsigned n)
{
	for (unsigned l = 0; l < n; l++)
		if (x[l] != 0)
			return true;
	return false;
}

/* Where the gradient of a shared transfer matrix is added up. */
static double *touch(const struct tensor *t, struct tensor_worker *w, uint32_t transfer)
{
	const struct transfer *x = &t->pl->set.transfer[transfer];
	double *at = w->dtransfer_shared + x->offset;

	if (!w->touched[transfer])
		memset(at, 0, sizeof *at << (4 * x->nqubit));
	w->touched[transfer] = true;
	return at;
}

/* dread[nterm * lanes]. */
static void backward_term(const struct tensor *t, struct tensor_worker *w, uint32_t k,
	const double *dread)
{
	const struct tensor_term *term = &t->pl->term[k];
	unsigned lanes = t->pl->lanes;
	const struct tensor_node *root;

	if (!term->tree.nnode || !term->node[term->tree.nnode - 1].trained
		|| !any_of(dread + (size_t)k * lanes, lanes))
		return;
	root = &term->node[term->tree.nnode - 1];
	if (!t->pl->keeps && root->by_sample)
		fill_term(t, w, term, true);
	double *g = gradient_of(t, w, root);
	memset(g, 0, lanes_of(t, root) * sizeof *g);
	for (unsigned l = 0; l < lanes; l++)
		g[root->by_sample ? l : 0] += dread[k * lanes + l];
	for (unsigned l = 0; l < lanes_of(t, root); l++)
		g[l] *= term->network->factor;
	for (uint32_t i = term->tree.nnode; i-- > 0;) {
		const struct tensor_node *x = &term->node[i];

		if (!x->trained)
			continue;
		if (i >= term->network->nleaf) {
			backward_node(t, w, term, i);
			continue;
		}
		const struct network_leaf *f = &term->network->leaf[i];

		spread_leaf(f, gradient_of(t, w, x), lanes_of(t, x),
			x->by_sample ? w->dtransfer + t->sample_offset[f->transfer] * lanes
				     : touch(t, w, f->transfer));
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

		if (!w->touched[k])
			continue;
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

/* To dread[k * stride] of each term k. */
static void add_dreadout(const struct tensor *t, const double *dreadout, double *dread, size_t stride)
{
	const struct network_set *s = &t->pl->set;

	for (uint32_t k = 0; k < s->npart; k++)
		dread[s->part[k].term * stride] +=
			s->part[k].coefficient * dreadout[s->part[k].readout];
}

void tensor_readout_gradient(void *state, uint32_t sample, const double *dreadout)
{
	struct tensor *t = state;

	memcpy(t->dreadout + (size_t)sample * t->p->nreadout, dreadout,
		t->p->nreadout * sizeof *dreadout);
}

int tensor_mix(void *state, struct err *e)
{
	struct tensor *t = state;

	(void)e;
	memset(t->dread, 0, t->pl->set.nterm * sizeof *t->dread);
	for (uint32_t l = 0; l < t->batch.nsample; l++)
		add_dreadout(t, t->dreadout + (size_t)l * t->p->nreadout, t->dread, 1);
	return 0;
}

int tensor_backward(void *state, unsigned worker, uint32_t unit, const double *dreadout,
	double *gradient, struct fixed *v, struct err *e)
{
	struct tensor *t = state;
	const struct network_set *s = &t->pl->set;
	struct tensor_worker *w = &t->worker[worker];
	unsigned lanes = t->pl->lanes;

	memset(w->touched, 0, s->ntransfer * sizeof *w->touched);
	memset(w->dtransfer, 0, t->nsample_entry * lanes * sizeof(double));
	if (t->pl->nslice) {
		w->first = 0;
		w->count = t->batch.nsample;
		for (uint32_t k = unit; k < s->nterm; k += t->pl->nslice)
			backward_term(t, w, k, t->dread);
	} else {
		memset(w->dread, 0, (size_t)s->nterm * lanes * sizeof *w->dread);
		for (uint32_t l = 0; l < w->count; l++)
			add_dreadout(t, dreadout + (size_t)l * t->p->nreadout, w->dread + l, lanes);
		for (uint32_t k = s->nterm; k-- > 0;)
			backward_term(t, w, k, w->dread);
	}
	recorder_mark(PHASE_BACKWARD);
	chain_shared(t, w);
	for (uint32_t l = 0; l < w->count && t->direct; l++)
		chain_sample(t, w, l, gradient);
	recorder_mark(PHASE_CHAIN);
	int code = unit_vector(t, w, gradient, v, e);
	recorder_mark(PHASE_SUMS);
	return code;
}

void tensor_finish(void *state, const struct fixed *sum, double *gradient)
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
