/* SPDX-License-Identifier: Apache-2.0
 * Data sets from .npz and .npy files: arrays whose first index is the row. */
#include "runtime/data/format/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/data/format/array_places.h"
#include "runtime/data/format/npz.h"
#include "runtime/data/row_store.h"
#include "runtime/data/dataset.h"

struct source {
	const char *path;
	const struct read_options *o;
	struct diags *diags;         /* may be NULL */
	struct npz z;
	struct array_place *place;   /* of each member of z, whose numbers are not there; NULL: they are */
	uint8_t digest[SHA256_BYTES];
	uint64_t nrow;
};

/* Numbers in one row. */
static uint64_t width_of(const struct array *a) { return a->dim[0] ? a->count / a->dim[0] : 0; }

static const char *key_of(const struct source *s, const struct input_want *w)
{
	const struct input_map *m = reader_map(s->o, w->name);

	return m && m->ncolumn ? m->column[0] : NULL;
}

static void shape_text(const struct array *a, struct buf *b)
{
	buf_char(b, '(');
	for (uint32_t k = 0; k < a->ndim; k++)
		buf_printf(b, "%s%llu", k ? ", " : "", (unsigned long long)a->dim[k]);
	buf_str(b, a->ndim == 1 ? ",)" : ")");
}

static int misfit(const struct source *s, const char *key, const struct array *a,
	const struct input_want *w, struct err *e)
{
	buf_auto b = BUF_INIT;

	shape_text(a, &b);
	return reader_misfit(s->diags, s->o, w, e,
		"%s: array \"%s\" has shape %s%s, but the model's input `%s` takes %u %snumbers in each row",
		s->path, key, b.data, a->is_complex ? " (complex)" : "", w->name,
		w->is_state ? w->count / 2 : w->count, w->is_state ? "complex " : "");
}

/* The first array sets the number of rows. */
static int check_rows(struct source *s, const char *key, const struct array *a, struct err *e)
{
	if (!a->ndim || !a->dim[0])
		return err_set(e, -ERR_BAD_DATA, "%s: array \"%s\" has no rows", s->path, key);
	if (s->nrow && a->dim[0] != s->nrow)
		return err_set(e, -ERR_BAD_DATA, "%s: array \"%s\" has %llu rows, the others have %llu",
			s->path, key, (unsigned long long)a->dim[0], (unsigned long long)s->nrow);
	s->nrow = a->dim[0];
	return 0;
}

static int not_finite(const struct source *s, const char *key, uint64_t row, uint64_t column,
	struct err *e)
{
	return err_set(e, -ERR_BAD_DATA, "%s: array \"%s\", row %llu, column %llu (from 0) is not finite",
		s->path, key, (unsigned long long)row, (unsigned long long)column);
}

/* Copies columns [from, from + w->count) of every row to x + first. */
static int copy_input(const struct source *s, const char *key, const struct array *a, uint64_t from,
	const struct input_want *w, uint64_t first, struct dataset *d, struct err *e)
{
	uint64_t width = width_of(a);
	bool pad = w->is_state && !a->is_complex;   /* real amplitudes: im is 0 */

	for (uint64_t r = 0; r < d->nrow; r++)
		for (uint64_t j = 0; j < w->count; j++) {
			uint64_t at = r * width * (a->is_complex ? 2 : 1) + from + (pad ? j / 2 : j);
			double v = pad && j & 1 ? 0 : a->value[at];

			if (!isfinite(v))
				return not_finite(s, key, r, from + j, e);
			d->x[r * d->nx + first + j] = v;
		}
	return 0;
}

/* An array of the input's own. */
static bool fits(const struct array *a, const struct input_want *w)
{
	uint64_t width = width_of(a);

	if (w->is_state)
		return 2 * width == w->count;
	return !a->is_complex && width == w->count;
}

static const char *missing(const struct source *s, const struct input_want *w)
{
	const char *key = key_of(s, w);

	return key ? key : w->name;
}

