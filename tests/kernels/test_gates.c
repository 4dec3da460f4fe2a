/* SPDX-License-Identifier: Apache-2.0
 * The gate table: matrices and derivatives against other simulators' numbers, the rows'
 * flags, frequencies, powers and names against the matrices themselves. */
#include <string.h>
#include "lang/gates.h"
#include "runtime/program/matrix.h"

#include "runtime/base/buf.h"
#include "runtime/base/rng.h"
#include "tests/tap.h"

enum { WIRES_MAX = 5, ENTRIES_MAX = 1 << 2 * WIRES_MAX };

static double draw(unsigned k)
{
	return 4 * rng_uniform(1, RNG_TEST, 11, k) - 2;
}

static double distance(const cplx *a, const cplx *b, size_t n)
{
	double worst = 0;
	for (size_t i = 0; i < n; i++)
		worst = tap_worst(worst, cabs(a[i] - b[i]));
	return worst;
}

/* m <- (g on wires, under leading controls on these ones) m, for matrices of n wires; where the controls
 * are not met m is kept, or zeroed for a derivative. */
static void apply(unsigned n, const cplx *g, unsigned ncontrol, unsigned ones, unsigned ntarget,
	const uint8_t *wire, bool keep, cplx *m)
{
	static cplx out[ENTRIES_MAX];
	unsigned d = 1u << n, controls = 0, met = 0;
	for (unsigned k = 0; k < ncontrol; k++) {
		controls |= 1u << wire[k];
		met |= (ones >> k & 1) << wire[k];
	}
	for (unsigned r = 0; r < d; r++)
		for (unsigned c = 0; c < d; c++) {
			unsigned row = 0, from = r;
			cplx sum = 0;
			if ((r & controls) != met) {
				out[r * d + c] = keep ? m[r * d + c] : 0;
				continue;
			}
			for (unsigned k = 0; k < ntarget; k++) {
				row |= (r >> wire[ncontrol + k] & 1) << k;
				from &= ~(1u << wire[ncontrol + k]);
			}
			for (unsigned j = 0; j < 1u << ntarget; j++) {
				unsigned at = from;
				for (unsigned k = 0; k < ntarget; k++)
					at |= (j >> k & 1) << wire[ncontrol + k];
				sum += g[row << ntarget | j] * m[at * d + c];
			}
			out[r * d + c] = sum;
		}
	memcpy(m, out, d * d * sizeof *m);
}

static void unit(unsigned d, cplx *u)
{
	memset(u, 0, d * d * sizeof *u);
	for (unsigned i = 0; i < d; i++)
		u[i * d + i] = 1;
}

/* The product of a composite row's steps, of which number `derived` is its derivative (none: all are themselves). */
static void product(enum gate g, unsigned n, double angle, size_t derived, cplx *u)
{
	const struct gate_step *s;
	unit(1u << n, u);
	for (size_t i = 0, end = gate_steps(g, &s); i < end; i++) {
		const struct gate_row *r = gate_row(s[i].gate);
		uint8_t word = r->ncontrol ? r->base_word : s[i].word;
		unsigned nc = s[i].ncontrol + r->ncontrol,
			 ones = s[i].ones | ((1u << r->ncontrol) - 1) << s[i].ncontrol;
		double a = s[i].angle * angle;
		cplx m[64];
		if (i == derived)
			gate_derivative(r->base, word, &a, 0, m);
		else
			gate_matrix(r->base, word, &a, m);
		for (unsigned k = 0; i == derived && k < 1u << 2 * gate_ntarget(r->base, word); k++)
			m[k] *= s[i].angle;
		apply(n, m, nc, ones, gate_ntarget(r->base, word), s[i].wire, i != derived, u);
	}
}

