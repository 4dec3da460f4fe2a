/* SPDX-License-Identifier: Apache-2.0
 * Reads, makes and splits samples as a configuration says. */
#include "cli/job/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job/classes.h"
#include "cli/job/sample_names.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/system/cpus.h"
#include "runtime/data/generate/generate.h"

enum { ROWS_TEXT_MAX = 8 << 20 };    /* bytes: half of what the header of weights.bin may take */

const char *sample_part_name(enum sample_part p)
{
	static const char *const name[PART_COUNT] = { "train", "validation", "test" };

	return name[p];
}

/* ---- how a file is to be read ---- */

struct reading {
	struct arena arena;
	struct read_options options;
};

static void read_inputs(const struct config *c, const struct input_want *want, unsigned nwant, struct diags *d,
	struct reading *r)
{
	const struct ynode *v = config_node(c, KEY_DATA_INPUTS);
	struct input_map *map;

	if (!v)
		return;
	map = arena_alloc(&r->arena, v->n + 1, sizeof *map);
	for (uint32_t i = 0; i < v->n; i++) {
		const struct ynode *columns = v->entry[i].value;
		unsigned n = columns->kind == YNODE_LIST ? columns->n : 1;
		const char **column = arena_alloc(&r->arena, n, sizeof *column);
		bool known = false;

		for (unsigned k = 0; k < n; k++)
			column[k] = columns->kind == YNODE_LIST ? columns->entry[k].value->text : columns->text;
		for (unsigned k = 0; k < nwant; k++)
			known |= !strcmp(want[k].name, v->entry[i].key);
		if (!known) {
			struct diag *g = diag_at(d, DIAG_CONFIG_VALUE, v->entry[i].key_at,
				"the model has no input `%s`", v->entry[i].key);
			buf_auto b = BUF_INIT;

			for (unsigned k = 0; k < nwant; k++)
				buf_printf(&b, "%s`%s`", k ? ", " : "", want[k].name);
			diag_help(g, nwant ? "its inputs are: %s" : "it has no inputs%s",
				nwant ? b.data : "");
		}
		map[i] = (struct input_map){ v->entry[i].key, column, n };
	}
	r->options.map = map;
	r->options.nmap = v->n;
}

static void read_label_map(const struct config *c, struct reading *r)
{
	const struct ynode *v = config_node(c, KEY_DATA_LABEL_MAP);
	const char **name;
	double *from, *to;

	if (!v)
		return;
	from = arena_alloc(&r->arena, v->n, sizeof *from);
	to = arena_alloc(&r->arena, v->n, sizeof *to);
	name = arena_alloc(&r->arena, v->n, sizeof *name);
	for (uint32_t i = 0; i < v->n; i++) {
		struct ynode key = { .kind = YNODE_NONE };

		yaml_resolve(&key, v->entry[i].key);
		name[i] = v->entry[i].key;
		from[i] = key.kind == YNODE_INT || key.kind == YNODE_REAL ? key.f : NAN;
		to[i] = v->entry[i].value->kind == YNODE_NULL ? NAN : v->entry[i].value->f;
	}
	r->options.label_map = (struct label_map){ from, to, v->n, name };
}

/* What the only input takes from a file, before data.transform. */
static const struct input_want *raw_want(const struct config *c, const struct input_want *want,
	const struct transform *learnt, struct input_want *raw)
{
	struct transform_wish wish[TRANSFORM_STEPS_MAX];
	unsigned n = c ? config_transforms(c, 0, wish) : 0;

	*raw = *want;
	if (learnt && transform_width(learnt))
		raw->count = transform_width(learnt);
	for (unsigned i = 0; !learnt && i < n; i++)
		raw->any_count |= wish[i].kind == TRANSFORM_pca || wish[i].kind == TRANSFORM_resize;
	return raw;
}

static bool is_streamed(const struct config *c, const char *path)
{
	const char *wish = c && config_has(c, KEY_DATA_STREAMING) ? config_text(c, KEY_DATA_STREAMING) : "off";

	return !strcmp(wish, "on") || (!strcmp(wish, "auto") && dataset_memory(path) > cpus_memory_available() / 2);
}

