/* SPDX-License-Identifier: Apache-2.0
 * Weights by circuit instance and dense layer, from and to Keras's arrays. */
#include "runtime/train/keras/keras.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/train/keras/keras_h5.h"

/* The weights of one circuit instance: first .. first+count-1. */
struct block { const char *name; uint32_t first, count; };

struct blocks { uint32_t n; struct block *block; };

/* The instance that a group's path begins with; "" where circuits have no names. */
static const char *instance_of(const struct program *p, const char *path)
{
	size_t n = strcspn(path, ".");

	for (uint32_t c = 0; path[n] && c < p->ncircuit; c++)
		if (strlen(p->circuit[c].name) == n && !strncmp(p->circuit[c].name, path, n))
			return p->circuit[c].name;
	return "";
}

/* Groups of one instance are neighbours, as elaboration runs. */
static struct blocks blocks_of(const struct program *p)
{
	struct blocks b = { 0, mem_alloc(p->nweight_group + 1, sizeof *b.block) };

	for (uint32_t g = 0; g < p->nweight_group; g++) {
		const struct weight_group *w = &p->weight_group[g];
		const char *name = instance_of(p, w->path);

		if (w->first >= p->nweight_circuit || !w->count)
			continue;
		if (!b.n || strcmp(b.block[b.n - 1].name, name))
			b.block[b.n++] = (struct block){ name, w->first, 0 };
		b.block[b.n - 1].count += w->count;
	}
	return b;
}

uint32_t keras_next_symbol(uint32_t k, uint32_t n)
{
	if (!k)
		return 1;
	if ((uint64_t)k * 10 < n)
		return k * 10;
	if (k + 1 >= n)
		k /= 10;
	k++;
	while (k % 10 == 0)
		k /= 10;
	return k;
}

/* Do gates contain the weights?  used[nweight_circuit]; NULL without memory. */
static bool *weights_in_gates(const struct program *p)
{
	bool *used = mem_try((size_t)p->nweight_circuit + 1, sizeof *used);

	for (uint32_t i = 0; used && i < p->nexpr; i++)
		if (p->expr[i].op == EXPR_WEIGHT && p->expr[i].a < p->nweight_circuit)
			used[p->expr[i].a] = true;
	return used;
}

/* Of those of a block that are used, all if that is NULL; how many, into weight[] unless that is NULL. */
static uint32_t sorted_block(const struct block *b, const bool *used, uint32_t *weight)
{
	uint32_t symbol = 0, n = 0;

	for (uint32_t i = 0; i < b->count; i++, symbol = keras_next_symbol(symbol, b->count)) {
		if (used && !used[b->first + symbol])
			continue;
		if (weight)
			weight[n] = b->first + symbol;
		n++;
	}
	return n;
}

bool keras_order(const struct program *p, uint32_t k, uint64_t count, uint32_t *weight)
{
	struct blocks b = blocks_of(p);
	bool *used = k < b.n && count < b.block[k].count ? weights_in_gates(p) : NULL;
	bool fits = k < b.n && (used ? sorted_block(&b.block[k], used, NULL) : b.block[k].count) == count;

	if (fits)
		sorted_block(&b.block[k], used, weight);
	free(used);
	free(b.block);
	return fits;
}

/* ---- in ---- */

struct reading {
	const struct program *program;
	struct blocks blocks;
	struct keras_arrays file;
	uint32_t ncircuit, ndense;   /* seen so far */
	bool circuit_only;
	double *weight;
	struct err *e;
};

/* "kernel" of "dense_1/kernel:0". */
static bool is_called(const struct keras_array *a, const char *name)
{
	const char *base = path_base(a->name);
	size_t n = strcspn(base, ":");

	return strlen(name) == n && !strncmp(base, name, n);
}

static int check_finite(const struct reading *r, const struct keras_array *a)
{
	for (uint64_t i = 0; i < a->count; i++)
		if (!isfinite(a->value[i]))
			return err_set(r->e, -ERR_BAD_DATA, "%s: %s: a value is not finite", a->layer, a->name);
	return 0;
}

static int read_circuit(struct reading *r, const struct keras_array *a)
{
	const uint32_t k = r->ncircuit++;
	const struct block *b = &r->blocks.block[k];

	if (k >= r->blocks.n)
		return 0;            /* counted at the end */
	uint32_t *weight = mem_try((size_t)b->count + 1, sizeof *weight);
	bool fits = weight && a->count <= b->count && keras_order(r->program, k, a->count, weight);
	for (uint32_t i = 0; fits && i < b->count; i++)
		r->weight[b->first + i] = 0;
	for (uint64_t i = 0; fits && i < a->count; i++)
		r->weight[weight[i]] = a->value[i];
	free(weight);
	if (!weight)
		return err_set(r->e, -ERR_CONFIG, "no memory for %u weights", b->count);
	if (!fits)
		return err_set(r->e, -ERR_BAD_DATA, "%s: %s: %llu numbers, but %s%s has %u weights", a->layer, a->name,
			(unsigned long long)a->count, *b->name ? "the model's circuit " : "the model's circuit", b->name, b->count);
	return 0;
}