static void composite(enum gate g, unsigned n, double angle, int k, cplx *u)
{
	static cplx part[ENTRIES_MAX];
	const struct gate_step *s;
	size_t nstep = gate_steps(g, &s), d = (size_t)1 << n;
	if (k < 0) {
		product(g, n, angle, nstep, u);
		return;
	}
	memset(u, 0, d * d * sizeof *u);
	for (size_t i = 0; i < nstep; i++) {
		if (!gate_row(s[i].gate)->nangle)
			continue;
		product(g, n, angle, i, part);
		for (size_t j = 0; j < d * d; j++)
			u[j] += part[j];
	}
}

/* The whole gate, controls and steps included; k < 0: the matrix, else a derivative. */
static unsigned whole(const struct gate_row *r, uint8_t word, bool power, const double *angle, int k, cplx *u)
{
	static const uint8_t straight[] = { 0, 1, 2, 3, 4 };
	enum gate base = power ? r->power : r->base;
	if (r->ncontrol)
		word = power ? r->power_word : r->base_word;
	unsigned nt = gate_ntarget(base, word), n = r->ncontrol + nt, d = 1u << n;
	unit(d, u);
	if (r->flags & GATE_COMPOSITE) {
		composite(r->id, n, angle[0], k, u);
		return n;
	}
	cplx g[64];
	if (k < 0)
		gate_matrix(base, word, angle, g);
	else
		gate_derivative(base, word, angle, (unsigned)k, g);
	apply(n, g, r->ncontrol, (1u << r->ncontrol) - 1, nt, straight, k < 0, u);
	return n;
}

/* ---- reference numbers ---- */

static size_t read_entries(char *line, unsigned d, cplx *m)
{
	size_t n = 0;
	memset(m, 0, d * d * sizeof *m);
	for (char *t = strtok(line, " "); t; t = strtok(NULL, " "), n++) {
		unsigned r, c;
		double re, im;
		if (sscanf(t, "%u:%u:%lf:%lf", &r, &c, &re, &im) != 4 || r >= d || c >= d)
			tap_bail("gates.txt: %s", t);
		m[r * d + c] = cplx_of(re, im);
	}
	return n;
}

/* What gates.txt has of each base row: bit 0 the matrix, bit k + 1 the derivative by angle k. */
static unsigned compared[GATE_COUNT];

struct reference { char name[40]; unsigned nwire, nangle; double angle[GATE_ANGLES_MAX]; };

static void read_gate(char *line, struct reference *g)
{
	int used;
	if (sscanf(line, "gate %39s %u%n", g->name, &g->nwire, &used) != 2 || g->nwire > WIRES_MAX)
		tap_bail("gates.txt: %s", line);
	char *at = line + used, *end;
	for (g->nangle = 0; g->nangle < GATE_ANGLES_MAX; g->nangle++, at = end) {
		g->angle[g->nangle] = strtod(at, &end);
		if (end == at)
			break;
	}
}

static void compare(const struct reference *g, int k, const cplx *want)
{
	static cplx got[ENTRIES_MAX];
	bool power = strncmp(g->name, "pow:", 4) == 0;
	uint8_t word;
	const char *alias;
	const struct gate_row *r = gate_find(g->name + (power ? 4 : 0), &word, &alias);
	if (!tap_ok(r != NULL, "%s is a gate", g->name))
		return;
	unsigned n = whole(r, word, power, g->angle, k, got);
	if (!tap_is_int(n, g->nwire, "%s has %u qubits", g->name, g->nwire)
		|| !tap_is_int(power ? 1 : r->nangle, g->nangle, "%s has %u angles", g->name,
			g->nangle))
		return;
	compared[power ? r->power : r->base] |= 1u << (k + 1);
	double off = distance(got, want, 1u << 2 * n);
	if (k < 0)
		tap_ok(off < 1e-14, "%s: matrix as elsewhere (%g)", g->name, off);
	else
		tap_ok(off < 1e-10, "%s: derivative %d as elsewhere (%g)", g->name, k, off);
}

/* Names of rows by number, *n of which were in earlier lines. */
static void check_numbers(char *line, unsigned *n)
{
	for (char *t = strtok(line, " "); t; t = strtok(NULL, " ")) {
		const struct gate_row *r = ++*n < GATE_COUNT ? gate_row((enum gate) * n) : NULL;
		tap_is_str(r ? r->name : NULL, t, "the number of %s in bytecode is %u", t, *n);
	}
}

