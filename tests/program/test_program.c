/* SPDX-License-Identifier: Apache-2.0
 * Programs: expressions and their derivatives, initial weights, bytes there and back, every
 * flipped bit and cut noticed, every limit at it and beyond. */
#include "runtime/program/program.h"

#include <math.h>
#include "runtime/base/crypto/crypto.h"
#include "runtime/program/bytecode.h"
#include "tests/program/sample.h"

/* ---- expressions ---- */

static void one_operation(enum expr_op op, double a, double b, double want)
{
	struct expr x[3] = { { .op = EXPR_WEIGHT, .a = 0 }, { .op = EXPR_WEIGHT, .a = 1 }, { .op = op, .a = 0, .b = 1 } };
	struct program p = { .nexpr = 3, .expr = x, .nweight = 2 };
	double value[3], weight[2] = { a, b };
	program_derive(&p);
	program_eval(&p, weight, NULL, value);
	tap_close(value[2], want, 1e-15, "operation %d of %g, %g", (int)op, a, b);
	double derivative[3] = { 0, 0, 1 }, got[2] = { 0 };
	program_eval_reverse(&p, value, derivative, got);
	for (unsigned k = 0; k < expr_noperand(op); k++) {
		double near[2][3], h = 1e-5, was = weight[k];
		weight[k] = was + h;
		program_eval(&p, weight, NULL, near[0]);
		weight[k] = was - h;
		program_eval(&p, weight, NULL, near[1]);
		weight[k] = was;
		tap_close(got[k], (near[0][2] - near[1][2]) / (2 * h), 1e-8,
			"its derivative by operand %u", k);
	}
}

static void operations(void)
{
	static const struct {
		enum expr_op op;
		double a, b, want;
	} row[] = {
		{ EXPR_NEG, 0.3, 0, -0.3 },
		{ EXPR_ADD, 0.3, 0.5, 0.8 },
		{ EXPR_SUB, 0.3, 0.5, -0.2 },
		{ EXPR_MUL, 0.3, 0.5, 0.15 },
		{ EXPR_DIV, 0.3, 0.5, 0.6 },
		{ EXPR_POW, 0.25, 0.5, 0.5 },
		{ EXPR_SIN, 0.5, 0, 0.47942553860420300 },
		{ EXPR_COS, 0.5, 0, 0.87758256189037272 },
		{ EXPR_TAN, 0.5, 0, 0.54630248984379051 },
		{ EXPR_ARCSIN, 0.5, 0, PI / 6 },
		{ EXPR_ARCCOS, 0.5, 0, PI / 3 },
		{ EXPR_ARCTAN, 1, 0, PI / 4 },
		{ EXPR_EXP, 0.5, 0, 1.6487212707001282 },
		{ EXPR_LOG, 0.5, 0, -0.69314718055994531 },
		{ EXPR_SQRT, 0.25, 0, 0.5 },
		{ EXPR_ABS, -0.5, 0, 0.5 },
		{ EXPR_MIN, 0.3, 0.5, 0.3 },
		{ EXPR_MIN, 0.5, 0.3, 0.3 },
		{ EXPR_MAX, 0.3, 0.5, 0.5 },
		{ EXPR_MAX, 0.5, 0.3, 0.5 },
		{ EXPR_LESS, 0.3, 0.5, 1 },
		{ EXPR_LESS, 0.5, 0.3, 0 },
	};
	bool seen[EXPR_COUNT] = {
		[EXPR_CONST] = true, [EXPR_WEIGHT] = true, [EXPR_INPUT] = true, [EXPR_DRAW] = true
	};
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		one_operation(row[i].op, row[i].a, row[i].b, row[i].want);
		seen[row[i].op] = true;
	}
	for (unsigned op = EXPR_NONE + 1; op < EXPR_COUNT; op++)
		tap_ok(seen[op], "operation %u was tried", op);
}

