/* SPDX-License-Identifier: Apache-2.0
 * Lanczos's method with full orthogonalisation and thick restarts (Wu and Simon, SIAM J. Matrix Anal.
 * Appl. 22 (2000) 602), and Jacobi's for the small matrix in its basis.
 *
 * The products A V are kept beside the basis V: the small matrix is their inner products, and a
 * residue can be had without another product. */
#include "runtime/data/eigen.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/rng.h"

enum { SWEEPS_MAX = 60, CYCLES_MAX = 1000, TRIES_MAX = 3, BASIS_SPARE = 40 };

static const double RESIDUE = 1e-12, NOTHING_LEFT = 1e-10;

/* ---- Jacobi ---- */

static double off_diagonal(unsigned n, const double *a)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < i; j++)
			sum += a[i * n + j] * a[i * n + j];
	return sum;
}

/* Rows p and q of the rotated pair: p' = c p - s q, q' = s p + c q, with a stride for columns. */
static void rotate(unsigned n, double *p, double *q, unsigned stride, double c, double s)
{
	for (unsigned i = 0; i < n; i++) {
		double x = p[(size_t)i * stride], y = q[(size_t)i * stride];

		p[(size_t)i * stride] = c * x - s * y;
		q[(size_t)i * stride] = s * x + c * y;
	}
}

/* Golub and Van Loan, Matrix Computations, algorithm 8.5.1. */
static void annihilate(unsigned n, double *a, double *v, unsigned p, unsigned q)
{
	double apq = a[p * n + q], tau, t, c;

	if (apq == 0)
		return;
	tau = (a[q * n + q] - a[p * n + p]) / (2 * apq);
	t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau));
	c = 1 / sqrt(1 + t * t);
	rotate(n, a + p * n, a + q * n, 1, c, t * c);
	rotate(n, a + p, a + q, n, c, t * c);
	rotate(n, v + p * n, v + q * n, 1, c, t * c);
	a[p * n + q] = a[q * n + p] = 0;
}

static void swap_rows(unsigned n, double *value, double *vector, unsigned i, unsigned j)
{
	double x = value[i];

	value[i] = value[j];
	value[j] = x;
	for (unsigned k = 0; k < n; k++) {
		x = vector[i * n + k];
		vector[i * n + k] = vector[j * n + k];
		vector[j * n + k] = x;
	}
}

/* All of a small symmetric matrix: a (n, n) is destroyed; value[n] rising, vector (n, n) by rows. */
static void solve_dense(unsigned n, double *a, double *value, double *vector)
{
	double whole = 0;

	memset(vector, 0, sizeof *vector * n * n);
	for (unsigned i = 0; i < n; i++)
		vector[i * n + i] = 1;
	for (unsigned i = 0; i < n * n; i++)
		whole += a[i] * a[i];
	for (int sweep = 0; sweep < SWEEPS_MAX && off_diagonal(n, a) > 1e-34 * whole; sweep++)
		for (unsigned p = 0; p + 1 < n; p++)
			for (unsigned q = p + 1; q < n; q++)
				annihilate(n, a, vector, p, q);
	for (unsigned i = 0; i < n; i++)
		value[i] = a[i * n + i];
	for (unsigned i = 0; i < n; i++) {
		unsigned least = i;

		for (unsigned j = i + 1; j < n; j++)
			if (value[j] < value[least])
				least = j;
		swap_rows(n, value, vector, i, least);
	}
}

/* ---- Lanczos ---- */

struct basis {
	const struct eigen_wish *w;
	unsigned n, max;             /* vectors there are, and can be */
	double *v, *av;              /* (max, w->n) */
	double *h;                   /* (max, max): v_i . av_j */
	double *small, *theta, *y;   /* copy of h, packed; its eigenvalues and vectors */
	double *t;                   /* (w->n) */
	unsigned random;             /* vectors drawn */
};