static void references(void)
{
	static cplx want[ENTRIES_MAX];
	struct buf b = BUF_INIT;
	struct reference g = { 0 };
	char path[4096], *save;
	unsigned nnumber = 0;
	snprintf(path, sizeof path, "%s/tests/kernels/gates.txt", tap_srcdir());
	if (buf_read_file(&b, path, 1 << 20, NULL))
		tap_bail("cannot read %s", path);
	for (char *line = strtok_r(b.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (line[0] == 'g') {
			read_gate(line, &g);
		} else if (line[0] == 'u') {
			read_entries(line + 1, 1u << g.nwire, want);
			compare(&g, -1, want);
		} else if (line[0] == 'd') {
			int k = line[2] - '0';
			read_entries(line + 3, 1u << g.nwire, want);
			compare(&g, k, want);
		} else if (line[0] == 'n') {
			check_numbers(line + strlen("numbers"), &nnumber);
		}
	}
	tap_is_int(nnumber, GATE_COUNT - 1, "gates.txt has the numbers of all rows");
	buf_release(&b);
	for (enum gate id = GATE_NONE + 1; id < GATE_COUNT; id++) {
		const struct gate_row *r = gate_row(id);
		if (!r->ncontrol)
			tap_is_int(compared[id], (1 << (r->nangle + 1)) - 1,
				"%s: gates.txt has its matrix (1) and derivatives (2, 4, ...)",
				r->name);
	}
}

/* ---- properties of the base rows ---- */

static void dagger(unsigned d, const cplx *u, cplx *out)
{
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++)
			out[j * d + i] = conj(u[i * d + j]);
}

static void multiply(unsigned d, const cplx *a, const cplx *b, cplx *out)
{
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++) {
			out[i * d + j] = 0;
			for (unsigned k = 0; k < d; k++)
				out[i * d + j] += a[i * d + k] * b[k * d + j];
		}
}

/* What the flags would be if read off this one matrix. */
static unsigned measured_flags(unsigned d, const cplx *u)
{
	unsigned f = GATE_DIAGONAL | GATE_PERMUTATION | GATE_REAL | GATE_PARITY | GATE_SYMMETRIC | GATE_SELF_INVERSE;
	cplx square[64];
	multiply(d, u, u, square);
	for (unsigned i = 0; i < d; i++)
		for (unsigned j = 0; j < d; j++) {
			cplx x = u[i * d + j];
			double m = cabs(x);
			if (m > 1e-14 && i != j)
				f &= ~(unsigned)GATE_DIAGONAL;
			if (m > 1e-14 && fabs(m - 1) > 1e-14)
				f &= ~(unsigned)GATE_PERMUTATION;
			if (fabs(cimag(x)) > 1e-14)
				f &= ~(unsigned)GATE_REAL;
			if (fabs(__builtin_parity(i ^ j) ? creal(x) : cimag(x)) > 1e-14)
				f &= ~(unsigned)GATE_PARITY;
			if (cabs(x - u[j * d + i]) > 1e-14)
				f &= ~(unsigned)GATE_SYMMETRIC;
			if (cabs(square[i * d + j] - (i == j)) > 1e-14)
				f &= ~(unsigned)GATE_SELF_INVERSE;
		}
	return f;
}

/* As a row writes them. */
static const char *flag_words(unsigned flags, char text[64])
{
	static const struct {
		unsigned flag;
		const char *word;
	} words[] = {
		{ GATE_DIAGONAL, "DIA" },
		{ GATE_PERMUTATION, "PER" },
		{ GATE_REAL, "REA" },
		{ GATE_SELF_INVERSE, "INV" },
		{ GATE_SYMMETRIC, "SYM" },
		{ GATE_PARITY, "EVN" },
	};
	size_t n = 0;
	text[0] = 0;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (flags & words[i].flag)
			n += (size_t)snprintf(text + n, 64 - n, "%s%s", n ? "|" : "", words[i].word);
	return text;
}