static int unknown_key(const struct source *s, const char *key, const char *who, struct err *e)
{
	buf_auto b = BUF_INIT;

	for (unsigned i = 0; i < s->z.n; i++)
		buf_printf(&b, "%s\"%s\"", i ? ", " : "", s->z.member[i].name);
	return err_set(e, -ERR_BAD_DATA, "%s: no array \"%s\" for %s; it has %s", s->path, key, who,
		b.len ? b.data : "none");
}

/* The array that feeds an input by its key or name; NULL: columns of "x". */
static const struct array *own_array(const struct source *s, const struct input_want *w)
{
	const char *key = key_of(s, w);

	return npz_find(&s->z, key ? key : w->name);
}

struct shared { const struct array *a; uint64_t from; };

/* Inputs without an array of their own take the next columns of "x". */
static int check_shared(struct source *s, struct shared *x, struct err *e)
{
	uint64_t wanted = 0;
	buf_auto b = BUF_INIT;
	int code = 0;

	*x = (struct shared){ NULL, 0 };
	for (unsigned i = 0; i < s->o->nwant; i++) {
		const struct input_want *w = &s->o->want[i];

		if (own_array(s, w))
			continue;
		x->a = npz_find(&s->z, "x");
		if (key_of(s, w) || w->is_state || !x->a)
			return unknown_key(s, missing(s, w), w->name, e);
		wanted += w->count;
	}
	if (!x->a)
		return 0;
	if (x->a->is_complex || width_of(x->a) != wanted) {
		shape_text(x->a, &b);
		code = reader_misfit(s->diags, s->o, NULL, e,
			"%s: array \"x\" has shape %s%s, but the model's inputs take %llu numbers in each row",
			s->path, b.data, x->a->is_complex ? " (complex)" : "",
			(unsigned long long)wanted);
	}
	return code ? code : check_rows(s, "x", x->a, e);
}

static int check_inputs(struct source *s, uint64_t *nx, struct shared *x, struct err *e)
{
	int code = check_shared(s, x, e);

	*nx = 0;
	for (unsigned i = 0; !code && i < s->o->nwant; i++) {
		const struct input_want *w = &s->o->want[i];
		const struct array *a = own_array(s, w);

		*nx += w->count;
		if (!a)
			continue;
		code = check_rows(s, missing(s, w), a, e);
		if (!code && !fits(a, w))
			code = misfit(s, missing(s, w), a, w, e);
	}
	return code;
}

static int find_label(struct source *s, const struct array **label, struct err *e)
{
	const char *key = s->o->label ? s->o->label : "y";

	*label = npz_find(&s->z, key);
	if (!*label)
		return s->o->label_required ? unknown_key(s, key, "the label", e) : 0;
	if ((*label)->is_complex)
		return err_set(e, -ERR_BAD_DATA, "%s: array \"%s\" is complex, labels are real", s->path, key);
	return check_rows(s, key, *label, e);
}

static int copy_labels(const struct source *s, const struct array *a, struct dataset *d, struct err *e)
{
	const char *key = s->o->label ? s->o->label : "y";

	for (uint64_t i = 0; i < (uint64_t)d->nrow * d->ny; i++) {
		double v = a->value[i];

		if (!isfinite(v))
			return not_finite(s, key, i / d->ny, i % d->ny, e);
		if (!label_map_apply(&s->o->label_map, &v))
			return err_set(e, -ERR_BAD_DATA,
				"%s: array \"%s\", row %llu: label %g is not in `label_map`; `'*': null` in it leaves out samples of other labels",
				s->path, key, (unsigned long long)(i / d->ny), v);
		d->y[i] = v;
	}
	return 0;
}

static int find_weight(struct source *s, const struct array **weight, struct err *e)
{
	const char *key = s->o->weight;

	*weight = key ? npz_find(&s->z, key) : NULL;
	if (!*weight)
		return key && s->o->label_required ? unknown_key(s, key, "the weights", e) : 0;
	int code = check_rows(s, key, *weight, e);
	if (!code && ((*weight)->is_complex || width_of(*weight) != 1))
		code = err_set(e, -ERR_BAD_DATA, "%s: array \"%s\" is to hold one weight for each row", s->path, key);
	return code;
}