double eigen_dot(size_t n, const double *x, const double *y)
{
	double sum[4] = { 0 };
	size_t i = 0;

	for (; i + 4 <= n; i += 4)
		for (int k = 0; k < 4; k++)
			sum[k] += x[i + (size_t)k] * y[i + (size_t)k];
	for (; i < n; i++)
		sum[0] += x[i] * y[i];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void add(size_t n, double factor, const double *x, double *y)
{
	for (size_t i = 0; i < n; i++)
		y[i] += factor * x[i];
}

static void scale(size_t n, double factor, double *x)
{
	for (size_t i = 0; i < n; i++)
		x[i] *= factor;
}

/* b->t, of length 1 and orthogonal to the basis; false when nothing is left of it. */
static bool orthogonalise(struct basis *b)
{
	size_t n = b->w->n;
	double before = sqrt(eigen_dot(n, b->t, b->t)), after;

	if (before == 0)
		return false;
	scale(n, 1 / before, b->t);
	for (int pass = 0; pass < 2; pass++) {
		if (b->w->project)
			b->w->project(b->w->ctx, b->t);
		for (unsigned i = 0; i < b->n; i++)
			add(n, -eigen_dot(n, b->v + i * n, b->t), b->v + i * n, b->t);
		after = sqrt(eigen_dot(n, b->t, b->t));
		if (after < NOTHING_LEFT)
			return false;
		scale(n, 1 / after, b->t);
	}
	return true;
}

/* Where a subspace is closed, another direction; false when there is none. */
static bool draw(struct basis *b)
{
	for (int i = 0; i < TRIES_MAX; i++) {
		b->random++;
		for (size_t k = 0; k < b->w->n; k++)
			b->t[k] = 2 * rng_uniform(0, RNG_DATA, b->random, k) - 1;
		if (orthogonalise(b))
			return true;
	}
	return false;
}

/* Takes b->t in; then b->t is its product, the next direction. */
static void extend(struct basis *b)
{
	size_t n = b->w->n;
	unsigned last = b->n++;

	memcpy(b->v + last * n, b->t, n * sizeof *b->t);
	b->w->times(b->w->ctx, b->t, b->av + last * n);
	for (unsigned i = 0; i <= last; i++)
		b->h[i * b->max + last] = b->h[last * b->max + i] =
			eigen_dot(n, b->v + i * n, b->av + last * n);
	memcpy(b->t, b->av + last * n, n * sizeof *b->t);
}

/* False when the basis is all of the subspace. */
static bool fill(struct basis *b)
{
	while (b->n < b->max) {
		if (!orthogonalise(b) && !draw(b))
			return false;
		extend(b);
	}
	return b->n < b->w->n;
}

/* out = sum of y[i] times row i. */
static void combine(const struct basis *b, const double *rows, const double *y, double *out)
{
	memset(out, 0, b->w->n * sizeof *out);
	for (unsigned i = 0; i < b->n; i++)
		add(b->w->n, y[i], rows + i * b->w->n, out);
}

/* The residue of pair i as b->t, and its length. */
static double residue(struct basis *b, unsigned i)
{
	const double *y = b->y + i * b->n;
	size_t n = b->w->n;

	combine(b, b->av, y, b->t);
	for (unsigned j = 0; j < b->n; j++)
		add(n, -b->theta[i] * y[j], b->v + j * n, b->t);
	return sqrt(eigen_dot(n, b->t, b->t));
}

/* The first wanted pair that is not yet exact, its residue in b->t; k when all are. */
static unsigned unfinished(struct basis *b)
{
	double largest = fmax(fabs(b->theta[0]), fabs(b->theta[b->n - 1]));
	unsigned i = 0;

	while (i < b->w->k && i < b->n && residue(b, i) <= RESIDUE * largest)
		i++;
	return i < b->n ? i : b->w->k;
}

/* rows := the first `keep` combinations, place by place. */
static void turn(const struct basis *b, double *rows, unsigned keep, double *place)
{
	size_t n = b->w->n;

	for (size_t p = 0; p < n; p++) {
		for (unsigned i = 0; i < b->n; i++)
			place[i] = rows[i * n + p];
		for (unsigned i = 0; i < keep; i++)
			rows[i * n + p] = eigen_dot(b->n, b->y + i * b->n, place);
	}
}

/* Keeps the lowest pairs as the basis, where the small matrix is diagonal. */
static void restart(struct basis *b)
{
	unsigned keep = b->w->k + (b->max - b->w->k) / 3;

	turn(b, b->v, keep, b->small);
	turn(b, b->av, keep, b->small);
	for (unsigned i = 0; i < keep; i++)
		for (unsigned j = 0; j < keep; j++)
			b->h[i * b->max + j] = i == j ? b->theta[i] : 0;
	b->n = keep;
}

static int iterate(struct basis *b, struct err *e)
{
	memcpy(b->t, b->w->start, b->w->n * sizeof *b->t);
	for (int cycle = 0; cycle < CYCLES_MAX; cycle++) {
		bool more = fill(b);

		for (unsigned i = 0; i < b->n; i++)
			memcpy(b->small + i * b->n, b->h + i * b->max, b->n * sizeof *b->small);
		solve_dense(b->n, b->small, b->theta, b->y);
		if (!more || unfinished(b) == b->w->k)
			return 0;
		restart(b);
	}
	return err_set(e, -ERR_CONFIG, "the eigenvalues of a matrix of size %zu were not found in %d cycles", b->w->n, CYCLES_MAX);
}

static int basis_init(struct basis *b, struct mem_list *l, struct err *e)
{
	size_t n = b->w->n, m = b->max;

	b->v = mem_list_try(l, m, n * sizeof *b->v);
	b->av = mem_list_try(l, m, n * sizeof *b->av);
	b->t = mem_list_try(l, n, sizeof *b->t);
	b->h = mem_list_try(l, m, m * sizeof *b->h);
	b->small = mem_list_try(l, m, m * sizeof *b->small);
	b->y = mem_list_try(l, m, m * sizeof *b->y);
	b->theta = mem_list_try(l, m, sizeof *b->theta);
	return l->failed
		? err_set(e, -ERR_CONFIG, "no memory for %zu vectors of %zu numbers", 2 * m, n)
		: 0;
}

static void make_positive(size_t n, double *v)
{
	size_t largest = 0;

	for (size_t j = 1; j < n; j++)
		if (fabs(v[j]) > fabs(v[largest]))
			largest = j;
	if (v[largest] < 0)
		scale(n, -1, v);
}

int eigen_lowest(const struct eigen_wish *w, double *value, double *vector, struct err *e)
{
	size_t most = 2 * (size_t)w->k + BASIS_SPARE;
	struct basis b = { .w = w, .max = (unsigned)(w->n < most ? w->n : most) };
	mem_list_auto memory = { 0 };
	int code = basis_init(&b, &memory, e);

	if (!code)
		code = iterate(&b, e);
	for (unsigned i = 0; !code && i < w->k; i++) {
		value[i] = i < b.n ? b.theta[i] : 0;
		memset(vector + i * w->n, 0, w->n * sizeof *vector);
		if (i < b.n)
			combine(&b, b.v, b.y + i * b.n, vector + i * w->n);
		make_positive(w->n, vector + i * w->n);
	}
	return code;
}
