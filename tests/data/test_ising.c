/* SPDX-License-Identifier: Apache-2.0
 * Ground states of chains: energies and order parameters by others, labels of the generators. */
#include "runtime/data/generate/ising.h"

#include "runtime/data/dataset.h"
#include "runtime/data/generate/generate.h"
#include "tests/tap.h"

enum { N = 9, DIM = 1 << N };

static double state[DIM];

/* <prod of X on flip, Z on signs>. */
static double expectation(uint32_t n, uint32_t flip, uint32_t signs)
{
	double sum = 0;

	for (uint32_t i = 0; i < 1u << n; i++)
		sum += state[i] * state[i ^ flip] * (__builtin_parity(i & signs) ? -1 : 1);
	return sum;
}

/* reference/siblings/cluster_ising.json (SciPy 1.17.1): h1, h2, energy, mean X, mean Z X Z, Z0 X1 X3 X5 X7 Z8. */
static void cluster(void)
{
	static const double row[][6] = {
		{ 0.4, 0, -7.556406373211528, 0.327928269809542, 0.9108378002710245, 0.824708165457062 },
		{ 0.8, 0, -9.435611453009185, 0.6930936007340774, 0.6350482182462606, 0.3427505845800969 },
		{ 1.2, 0, -12.281707352896257, 0.8595523038595457, 0.4283632101733105, 0.1026567440955076 },
		{ 1.6, 0, -15.504527168866712, 0.921933688639514, 0.3183831503511014, 0.03663354322161373 },
		{ 0.5, -0.7, -8.275806082289513, 0.18755677355344458, 0.7840552643225313, 0.5865714192821525 },
		{ 0.5, 0.9, -12.554366751271242, 0.9458138170600948, 0.2570697782053243, 0.025801804037283486 },
	};
	struct ising h = { .nqubit = N, .zxz = 1 };
	double energy, x, zxz;
	struct err e = { 0 };

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		h.x = row[i][0];
		h.xx = row[i][1];
		if (!tap_ok(!ising_ground_state(&h, &energy, state, &e) && fabs(energy - row[i][2]) < 1e-11, "energy at %g, %g%s",
				h.x, h.xx, e.text))
			continue;
		x = zxz = 0;
		for (uint32_t q = 0; q < N; q++) {
			x += expectation(N, 1u << q, 0) / N;
			zxz += q && q + 1 < N ? expectation(N, 1u << q, 5u << (q - 1)) / (N - 2) : 0;
		}
		tap_ok(fabs(x - row[i][3]) < 1e-9 && fabs(zxz - row[i][4]) < 1e-9
			&& fabs(expectation(N, 0xaa, 0x101) - row[i][5]) < 1e-9, "order parameters");
	}
	/* Here four states have one energy. */
	h = (struct ising){ .nqubit = N, .zxz = 1, .xx = 0.3 };
	tap_ok(!ising_ground_state(&h, &energy, state, &e) && fabs(energy + 7.123413690095105) < 1e-11, "without a field");
}

/* Two qubits: -sqrt(1 + 4 h^2), since X X couples ZZ's two states of one parity; eight by NumPy's eigh. */
static void chain(void)
{
	struct ising h = { .nqubit = 2, .zz = 1, .x = 0.7 };
	double energy;
	struct err e = { 0 };

	tap_ok(!ising_ground_state(&h, &energy, state, &e) && fabs(energy + sqrt(1 + 4 * 0.49)) < 1e-13, "two qubits%s", e.text);
	h.nqubit = 8;
	tap_ok(!ising_ground_state(&h, &energy, state, &e) && fabs(energy + 8.30561096588147) < 1e-12
		&& fabs(state[0] - 0.5253566119266321) < 1e-10, "eight qubits%s", e.text);
	h.x = 1e-6;
	tap_ok(!ising_ground_state(&h, &energy, state, &e) && fabs(state[0] - state[255]) < 1e-12 && state[0] > 0.7,
		"two states that lie close: the even one");
}

static void generators(void)
{
	static const char *const name[] = { "ising-chain", "cluster-ising" };

	for (int k = 0; k < 2; k++) {
		struct generate_options o = { name[k], 3, 12, 4, NULL };
		struct dataset *d = NULL, *again = NULL;
		unsigned plus = 0;
		bool good;
		struct err e;

		if (!tap_ok(!dataset_generate(&o, &d, &e) && !dataset_generate(&o, &again, &e) && d->nrow == 12 && d->nx == 32,
				"%s", name[k]))
			continue;
		good = !memcmp(d->x, again->x, 12 * 32 * sizeof *d->x)
			&& generator_input(name[k]) == GENERATOR_STATE;
		for (int i = 0; i < 12; i++) {
			double norm = 0, order;

			for (int j = 0; j < 16; j++) {
				state[j] = d->x[32 * i + 2 * j];
				norm += state[j] * state[j];
				good &= d->x[32 * i + 2 * j + 1] == 0;
			}
			order = k ? expectation(4, 2, 5) : expectation(4, 0, 6);
			good &= fabs(norm - 1) < 1e-13 && (order > 0.75) <= (d->y[i] == 1);
			plus += d->y[i] == 1;
		}
		tap_ok(good && plus > 1 && plus < 11, "states and labels");
		dataset_free(d);
		dataset_free(again);
		o.nqubit = 15;
		tap_is_int(dataset_generate(&o, &d, &e), -ERR_CONFIG, "too many qubits");
	}
}

/* Fields in order, another boundary, products of X X. */
static void options(void)
{
	double option[GENERATOR_OPTIONS_MAX] = { 0.5, 1.5, 1, -0.3, 1.2 };
	struct generate_options o = { "cluster-ising", 0, 5, 4, option };
	struct ising h = { .nqubit = 4, .zxz = 1, .xx = -0.3 };
	static const double label[5] = { 1, 1, 1, -1, -1 };
	struct dataset *d;
	struct err e = { 0 };
	double energy;
	bool same = true;

	if (!tap_ok(!dataset_generate(&o, &d, &e) && d->nrow == 5, "options%s", e.text))
		return;
	for (int i = 0; i < 5; i++) {
		h.x = 0.5 + 0.25 * i;
		same &= !ising_ground_state(&h, &energy, state, &e) && d->y[i] == label[i];
		for (int j = 0; j < 16; j++)
			same &= d->x[32 * i + 2 * j] == state[j];
	}
	tap_ok(same, "fields at equal distances, with both ends");
	dataset_free(d);
	o.rounds = 1;
	h.x = 0.5;
	tap_ok(!dataset_generate(&o, &d, &e) && !ising_ground_state(&h, &energy, state, &e) && d->x[0] == state[0],
		"one round: the least");
	dataset_free(d);
	option[0] = 2;
	tap_is_int(dataset_generate(&o, &d, &e), -ERR_CONFIG, "low above high");
	tap_is_str(e.text, "cluster-ising: low, 2, is above high, 1.5", "says so");
}

int main(void)
{
	cluster();
	chain();
	generators();
	options();
	return tap_done();
}
