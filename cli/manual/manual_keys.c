/* SPDX-License-Identifier: Apache-2.0
 * Sections about the configuration: its keys, and the tables that some of them choose from. */
#include "config.h"
#include "cli/manual/manual.h"

#include <string.h>

#include "cli/config/schema_text.h"
#include "runtime/base/profile/profile.h"
#include "runtime/data/dataset.h"
#include "runtime/data/generate/generate.h"
#include "runtime/data/transform/transform.h"
#include "runtime/exec/exact_optimisation.h"

/* A value that a key takes, with the key's last name. */
static void key_example(struct buf *out, const struct schema_row *row)
{
	struct buf b = BUF_INIT;

	buf_printf(&b, "%s: %s", strrchr(row->path, '.') + 1, row->example);
	buf_str(out, "Example:\n.Ql \"");
	mdoc_argument(out, b.data);
	buf_str(out, "\"\n");
	buf_release(&b);
}

void section_keys(struct buf *out, const char *section)
{
	size_t len = strlen(section);

	buf_str(out, ".Bl -tag -width Ds\n");
	for (int i = 0; i < KEY_COUNT; i++) {
		const struct schema_row *row = schema_row((enum key_id)i);
		struct buf b = BUF_INIT;

		if (strncmp(row->path, section, len) || row->path[len] != '.')
			continue;
		buf_str(out, ".It Cm ");
		mdoc_argument(out, row->path);
		buf_char(out, '\n');
		mdoc_text(out, row->text);
		schema_describe(row, &b);
		mdoc_text(out, b.data);
		key_example(out, row);
		buf_release(&b);
	}
	buf_str(out, ".El\n");
}

static void table_options(struct buf *out, const struct train_option *o, unsigned n)
{
	if (!n)
		return;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (unsigned k = 0; k < n; k++) {
		struct buf b = BUF_INIT;

		mdoc_item(out, o[k].name, o[k].doc);
		option_describe(&o[k], &b);
		mdoc_text(out, b.data);
		buf_release(&b);
	}
	buf_str(out, ".El\n");
}

void section_optimizers(struct buf *out, const char *name)
{
	const struct optimizer_row *row, *last = NULL;
	size_t n = optimizer_rows(&row);

	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < n; i++) {
		bool shares = row[i].noption > row[i].nown;
		double decay = shares ? row[i].option[row[i].nown + SHARED_WEIGHT_DECAY].value : VALUE_UNSET;

		mdoc_item(out, row[i].name, row[i].doc);
		table_options(out, row[i].option, row[i].nown);
		last = shares ? &row[i] : last;
		if (value_given(decay))
			buf_printf(out, ".Pp\nIts\n.Cm weight_decay\nis %g if it is not given.\n", decay);
	}
	buf_printf(out, ".El\n.Pp\nThose up to\n.Cm %s\nalso take:\n", last->name);
	table_options(out, last->option + last->nown, SHARED_COUNT);
}

/* Tables whose rows are a name, a text and options. */
#define SECTION_OF(function, row_type, rows_function) \
	void function(struct buf *out, const char *name) \
	{ \
		const struct row_type *row; \
		size_t n = rows_function(&row); \
		\
		(void)name; \
		buf_str(out, ".Bl -tag -width Ds\n"); \
		for (size_t i = 0; i < n; i++) { \
			mdoc_item(out, row[i].name, row[i].doc); \
			table_options(out, row[i].option, row[i].noption); \
		} \
		buf_str(out, ".El\n"); \
	}
SECTION_OF(section_losses, loss_row, loss_rows)
SECTION_OF(section_schedules, schedule_row, schedule_rows)
SECTION_OF(section_callbacks, callback_row, callback_rows)
SECTION_OF(section_constraints, constraint_row, constraint_rows)

/* Losses come last among the metrics, and have been described. */
void section_metrics(struct buf *out, const char *name)
{
	const struct metric_row *row;
	size_t n = metric_rows(&row);

	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < n && !loss_find(row[i].name); i++) {
		mdoc_item(out, row[i].name, row[i].doc);
		table_options(out, row[i].option, row[i].noption);
	}
	buf_str(out, ".El\n.Pp\nEvery loss is a metric too, with the same options.\n");
}

void section_regularizers(struct buf *out, const char *name)
{
	const struct regularizer_row *row;
	size_t n = regularizer_rows(&row);

	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < n; i++)
		mdoc_item(out, row[i].name, row[i].doc);
	buf_str(out, ".El\n");
}

void section_transforms(struct buf *out, const char *name)
{
	struct table_row row;

	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (int i = 1; i < TRANSFORM_COUNT; i++) {
		schema_table_row(TYPE_TRANSFORMS, transform_name((enum transform_kind)i), &row);
		mdoc_item(out, row.name, row.doc);
		table_options(out, row.option, row.noption);
	}
	buf_str(out, ".El\n");
}

void section_optimisations(struct buf *out, const char *name)
{
	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (unsigned k = 0; k < OPTIMISATIONS_COUNT; k++)
		mdoc_item(out, optimisation_name[k], optimisation_text[k]);
	buf_str(out, ".El\n");
}

/* Items of a list that the template begins and ends. */
void section_parts(struct buf *out, const char *name)
{
	(void)name;
#define PHASE_CALL(word, text) mdoc_item(out, word, text);
#define PHASE_RUN(word, text)
#define PROFILE_PHASE(id, word, of, text) PHASE_##of(word, text)
#include "runtime/base/profile/phases.def"
#undef PROFILE_PHASE
#undef PHASE_RUN
#undef PHASE_CALL
}

void section_phases(struct buf *out, const char *name)
{
	(void)name;
	for (unsigned k = 1; k < PHASE_COUNT; k++)
		mdoc_item(out, profile_phase_name((enum profile_phase)k),
			profile_phase_text((enum profile_phase)k));
}

void section_generators(struct buf *out, const char *name)
{
	struct table_row row;
	const char *const *names;
	size_t n = generator_names(&names);

	(void)name;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < n; i++) {
		schema_table_row(TYPE_GENERATOR, names[i], &row);
		mdoc_item(out, row.name, row.doc);
		table_options(out, row.option, row.noption);
	}
	buf_str(out, ".El\n");
}

/* What metrics.jsonl has of an epoch. */
void section_epoch(struct buf *out, const char *argument)
{
	static const struct { const char *type, *name, *meaning; } rows[] = {
#define EPOCH_FIELD(field, type, part, name, meaning) { #type, name, meaning },
#include "runtime/train/job/epoch_record.def"
#undef EPOCH_FIELD
	};

	(void)argument;
	buf_str(out, ".Bl -tag -width Ds -compact\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct buf name = BUF_INIT;

		buf_printf(&name, "%s%s", rows[i].name, strcmp(rows[i].type, "VALUES") ? "" : "METRIC");
		if (strcmp(rows[i].type, "FLAG"))
			mdoc_item(out, name.data, rows[i].meaning);
		buf_release(&name);
	}
	buf_str(out, ".El\n");
}