/* file: one for its own sake, of which nothing is to be learnt; it may be taken into memory, and lack labels. */
static int read_file(const struct samples_wish *w, const struct transform *learnt, const char *path, bool file, struct diags *d,
	struct dataset **out, struct err *e)
{
	const struct program *p = w->program;
	const struct config *c = w->config;
	struct input_want raw;
	struct reading r = { .options = { .want = w->want, .nwant = p->ninput_group, .label_required = !file, .inputs_only = !w->config } };
	unsigned errors = diags_errors(d);
	int code = 0;

	if (c) {
		read_inputs(c, w->want, p->ninput_group, d, &r);
		read_label_map(c, &r);
		r.options.label = config_text(c, KEY_DATA_LABEL);
		r.options.weight = config_text(c, KEY_DATA_SAMPLE_WEIGHT);
	}
	r.options.streamed = is_streamed(c, path);
	if (p->ninput_group == 1)
		r.options.want = raw_want(c, w->want, learnt, &raw);
	if (file && w->columns && !r.options.nmap) {
		r.options.ntrained = sample_names_read(w->columns, &r.arena, &r.options.trained);
		r.options.nmap = sample_names_map(&r.options, path, &r.arena, &r.options.map);
	}
	if (diags_errors(d) == errors)
		code = dataset_read(path, &r.options, d, out, e);
	if (learnt && !code && diags_errors(d) == errors)
		code = transform_apply(learnt, *out, e);
	if (file && !code && diags_errors(d) == errors)
		code = dataset_keep(*out, STREAM_KEEP_BYTES, e);
	arena_release(&r.arena);
	return code;
}

int samples_file(const struct samples_wish *w, const char *path, struct diags *d, struct dataset **out, struct err *e)
{
	return read_file(w, w->learnt, path, true, d, out, e);
}

/* ---- generated ---- */

static int generate(const struct samples_wish *w, struct diags *d, struct dataset **out, struct err *e)
{
	const struct config *c = w->config;
	const struct program *p = w->program;
	double option[GENERATOR_OPTIONS_MAX];
	struct generate_options o = {
		.name = config_generator(c, option),
		.seed = (uint64_t)config_int(c, KEY_RUN_SEED),
		.rounds = (uint32_t)config_int(c, KEY_DATA_ROUNDS),
		.nqubit = p->ninput,
		.option = option,
	};
	const enum generator_input makes = generator_input(o.name);
	const bool states = makes == GENERATOR_STATE;
	struct diag *g;

	if (makes == GENERATOR_NOTHING && !p->ninput_group)
		return dataset_generate(&o, out, e);
	if (states && p->ninput > 1)             /* re and im of 2^n amplitudes */
		o.nqubit = (uint32_t)__builtin_ctz(p->ninput) - 1;
	if (makes != GENERATOR_NOTHING && p->ninput_group == 1 && p->input_group[0].is_state == states)
		return dataset_generate(&o, out, e);
	g = diag_at(d, DIAG_CONFIG_VALUE, config_span(c, KEY_DATA_GENERATE),
		"%s makes %s, the model has %s", o.name,
		makes == GENERATOR_NOTHING ? "no input"
			: states           ? "one input, a state"
					   : "one input, of numbers",
		p->ninput_group == 0                 ? "none"
			: p->ninput_group > 1        ? "several"
			: p->input_group[0].is_state ? "a state"
						     : "one of numbers");
	for (uint32_t i = 0; i < p->ninput_group; i++)
		if (w->want[i].at.file)
			diag_second(g, w->want[i].at, "`%s` is declared here", w->want[i].name);
	return 0;
}

/* ---- all parts ---- */

static const enum key_id file_key[PART_COUNT] = { KEY_DATA_TRAIN, KEY_DATA_VALIDATION, KEY_DATA_TEST };

