/* SPDX-License-Identifier: Apache-2.0
 * The lists of tuples by their definitions, for every length up to 40. */
#include "compiler/elaborate/lists.h"
#include "tests/tap.h"

enum { LONGEST = 40 };

static bool has(const struct tuples *t, uint32_t a, uint32_t b)
{
	for (size_t k = 0; k < t->n; k++)
		if (t->pos[2 * k] == a && t->pos[2 * k + 1] == b)
			return true;
	return false;
}

static bool pairs_inside(const struct tuples *t, uint32_t m)
{
	for (size_t k = 0; k < 2 * t->n; k++)
		if (t->pos[k] >= m)
			return false;
	return t->width == 2;
}

static bool neighbours(uint32_t m)
{
	struct tuples even = { 0 }, odd = { 0 }, chain = { 0 }, ring = { 0 };
	bool fine = true;

	list_even(&even, m);
	list_odd(&odd, m);
	list_chain(&chain, m);
	list_ring(&ring, m);
	for (uint32_t i = 0; i + 1 < m; i++) {
		fine = fine && has(&even, i, i + 1) == (i % 2 == 0) && has(&odd, i, i + 1) == (i % 2 == 1);
		fine = fine && has(&chain, i, i + 1) && has(&ring, i, i + 1);
	}
	fine = fine && even.n == m / 2 && chain.n == even.n + odd.n && chain.n == (m ? m - 1 : 0);
	fine = fine && ring.n == chain.n + (m >= 2 && m % 2 == 0);
	fine = fine && (m < 2 || has(&ring, m - 1, 0) == (m % 2 == 0));
	fine = fine && pairs_inside(&ring, m);
	tuples_release(&even);
	tuples_release(&odd);
	tuples_release(&chain);
	tuples_release(&ring);
	return fine;
}

static bool cycles(uint32_t m)
{
	bool fine = true;

	for (int64_t r = -2 * (int64_t)m; r <= 2 * (int64_t)m; r++) {
		struct tuples t = { 0 };
		if (m >= 2 && r % (int64_t)m == 0)
			continue;
		list_cycle(&t, m, r);
		fine = fine && t.n == (m < 2 ? 0 : m);
		for (uint32_t i = 0; i < t.n; i++)
			fine = fine && t.pos[2 * i] == i && t.pos[2 * i + 1] == (uint32_t)(((i + r) % (int64_t)m + m) % m);
		tuples_release(&t);
	}
	return fine;
}

static bool all_pairs(uint32_t m)
{
	struct tuples t = { 0 };
	bool fine = true;
	size_t k = 0;

	list_all_pairs(&t, m);
	for (uint32_t i = 0; i < m; i++)
		for (uint32_t j = i + 1; j < m; j++, k++)
			fine = fine && k < t.n && t.pos[2 * k] == i && t.pos[2 * k + 1] == j;
	fine = fine && t.n == k;
	tuples_release(&t);
	return fine;
}

static bool windows(uint32_t m)
{
	bool fine = true;

	for (uint32_t k = 1; k <= m + 1; k++)
		for (uint32_t s = 1; s <= m + 1; s++) {
			struct tuples t = { 0 };
			size_t n = 0;
			list_windows(&t, m, k, s);
			for (uint32_t j = 0; j + k <= m; j += s, n++)
				for (uint32_t i = 0; i < k; i++)
					fine = fine && n < t.n && t.pos[n * k + i] == j + i;
			fine = fine && t.n == n && t.width == k;
			tuples_release(&t);
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
	return tap_done();
}