/* Without trajectories no channel does anything: a random number is 1, which is not less than a probability. */
static void random_numbers(void)
{
	struct expr x[3] = { { .op = EXPR_DRAW, .a = 7 }, { .op = EXPR_CONST, .value = 1 },
		{ .op = EXPR_LESS, .a = 0, .b = 1 } };
	struct program p = { .nexpr = 3, .expr = x };
	double value[3], derivative[3] = { 1, 1, 1 };

	program_derive(&p);
	program_eval(&p, NULL, NULL, value);
	tap_ok(value[0] == 1 && value[2] == 0, "a random number is 1");
	tap_is_int(x[2].cls, VALUE_SAMPLE, "and differs between samples");
	program_eval_reverse(&p, value, derivative, NULL);
	tap_ok(program_is_noisy(&p), "the program has noise");
	x[0].op = EXPR_CONST;
	tap_ok(!program_is_noisy(&p), "and has none");
}

/* x^2 and x^0 at 0, and of a negative base: finite, also where log is not. */
static void constant_exponents(void)
{
	struct expr x[4] = { { .op = EXPR_WEIGHT }, { .op = EXPR_CONST, .value = 2 }, { .op = EXPR_CONST },
		{ .op = EXPR_POW, .a = 0, .b = 1 } };
	struct program p = { .nexpr = 4, .expr = x, .nweight = 1 };
	static const double at[] = { 0, -3 };
	for (unsigned i = 0; i < 4; i++) {
		double weight = at[i / 2], value[4], derivative[4] = { 0, 0, 0, 1 }, got = 0;
		x[3].b = 1 + i % 2;
		program_derive(&p);
		program_eval(&p, &weight, NULL, value);
		program_eval_reverse(&p, value, derivative, &got);
		tap_close(got, i % 2 ? 0 : 2 * weight, 0, "the derivative of (%g)^%d", weight,
			i % 2 ? 0 : 2);
	}
}

static void initial_weights(void)
{
	struct program *p = sample_program();
	double w[26], again[26], other[26];
	tap_is_int(p->nweight, 26, "26 weights");
	tap_is_int(p->nweight_circuit, 7, "7 of them in circuits");
	program_init_weights(p, 1, 0, w);
	program_init_weights(p, 1, 0, again);
	program_init_weights(p, 1, 1, other);
	tap_is_mem(w, again, sizeof w, "the same seed and start, the same weights");
	bool differ = true, inside = true;
	for (unsigned i = 0; i < 4; i++) {
		differ &= w[i] != other[i];
		inside &= w[i] >= 0 && w[i] < 2 * PI;
	}
	for (unsigned i = 7; i < 21; i++)
		inside &= fabs(w[i]) <= sqrt(6.0 / 9);
	tap_ok(differ, "another start, other weights");
	tap_ok(inside, "all within their bounds");
	tap_ok(w[4] != 0.5 && fabs(w[4] - 0.5) < 0.6, "a normal weight (%g)", w[4]);
	tap_ok(w[6] == 1e-300 && signbit(w[5]), "given values, to the bit");
	program_free(p);
}

/* ---- bytes ---- */

static void rehash(struct buf *b)
{
	sha256_of(b->data, b->len - SHA256_BYTES, (uint8_t *)b->data + b->len - SHA256_BYTES);
}

static void bytes_of_sample(struct buf *b)
{
	struct program *p = sample_program();
	buf_init(b);
	program_write(p, b);
	program_free(p);
}

static void round_trip(void)
{
	struct buf b, again = BUF_INIT;
	struct program *p = NULL;
	struct err e = { 0 };
	bytes_of_sample(&b);
	tap_is_int(program_read(b.data, b.len, &p, &e), 0, "the sample's bytes are read (%s)", e.text);
	program_write(p, &again);
	tap_ok(b.len == again.len && memcmp(b.data, again.data, b.len) == 0, "and written the same");
	tap_is_int(p->matrix[1].cls, VALUE_SAMPLE, "classes are derived");
	tap_is_int(p->nreadout, 7, "readouts are counted");
	program_free(p);
	buf_release(&b);
	buf_release(&again);
}