static int copy_weights(const struct source *s, const struct array *a, struct dataset *d, struct err *e)
{
	d->weight = mem_try(d->nrow, sizeof *d->weight);
	if (!d->weight)
		return err_set(e, -ERR_CONFIG, "no memory for the weights of %u rows", d->nrow);
	for (uint32_t i = 0; i < d->nrow; i++) {
		if (!isfinite(a->value[i]))
			return not_finite(s, s->o->weight, i, 0, e);
		if (a->value[i] < 0)
			return err_set(e, -ERR_BAD_DATA, "%s: array \"%s\", row %u: the weight %g is negative", s->path,
				s->o->weight, i, a->value[i]);
		d->weight[i] = a->value[i];
	}
	return 0;
}

/* ---- inputs that stay in the file ---- */

static unsigned member_of(const struct source *s, const struct array *a)
{
	unsigned i = 0;

	while (&s->z.member[i].array != a)
		i++;
	return i;
}

/* w->count numbers of each row of the array, from `from` on. */
static int store_input(const struct source *s, const char *key, const struct array *a, uint64_t from,
	const struct input_want *w, uint64_t first, struct row_store *rows, struct err *e)
{
	const struct array_place *p = &s->place[member_of(s, a)];
	const unsigned parts = a->is_complex ? 2 : 1;
	struct row_field f = { .type = p->type, .stride = width_of(a) * parts * p->type.nbytes, .first = (uint32_t)first,
		.pad = w->is_state && !a->is_complex, .name = (char *)key };

	if (p->is_fortran)
		return err_set(e, -ERR_BAD_DATA, "%s: array \"%s\" is in Fortran order and cannot be read row by row; "
			"numpy.ascontiguousarray changes that, and data.streaming: off reads it as a whole", s->path, key);
	f.count = f.pad ? w->count / 2 : w->count;
	f.at = p->at + p->head + from * p->type.nbytes;
	f.fd = fcntl(p->fd, F_DUPFD_CLOEXEC, 0);
	if (f.fd < 0)
		return err_set(e, -ERR_IO, "cannot read %s: %s", s->path, strerror(errno));
	row_store_add(rows, &f);
	return 0;
}

/* Each input from its array, or from its columns of the shared one: to d, or where d is NULL as places to rows. */
static int feed_inputs(const struct source *s, struct shared x, struct dataset *d, struct row_store *rows, struct err *e)
{
	uint64_t first = 0;
	int code = 0;

	for (unsigned i = 0; !code && i < s->o->nwant; first += s->o->want[i++].count) {
		const struct input_want *w = &s->o->want[i];
		const struct array *a = own_array(s, w);
		const char *key = a ? missing(s, w) : "x";
		uint64_t from = a ? 0 : x.from;

		code = d ? copy_input(s, key, a ? a : x.a, from, w, first, d, e)
			: store_input(s, key, a ? a : x.a, from, w, first, rows, e);
		x.from += a ? 0 : w->count;
	}
	return code;
}

static int store_inputs(const struct source *s, struct shared x, uint64_t nx, struct row_store **out, struct err *e)
{
	struct row_store *rows = row_store_new(s->path, (uint32_t)nx);
	int code = feed_inputs(s, x, NULL, rows, e);

	if (code)
		row_store_free(rows);
	else
		*out = rows;
	return code;
}

/* Labels and weights are wanted in memory. */
static int load(struct source *s, const struct array *a, struct err *e)
{
	if (!a || !s->place)
		return 0;
	unsigned i = member_of(s, a);
	int code = array_place_load(&s->place[i], s->path, &s->z.member[i].array, e);
	if (code)
		err_prefix(e, "%s: member \"%s\"", s->path, s->z.member[i].name);
	return code;
}

/* Numbers a row of the array that feeds the only input; 0 when there is none. */
static uint64_t any_width(const struct source *s)
{
	const struct array *a = s->o->nwant == 1 ? own_array(s, s->o->want) : NULL;

	if (!a)
		a = npz_find(&s->z, "x");
	return a && a->ndim ? width_of(a) : 0;
}

