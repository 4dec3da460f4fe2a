/* SPDX-License-Identifier: Apache-2.0
 * Names of columns in alphabetical order. */
#include "runtime/data/format/name_index.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

/* Equal names in the order of their places. */
static int by_name(const void *a, const void *b)
{
	const char *const *x = *(const char *const *const *)a, *const *y = *(const char *const *const *)b;
	int order = strcmp(*x, *y);

	return order ? order : (x > y) - (x < y);
}

void name_index_init(struct name_index *x, const char *const *name, size_t n)
{
	*x = (struct name_index){ name, mem_alloc(n, sizeof *x->sorted), n };
	for (size_t i = 0; i < n; i++)
		x->sorted[i] = &name[i];
	qsort(x->sorted, n, sizeof *x->sorted, by_name);
}

void name_index_release(struct name_index *x)
{
	free(x->sorted);
	x->sorted = NULL;
}

int64_t name_index_find(const struct name_index *x, const char *name, int64_t *again)
{
	size_t low = 0, high = x->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(*x->sorted[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (again)
		*again = low + 1 < x->n && !strcmp(*x->sorted[low + 1], name) ? x->sorted[low + 1] - x->name : -1;
	return low < x->n && !strcmp(*x->sorted[low], name) ? x->sorted[low] - x->name : -1;
}