static void damage(void)
{
	struct buf b;
	struct program *p = NULL;
	unsigned accepted = 0;
	bytes_of_sample(&b);
	for (size_t bit = 0; bit < 8 * b.len; bit++) {
		b.data[bit / 8] ^= (char)(1 << bit % 8);
		accepted += program_read(b.data, b.len, &p, NULL) == 0;
		b.data[bit / 8] ^= (char)(1 << bit % 8);
	}
	tap_is_int(accepted, 0, "every one of %zu flipped bits is noticed", 8 * b.len);
	for (size_t n = 0; n < b.len; n++) {
		char *cut = mem_alloc(n + 1, 1);     /* exactly n readable bytes for the sanitizer */
		memcpy(cut, b.data, n);
		accepted += program_read(cut, n, &p, NULL) == 0;
		free(cut);
	}
	tap_is_int(accepted, 0, "every cut is noticed");
	buf_char(&b, 0);
	tap_ok(program_read(b.data, b.len, &p, NULL) != 0, "a byte more is noticed");
	buf_release(&b);
}

/* Bytes changed by someone who also mends the hash: refused, or a program that is written
 * back to the same bytes; never a crash. */
static void forgeries(void)
{
	static const unsigned char value[] = { 0, 1, 2, 3, 8, 0x7f, 0xff };
	struct buf b, again = BUF_INIT;
	unsigned accepted = 0, refused = 0, unequal = 0;
	bytes_of_sample(&b);
	for (size_t i = 0; i < b.len - SHA256_BYTES; i++)
		for (size_t k = 0; k < sizeof value; k++) {
			struct program *p = NULL;
			char was = b.data[i];
			b.data[i] = (char)value[k];
			rehash(&b);
			if (program_read(b.data, b.len, &p, NULL) == 0) {
				accepted++;
				buf_clear(&again);
				program_write(p, &again);
				unequal += b.len != again.len || memcmp(b.data, again.data, b.len);
				program_free(p);
			} else {
				refused++;
			}
			b.data[i] = was;
		}
	tap_ok(refused > accepted / 4, "%u forgeries refused, %u are other valid programs", refused, accepted);
	tap_is_int(unequal, 0, "those are written back unchanged");
	buf_release(&b);
	buf_release(&again);
}

/* A field of the frame, little-endian, with the hash mended: what is said. */
static void forge(size_t at, unsigned nbyte, uint64_t value, const char *want)
{
	struct buf b;
	struct program *p = NULL;
	struct err e = { 0 };
	bytes_of_sample(&b);
	for (unsigned i = 0; i < nbyte; i++)
		b.data[at + i] = (char)(value >> 8 * i);
	rehash(&b);
	tap_ok(program_read(b.data, b.len, &p, &e) == -ERR_BAD_DATA, "%s", want);
	tap_is_str(e.text, want, "and told so");
	buf_release(&b);
}

static void frame(void)
{
	enum { ROW = BYTECODE_HEAD_BYTES };
	forge(0, 1, 'X', "not qcnn bytecode: the file does not begin with its magic");
	forge(8, 4, 0, "bytecode of version 0, this qcnn reads version 1");
	forge(8, 4, 2, "bytecode of version 2, this qcnn reads version 1");
	forge(12, 4, 7, "7 sections, version 1 has 8");
	forge(12, 4, 9, "9 sections, version 1 has 8");
	forge(ROW, 4, 2, "section table, row 1: section 2 instead of 1 (weights)");
	forge(ROW + 4, 4, 9, "section weights, record 8: path: the section ends too early");
	forge(ROW + 4, 4, UINT32_MAX, "section weights, record 0: 4294967295 records, but only 288 bytes are left");
	forge(ROW + 4, 4, 7, "section weights, record 7: 35 bytes follow the last record");
	forge(ROW + 8, 8, 209, "section table, row 1 (weights): bytes 209..+288 do not fit");
	forge(ROW + 16, 8, UINT64_MAX, "section table, row 1 (weights): bytes 208..+18446744073709551615 do not fit");
	forge(ROW + 16, 8, 289, "section table, row 2 (inputs): bytes 496..+20 do not fit");
}

/* ---- the verifier ---- */

static int verify_changed(struct program *p, struct err *e)
{
	*e = (struct err){ 0 };
	return program_verify(p, e);
}

