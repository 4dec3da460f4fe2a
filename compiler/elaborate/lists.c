/* SPDX-License-Identifier: Apache-2.0
 * Lists of tuples, as qcnn-lang(7) tabulates them. */
#include "compiler/elaborate/lists.h"

static void add(uint32_t *to, uint32_t *n, uint32_t wire) { to[(*n)++] = wire; }

struct wire_list list_neighbours(struct arena *a, const struct wire_list *w, unsigned parts)
{
	uint32_t *to = arena_alloc(a, 2 * (size_t)w->n + 1, sizeof *to), n = 0;

	for (uint32_t from = 0; from < 2; from++)
		for (uint32_t i = from; parts & (from ? LIST_ODD : LIST_EVEN) && i + 1 < w->n;
			i += 2) {
			add(to, &n, w->wire[i]);
			add(to, &n, w->wire[i + 1]);
		}
	if (parts & LIST_CLOSED && w->n && w->n % 2 == 0) {
		add(to, &n, w->wire[w->n - 1]);
		add(to, &n, w->wire[0]);
	}
	return (struct wire_list){ n / 2, 2, to };
}

struct wire_list list_all_pairs(struct arena *a, const struct wire_list *w)
{
	uint32_t *to = arena_alloc(a, (size_t)w->n * w->n + 1, sizeof *to), n = 0;

	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t j = i + 1; j < w->n; j++) {
			add(to, &n, w->wire[i]);
			add(to, &n, w->wire[j]);
		}
	return (struct wire_list){ n / 2, 2, to };
}

struct wire_list list_cycle(struct arena *a, const struct wire_list *w, int64_t r)
{
	uint32_t *to = arena_alloc(a, 2 * (size_t)w->n + 1, sizeof *to), n = 0, m = w->n;

	for (uint32_t i = 0; m > 1 && i < m; i++) {
		add(to, &n, w->wire[i]);
		add(to, &n, w->wire[(i + (r % (int64_t)m + m)) % m]);
	}
	return (struct wire_list){ n / 2, 2, to };
}

struct wire_list list_windows(struct arena *a, const struct wire_list *w, uint32_t k, uint32_t s)
{
	uint32_t count = k <= w->n ? (w->n - k) / s + 1 : 0, n = 0;
	uint32_t *to = arena_alloc(a, (size_t)count * k + 1, sizeof *to);

	for (uint32_t j = 0; j < count; j++)
		for (uint32_t i = 0; i < k; i++)
			add(to, &n, w->wire[j * s + i]);
	return (struct wire_list){ count, k, to };
}