static int read_set(const struct samples_wish *w, enum sample_part k, struct diags *d, struct samples *s, struct err *e)
{
	const char *name = config_text(w->config, file_key[k]), *path;
	int code;

	s->used[k] = true;
	if (k == PART_TRAIN && config_has(w->config, KEY_DATA_GENERATE)) {
		code = generate(w, d, &s->set[k], e);
		return code || !s->set[k] || !w->learnt ? code : transform_apply(w->learnt, s->set[k], e);
	}
	path = w->find(w->ctx, name);
	if (!path)
		return err_set(e, -ERR_NO_INPUT, "the data file %s is not there", name);
	code = read_file(w, w->learnt, path, false, d, &s->set[k], e);
	if (code == -ERR_NO_INPUT && !w->learnt)
		config_blame(w->config, file_key[k], e);
	return code;
}

int samples_part(const struct dataset *d, uint32_t **kept, struct part *out, struct err *e)
{
	*kept = mem_try((size_t)d->nrow + 1, sizeof **kept);
	if (!*kept)
		return err_set(e, -ERR_CONFIG, "no memory for the numbers of %u rows", d->nrow);
	*out = (struct part){ d, *kept, dataset_labelled(d, *kept) };
	if (out->nrow == d->nrow)
		out->row = NULL;
	return 0;
}

/* The sizes of the parts, and rows 0 to n - 1 in the order in which they are dealt to them. */
static int divide(const struct config *c, uint32_t n, uint32_t *order, uint32_t *count,
	unsigned *npart, struct err *e)
{
	const bool shuffle = config_bool(c, KEY_DATA_SPLIT_SHUFFLE);
	const uint64_t seed = (uint64_t)config_int(c, KEY_RUN_SEED);
	const struct config_split s = config_split(c);
	uint32_t number[SPLIT_PARTS_MAX];

	if (s.nfold > n)
		return err_set(e, -ERR_CONFIG, "%u folds need as many rows, there are %u", s.nfold, n);
	if (s.nfold) {
		*npart = s.nfold;
		split_folds(n, s.nfold, number);
		return split_numbers(n, number, s.nfold, shuffle, seed, order, count, e);
	}
	/* The last part takes what rounding leaves, so it must be a part that is requested. */
	*npart = PART_COUNT;
	while (s.fraction[*npart - 1] == 0)
		--*npart;
	return s.counts ? split_numbers(n, s.number, *npart, shuffle, seed, order, count, e)
			: split_rows(n, s.fraction, *npart, shuffle, seed, order, count, e);
}

static void reverse(uint32_t *row, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t other = row[n - 1 - i];

		row[n - 1 - i] = row[i];
		row[i] = other;
	}
}

/* One fold moves to the end, for validation; the others stay in their order, to train with. */
static void choose_fold(unsigned fold, uint32_t *count, unsigned nfold, uint32_t *order)
{
	uint32_t before = 0, behind = 0, size = count[fold];

	for (unsigned k = 0; k < nfold; k++)
		*(k < fold ? &before : &behind) += k == fold ? 0 : count[k];
	reverse(order + before, size);
	reverse(order + before + size, behind);
	reverse(order + before, size + behind);
	count[PART_TRAIN] = before + behind;
	count[PART_VALIDATION] = size;
}

