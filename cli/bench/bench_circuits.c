/* SPDX-License-Identifier: Apache-2.0
 * The named circuits of qcnn bench, as texts of models. */
#include "cli/bench/bench.h"

#include <string.h>

#include "runtime/base/diag.h"
#include "runtime/base/rng.h"

/* Any two-qubit gate: 15 weights. */
static const char su4[] =
	"block su4(float[15] t) a, b {\n"
	"  Rot(t[0], t[1], t[2]) a;  Rot(t[3], t[4], t[5]) b;\n"
	"  rxx(t[6]) a, b;  ryy(t[7]) a, b;  rzz(t[8]) a, b;\n"
	"  Rot(t[9], t[10], t[11]) a;  Rot(t[12], t[13], t[14]) b;\n"
	"}\n";
static const char turn[] = "block turn(float[3] t) a { Rot(t[0], t[1], t[2]) a; }\n";

/* A product state of random rotations, where it is asked for. */
static void put_start(struct buf *out, const struct bench_size *s)
{
	if (s->product)
		buf_printf(out, "block start(float[3] t) a { Rot(t[0], t[1], t[2]) a; }\n"
			"param float[%u, 3] beginning;\nstart(each beginning) on q;\n", s->n);
}

static void begin(struct buf *out, const char *what, const struct bench_size *s)
{
	buf_printf(out, "// %s\nQCNN 1;\nqubit[%u] q;\n", what, s->n);
	put_start(out, s);
}

/* The model of examples/cluster. */
static void write_qcnn(struct buf *out, const struct bench_size *s)
{
	buf_printf(out, "// The quantum convolutional network of TensorFlow Quantum's tutorial.\n"
		"QCNN 1;\n"
		"const int n = %u;\n"
		"qubit[n] q;\n", s->n);
	put_start(out, s);
	buf_str(out, "input float[n] x;\n"
		"block rotate(float[3] t) a { pow(t[0]) @ x a;  pow(t[1]) @ y a;  pow(t[2]) @ z a; }\n"
		"block entangle(float[15] t) a, b {\n"
		"  rotate(t[0:2]) a;  rotate(t[3:5]) b;\n"
		"  pow(t[6]) @ zz a, b;  pow(t[7]) @ yy a, b;  pow(t[8]) @ xx a, b;\n"
		"  rotate(t[9:11]) a;  rotate(t[12:14]) b;\n"
		"}\n"
		"block merge(float[6] t) source, sink {\n"
		"  rotate(t[0:2]) sink;  rotate(t[3:5]) source;\n"
		"  cx source, sink;\n"
		"  inv @ rotate(t[0:2]) sink;\n"
		"  discard source;\n"
		"}\n"
		"embed { h q;  cz on cycle(q);  rx(each x) on q; }\n"
		"let w = q;\n"
		"while (len(w) > 1) {\n"
		"  int half = len(w) / 2;\n"
		"  layer conv { param float[15] t;  entangle(t) on ring(w); }\n"
		"  layer pool { param float[6] t;  merge(t) on zip(w[0:half-1], w[half:-1]); }\n"
		"  w = w[half:-1];\n"
		"}\n"
		"observe z(w);\n");
}

/* Schuld, Bocharov, Svore, Wiebe (arXiv:1804.00633), with PennyLane's ranges. */
static void write_sel(struct buf *out, const struct bench_size *s)
{
	begin(out, "Strongly entangling layers.", s);
	buf_str(out, turn);
	buf_printf(out, "param float[%u, %u, 3] t;\n"
		"for int l in [0:%u] { turn(each t[l]) on q;  cx on cycle(q, l %% %u + 1); }\n"
		"observe z(q);\n", s->layers, s->n, s->layers - 1, s->n - 1);
}

static void write_qft(struct buf *out, const struct bench_size *s)
{
	begin(out, "The quantum Fourier transform of a product state of random rotations.", s);
	buf_printf(out, "for int i in [%u:-1:0] {\n"
		"  h q[i];\n"
		"  for int j in [i-1:-1:0] { cp(pi / 2.0 ** (i - j)) q[j], q[i]; }\n"
		"}\n"
		"for int i in [0:%u] { swap q[i], q[%u - i]; }\n"
		"observe z(q[0]);\n", s->n - 1, s->n / 2 - 1, s->n - 1);
}

/* Cross, Bishop, Sheldon, Nation, Gambetta (arXiv:1811.12926): random pairs in every layer. */
static void write_qv(struct buf *out, const struct bench_size *s)
{
	uint32_t order[BENCH_QUBITS_MAX];

	begin(out, "Quantum volume: random two-qubit gates on random pairs.", s);
	buf_str(out, su4);
	buf_printf(out, "param float[%u, %u, 15] t;\n", s->layers, s->n / 2);
	for (unsigned l = 0; l < s->layers; l++) {
		for (unsigned k = 0; k < s->n; k++)
			order[k] = k;
		rng_shuffle(s->seed, RNG_SHUFFLE, l, order, s->n);
		for (unsigned k = 0; k + 1 < s->n; k += 2)
			buf_printf(out, "su4(t[%u, %u]) q[%u], q[%u];\n", l, k / 2, order[k], order[k + 1]);
	}
	buf_str(out, "observe z(q[0]);\n");
}

