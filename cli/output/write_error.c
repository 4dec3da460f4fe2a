/* SPDX-License-Identifier: Apache-2.0
 * Prints a note for the first error, and one for the first loss of data; with -v, for all. */
#include "cli/output/write_error.h"

void write_errors_note(struct write_errors *w, int code, const struct err *e)
{
	if (!code)
		return;
	if (w->reported)
		cli_detail(w->cli, "%s", e->text);
	else
		cli_note(w->cli, "%s; the training continues, and tries again", e->text);
	w->reported = true;
}

void write_errors_lost(struct write_errors *w, int code, const struct err *e)
{
	if (!code)
		return;
	if (w->lost)
		cli_detail(w->cli, "%s", e->text);
	else
		cli_note(w->cli, "%s; the end of it is missing", e->text);
	w->lost = true;
}
