/* SPDX-License-Identifier: Apache-2.0
 * One note for a full disk. */
#include "config.h"
#include "cli/trouble.h"

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
