/* SPDX-License-Identifier: Apache-2.0
 * The reference backend against dense 2^n matrices: every gate row, under controls and
 * turned around, on every choice of wires; vectors, swaps and readouts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/base/rng.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "tests/kernels/build.h"
#include "tests/kernels/random_program.h"

enum { NWIRE = 4, DIM = 1 << NWIRE };

static const struct evaluator_options on_ref = { .target = &target_ref, .nthread = 1 };

/* The final state of the program for one row of input. */
static void state_of(const struct program *p, const double *input, cplx *psi)
{
	struct evaluator *ev = NULL;
	struct err e = { 0, "" };
	const double none = 0;

	if (evaluator_new(p, &on_ref, &ev, &e) || evaluator_weights(ev, &none, &e)
			|| evaluator_state(ev, 0, input, psi, &e))
		tap_bail("ref: %s", e.text);
	evaluator_free(ev);
}

static double normalised(uint64_t seed, double *x, cplx *psi)
{
	double sum = 0;

	random_numbers(seed, 1, 2 * DIM, x);
	for (unsigned i = 0; i < 2 * DIM; i++)
		sum += x[i] * x[i];
	for (unsigned i = 0; i < DIM; i++)
		psi[i] = cplx_of(x[2 * i] / sqrt(sum), x[2 * i + 1] / sqrt(sum));
	return sum;
}

/* ---- gates ---- */

struct use { const uint32_t *wire; unsigned ncontrol, ntarget; uint64_t ones; bool adjoint; };

static unsigned target_index(const struct use *u, unsigned i)
{
	unsigned row = 0;

	for (unsigned k = 0; k < u->ntarget; k++)
		row |= (i >> u->wire[u->ncontrol + k] & 1) << k;
	return row;
}

/* Entry (i, j) of the 2^n matrix of a gate in use. */
static cplx dense_entry(const struct use *u, const cplx *g, unsigned i, unsigned j)
{
	unsigned targets = 0, d = 1u << u->ntarget, r = target_index(u, i), c = target_index(u, j);

	for (unsigned k = 0; k < u->ncontrol; k++)
		if ((j >> u->wire[k] & 1) != (u->ones >> k & 1))
			return i == j;
	for (unsigned k = 0; k < u->ntarget; k++)
		targets |= 1u << u->wire[u->ncontrol + k];
	if ((i & ~targets) != (j & ~targets))
		return 0;
	return u->adjoint ? conj(g[c * d + r]) : g[r * d + c];
}

static double use_error(enum gate g, uint8_t word, const double *angle, const struct use *u, uint64_t seed)
{
	struct build b = build_new(0, 0, 1);
	uint32_t expr[GATE_ANGLES_MAX] = { 0 }, all[NWIRE] = { 0, 1, 2, 3 }, m;
	double input[2 * DIM], worst = 0;
	cplx psi[DIM], got[DIM], gate[64];
	struct program *p;
	struct apply *a;

	for (unsigned k = 0; k < gate_row(g)->nangle; k++)
		expr[k] = build_const(&b, angle[k]);
	m = build_gate(&b, g, word, expr);
	build_wires(&b, 0, NWIRE);
	build_state(&b, 0, NWIRE, all);
	a = build_controlled(&b, 0, m, u->ncontrol, u->ncontrol + u->ntarget, u->wire);
	a->adjoint = u->adjoint;
	a->control_ones = u->ones;
	build_z(&b, 0, 0);
	p = build_done(&b);
	normalised(seed, input, psi);
	state_of(p, input, got);
	gate_matrix(g, word, angle, gate);
	for (unsigned i = 0; i < DIM; i++) {
		cplx want = 0;

		for (unsigned j = 0; j < DIM; j++)
			want += dense_entry(u, gate, i, j) * psi[j];
		worst = tap_worst(worst, cabs(got[i] - want));
	}
	program_free(p);
	return worst;
}