/* A change of the sample that the verifier must refuse, and why. */
#define REFUSED(change, want) do { \
	struct program *p = sample_program(); \
	struct err e; \
	change; \
	tap_ok(verify_changed(p, &e) == -ERR_BAD_DATA, "refused: %s", #change); \
	tap_is_str(e.text, want, "because"); \
	program_free(p); \
} while (0)
#define ACCEPTED(change) do { \
	struct program *p = sample_program(); \
	struct err e; \
	change; \
	tap_is_int(verify_changed(p, &e), 0, "accepted: %s (%s)", #change, e.text); \
	program_free(p); \
} while (0)

static char *long_text(size_t n)
{
	static char text[PROGRAM_PATH_MAX + 2];
	memset(text, 'a', n);
	text[n] = 0;
	return text;
}

static void verify_slots_(void)
{
	ACCEPTED(p->weight_group[0].path = long_text(PROGRAM_PATH_MAX));
	REFUSED(p->weight_group[0].path = long_text(PROGRAM_PATH_MAX + 1), "weights: group 0: path has 1024 bytes, the limit is 1023");
	REFUSED(p->weight_group[0].path = "a\nb", "weights: group 0: path holds a control character");
	REFUSED(p->weight_group[0].path = NULL, "weights: group 0: path is absent");
	REFUSED(p->nweight_group = PROGRAM_WEIGHTS_MAX + 1, "weights: 16777217 weight groups, the limit is 16777216");
	REFUSED(p->nweight_group--, "weights: 26 scalars, the groups have 25");
	REFUSED(p->weight_group[0].ndim = PROGRAM_DIMS_MAX + 1, "weights: group 0: 9 dimensions, the limit is 8");
	ACCEPTED(p->weight_group[0].ndim = PROGRAM_DIMS_MAX; for (int i = 2; i < 8; i++) p->weight_group[0].dim[i] = 1);
	REFUSED(p->weight_group[0].dim[0] = PROGRAM_WEIGHTS_MAX, "weights: group 0: dimension 1 is 2: more than 16777216 elements");
	REFUSED(p->weight_group[0].dim[0] = 3, "weights: group 0: scalars 0..+4, its shape and place say 0..+6");
	REFUSED(p->weight_group[1].first = 5, "weights: group 1: scalars 5..+1, its shape and place say 4..+1");
	REFUSED(p->weight_group[0].init = INIT_NONE, "weights: group 0: initialiser 0 is unknown");
	REFUSED(p->weight_group[0].init = INIT_GLOROT_UNIFORM + 1, "weights: group 0: initialiser 5 is unknown");
	REFUSED(p->weight_group[0].init_a = INFINITY, "weights: group 0: initialiser: the two numbers are not finite");
	REFUSED(p->weight_group[0].init_a = 7, "weights: group 0: initialiser: lower bound 7 is above upper bound 6.28319");
	REFUSED(p->weight_group[1].init_b = -1, "weights: group 1: initialiser: negative deviation -1");
	REFUSED(p->weight_group[4].init_a = -7, "weights: group 4: initialiser: fans -7 and 2");
	REFUSED(((double *)p->weight_group[2].init_value)[1] = NAN, "weights: group 2: initial value 1 is not finite");
	REFUSED(p->nweight_circuit = 6, "dense: 6 weights of circuits, the head begins at 7");
	REFUSED(p->ninput_group = PROGRAM_INPUTS_MAX + 1, "inputs: 16777217 input groups, the limit is 16777216");
	REFUSED(p->input_group[1].dim[0] = 3, "inputs: group 1: 3 amplitudes, not a power of two");
	REFUSED(p->input_group[1].ndim = 2, "inputs: group 1: a state has one dimension, not 2");
	REFUSED(p->ninput = 12, "inputs: 12 scalars, the groups have 11");
	REFUSED(p->nexpr = PROGRAM_EXPRS_MAX + 1, "exprs: 16777217 expressions, the limit is 16777216");
	REFUSED(p->expr[0].op = EXPR_COUNT, "exprs: expression 0: operation 24 is unknown");
	REFUSED(p->expr[0].op = EXPR_NONE, "exprs: expression 0: operation 0 is unknown");
	REFUSED(p->expr[0].a = 7, "exprs: expression 0: weight 7, circuits have 7");
	REFUSED(p->expr[2].a = 11, "exprs: expression 2: input 11 of 11");
	REFUSED(p->expr[2].a = 3, "exprs: expression 2: input 3 belongs to a state");
	REFUSED((p->expr[2].op = EXPR_DRAW, p->expr[2].a = PROGRAM_DRAWS_MAX),
		"exprs: expression 2: random number 16777216 of 16777216");
	REFUSED(p->expr[3].value = NAN, "exprs: expression 3: constant is not finite");
	REFUSED(p->expr[5].a = 5, "exprs: expression 5: operand 5 is not an earlier expression");
}