static void check_derivative(enum gate g, uint8_t word, const double *angle, unsigned k, const char *name)
{
	/* Five points, error of order h^4 and of rounding over h: about 1e-12. */
	static const double at[4] = { -2, -1, 1, 2 }, factor[4] = { 1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12 };
	const double h = 1e-3;
	cplx du[64], near[64], sum[64] = { 0 };
	size_t n = (size_t)1 << 2 * gate_ntarget(g, word);
	double a[GATE_ANGLES_MAX];
	gate_derivative(g, word, angle, k, du);
	for (unsigned p = 0; p < 4; p++) {
		memcpy(a, angle, sizeof a);
		a[k] += at[p] * h;
		gate_matrix(g, word, a, near);
		for (size_t i = 0; i < n; i++)
			sum[i] += near[i] * factor[p] / h;
	}
	double off = distance(du, sum, n);
	tap_ok(off < 1e-10, "%s: derivative %u against differences (%g)", name, k, off);
	double one, by_word;
	if (!gate_generator(g, &one, &by_word))
		return;
	cplx u[64], product[64];
	unsigned d = 1u << gate_ntarget(g, word);
	gate_matrix(GATE_PAULI, word, NULL, near);
	for (unsigned i = 0; i < d * d; i++)
		near[i] = cplx_mul(cplx_of(0, 1), by_word * near[i] + (i % (d + 1) == 0) * one);
	gate_matrix(g, word, angle, u);
	matrix_multiply(d, near, u, product);
	off = distance(du, product, n);
	matrix_multiply(d, u, near, product);
	off = fmax(off, distance(du, product, n));
	tap_ok(off < 1e-14, "%s: derivative from the generator, on either side (%g)", name, off);
}

/* Parameter shift (arXiv:2107.12390 eq. 22) of an expectation: exact if the row's frequencies hold. */
static double expectation(enum gate g, uint8_t word, const double *angle, unsigned control)
{
	unsigned nt = gate_ntarget(g, word), n = nt + control, d = 1u << n;
	static const uint8_t straight[] = { 0, 1, 2, 3 };
	cplx u[64], psi[256] = { 0 };
	double e = 0;
	gate_matrix(g, word, angle, u);
	for (unsigned i = 0; i < d; i++)
		psi[i * d] = cplx_of(draw(100 + i), draw(200 + i));
	apply(n, u, control, control, nt, straight, true, psi);
	for (unsigned i = 0; i < d; i++)     /* a fixed hermitian observable without structure */
		for (unsigned j = 0; j <= i; j++) {
			cplx o = i == j ? draw(300 + i) : 2 * cplx_of(draw(400 + 16 * i + j), draw(700 + 16 * i + j));
			e += creal(conj(psi[i * d]) * o * psi[j * d]);
		}
	return e;
}

static void check_shift(enum gate g, uint8_t word, const double *angle, unsigned k, unsigned control, const char *name)
{
	struct gate_frequencies f = gate_shift_frequencies(gate_row(g)->shift[k], control > 0);
	double sum = 0, a[GATE_ANGLES_MAX], plus, minus;
	memcpy(a, angle, sizeof a);
	for (unsigned m = 1; m <= 2 * f.n; m++) {
		double x = (2 * m - 1) * PI / (2 * f.n), s = sin(x / 2);
		a[k] = angle[k] + x / f.w;
		sum += (m % 2 ? 1 : -1) * expectation(g, word, a, control) / (4 * f.n * s * s) * f.w;
	}
	a[k] = angle[k] + 1e-4;
	plus = expectation(g, word, a, control);
	a[k] = angle[k] - 1e-4;
	minus = expectation(g, word, a, control);
	tap_close(sum, (plus - minus) / 2e-4, 1e-5, "%s: angle %u: parameter shift%s", name, k,
		control ? " under a control" : "");
}

