/* SPDX-License-Identifier: Apache-2.0
 * Names of columns: into weights, and back. */
#include "cli/job/sample_names.h"

#include <string.h>

#include "runtime/base/json.h"
#include "runtime/data/format/csv_table.h"

/* Is one of name[n] there twice? */
static bool twice(const char *const *name, uint32_t n)
{
	struct text_table seen = { 0 };
	bool again = false;

	for (uint32_t i = 0; i < n && !again; i++)
		again = text_table_count(&seen, name[i]) > 0;
	text_table_release(&seen);
	return again;
}

void sample_names_format(const struct dataset *d, struct buf *out)
{
	if (!d->ncolumn || twice(d->column, d->ncolumn))
		return;
	json_auto_t *list = json_array();
	for (uint32_t i = 0; i < d->ncolumn; i++)
		json_array_append_new(list, json_string(d->column[i]));
	if (json_array_size(list) == d->ncolumn)         /* what is no UTF-8 is no text of JSON */
		json_write(list, out);
	if (out->len > SAMPLE_NAMES_BYTES_MAX)
		buf_clear(out);
}

uint32_t sample_names_read(const char *list, struct arena *a, const char *const **name)
{
	json_auto_t *names = json_read(list, strlen(list), NULL);
	size_t n = json_array_size(names);
	const char **copy = arena_alloc(a, n, sizeof *copy);

	for (size_t i = 0; i < n; i++) {
		const char *s = json_string_value(json_array_get(names, i));

		if (!s) {
			n = 0;
			break;
		}
		copy[i] = arena_strdup(a, s);
	}
	*name = copy;
	return (uint32_t)n;
}

/* Is one of a[na] among b[nb]? */
static bool meet(const char *const *a, size_t na, const char *const *b, size_t nb)
{
	struct text_table names = { 0 };
	bool found = false;

	for (size_t i = 0; i < nb; i++)
		text_table_count(&names, b[i]);
	for (size_t i = 0; i < na && !found; i++)
		found = text_table_find(&names, a[i]) != UINT32_MAX;
	text_table_release(&names);
	return found;
}

unsigned sample_names_map(const struct read_options *o, const char *path, struct arena *a, const struct input_map **map)
{
	const char **header = NULL;
	size_t nheader, wanted = 0, first = 0;
	struct input_map *m;

	for (unsigned i = 0; i < o->nwant; i++)
		wanted += o->want[i].count;
	if (!o->ntrained || o->ntrained != wanted)
		return 0;
	nheader = csv_header(path, o, a, &header);
	if (!meet(header, nheader, o->trained, o->ntrained))
		return 0;
	*map = m = arena_alloc(a, o->nwant, sizeof *m);
	for (unsigned i = 0; i < o->nwant; first += o->want[i++].count)
		m[i] = (struct input_map){ o->want[i].name, o->trained + first, o->want[i].count };
	return o->nwant;
}
