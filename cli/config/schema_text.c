/* SPDX-License-Identifier: Apache-2.0
 * Ranges, units and defaults of keys and options in words. */
#include "cli/config/schema_text.h"

#include <float.h>
#include <math.h>

#define NO_BOUND 1e300
#define WHOLE_BOUND 9e18         /* of 64 bits */

static void bound(struct buf *out, double v)
{
	buf_printf(out, v == floor(v) && fabs(v) < 1e16 ? "%.0f" : "%.15g", v);
}

void range_text(double low, double high, struct buf *out)
{
	bool above = low == DBL_MIN, below = high < 1 && high > 1 - DBL_EPSILON, top = high < WHOLE_BOUND;

	if (above)
		buf_str(out, "above 0");
	else if (low > -NO_BOUND && (!top || below))
		buf_str(out, "at least ");
	if (low > -NO_BOUND && !above)
		bound(out, low);
	if (!top) {
		if (low <= -NO_BOUND)
			buf_str(out, "any");
		return;
	}
	if (low <= -NO_BOUND)
		buf_str(out, below ? "" : "at most ");
	else
		buf_str(out, below ? " and " : above ? ", up to " : " to ");
	if (below)
		buf_str(out, "below 1");
	else
		bound(out, high);
}

void words_text(const char *const *name, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s%s", i ? ", " : "", name[i]);
}

void schema_allowed(const struct schema_row *row, struct buf *out)
{
	const char *name[SCHEMA_NAMES_MAX];
	size_t n = schema_names(row, name);
	bool range = row->high > row->low;

	if (range)
		range_text(row->low, row->high, out);
	if (n) {
		buf_str(out, range ? "; or one of: " : "one of: ");
		words_text(name, n, out);
	}
}

void schema_describe(const struct schema_row *row, struct buf *out)
{
	buf_auto allowed = BUF_INIT;

	schema_allowed(row, &allowed);
	buf_printf(out, "Type: %s%s%s.\nUnit: %s.\n", schema_type_text(row->type),
		!allowed.len                   ? ""
			: row->high > row->low ? ", "
					       : "; ",
		allowed.len ? allowed.data : "", row->unit);
	if (!row->preset)
		buf_str(out, "Must be given.\n");
	else
		buf_printf(out, "Default: %s.\n", row->preset);
	if (row->scope == SCOPE_EXECUTION)
		buf_str(out, "Changes no result and is not kept in weights.bin.\n");
}

void option_words_text(const char *words, struct buf *out)
{
	char word[OPTION_WORD_MAX];

	for (unsigned k = 0; k < option_nword(words); k++)
		buf_printf(out, "%s%s", k ? ", " : "", option_word_at(words, k, word, sizeof word));
}

void option_allowed(const struct train_option *o, struct buf *out)
{
	if (o->kind == VALUE_WORD || o->kind == VALUE_WORDS)
		option_words_text(o->words, out);
	else if (o->kind == VALUE_REAL || o->kind == VALUE_COUNT || o->kind == VALUE_LIST)
		range_text(o->min, o->max, out);
	if (o->kind == VALUE_COUNT && o->words) {
		buf_str(out, "; or ");
		option_words_text(o->words, out);
	}
}

void option_describe(const struct train_option *o, struct buf *out)
{
	static const char *const kind[] = { [VALUE_REAL] = "number", [VALUE_BOOL] = "true or false", [VALUE_COUNT] = "whole number",
		[VALUE_LIST] = "list of numbers", [VALUE_WORD] = "one of: ", [VALUE_WORDS] = "one or a list of: ",
		[VALUE_TEXT] = "text", [VALUE_COMMAND] = "text or list of texts" };
	char word[OPTION_WORD_MAX];

	buf_printf(out, "Type: %s", kind[o->kind]);
	if (o->kind == VALUE_REAL || o->kind == VALUE_COUNT || o->kind == VALUE_LIST)
		buf_str(out, ", ");
	option_allowed(o, out);
	buf_str(out, ".\n");
	if (o->value == VALUE_REQUIRED)
		buf_str(out, "Must be given.");
	else if (!value_given(o->value))
		buf_printf(out, "Default: %s.", o->kind == VALUE_COUNT && o->words ? o->words : "null");
	else if (o->kind == VALUE_BOOL)
		buf_printf(out, "Default: %s.", o->value != 0 ? "true" : "false");
	else if (o->kind == VALUE_TEXT)
		buf_printf(out, "Default: %s", o->words);
	else if (o->kind == VALUE_WORD)
		buf_printf(out, "Default: %s.", option_word_at(o->words, (unsigned)o->value, word, sizeof word));
	else if (o->kind == VALUE_WORDS)
		for (unsigned k = 0; k < option_nword(o->words); k++) {
			if ((unsigned)o->value >> k & 1)
				buf_printf(out, "Default: %s.", option_word_at(o->words, k, word, sizeof word));
		}
	else
		buf_printf(out, "Default: %.15g", o->value);
}
