/* SPDX-License-Identifier: Apache-2.0
 * Copies the values of options that may be repeated into arrays. */
#include "cli/option_lists.h"

unsigned changes_of(const struct options *o, struct config_change *change)
{
	unsigned n = 0;

	for (unsigned i = 0; i < o->nlist; i++)
		if (o->list[i].id == OPT_SET || o->list[i].id == OPT_CONST)
			change[n++] = (struct config_change){ o->list[i].value,
				o->list[i].id == OPT_CONST };
	return n;
}

unsigned list_of(const struct options *o, enum option_id id, const char **value)
{
	unsigned n = 0;

	for (unsigned i = 0; i < o->nlist; i++)
		if (o->list[i].id == id)
			value[n++] = o->list[i].value;
	return n;
}