static int split(const struct samples_wish *w, struct samples *s, struct err *e)
{
	uint32_t count[SPLIT_PARTS_MAX] = { 0 }, at = 0, n;
	const struct config_split wish = config_split(w->config);
	unsigned npart = 0;
	struct part all = { .nrow = 0 };
	int code;

	if (!s->set[0])
		return 0;
	code = samples_part(s->set[0], &s->kept[PART_TRAIN], &all, e);
	n = all.nrow;
	s->order = mem_try((size_t)n + 1, sizeof *s->order);
	if (!code && !s->order)
		code = err_set(e, -ERR_CONFIG, "no memory for the order of %u rows", n);
	if (!code)
		code = divide(w->config, n, s->order, count, &npart, e);
	for (uint32_t i = 0; !code && i < n; i++)
		s->order[i] = part_row(&all, s->order[i]);
	if (!code && config_bool(w->config, KEY_DATA_SPLIT_STRATIFY))
		code = split_stratify(s->set[0], n, count, npart, s->order, e);
	if (!code && wish.nfold) {
		choose_fold(wish.fold, count, wish.nfold, s->order);
		npart = PART_VALIDATION + 1;
	}
	for (unsigned k = 0; !code && k < npart; k++) {
		if (count[k])
			s->part[k] = (struct part){ s->set[0], s->order + at, count[k] };
		at += count[k];
	}
	if (!code && !n)
		code = err_set(e, -ERR_CONFIG, "data.label_map leaves out all %u rows",
			s->set[0]->nrow);
	if (!code && !count[PART_TRAIN])
		code = err_set(e, -ERR_CONFIG,
			"the split leaves no row to train with, of %u; give a larger fraction", n);
	if (code == -ERR_CONFIG) {
		err_prefix(e, "%s", s->set[0]->source);
		config_blame(w->config, n ? KEY_DATA_SPLIT : KEY_DATA_LABEL_MAP, e);
	}
	return code;
}

/* Are the steps such as the model's inputs can follow? */
static void check_transforms(const struct samples_wish *w, const struct transform_wish *wish, unsigned n, struct diags *d)
{
	const struct program *p = w->program;
	struct span at = config_span(w->config, KEY_DATA_TRANSFORM);
	const char *last = NULL;
	uint32_t width = p->ninput;

	for (uint32_t i = 0; n && i < p->ninput_group; i++)
		if (p->input_group[i].is_state)
			diag_at(d, DIAG_CONFIG_VALUE, at, "`data.transform` changes numbers, but input `%s` is a state",
				w->want[i].name);
	for (unsigned i = 0; i < n; i++) {
		if (!transform_wish_width(&wish[i]))
			continue;
		last = transform_name(wish[i].kind);
		width = transform_wish_width(&wish[i]);
		if (p->ninput_group > 1)
			diag_at(d, DIAG_CONFIG_VALUE, at,
				"%s is for a model with one input, this one has %u", last,
				p->ninput_group);
	}
	if (width != p->ninput)
		diag_at(d, DIAG_CONFIG_VALUE, at, "%s makes %u %s, the model's input takes %u",
			last, width, strcmp(last, "pca") ? "numbers" : "components", p->ninput);
}

/* Learns the steps from the training part, and takes the other files through them. */
static int transform(const struct transform_wish *wish, unsigned n, struct samples *s, struct err *e)
{
	const struct part *p = &s->part[PART_TRAIN];
	int code = transform_fit(wish, n, s->set[0], p->row, p->nrow, &s->transform, e);

	for (unsigned k = PART_VALIDATION; !code && k < PART_COUNT; k++)
		if (s->set[k])
			code = transform_apply(&s->transform, s->set[k], e);
	return code;
}

/* Is set k needed for the parts that are wished? */
static bool needed(const struct samples_wish *w, enum sample_part k)
{
	const struct config_split s = config_split(w->config);
	unsigned parts = 0;

	if (k != PART_TRAIN)
		return config_has(w->config, file_key[k]) && (w->parts & 1u << k);
	for (unsigned i = 0; i < PART_COUNT; i++)
		if (s.fraction[i] > 0)
			parts |= 1u << i;
	return w->parts & parts;
}

static void no_data(const struct samples_wish *w, struct diags *d)
{
	const struct span model = config_span(w->config, KEY_MODEL_FILE);
	struct diag *g = diag_at(d, DIAG_CONFIG_MISSING, (struct span){ model.file, 0, 0 }, "there are no data to train with");

	if (w->program->ninput_group)
		diag_help(g,
			"give `data.train`, the name of a file, or `data.generate`, the name of a generator");
	else
		diag_help(g,
			"this model has no inputs: give `data.generate: no-input`, and `train.loss: output` to minimise its output");
}

