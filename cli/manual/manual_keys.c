/* SPDX-License-Identifier: Apache-2.0
 * Sections about the configuration: its keys, and the tables that some of them choose from. */
#include "cli/manual/manual.h"

#include <string.h>

#include "cli/config/schema_text.h"
#include "runtime/base/profile/profile.h"
#include "runtime/data/dataset.h"
#include "runtime/data/transform/transform.h"
#include "runtime/exec/exact_optimisation.h"

void section_keys(struct buf *out, const char *section)
{
	size_t len = strlen(section);

	buf_str(out, ".Bl -tag -width Ds\n");
	for (const struct schema_row *row = schema_rows; row < schema_rows + KEY_COUNT; row++) {
		buf_auto b = BUF_INIT;

		if (strncmp(row->path, section, len) || row->path[len] != '.')
			continue;
		buf_str(out, ".It Cm ");
		mdoc_argument(out, row->path);
		buf_char(out, '\n');
		mdoc_text(out, row->text);
		schema_describe(row, &b);
		mdoc_text(out, b.data);
		/* A value that a key takes, with the key's last name. */
		buf_clear(&b);
		buf_printf(&b, "%s: %s", strrchr(row->path, '.') + 1, row->example);
		buf_str(out, "Example:\n.Ql \"");
		mdoc_argument(out, b.data);
		buf_str(out, "\"\n");
	}
	buf_str(out, ".El\n");
}

static void table_options(struct buf *out, const struct train_option *o, unsigned n)
{
	if (!n)
		return;
	buf_str(out, ".Bl -tag -width Ds\n");
	for (unsigned k = 0; k < n; k++) {
		buf_auto b = BUF_INIT;

		mdoc_item(out, o[k].name, o[k].doc);
		option_describe(&o[k], &b);
		mdoc_text(out, b.data);
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

/* But losses among metrics, which have been described. */
void section_rows(struct buf *out, const char *path)
{
	const struct schema_row *key = schema_find(path);
	const char *name[SCHEMA_NAMES_MAX];
	size_t n = schema_names(key, name);

	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < n; i++) {
		struct table_row row;

		if (key->id == KEY_TRAIN_METRICS && loss_find(name[i]))
			continue;
		schema_table_row(key->type, name[i], &row);
		mdoc_item(out, row.name, row.doc);
		table_options(out, row.option, row.noption);
	}
	buf_str(out, ".El\n");
}

void section_regularizers(struct buf *out)
{
	const struct regularizer_row *row;
	size_t n = regularizer_rows(&row);

	for (size_t i = 0; i < n; i++)
		mdoc_item(out, row[i].name, row[i].doc);
}

void section_optimisations(struct buf *out)
{
	for (unsigned k = 0; k < OPTIMISATIONS_COUNT; k++)
		mdoc_item(out, optimisation_name[k], optimisation_text[k]);
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

/* What metrics.jsonl has of an epoch. */
void section_epoch(struct buf *out)
{
	static const struct { const char *type, *name, *meaning; } rows[] = {
#define EPOCH_FIELD(field, type, part, name, meaning) { #type, name, meaning },
#include "runtime/train/job/epoch_record.def"
#undef EPOCH_FIELD
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_auto name = BUF_INIT;

		buf_printf(&name, "%s%s", rows[i].name, strcmp(rows[i].type, "VALUES") ? "" : "METRIC");
		if (strcmp(rows[i].type, "FLAG"))
			mdoc_item(out, name.data, rows[i].meaning);
	}
}