static void write_ghz(struct buf *out, const struct bench_size *s)
{
	begin(out, "A Greenberger-Horne-Zeilinger state.", s);
	buf_str(out, "h q[0];\ncx on windows(q, 2, 1);\nobserve z(q[0]);\n");
}

static void write_brickwork(struct buf *out, const struct bench_size *s)
{
	begin(out, "Two-qubit gates on neighbours, in bricks.", s);
	buf_str(out, su4);
	buf_printf(out, "for int l in [0:%u] {\n"
		"  if (l %% 2 == 0) { layer even { param float[len(even(q)), 15] t;  su4(each t) on even(q); } }\n"
		"  else { layer odd { param float[len(odd(q)), 15] t;  su4(each t) on odd(q); } }\n"
		"}\n"
		"observe z(q[0]);\n", s->layers - 1);
}

/* ---- the random circuits of qsim's collection ---- */

/* Boixo et al. (arXiv:1608.00263): a grid of qubits, eight patterns of controlled z in turn, and single-qubit
 * gates where a qubit had a controlled z the cycle before and has none now: first t, then one of t, sqrt(x),
 * sqrt(y), not the same twice. */
struct grid { unsigned n, columns; uint64_t seed; };

static unsigned grid_columns(unsigned n)
{
	unsigned c = 1;

	while (c * c < n)
		c++;
	while (n % c && c < n)
		c++;
	return c == n && n > 3 ? (n + 1) / 2 : c;
}

/* The other qubit of the controlled z that begins at q in this cycle, or n. */
static unsigned grid_partner(const struct grid *g, unsigned q, unsigned cycle)
{
	static const unsigned first[8][2] = { { 0, 2 }, { 2, 0 }, { 0, 1 }, { 1, 0 }, { 1, 3 }, { 3, 1 }, { 0, 1 }, { 1, 0 } };
	unsigned row = q / g->columns, column = q % g->columns, k = cycle % 8, to;
	bool across = k % 4 < 2;

	if (across) {
		to = q + 1;
		return column % 4 == first[k][row & 1] && column + 1 < g->columns && to < g->n ? to : g->n;
	}
	to = q + g->columns;
	return (row & 1) == (k < 4) && (column & 1) == first[k][row >> 1 & 1] && to < g->n ? to : g->n;
}

static void random_cycle(struct buf *out, const struct grid *g, unsigned cycle, uint8_t *gate, bool *busy)
{
	static const char *const name[] = { "", "t", "sx", "pow(0.5) @ y" };
	bool now[BENCH_QUBITS_MAX] = { false };

	for (unsigned q = 0; q < g->n; q++) {
		unsigned to = grid_partner(g, q, cycle);

		if (to < g->n) {
			buf_printf(out, "cz q[%u], q[%u];\n", q, to);
			now[q] = now[to] = true;
		}
	}
	for (unsigned q = 0; q < g->n; q++) {
		if (busy[q] && !now[q]) {
			/* The first is t; then one of the two that are not the last. */
			unsigned draw = (unsigned)(rng_u64(g->seed, RNG_DATA, cycle, q) & 1);

			gate[q] = gate[q] ? (uint8_t)(1 + (gate[q] + draw) % 3) : 1;
			buf_printf(out, "%s q[%u];\n", name[gate[q]], q);
		}
		busy[q] = now[q];
	}
}

static void write_random(struct buf *out, const struct bench_size *s)
{
	struct grid g = { s->n, grid_columns(s->n), s->seed };
	uint8_t gate[BENCH_QUBITS_MAX] = { 0 };
	bool busy[BENCH_QUBITS_MAX] = { false };

	begin(out, "A random circuit on a grid.", s);
	buf_str(out, "h q;\n");
	for (unsigned k = 0; k < s->layers; k++)
		random_cycle(out, &g, k, gate, busy);
	buf_str(out, "observe z(q[0]);\n");
}

static const struct bench_circuit table[] = {
	{ "qcnn", 2, 0, true, false, write_qcnn },
	{ "sel", 2, 1, false, false, write_sel },
	{ "qft", 2, 0, false, true, write_qft },
	{ "qv", 2, BENCH_LAYERS_N, false, false, write_qv },
	{ "ghz", 2, 0, false, false, write_ghz },
	{ "brickwork", 2, 8, false, false, write_brickwork },
	{ "random", 2, 100, false, false, write_random },
};

const struct bench_circuit *bench_circuit_find(const char *name)
{
	for (size_t k = 0; k < sizeof table / sizeof *table; k++)
		if (!strcmp(table[k].name, name))
			return &table[k];
	return NULL;
}

void bench_circuit_names(const char *name, struct buf *out, const char **near)
{
	const char *names[sizeof table / sizeof *table];
	size_t n = sizeof table / sizeof *table;

	for (size_t k = 0; k < n; k++) {
		names[k] = table[k].name;
		buf_printf(out, "%s%s", k ? ", " : "", names[k]);
	}
	*near = diag_nearest(name, names, n);
}
