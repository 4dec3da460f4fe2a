/* SPDX-License-Identifier: Apache-2.0
 * Diagnostics: faults in texts that people write, each with a code and a place.
 *
 * The one printer for models (Q01xx-Q03xx), configs (Q05xx) and data (Q06xx).
 * diag.def has one row per code: title and the text of `qcnn explain`.  Several
 * are reported per run; they are collected and printed in order of report.
 *
 * error[Q0107]: unknown gate `cnott`
 *   --> cluster.qcnn:24:7
 *    |
 * 24 |       cnott a, b;
 *    |       ^^^^^ no gate or block of this name
 *    = help: did you mean `cnot`? here it is called `cx` */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include "runtime/base/buf.h"
#include "runtime/base/source.h"

enum diag_code {
	DIAG_NONE = 0,
#define DIAG(name, number, severity, title, explain) DIAG_##name,
#include "runtime/base/diag.def"
#undef DIAG
	DIAG_COUNT
};

enum diag_severity { DIAG_ERROR = 1, DIAG_WARNING };
enum diag_format { DIAG_HUMAN = 0, DIAG_SHORT, DIAG_JSON };

enum { DIAG_ERRORS_MAX = 50 };   /* after that: "too many errors", the rest is counted */

struct diag;      /* one diagnostic being built */
struct diags;     /* a run's diagnostics */

struct diags *diags_new(struct source_set *s);   /* s borrowed */
void diags_free(struct diags *d);
void diags_free_all(struct diags *d); /* with its sources */
struct source_set *diags_sources(const struct diags *d);

/* Start a diagnostic: code, place, headline ("unknown gate `%s`"). */
struct diag *diag_at(struct diags *d, enum diag_code code, struct span at,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Text beside the caret; a second place with its text (any file); "= help:";
 * "= note:".  Each may be left out; all but the first may be repeated. */
enum diag_part { DIAG_LABEL = 0, DIAG_SECOND, DIAG_HELP, DIAG_NOTE, DIAG_PARTS };
void diag_add(struct diag *g, enum diag_part part, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define diag_label(g, ...) diag_add(g, DIAG_LABEL, (struct span){ 0 }, __VA_ARGS__)
#define diag_second(g, at, ...) diag_add(g, DIAG_SECOND, at, __VA_ARGS__)
#define diag_help(g, ...) diag_add(g, DIAG_HELP, (struct span){ 0 }, __VA_ARGS__)
#define diag_note(g, ...) diag_add(g, DIAG_NOTE, (struct span){ 0 }, __VA_ARGS__)

unsigned diags_errors(const struct diags *d);
unsigned diags_errors_of(const struct diags *d, enum diag_code code);   /* of this code, of those that are kept */
unsigned diags_warnings(const struct diags *d);
/* All of them as text: human (colour optional), short (file:line:column: severity[code]: text),
 * or one JSON object per line. */
void diags_print(const struct diags *d, enum diag_format f, bool colour, struct buf *out);

/* The table, for `qcnn explain` and the manual: by "Q0107" or "0107" or 107; NULL if unknown. */
struct diag_row { enum diag_code code; unsigned number; enum diag_severity severity;
	const char *name, *title, *explain; };
const struct diag_row *diag_row_find(const char *text);
const struct diag_row *diag_row(enum diag_code code);

/* The nearest of n names (Damerau-Levenshtein, at most a third of the length
 * away, case ignored), or NULL. */
const char *diag_nearest(const char *word, const char *const *names, size_t n);