/* Many matrices of one gate, each as if it were alone. */
static void check_many(enum gate g, uint8_t word, const char *name)
{
	enum { N = 19 };
	static cplx u[N][64], alone[64];
	unsigned nangle = gate_row(g)->nangle, different = 0;
	double angle[GATE_ANGLES_MAX * N], own[GATE_ANGLES_MAX];
	cplx *at[N];
	for (unsigned k = 0; k < N; k++)
		at[k] = u[k];
	for (unsigned i = 0; i < GATE_ANGLES_MAX * N; i++)
		angle[i] = 3 * draw(i);
	gate_matrices(g, word, N, angle, at);
	for (unsigned k = 0; k < N; k++) {
		for (unsigned i = 0; i < nangle; i++)
			own[i] = angle[i * N + k];
		gate_matrix(g, word, own, alone);
		different += memcmp(alone, u[k], sizeof *alone << 2 * gate_ntarget(g, word)) != 0;
	}
	tap_is_int(different, 0, "%s: many at once", name);
}

static void check_base(enum gate g, uint8_t word)
{
	char name[16];
	unsigned nt = gate_ntarget(g, word), d = 1u << nt, nangle = gate_row(g)->nangle;
	double angle[GATE_ANGLES_MAX] = { draw(1), draw(2), draw(3), draw(4) };
	cplx u[64], t[64], product[64];
	const struct gate_row *r = gate_row(g);
	snprintf(name, sizeof name, "%s", r->flags & GATE_WORD ? "" : r->name);
	if (r->flags & GATE_WORD)
		gate_word_name(g, word, name);
	gate_matrix(g, word, angle, u);
	dagger(d, u, t);
	multiply(d, u, t, product);
	for (unsigned i = 0; i < d; i++)
		product[i * d + i] -= 1;
	double off = 0;
	for (unsigned i = 0; i < d * d; i++)
		off = tap_worst(off, cabs(product[i]));
	tap_ok(off < 1e-14, "%s: unitary (%g)", name, off);
	unsigned mask = GATE_DIAGONAL | GATE_PERMUTATION | GATE_REAL | GATE_PARITY | GATE_SYMMETRIC | GATE_SELF_INVERSE;
	char row_flags[64], matrix_flags[64];
	tap_is_str(flag_words(gate_flags(g, word) & mask, row_flags),
		flag_words(measured_flags(d, u), matrix_flags),
		"%s: the row's flags are those of its matrix", name);
	check_many(g, word, name);
	for (unsigned k = 0; k < nangle; k++) {
		check_derivative(g, word, angle, k, name);
		check_shift(g, word, angle, k, 0, name);
		check_shift(g, word, angle, k, 1, name);
	}
}

/* ---- rows against each other ---- */

static void check_power(const struct gate_row *r, uint8_t word)
{
	cplx half[64], whole_[64], u[64];
	double t[GATE_ANGLES_MAX] = { 0.5 };
	uint8_t pw = r->ncontrol ? r->power_word : r->flags & GATE_WORD ? word : r->power_word;
	uint8_t bw = r->ncontrol ? r->base_word : word;
	unsigned d = 1u << gate_ntarget(r->power, pw);
	gate_matrix(r->power, pw, t, half);
	multiply(d, half, half, whole_);
	gate_matrix(r->base, bw, t, u);
	tap_ok(distance(u, whole_, d * d) < 1e-15, "%s: the power 1/2 twice", r->name);
	t[0] = 1;
	gate_matrix(r->power, pw, t, whole_);
	tap_ok(distance(u, whole_, d * d) == 0 || r->base == GATE_H, "%s: the power 1 exactly", r->name);
	tap_ok(distance(u, whole_, d * d) < 1e-15, "%s: the power 1", r->name);
}

static void check_controlled(const struct gate_row *r)
{
	const struct gate_row *b = gate_row(r->base);
	bool same = r->nangle == b->nangle && r->ntarget == gate_ntarget(r->base, r->base_word) &&
		(r->flags & ~(unsigned)GATE_WORD) == (gate_flags(r->base, r->base_word) & ~(unsigned)GATE_WORD) &&
		r->power == b->power && memcmp(r->shift, b->shift, sizeof r->shift) == 0;
	tap_ok(same, "%s agrees with its base %s", r->name, b->name);
	tap_ok(b->ncontrol == 0, "%s: the base has no controls", r->name);
}