static void verify_matrices(void)
{
	REFUSED(p->nmatrix = PROGRAM_MATRICES_MAX + 1, "matrices: 4194305 matrices, the limit is 4194304");
	REFUSED(p->matrix[3].nitem = PROGRAM_ITEMS_MAX,
		"matrices: matrix 3: 16777224 factors of all matrices so far, the limit is 16777216");
	REFUSED(p->matrix[3].ntarget = 0, "matrices: matrix 3: 0 targets, not 1 to 3");
	REFUSED(p->matrix[3].ntarget = 4, "matrices: matrix 3: 4 targets, not 1 to 3");
	REFUSED(p->matrix[0].item[0].nwire = 2,
		"matrices: matrix 0: factor 0: 0 controls among 2 wires in a matrix of 1");
	REFUSED(p->matrix[0].item[0].ncontrol = 1,
		"matrices: matrix 0: factor 0: 1 controls among 1 wires in a matrix of 1");
	REFUSED(p->matrix[0].item[0].wire[0] = 1, "matrices: matrix 0: factor 0: wire 1 of 1");
	REFUSED(p->matrix[1].item[1].wire[1] = 1, "matrices: matrix 1: factor 1: wire 1 twice");
	REFUSED(p->matrix[1].item[1].control_ones = 2,
		"matrices: matrix 1: factor 1: control values beyond the 1 controls");
	REFUSED(p->matrix[0].item[0].gate = 4000,
		"matrices: matrix 0: factor 0: gate 4000 is unknown");
	REFUSED(p->matrix[0].item[0].gate = GATE_CX,
		"matrices: matrix 0: factor 0: gate cx has no matrix of its own");
	REFUSED(p->matrix[0].item[0].gate = GATE_RC3X,
		"matrices: matrix 0: factor 0: gate rc3x has no matrix of its own");
	REFUSED(p->matrix[0].item[0].word = 0,
		"matrices: matrix 0: factor 0: gate rpauli with word 0");
	REFUSED(p->matrix[0].item[0].word = 1 << 2,
		"matrices: matrix 0: factor 0: gate rpauli with word 4");
	REFUSED(p->matrix[0].item[0].word = 5,
		"matrices: matrix 0: factor 0: gate rpauli on 1 targets");
	REFUSED((p->matrix[0].item[0].gate = GATE_GPHASE, p->matrix[0].item[0].word = 0),
		"matrices: matrix 0: factor 0: gate gphase on 1 targets");
	REFUSED(p->matrix[0].item[0].angle[0] = 6,
		"matrices: matrix 0: factor 0: angle 0: expression 6 of 6");
	REFUSED(p->matrix[1].item[0].ref = 1,
		"matrices: matrix 1: factor 0: matrix 1 is not an earlier one");
	ACCEPTED(p->matrix[2].item[0] = p->matrix[1].item[0]);
	REFUSED(p->matrix[1].item[0].nwire = 2,
		"matrices: matrix 1: factor 0: matrix 0 has 1 targets, the factor 2");
	REFUSED(p->matrix[1].item[0].nwire = 3,
		"matrices: matrix 1: factor 0: 0 controls among 3 wires in a matrix of 2");
}

