/* SPDX-License-Identifier: Apache-2.0
 * One note for a full disk, and one for what it has cost. */
#include "config.h"
#include "cli/output/write_error.h"

void trouble_note(struct trouble *t, int code, const struct err *e)
{
	if (!code)
		return;
	if (t->told)
		cli_detail(t->cli, "%s", e->text);
	else
		cli_note(t->cli, "%s; training goes on, and tries again", e->text);
	t->told = true;
}

void trouble_lost(struct trouble *t, int code, const struct err *e)
{
	if (!code)
		return;
	if (t->lost)
		cli_detail(t->cli, "%s", e->text);
	else
		cli_note(t->cli, "%s; the end of it is missing", e->text);
	t->lost = true;
}
