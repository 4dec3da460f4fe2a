/* SPDX-License-Identifier: Apache-2.0
 * The lists of tuples by their definitions, for every length up to 40. */
#include "compiler/elaborate/lists.h"
#include "tests/tap.h"

enum { LONGEST = 40 };

static struct arena arena;
static uint32_t place[LONGEST];

static struct wire_list first(uint32_t m)
{
	for (uint32_t k = 0; k < m; k++)
		place[k] = k;
	return (struct wire_list){ m, 1, place };
}

static bool has(const struct wire_list *t, uint32_t a, uint32_t b)
{
	for (size_t k = 0; k < t->n; k++)
		if (t->wire[2 * k] == a && t->wire[2 * k + 1] == b)
			return true;
	return false;
}

static bool pairs_inside(const struct wire_list *t, uint32_t m)
{
	for (size_t k = 0; k < 2 * t->n; k++)
		if (t->wire[k] >= m)
			return false;
	return t->width == 2;
}

static bool neighbours(uint32_t m)
{
	const struct wire_list w = first(m);
	struct wire_list even = list_neighbours(&arena, &w, LIST_EVEN),
			 odd = list_neighbours(&arena, &w, LIST_ODD),
			 chain = list_neighbours(&arena, &w, LIST_EVEN | LIST_ODD),
			 ring = list_neighbours(&arena, &w, LIST_EVEN | LIST_ODD | LIST_CLOSED);
	bool fine = true;

	for (uint32_t i = 0; i + 1 < m; i++) {
		fine = fine && has(&even, i, i + 1) == (i % 2 == 0) && has(&odd, i, i + 1) == (i % 2 == 1);
		fine = fine && has(&chain, i, i + 1) && has(&ring, i, i + 1);
	}
	fine = fine && even.n == m / 2 && chain.n == even.n + odd.n && chain.n == (m ? m - 1 : 0);
	fine = fine && ring.n == chain.n + (m >= 2 && m % 2 == 0);
	fine = fine && (m < 2 || has(&ring, m - 1, 0) == (m % 2 == 0));
	fine = fine && pairs_inside(&ring, m);
	return fine;
}

static bool cycles(uint32_t m)
{
	const struct wire_list w = first(m);
	bool fine = true;

	for (int64_t r = -2 * (int64_t)m; r <= 2 * (int64_t)m; r++) {
		if (m >= 2 && r % (int64_t)m == 0)
			continue;
		struct wire_list t = list_cycle(&arena, &w, r);
		fine = fine && t.n == (m < 2 ? 0 : m);
		for (uint32_t i = 0; i < t.n; i++)
			fine = fine && t.wire[2 * i] == i
				&& t.wire[2 * i + 1] == (uint32_t)(((i + r) % (int64_t)m + m) % m);
	}
	return fine;
}

static bool all_pairs(uint32_t m)
{
	const struct wire_list w = first(m);
	struct wire_list t = list_all_pairs(&arena, &w);
	bool fine = true;
	size_t k = 0;

	for (uint32_t i = 0; i < m; i++)
		for (uint32_t j = i + 1; j < m; j++, k++)
			fine = fine && k < t.n && t.wire[2 * k] == i && t.wire[2 * k + 1] == j;
	fine = fine && t.n == k;
	return fine;
}

static bool windows(uint32_t m)
{
	const struct wire_list w = first(m);
	bool fine = true;

	for (uint32_t k = 1; k <= m + 1; k++)
		for (uint32_t s = 1; s <= m + 1; s++) {
			struct wire_list t = list_windows(&arena, &w, k, s);
			size_t n = 0;
			for (uint32_t j = 0; j + k <= m; j += s, n++)
				for (uint32_t i = 0; i < k; i++)
					fine = fine && n < t.n && t.wire[n * k + i] == j + i;
			fine = fine && t.n == n && t.width == k;
		}
	return fine;
}

int main(void)
{
	for (uint32_t m = 0; m <= LONGEST; m++) {
		tap_ok(neighbours(m), "even, odd, chain and ring of %u", m);
		tap_ok(cycles(m), "cycles of %u", m);
		tap_ok(all_pairs(m), "all pairs of %u", m);
		tap_ok(windows(m), "windows of %u", m);
	}
	arena_release(&arena);
	return tap_done();
}