static int read_dense(struct reading *r, const struct keras_array *kernel, const struct keras_array *bias)
{
	const struct program *p = r->program;
	uint32_t k = r->ndense++;
	const struct dense *d = &p->dense[k];

	if (!bias)
		return err_set(r->e, -ERR_BAD_DATA, "%s: a dense layer without a bias; those of a model have one", kernel->layer);
	if (kernel->ndim != 2 || bias->ndim != 1 || kernel->dim[1] != bias->dim[0])
		return err_set(r->e, -ERR_BAD_DATA, "%s: the kernel is no matrix with a column for each entry of the bias; only "
			"circuits and dense layers can be read", kernel->layer);
	if (k >= p->ndense || r->circuit_only)
		return 0;
	if (kernel->dim[0] != d->nin || kernel->dim[1] != d->nout)
		return err_set(r->e, -ERR_BAD_DATA, "%s: the kernel is [%llu, %llu], head.dense[%u].kernel is [%u, %u]", kernel->layer,
			(unsigned long long)kernel->dim[0], (unsigned long long)kernel->dim[1], k, d->nin, d->nout);
	memcpy(r->weight + p->weight_group[d->kernel].first, kernel->value, (size_t)kernel->count * sizeof *r->weight);
	memcpy(r->weight + p->weight_group[d->bias].first, bias->value, (size_t)bias->count * sizeof *r->weight);
	return 0;
}

static int read_array(struct reading *r, uint32_t *i)
{
	const struct keras_array *a = &r->file.array[(*i)++], *bias = NULL;
	int code = check_finite(r, a);

	if (code)
		return code;
	if (!is_called(a, "kernel")) {
		if (a->ndim == 1 && !is_called(a, "bias"))
			return read_circuit(r, a);
		return err_set(r->e, -ERR_BAD_DATA, "%s: %s: neither the weights of a circuit (one list) nor kernel and bias of a "
			"dense layer", a->layer, a->name);
	}
	if (*i < r->file.n && is_called(&r->file.array[*i], "bias") && !strcmp(r->file.array[*i].layer, a->layer))
		bias = &r->file.array[(*i)++];
	code = bias ? check_finite(r, bias) : 0;
	return code ? code : read_dense(r, a, bias);
}

static int check_counts(const struct reading *r)
{
	if (r->ncircuit != r->blocks.n)
		return err_set(r->e, -ERR_BAD_DATA, "%u lists of circuit weights, the model has %u circuits with weights", r->ncircuit,
			r->blocks.n);
	if (r->ndense != r->program->ndense && !r->circuit_only)
		return err_set(r->e, -ERR_BAD_DATA, "%u dense layers, the model's head has %u", r->ndense, r->program->ndense);
	return 0;
}

int keras_import(const struct program *p, const char *path, bool circuit_only, double *weight, struct err *e)
{
	struct reading r = { .program = p, .circuit_only = circuit_only, .weight = weight, .e = e };
	int code = keras_h5_read(path, p->nweight, &r.file, e);

	if (code)
		return code;
	r.blocks = blocks_of(p);
	for (uint32_t i = 0; !code && i < r.file.n; )
		code = read_array(&r, &i);
	if (!code)
		code = check_counts(&r);
	if (code)
		err_prefix(e, "%s", path);
	free(r.blocks.block);
	keras_arrays_release(&r.file);
	return code;
}

/* ---- out ---- */

/* Keras's names: "pqc", "pqc_1", ... */
static const char *layer_name(struct arena *a, const char *kind, uint32_t k)
{
	return k ? arena_printf(a, "%s_%u", kind, k) : kind;
}

/* place: (b->count) scratch. */
static struct keras_array circuit_array(struct arena *a, const struct block *b, uint32_t k, const bool *used, const double *weight,
	uint32_t *place, double *sorted)
{
	uint32_t n = sorted_block(b, used, place);

	for (uint32_t i = 0; i < n; i++)
		sorted[b->first + i] = weight[place[i]];
	return (struct keras_array){ .layer = layer_name(a, "pqc", k), .name = "parameters:0", .ndim = 1, .dim = { n },
		.count = n, .value = sorted + b->first };
}

static struct keras_array dense_array(struct arena *a, const struct weight_group *g, const char *layer, const char *name,
	const double *weight)
{
	struct keras_array out = { .layer = layer, .name = arena_printf(a, "%s/%s:0", layer, name), .ndim = g->ndim,
		.count = g->count, .value = weight + g->first };

	for (uint32_t i = 0; i < g->ndim; i++)
		out.dim[i] = g->dim[i];
	return out;
}

int keras_export(const struct program *p, const double *weight, const char *path, struct err *e)
{
	struct blocks b = blocks_of(p);
	arena_auto names = { 0 };
	mem_auto struct keras_array *array = mem_alloc(b.n + 2 * p->ndense + 1, sizeof *array);
	mem_auto double *sorted = mem_try((size_t)p->nweight_circuit + 1, sizeof *sorted);
	mem_auto uint32_t *place = mem_try((size_t)p->nweight_circuit + 1, sizeof *place);
	mem_auto bool *used = weights_in_gates(p);
	bool enough = sorted && place && used;
	uint32_t n = 0;

	for (uint32_t k = 0; enough && k < b.n; k++)
		array[n++] = circuit_array(&names, &b.block[k], k, used, weight, place, sorted);
	for (uint32_t k = 0; k < p->ndense; k++) {
		const char *layer = layer_name(&names, "dense", k);

		array[n++] = dense_array(&names, &p->weight_group[p->dense[k].kernel], layer, "kernel", weight);
		array[n++] = dense_array(&names, &p->weight_group[p->dense[k].bias], layer, "bias", weight);
	}
	int code = enough ? keras_h5_write(path, array, n, e)
			  : err_set(e, -ERR_CONFIG, "no memory for %u weights", p->nweight_circuit);
	free(b.block);
	return code;
}
