/* SPDX-License-Identifier: Apache-2.0
 * struct read_options as JSON: {"inputs": [{"name", "count", "state", "any"}], "map": [{"input", "columns"}], "label",
 * "weight", "required", "labels": [{"name", "from", "to"}], "streamed"}. */
#include "runtime/data/format/dataset_spec.h"

#include <math.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/json.h"

enum { SPEC_ENTRIES_MAX = DATASET_COLUMNS_MAX };

/* ---- to text ---- */

static json_t *word_or_null(const char *word) { return word ? json_string(word) : json_null(); }

static json_t *number_or_null(double v) { return isnan(v) ? json_null() : json_real(v); }

static json_t *inputs_json(const struct read_options *o)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < o->nwant; i++)
		json_array_append_new(all, json_pack("{s:s, s:I, s:b, s:b}", "name", o->want[i].name, "count", (json_int_t)o->want[i].count,
			"state", (int)o->want[i].is_state, "any", (int)o->want[i].any_count));
	return all;
}

static json_t *map_json(const struct read_options *o)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < o->nmap; i++) {
		json_t *columns = json_array();

		for (unsigned k = 0; k < o->map[i].ncolumn; k++)
			json_array_append_new(columns, json_string(o->map[i].column[k]));
		json_array_append_new(all, json_pack("{s:s, s:o}", "input", o->map[i].input, "columns", columns));
	}
	return all;
}

static json_t *labels_json(const struct label_map *m)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < m->n; i++)
		json_array_append_new(all,
			json_pack("{s:o, s:o, s:o}", "name", word_or_null(m->name ? m->name[i] : NULL),
				"from", number_or_null(m->from[i]), "to", number_or_null(m->to[i])));
	return all;
}

void dataset_spec_format(const struct read_options *o, struct buf *out)
{
	json_auto_t *all = json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:b}", "inputs",
		inputs_json(o), "map", map_json(o), "label", word_or_null(o->label), "weight",
		word_or_null(o->weight), "required", (int)o->label_required, "labels",
		labels_json(&o->label_map), "streamed", (int)o->streamed);

	json_write(all, out);
}

/* ---- from text; words are borrowed from the tree ---- */

static const char *word_of(const json_t *v, const char *key)
{
	return json_string_value(json_object_get(v, key));
}

/* Entries of a list, and room for what they become; false: it is none, or too long. */
static bool list_of(const json_t *v, const char *key, struct arena *a, size_t size, void **room, unsigned *n)
{
	const json_t *list = json_object_get(v, key);
	size_t count = json_array_size(list);

	if (!json_is_array(list) || count > SPEC_ENTRIES_MAX)
		return false;
	*room = arena_alloc(a, count + 1, size);
	*n = (unsigned)count;
	return true;
}

static bool read_wants(const json_t *v, struct arena *a, struct read_options *o)
{
	struct input_want *want;

	if (!list_of(v, "inputs", a, sizeof *want, (void **)&want, &o->nwant))
		return false;
	for (unsigned i = 0; i < o->nwant; i++) {
		const json_t *one = json_array_get(json_object_get(v, "inputs"), i);
		json_int_t count = json_integer_value(json_object_get(one, "count"));

		want[i].name = word_of(one, "name");
		if (!want[i].name || count < 0 || count > DATASET_COLUMNS_MAX)
			return false;
		want[i].count = (uint32_t)count;
		want[i].is_state = json_is_true(json_object_get(one, "state"));
		want[i].any_count = json_is_true(json_object_get(one, "any"));
	}
	o->want = want;
	return true;
}

static bool read_map(const json_t *v, struct arena *a, struct read_options *o)
{
	struct input_map *map;

	if (!list_of(v, "map", a, sizeof *map, (void **)&map, &o->nmap))
		return false;
	for (unsigned i = 0; i < o->nmap; i++) {
		const json_t *one = json_array_get(json_object_get(v, "map"), i);
		const char **column;

		map[i].input = word_of(one, "input");
		if (!map[i].input || !list_of(one, "columns", a, sizeof *column, (void **)&column, &map[i].ncolumn))
			return false;
		for (unsigned k = 0; k < map[i].ncolumn; k++)
			if (!(column[k] = json_string_value(json_array_get(json_object_get(one, "columns"), k))))
				return false;
		map[i].column = column;
	}
	o->map = map;
	return true;
}

