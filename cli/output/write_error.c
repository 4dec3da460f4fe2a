/* SPDX-License-Identifier: Apache-2.0
 * Prints a note for the first error, and one for the first loss of data; with -v, for all. */
#include "cli/output/write_error.h"

static void report(const struct write_errors *w, bool *before, const struct err *e, const char *end)
{
	if (*before)
		cli_detail(w->cli, "%s", e->text);
	else
		cli_note(w->cli, "%s; %s", e->text, end);
	*before = true;
}

void write_errors_note(struct write_errors *w, int code, const struct err *e)
{
	if (code)
		report(w, &w->reported, e, "the training continues, and tries again");
}

void write_errors_lost(struct write_errors *w, int code, const struct err *e)
{
	if (code)
		report(w, &w->lost, e, "the end of it is missing");
}
