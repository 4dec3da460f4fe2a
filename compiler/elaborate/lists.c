/* SPDX-License-Identifier: Apache-2.0
 * Pair lists by positions, as qcnn-lang(7) tabulates them. */
#include "compiler/elaborate/lists.h"

void tuples_release(struct tuples *t)
{
	arena_release(&t->arena);
	*t = (struct tuples){ 0 };
}

static uint32_t *grow(struct tuples *t)
{
	t->pos = arena_grow(&t->arena, t->pos, t->n, t->width * sizeof *t->pos);
	return t->pos + t->width * t->n++;
}

/* Of width 2. */
static void add_pair(struct tuples *t, uint32_t a, uint32_t b)
{
	t->width = 2;
	uint32_t *p = grow(t);
	p[0] = a;
	p[1] = b;
}

static void every_second(struct tuples *t, uint32_t from, uint32_t m)
{
	for (uint32_t i = from; i + 1 < m; i += 2)
		add_pair(t, i, i + 1);
}

void list_even(struct tuples *t, uint32_t m)
{
	t->width = 2;
	every_second(t, 0, m);
}

void list_odd(struct tuples *t, uint32_t m)
{
	t->width = 2;
	every_second(t, 1, m);
}

void list_chain(struct tuples *t, uint32_t m)
{
	list_even(t, m);
	list_odd(t, m);
}

void list_ring(struct tuples *t, uint32_t m)
{
	list_chain(t, m);
	if (m >= 2 && m % 2 == 0)
		add_pair(t, m - 1, 0);
}

void list_all_pairs(struct tuples *t, uint32_t m)
{
	t->width = 2;
	for (uint32_t i = 0; i < m; i++)
		for (uint32_t j = i + 1; j < m; j++)
			add_pair(t, i, j);
}

void list_cycle(struct tuples *t, uint32_t m, int64_t r)
{
	t->width = 2;
	if (m < 2)
		return;
	uint32_t shift = (uint32_t)((r % (int64_t)m + m) % m);
	for (uint32_t i = 0; i < m; i++)
		add_pair(t, i, (i + shift) % m);
}

void list_windows(struct tuples *t, uint32_t m, uint32_t k, uint32_t s)
{
	t->width = k;
	for (uint64_t j = 0; j + k <= m; j += s) {
		uint32_t *p = grow(t);
		for (uint32_t i = 0; i < k; i++)
			p[i] = (uint32_t)j + i;
	}
}