int samples_open(const struct samples_wish *w, struct diags *d, struct samples *out, struct err *e)
{
	struct transform_wish wish[TRANSFORM_STEPS_MAX];
	unsigned nwish = config_transforms(w->config, w->program->ninput, wish);
	struct samples s = { .order = NULL };
	int code = 0;

	if (!config_has(w->config, KEY_DATA_GENERATE) && !config_has(w->config, KEY_DATA_TRAIN)) {
		no_data(w, d);
		*out = s;
		return 0;
	}
	check_transforms(w, wish, nwish, d);
	for (unsigned k = 0; !code && !diags_errors(d) && k < PART_COUNT; k++)
		if (needed(w, k))
			code = read_set(w, k, d, &s, e);
	if (!code && !diags_errors(d))
		code = split(w, &s, e);
	if (!code && nwish && !w->learnt && !diags_errors(d))
		code = transform(wish, nwish, &s, e);
	for (unsigned k = 0; !code && !diags_errors(d) && k < PART_COUNT; k++)
		if (s.set[k])
			code = dataset_keep(s.set[k], STREAM_KEEP_BYTES, e);
	for (unsigned k = PART_VALIDATION; !code && !diags_errors(d) && k < PART_COUNT; k++)
		if (s.set[k])
			code = samples_part(s.set[k], &s.kept[k], &s.part[k], e);
	if (code) {
		samples_release(&s);
		return code;
	}
	*out = s;
	out->through = nwish && !w->learnt ? &out->transform : w->learnt;
	return 0;
}

void samples_release(struct samples *s)
{
	for (unsigned k = 0; k < PART_COUNT; k++) {
		dataset_free(s->set[k]);
		free(s->kept[k]);
	}
	free(s->order);
	transform_release(&s->transform);
	memset(s, 0, sizeof *s);
}

/* ---- description ---- */

/* "0-111,140,150-159": rows in their order, runs that count upwards joined. */
static void rows_text(const struct part *p, struct buf *out)
{
	for (uint32_t i = 0, n; i < p->nrow; i += n) {
		uint32_t first = p->row ? p->row[i] : i;

		n = 1;
		while (i + n < p->nrow && (p->row ? p->row[i + n] : i + n) == first + n)
			n++;
		buf_printf(out, n > 1 ? "%s%u-%u" : "%s%u", i ? "," : "", first, first + n - 1);
	}
}

static void describe_part(const struct samples *s, const struct config *c, enum sample_part k, json_t *all, struct buf *rows)
{
	bool own = s->set[k] && k != PART_TRAIN;
	const struct dataset *set = own ? s->set[k] : s->set[0];
	const char *name = config_text(c, file_key[own ? k : PART_TRAIN]);
	char hex[SHA256_HEX + 1];
	double option[GENERATOR_OPTIONS_MAX];
	json_t *part = json_object();

	sha256_hex(set->digest, hex);
	buf_clear(rows);
	rows_text(&s->part[k], rows);
	json_object_set_new(part, "source", json_string(name ? name : config_generator(c, option)));
	json_object_set_new(part, "generated", json_boolean(!name));
	json_object_set_new(part, "sha256", json_string(hex));
	json_object_set_new(part, "rows", json_string(rows->data));
	json_object_set_new(part, "count", json_integer(s->part[k].nrow));
	json_object_set_new(all, sample_part_name(k), part);
}

int samples_describe(const struct samples *s, const struct config *c, struct buf *out, struct err *e)
{
	json_auto_t *all = json_object();
	buf_auto rows = BUF_INIT;
	int code = 0;

	for (unsigned k = 0; k < PART_COUNT; k++)
		if (s->part[k].nrow)
			describe_part(s, c, k, all, &rows);
	json_write(all, out);
	if (out->len > ROWS_TEXT_MAX)
		code = err_set(e, -ERR_CONFIG,
			"the shuffled split has too many rows for weights.bin; "
			"shuffle the file and set data.split_shuffle: false");
	return code;
}

void samples_columns(const struct samples *s, const struct config *c, struct buf *out)
{
	if (s->set[0] && !config_node(c, KEY_DATA_INPUTS))
		sample_names_format(s->set[0], out);
}