static void verify_circuits_(void)
{
	REFUSED(p->ncircuit = 0, "circuits: 0 circuits, not 1 to 4096");
	REFUSED(p->ncircuit = PROGRAM_CIRCUITS_MAX + 1, "circuits: 4097 circuits, not 1 to 4096");
	ACCEPTED(p->circuit[0].nwire = PROGRAM_WIRES_MAX);
	REFUSED(p->circuit[0].nwire = PROGRAM_WIRES_MAX + 1, "circuits: circuit 0: 4097 wires, not 1 to 4096");
	REFUSED(p->circuit[0].nwire = 0, "circuits: circuit 0: 0 wires, not 1 to 4096");
	REFUSED(p->circuit[0].name = NULL, "circuits: circuit 0: name is absent");
	REFUSED(p->circuit[0].napply = PROGRAM_APPLIES_MAX + 1,
		"circuits: circuit 0: 16777217 operations so far, the limit is 16777216");
	REFUSED(p->circuit[0].reg[1].count = 2, "circuits: circuit 0: register 1: wires 3..+2 of 4");
	REFUSED(p->circuit[0].apply[2].op = APPLY_COUNT,
		"circuits: circuit 0: operation 2: operation 7 is unknown");
	REFUSED(p->circuit[0].apply[2].nwire = 0,
		"circuits: circuit 0: operation 2: 0 wires, not 1 to 4096");
	REFUSED(p->circuit[0].apply[2].layer = 2, "circuits: circuit 0: operation 2: layer 2 of 2");
	REFUSED(p->circuit[0].apply[2].span = 2, "circuits: circuit 0: operation 2: span 2 of 2");
	REFUSED(p->circuit[0].apply[2].wire[0] = 4, "circuits: circuit 0: operation 2: wire 4 of 4");
	REFUSED(p->circuit[0].apply[2].matrix = 4, "circuits: circuit 0: operation 2: matrix 4 of 4");
	REFUSED(p->circuit[0].apply[2].matrix = 1,
		"circuits: circuit 0: operation 2: 0 controls and 1 wires, matrix 1 has 2 targets");
	REFUSED(p->circuit[0].apply[2].control_ones = 1,
		"circuits: circuit 0: operation 2: control values beyond the 0 controls");
	REFUSED(p->circuit[0].apply[2].ncontrol = 61,
		"circuits: circuit 0: operation 2: 61 controls, the limit is 60");
	REFUSED(p->circuit[0].apply[4].adjoint = true,
		"circuits: circuit 0: operation 4: only a unitary has controls or an adjoint");
	REFUSED(p->circuit[0].apply[4].wire[1] = 0, "circuits: circuit 0: operation 4: wire 0 twice");
	REFUSED(p->circuit[0].apply[4].nwire = 1,
		"circuits: circuit 0: operation 4: 1 wires, a swap has 2");
	REFUSED(p->circuit[0].apply[0].matrix = 0,
		"circuits: circuit 0: operation 0: input group 0 is not a state");
	REFUSED(p->circuit[0].apply[0].nwire = 1,
		"circuits: circuit 0: operation 0: 1 wires for a state of 4 amplitudes");
	REFUSED(p->circuit[0].apply[1].wire[0] = 1,
		"circuits: circuit 0: operation 1: wire 1 was used before");
	REFUSED(p->circuit[0].apply[1].nexpr = 0,
		"circuits: circuit 0: operation 1: 0 entries for 2 wires");
	REFUSED(p->circuit[0].apply[1].nexpr = 5,
		"circuits: circuit 0: operation 1: 5 entries for 2 wires");
	REFUSED(p->circuit[0].apply[1].expr[2] = 6,
		"circuits: circuit 0: operation 1: entry 2: expression 6 of 6");
	REFUSED(p->circuit[0].apply[6].wire[1] = 0, "circuits: circuit 0: operation 6: wire 0 twice");
	REFUSED((p->circuit[0].apply[6].wire[0] = 2, p->circuit[0].apply[6].wire[1] = 0),
		"circuits: circuit 0: operation 6: wire 0 was measured before");
	REFUSED(p->circuit[0].apply[5].op = APPLY_DISCARD,
		"circuits: circuit 0: operation 6: wire 0 was discarded before");
	REFUSED(p->circuit[0].output[0].kind = OUTPUT_NONE, "circuits: circuit 0: output 0: kind 0 is unknown");
	REFUSED(p->circuit[0].output[0].nterm = PROGRAM_TERMS_MAX + 1, "circuits: circuit 0: output 0: 4194305 terms so far, the limit is 4194304");
	REFUSED(p->circuit[0].output[0].term[0].coefficient = NAN, "circuits: circuit 0: output 0: a coefficient is not finite");
	REFUSED(p->circuit[0].output[0].term[0].factor[0].letter = 1, "circuits: circuit 0: output 0: wire 0 was measured, only z can be read");
	REFUSED(p->circuit[0].output[0].term[0].factor[0].letter = 4, "circuits: circuit 0: output 0: letter 4 on wire 0");
	REFUSED(p->circuit[0].output[0].term[0].factor[0].wire = 1, "circuits: circuit 0: output 0: wires 1, 1 are not in ascending order");
	REFUSED(p->circuit[0].output[0].term[0].factor[1].wire = 3, "circuits: circuit 0: output 0: wire 3 was discarded");
	REFUSED(p->circuit[0].output[2].nwire = 0, "circuits: circuit 0: output 2: probabilities of 0 wires");
	REFUSED(p->circuit[0].output[2].wire[0] = 3, "circuits: circuit 0: output 2: wire 3 was discarded before");
	REFUSED(p->circuit[0].nreadout = 5, "circuits: circuit 0: 5 readouts, its outputs give 6");
	REFUSED(p->nreadout = 8, "circuits: 8 readouts, the circuits give 7");
}