static double number_or_nan(const json_t *v)
{
	return json_is_number(v) ? json_number_value(v) : NAN;
}

static bool read_labels(const json_t *v, struct arena *a, struct label_map *m)
{
	double *from, *to;
	const char **name;

	if (!list_of(v, "labels", a, sizeof *from, (void **)&from, &m->n) || !list_of(v, "labels", a, sizeof *to, (void **)&to, &m->n)
			|| !list_of(v, "labels", a, sizeof *name, (void **)&name, &m->n))
		return false;
	for (unsigned i = 0; i < m->n; i++) {
		const json_t *one = json_array_get(json_object_get(v, "labels"), i);

		from[i] = number_or_nan(json_object_get(one, "from"));
		to[i] = number_or_nan(json_object_get(one, "to"));
		name[i] = word_of(one, "name");
		if (!name[i] && isnan(from[i]))
			return false;
		name[i] = name[i] ? name[i] : "";
	}
	*m = (struct label_map){ from, to, m->n, name };
	return true;
}

static int read_spec(const json_t *v, struct arena *a, struct read_options *o, struct err *e)
{
	*o = (struct read_options){ .label = word_of(v, "label"), .weight = word_of(v, "weight"),
		.label_required = json_is_true(json_object_get(v, "required")), .streamed = json_is_true(json_object_get(v, "streamed")) };
	if (read_wants(v, a, o) && read_map(v, a, o) && read_labels(v, a, &o->label_map))
		return 0;
	return err_set(e, -ERR_BAD_DATA, "the description of a data file is malformed");
}

/* ---- again ---- */

static int check_same(const struct dataset_claim *c, const struct dataset *d, struct err *e)
{
	if (memcmp(d->digest, c->digest, sizeof c->digest))
		return err_set(e, -ERR_BAD_DATA,
			"%s has another content than on the coordinator's host", c->path);
	if (d->nrow != c->nrow || d->nx != c->nx)
		return err_set(e, -ERR_BAD_DATA, "%s has %u samples of %u numbers, not %u of %u", c->path, d->nrow, d->nx, c->nrow, c->nx);
	return 0;
}

static int read_again(const struct dataset_claim *c, struct read_options *o, uint64_t most_bytes, struct dataset_again *out, struct err *e)
{
	struct diags *d = diags_new(source_set_new());

	o->streamed |= dataset_memory(c->path) > most_bytes;
	int code = dataset_read(c->path, o, d, &out->data, e);
	if (!code && (!out->data || diags_errors(d)))
		code = err_set(e, -ERR_BAD_DATA,
			"%s cannot be read in the same way as on the coordinator's host", c->path);
	if (!code && c->nthrough)
		code = transform_parse(c->through, c->nthrough, &out->through, e);
	if (!code && out->through.nstep)
		code = transform_apply(&out->through, out->data, e);
	if (!code)
		code = check_same(c, out->data, e);
	if (!code)
		code = dataset_keep(out->data, most_bytes, e);
	diags_free_all(d);
	return code;
}

int dataset_again_open(const struct dataset_claim *c, uint64_t most_bytes, struct dataset_again *out, struct err *e)
{
	json_auto_t *v = json_read(c->spec, c->nspec, e);
	struct read_options o;
	arena_auto a = { 0 };
	int code = v ? 0 : -ERR_BAD_DATA;

	*out = (struct dataset_again){ .data = NULL };
	if (!code)
		code = read_spec(v, &a, &o, e);
	if (!code)
		code = read_again(c, &o, most_bytes, out, e);
	if (code)
		dataset_again_release(out);
	return code;
}

void dataset_again_release(struct dataset_again *a)
{
	dataset_free(a->data);
	transform_release(&a->through);
	*a = (struct dataset_again){ .data = NULL };
}