/* All ordered choices of `n` wires, by counting. */
static bool wires_of(unsigned number, unsigned n, uint32_t *wire)
{
	unsigned seen = 0;

	for (unsigned k = 0; k < n; k++, number /= NWIRE) {
		wire[k] = number % NWIRE;
		if (seen >> wire[k] & 1)
			return false;
		seen |= 1u << wire[k];
	}
	return number == 0;
}

static void test_gate(enum gate g, uint8_t word)
{
	unsigned ntarget = gate_ntarget(g, word), ncase = 0;
	double angle[GATE_ANGLES_MAX], worst = 0;
	uint32_t wire[NWIRE];
	char name[16];

	random_numbers(g + 1000u * word, 3, GATE_ANGLES_MAX, angle);
	for (unsigned ncontrol = 0; ncontrol + ntarget <= NWIRE && ncontrol <= 2; ncontrol++)
		for (unsigned k = 0; k < 256; k++) {
			struct use u = { wire, ncontrol, ntarget, k % (1u << ncontrol), k % 3 == 1 };

			if (!wires_of(k, ncontrol + ntarget, wire))
				continue;
			worst = tap_worst(worst, use_error(g, word, angle, &u, ++ncase));
		}
	tap_ok(worst < 1e-14, "%s: %u uses, off by %.2g", gate_word_name(g, word, name), ncase, worst);
}

static void test_gates(void)
{
	static const uint8_t words[] = { 1, 2, 3, 0x9, 0xd, 0x1b, 0x36 };

	for (int g = 1; g < GATE_COUNT; g++) {
		const struct gate_row *row = gate_row((enum gate)g);

		if (row->ncontrol || row->flags & GATE_COMPOSITE)
			continue;        /* the base row stands under controls here; steps are gates */
		if (!(row->flags & GATE_WORD) && row->ntarget)
			test_gate(row->id, 0);
		for (unsigned k = 0; k < sizeof words && row->flags & GATE_WORD; k++)
			test_gate(row->id, words[k]);
	}
}

/* ---- readouts ---- */

static cplx pauli_entry(uint8_t letter, unsigned r, unsigned c)
{
	static const cplx p[4][2][2] = {
		{ { 1, 0 }, { 0, 1 } }, { { 0, 1 }, { 1, 0 } }, { { 0, -I }, { I, 0 } }, { { 1, 0 }, { 0, -1 } },
	};

	return p[letter][r][c];
}

static double dense_expectation(const uint8_t *letter, const cplx *psi)
{
	cplx sum = 0;

	for (unsigned i = 0; i < DIM; i++)
		for (unsigned j = 0; j < DIM; j++) {
			cplx f = conj(psi[i]) * psi[j];

			for (unsigned w = 0; w < NWIRE; w++)
				f *= pauli_entry(letter[w], i >> w & 1, j >> w & 1);
			sum += f;
		}
	return creal(sum);
}

static void test_paulis(void)
{
	double input[2 * DIM], readout[256], worst = 0;
	struct build b = build_new(0, 0, 4);
	uint32_t all[NWIRE] = { 0, 1, 2, 3 };
	struct outcome out;
	struct program *p;
	cplx psi[DIM];

	build_wires(&b, 0, NWIRE);
	build_state(&b, 0, NWIRE, all);
	for (uint32_t c = 1; c < 4; c++) {
		build_wires(&b, c, NWIRE);
		build_controlled(&b, c, build_gate(&b, GATE_ID, 0, NULL), 0, 1, all);
		build_z(&b, c, 0);
	}
	for (unsigned word = 0; word < 256; word += 5) {
		struct pauli_factor f[NWIRE];
		uint32_t n = 0;

		for (unsigned w = 0; w < NWIRE; w++)
			if (word >> 2 * w & 3)
				f[n++] = (struct pauli_factor){ w, word >> 2 * w & 3 };
		build_pauli(&b, 0, 2, (struct pauli_term[]){ { 0.75, n, f }, { -2, 0, f } });
	}
	p = build_done(&b);
	normalised(5, input, psi);
	out = outcome_new(p, 1);
	if (outcome_of(p, &on_ref, 1, input, input, &out, NULL))
		tap_bail("ref does not run");
	memcpy(readout, out.readout, p->nreadout * sizeof *readout);
	for (unsigned word = 0, k = 0; word < 256; word += 5, k++) {
		uint8_t letter[NWIRE] = { word & 3, word >> 2 & 3, word >> 4 & 3, word >> 6 };

		worst = tap_worst(worst, fabs(readout[k] - 0.75 * dense_expectation(letter, psi) + 2));
	}
	tap_ok(worst < 1e-14, "52 sums of Pauli words, off by %.2g", worst);
	tap_ok(readout[p->nreadout - 1] == 1, "circuits without input give their own readouts");
	outcome_release(&out);
	program_free(p);
}

