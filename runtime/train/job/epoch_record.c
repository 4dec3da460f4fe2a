/* SPDX-License-Identifier: Apache-2.0
 * The record of an epoch as numbers and as named values. */
#include "runtime/train/job/epoch_record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/err.h"

enum type { INDEX, COUNT, LONG_COUNT, FLAG, REAL, VALUES };

static const struct field { enum type type; enum metrics_part part; size_t offset; const char *name; } table[EPOCH_FIELDS] = {
#define EPOCH_FIELD(field, type, part, name, meaning) { type, METRICS_##part, offsetof(struct epoch_record, field), name },
#include "runtime/train/job/epoch_record.def"
#undef EPOCH_FIELD
};

#define COUNT_MAX 9007199254740992.0      /* 2^53 */

static void *place(struct epoch_record *r, const struct field *f) { return (char *)r + f->offset; }

static const void *const_place(const struct epoch_record *r, const struct field *f)
{
	return (const char *)r + f->offset;
}

/* ---- numbers ---- */

double epoch_record_get(const struct epoch_record *r, enum epoch_field field)
{
	const struct field *f = &table[field];

	switch (f->type) {
	case INDEX:
	case COUNT: return *(const uint32_t *)const_place(r, f);
	case LONG_COUNT: return (double)*(const uint64_t *)const_place(r, f);
	case FLAG: return *(const bool *)const_place(r, f);
	case REAL: return *(const double *)const_place(r, f);
	case VALUES: break;
	}
	BUG("%s is more than one number", f->name);
}

bool epoch_record_set(struct epoch_record *r, enum epoch_field field, double v)
{
	const struct field *f = &table[field];
	double most = f->type == FLAG ? 1 : f->type == LONG_COUNT ? COUNT_MAX : UINT32_MAX;
	bool is_count = v >= 0 && v <= most && v == floor(v);

	switch (f->type) {
	case INDEX:
	case COUNT: *(uint32_t *)place(r, f) = is_count ? (uint32_t)v : 0; return is_count;
	case LONG_COUNT: *(uint64_t *)place(r, f) = is_count ? (uint64_t)v : 0; return is_count;
	case FLAG: *(bool *)place(r, f) = is_count && v != 0; return is_count;
	case REAL: *(double *)place(r, f) = v; return true;
	case VALUES: break;
	}
	BUG("%s is more than one number", f->name);
}

size_t epoch_record_size(unsigned nvalue)
{
	size_t n = 0;

	for (unsigned k = 0; k < EPOCH_FIELDS; k++)
		n += table[k].type == VALUES ? nvalue : 1;
	return n;
}

void epoch_record_pack(const struct epoch_record *r, unsigned nvalue, double *out)
{
	for (unsigned k = 0; k < EPOCH_FIELDS; k++)
		if (table[k].type != VALUES)
			*out++ = epoch_record_get(r, (enum epoch_field)k);
	for (unsigned k = 0; k < EPOCH_FIELDS; k++)
		if (table[k].type == VALUES) {
			memcpy(out, const_place(r, &table[k]), nvalue * sizeof *out);
			out += nvalue;
		}
}

bool epoch_record_unpack(struct epoch_record *r, unsigned nvalue, const double *in)
{
	bool well = true;

	for (unsigned k = 0; k < EPOCH_FIELDS; k++)
		if (table[k].type != VALUES)
			well &= epoch_record_set(r, (enum epoch_field)k, *in++);
	for (unsigned k = 0; k < EPOCH_FIELDS; k++)
		if (table[k].type == VALUES) {
			memcpy(place(r, &table[k]), in, nvalue * sizeof *in);
			in += nvalue;
		}
	return well;
}

/* ---- named values ---- */

static void add(struct metrics_line *out, const struct field *f, const char *name, bool given, unsigned side, const double *entry)
{
	struct metrics_value *v = &out->value[out->n++];

	*v = (struct metrics_value){ .part = f->part, .given = given, .side = side, .number = entry[0], .entry = entry };
	snprintf(v->name, sizeof v->name, "%s%s", f->name, name);
}

static void add_metrics(struct metrics_line *out, const struct field *f, const struct train_job *j, bool given, const double *value)
{
	const struct measures *m = &j->measures;

	for (unsigned k = 0; k < m->nmetric; k++)
		add(out, f, m->metric[k].row->name, given, metric_side(m->metric[k].row, j->program->noutput),
			value + measures_at(m, k, j->program->noutput));
}

void epoch_record_line(const struct train_job *j, const struct epoch_record *r, struct metrics_line *out)
{
	*out = (struct metrics_line){ .n = 0 };
	for (unsigned k = 0; k < EPOCH_FIELDS; k++) {
		const struct field *f = &table[k];
		bool validates = f->part == METRICS_VALIDATION,
		     given = !validates || r->has_validation;

		if (f->type == FLAG || (validates && !j->validation.nrow))
			continue;
		if (f->type == VALUES) {
			add_metrics(out, f, j, given, const_place(r, f));
			continue;
		}
		double v = epoch_record_get(r, (enum epoch_field)k) + (f->type == INDEX);
		add(out, f, "", given, 0, &v);
	}
}
