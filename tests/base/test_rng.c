/* SPDX-License-Identifier: Apache-2.0
 * Counter-based random numbers: published vectors, moments, shuffles. */
#include "runtime/base/rng.h"

#include "tests/tap.h"

/* Random123's kat_vectors for philox4x32-10 (Salmon et al., SC'11). */
static const struct { uint32_t counter[4], key[2], out[4]; } vector[] = {
	{ { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
	{ { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff }, { 0xffffffff, 0xffffffff },
		{ 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
	{ { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, { 0xa4093822, 0x299f31d0 },
		{ 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
};

static void known_answers(void)
{
	uint32_t out[4];

	for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
		rng_philox(vector[i].counter, vector[i].key, out);
		tap_is_mem(out, vector[i].out, sizeof out, "philox4x32-10 vector %zu", i);
	}
}

static void counters(void)
{
	uint64_t one = rng_u64(7, RNG_TEST, 3, 9);

	tap_ok(one == rng_u64(7, RNG_TEST, 3, 9), "the same counter gives the same bits");
	tap_ok(one != rng_u64(8, RNG_TEST, 3, 9), "the seed counts");
	tap_ok(one != rng_u64(7ull | 1ull << 40, RNG_TEST, 3, 9), "the seed's high half counts");
	tap_ok(one != rng_u64(7, RNG_INIT, 3, 9), "the purpose counts");
	tap_ok(one != rng_u64(7, RNG_TEST, 3 | 1ull << 50, 9), "a counts above bit 32");
	tap_ok(one != rng_u64(7, RNG_TEST, 3, 9 | 1ull << 50), "b counts above bit 32");
}

static void moments(void)
{
	enum { N = 20000 };
	double sum = 0, low = 1, high = 0, mean = 0, square = 0, u, g;

	for (int i = 0; i < N; i++) {
		u = rng_uniform(1, RNG_TEST, 0, i);
		g = rng_normal(1, RNG_TEST, 1, i);
		sum += u;
		low = u < low ? u : low;
		high = u > high ? u : high;
		mean += g;
		square += g * g;
	}
	tap_ok(low >= 0 && high < 1, "uniform numbers lie in [0, 1)");
	tap_close(sum / N, 0.5, 5 * 0.2887 / sqrt(N), "mean of uniform numbers");
	tap_close(mean / N, 0, 5 / sqrt(N), "mean of normal numbers");
	tap_close(square / N, 1, 5 * sqrt(2.0 / N), "variance of normal numbers");
}

static void shuffles(void)
{
	enum { N = 100, RUNS = 6000 };
	uint32_t order[N], small[3], seen[N] = { 0 }, count[6] = { 0 };
	bool all = true, moved = false;

	for (uint32_t i = 0; i < N; i++)
		order[i] = i;
	rng_shuffle(5, RNG_SHUFFLE, 2, order, N);
	for (uint32_t i = 0; i < N; i++) {
		seen[order[i]]++;
		moved |= order[i] != i;
	}
	for (uint32_t i = 0; i < N; i++)
		all &= seen[i] == 1;
	tap_ok(all && moved, "a shuffle is a permutation");
	for (int r = 0; r < RUNS; r++) {
		for (uint32_t i = 0; i < 3; i++)
			small[i] = i;
		rng_shuffle(5, RNG_SHUFFLE, (uint64_t)r, small, 3);
		count[2 * small[0] + (small[1] > small[2])]++;
	}
	for (int i = 0; i < 6; i++)
		tap_close(count[i], RUNS / 6, 5 * sqrt(RUNS / 6), "permutation %d of three is as likely", i);
	rng_shuffle(5, RNG_SHUFFLE, 0, NULL, 0);
	tap_ok(true, "nothing to shuffle is fine");
}

int main(void)
{
	known_answers();
	counters();
	moments();
	shuffles();
	return tap_done();
}