/* data.inputs names one array for an input; a list of columns is for CSV files. */
static int check_keys(const struct source *s, struct err *e)
{
	for (unsigned i = 0; i < s->o->nmap; i++)
		if (s->o->map[i].ncolumn > 1)
			return err_set(e, -ERR_BAD_DATA, "%s: data.inputs names %u columns for input `%s`, but an array has none; give the "
				"name of one array that holds all its numbers", s->path, s->o->map[i].ncolumn, s->o->map[i].input);
	return 0;
}

static int assemble(struct source *s, struct dataset **out, struct err *e)
{
	const struct array *label = NULL, *weight = NULL;
	struct dataset *d = NULL;
	struct row_store *rows = NULL;
	struct shared x = { NULL, 0 };
	struct read_options own;
	struct input_want want;
	uint64_t nx = 0, ny;
	int code = check_keys(s, e);

	s->o = reader_any_width(s->o, any_width(s), &own, &want);
	if (!code)
		code = check_inputs(s, &nx, &x, e);
	if (!code)
		code = find_label(s, &label, e);
	if (!code)
		code = find_weight(s, &weight, e);
	ny = code || !label ? 0 : width_of(label);
	if (!code && ny > DATASET_COLUMNS_MAX)
		code = err_set(e, -ERR_BAD_DATA, "%s: more than %d labels in each row", s->path,
			DATASET_COLUMNS_MAX);
	if (!code && !s->nrow)
		code = err_set(e, -ERR_BAD_DATA, "%s: no array to take rows from", s->path);
	if (!code)
		code = load(s, label, e);
	if (!code)
		code = load(s, weight, e);
	if (!code && s->place)
		code = store_inputs(s, x, nx, &rows, e);
	code = code ? code : dataset_new_stored(s->nrow, nx, (uint32_t)ny, s->path, rows, &d, e);
	if (code)
		row_store_free(rows);
	if (!code && !rows)
		code = feed_inputs(s, x, d, NULL, e);
	if (!code && ny)
		code = copy_labels(s, label, d, e);
	if (!code && weight)
		code = copy_weights(s, weight, d, e);
	if (code) {
		dataset_free(d);
		return code;
	}
	memcpy(d->digest, s->digest, sizeof d->digest);
	*out = d;
	return 0;
}

static int npy_feeds_one(const struct source *s, struct err *e)
{
	return err_set(e, -ERR_BAD_DATA, "an .npy file feeds one input, the model has %u; use .npz", s->o->nwant);
}

/* All of it in memory, unless its inputs stay there. */
static int open_source(const struct source *s, bool is_npy, struct data_file *f, struct buf *b,
	struct err *e)
{
	if (s->o->streamed)
		return data_file_open(f, s->path, e);
	int code = is_npy ? npy_check_file(s->path, e) : npz_check_file(s->path, e);
	if (!code)
		code = buf_read_file(b, s->path, is_npy ? DATASET_BYTES_MAX : UINT32_MAX, e);
	*f = (struct data_file){
		.path = s->path, .fd = -1, .size = b->len, .bytes = (const uint8_t *)b->data
	};
	return code;
}

/* An .npy file is an archive of one array, named as the model's only input asks. */
int dataset_read_arrays(const char *path, const struct read_options *o, struct diags *d,
	struct dataset **out, struct err *e)
{
	bool is_npy = path_ends(path, ".npy"), too_many = is_npy && o->nwant != 1;
	struct source s = { .path = path, .o = o, .diags = d };
	buf_auto b = BUF_INIT;
	struct data_file f;
	struct sha256 h;

	if (too_many && o->streamed)
		return npy_feeds_one(&s, e);
	int code = open_source(&s, is_npy, &f, &b, e);
	if (code)
		return code;
	code = too_many
		? npy_feeds_one(&s, e)
		: array_places_open(&f, is_npy ? missing(&s, o->want) : NULL, &s.z, &s.place, e);
	if (code)
		err_prefix(e, "%s", path);
	sha256_init(&h);
	if (!code)
		code = data_file_digest(&f, &h, e);
	sha256_end(&h, s.digest);
	data_file_close(&f);
	buf_release(&b);
	if (!code)
		code = assemble(&s, out, e);
	array_places_close(&s.z, s.place);
	return code;
}