static void rows(void)
{
	bool is_power[GATE_COUNT] = { false };
	for (enum gate g = GATE_NONE + 1; g < GATE_COUNT; g++) {
		const struct gate_row *r = gate_row(g);
		tap_ok(r->id == g && r->doc && r->doc[0], "%s has a number and a meaning", r->name);
		if (r->ncontrol)
			check_controlled(r);
		else if (r->flags & GATE_WORD)
			for (unsigned w = 1; w < 64; w++)
				if (w >> 2 * gate_word_length((uint8_t)w) == 0)
					check_base(g, (uint8_t)w);
		if (!r->ncontrol && !(r->flags & (GATE_WORD | GATE_COMPOSITE)))
			check_base(g, 0);
		is_power[r->power] = true;
		if (r->power != GATE_NONE)
			check_power(r, r->ncontrol ? 0 : r->flags & GATE_WORD ? 2 : 0);
	}
	is_power[GATE_PHASE_ALL] = true; /* pow(t) @ and controls make it of gphase */
	for (enum gate g = GATE_NONE + 1; g < GATE_COUNT; g++)
		tap_is_int(gate_row(g)->flags & GATE_STEP ? 1 : 0, is_power[g],
			"%s has the flag STEP if modifiers make it, and only then",
			gate_row(g)->name);
}

static void names(void)
{
	const char *const *name;
	size_t n = gate_names(&name);
	for (size_t i = 0; i < n; i++) {
		uint8_t word;
		const char *alias;
		char buf[16] = "";
		const struct gate_row *r = gate_find(name[i], &word, &alias);
		if (!tap_ok(r != NULL, "%s is found", name[i]))
			continue;
		const char *own = r->flags & GATE_WORD ? gate_word_name(r->id, word, buf) : r->name;
		tap_is_str(own, alias ? alias : name[i], "%s: its row's name", name[i]);
		for (size_t k = 0; k < i; k++)
			if (strcmp(name[i], name[k]) == 0)
				tap_ok(false, "%s is listed twice", name[i]);
	}
	for (unsigned w = 1; w < 64; w++)
		for (enum gate g = GATE_PAULI;
			g <= GATE_RPAULI && w >> 2 * gate_word_length((uint8_t)w) == 0; g++) {
			uint8_t word;
			const char *alias;
			char buf[16];
			gate_word_name(g, (uint8_t)w, buf);
			tap_ok(gate_find(buf, &word, &alias) == gate_row(g) && word == w && !alias,
				"%s is a Pauli word, and no row or alias has this name", buf);
		}
	static const char *const wrong[] = { "", "r", "w", "xyzx", "rw", "pauli", "rpauli", "ppauli", "cnott", "pow_", "pow_xyzx" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		uint8_t word;
		const char *alias;
		bool is_r = strcmp(wrong[i], "r") == 0;      /* a gate, but no word */
		tap_ok((gate_find(wrong[i], &word, &alias) != NULL) == is_r, "\"%s\" is %s", wrong[i],
			is_r ? "a gate" : "no gate");
	}
	uint8_t word;
	const char *alias;
	char buf[16];
	tap_ok(gate_find("rzxy", &word, &alias) == gate_row(GATE_RPAULI) && word == (3 | 1 << 2 | 2 << 4), "rzxy is a word");
	tap_is_str(gate_word_name(GATE_RPAULI, word, buf), "rzxy", "and is written back");
}

/* The first letter belongs to the first operand, the lowest bit. */
static void order(void)
{
	cplx u[16];
	gate_matrix(GATE_PAULI, 3 | 1 << 2, NULL, u);        /* zx */
	tap_ok(u[0 * 4 + 2] == 1 && u[1 * 4 + 3] == -1, "zx: z on the low bit, x on the high one");
}

int main(void)
{
	names();
	references();
	rows();
	order();
	return tap_done();
}