static void verify_head(void)
{
	REFUSED(p->ndense = PROGRAM_DENSE_MAX + 1, "dense: 65 layers, the limit is 64");
	REFUSED(p->dense[0].nin = 6, "dense: layer 0: 6 inputs, it gets 7");
	REFUSED(p->dense[1].nout = 0, "dense: layer 1: 0 outputs, not 1 to 1048576");
	REFUSED(p->dense[1].nout = PROGRAM_OUTPUTS_MAX + 1, "dense: layer 1: 1048577 outputs, not 1 to 1048576");
	REFUSED(p->dense[1].activation = ACTIVATION_COUNT, "dense: layer 1: activation 5 is unknown");
	REFUSED(p->dense[1].kernel = 4, "dense: layer 1: kernel is weight group 4, its place is 6");
	REFUSED(p->dense[1].bias = 8, "dense: layer 1: bias is weight group 8, its place is 7");
	REFUSED(p->dense[1].nout = 2, "dense: layer 1: kernel: weight group 6 has another shape");
	REFUSED(p->noutput = 2, "dense: 2 outputs of the model, the head gives 1");
	REFUSED(p->layer[0].path = NULL, "layers: layer 0: path is absent");
}

/* Wires and controls at their limits need a circuit of that many. */
static void many_wires(void)
{
	static uint32_t wire[PROGRAM_WIRES_MAX];
	for (uint32_t i = 0; i < PROGRAM_WIRES_MAX; i++)
		wire[i] = i;
	ACCEPTED((p->circuit[1].nwire = PROGRAM_WIRES_MAX, p->circuit[1].apply[0].wire = wire,
		p->circuit[1].apply[0].nwire = PROGRAM_CONTROLS_MAX + 1, p->circuit[1].apply[0].ncontrol = PROGRAM_CONTROLS_MAX,
		p->circuit[1].apply[0].control_ones = (1ull << PROGRAM_CONTROLS_MAX) - 1));
	REFUSED((p->circuit[1].nwire = PROGRAM_WIRES_MAX, p->circuit[1].output[0].kind = OUTPUT_PROBS,
		p->circuit[1].output[0].wire = wire, p->circuit[1].output[0].nwire = 21),
		"circuits: circuit 1: output 0: 2097152 readouts so far, the limit is 1048576");
	REFUSED((p->circuit[1].nwire = PROGRAM_WIRES_MAX, p->circuit[1].output[0].kind = OUTPUT_PROBS,
		p->circuit[1].output[0].wire = wire, p->circuit[1].output[0].nwire = 20),
		"circuits: circuit 1: 1 readouts, its outputs give 1048576");
}

int main(void)
{
	operations();
	constant_exponents();
	random_numbers();
	initial_weights();
	round_trip();
	damage();
	forgeries();
	frame();
	verify_slots_();
	verify_matrices();
	verify_circuits_();
	verify_head();
	many_wires();
	return tap_done();
}