static void test_probs_and_swaps(void)
{
	double input[2 * DIM], worst = 0;
	struct build b = build_new(0, 0, 1);
	uint32_t all[NWIRE] = { 2, 0, 3, 1 }, pair[2] = { 3, 1 };
	struct outcome out;
	struct program *p;
	cplx psi[DIM], got[DIM];
	double want[4] = { 0 };

	build_wires(&b, 0, NWIRE);
	build_state(&b, 0, NWIRE, all);
	build_swap(&b, 0, 0, 3);
	build_swap(&b, 0, 3, 1);
	build_probs(&b, 0, 2, pair);
	p = build_done(&b);
	normalised(6, input, psi);
	out = outcome_new(p, 1);
	if (outcome_of(p, &on_ref, 1, input, input, &out, NULL))
		tap_bail("ref does not run");
	state_of(p, input, got);
	for (unsigned i = 0; i < DIM; i++) {
		/* Bit k of the vector's index lay on wire all[k]; then 0 <-> 3, then 3 <-> 1. */
		unsigned bit[NWIRE], at = 0;

		for (unsigned k = 0; k < NWIRE; k++)
			bit[all[k]] = i >> k & 1;
		at = bit[3] | bit[0] << 1 | bit[2] << 2 | bit[1] << 3;
		worst = tap_worst(worst, cabs(got[at] - psi[i]));
		want[(at >> 3 & 1) | (at >> 1 & 1) << 1] += creal(psi[i] * conj(psi[i]));
	}
	tap_ok(worst < 1e-15, "a state on permuted wires, then swaps, off by %.2g", worst);
	tap_ok(largest_difference(out.readout, want, 4) < 1e-15, "probabilities of two wires");
	outcome_release(&out);
	program_free(p);
}

/* ---- the pieces a vector starts as ---- */

static void test_amplitudes(void)
{
	struct build b = build_new(0, 3, 1);
	uint32_t expr[3], wire[2] = { 3, 1 }, one = 0;
	static const double input[] = { 3, -4, 12 };
	struct program *p;
	cplx got[DIM];
	double worst = 0;

	for (uint32_t k = 0; k < 3; k++)
		expr[k] = build_input(&b, k);
	build_wires(&b, 0, NWIRE);
	build_apply(&b, 0, build_gate(&b, GATE_PAULI, 1, NULL), 1, &one);
	build_amplitudes(&b, 0, 3, expr, 2, wire);
	build_z(&b, 0, 0);
	p = build_done(&b);
	state_of(p, input, got);
	for (unsigned i = 0; i < DIM; i++) {
		static const double v[4] = { 3.0 / 13, -4.0 / 13, 12.0 / 13, 0 };
		double want = (i & 5) == 1 ? v[(i >> 3 & 1) | (i >> 1 & 1) << 1] : 0;

		worst = tap_worst(worst, cabs(got[i] - want));
	}
	tap_ok(worst < 1e-15, "amplitudes, zero-padded, behind a gate on another wire, off by %.2g", worst);
	program_free(p);
}

int main(void)
{
	test_gates();
	test_paulis();
	test_probs_and_swaps();
	test_amplitudes();
	return tap_done();
}
