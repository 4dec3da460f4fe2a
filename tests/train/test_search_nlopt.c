/* SPDX-License-Identifier: Apache-2.0
 * The optimisers of NLopt, a question and an answer at a time, against NLopt called directly: the same
 * points in the same order, one step after the other, from a record, with weights that stay. */
#include "runtime/train/optimizer/optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#if QCNN_NLOPT
#include <nlopt.h>

enum { N = 4, ASKED_MAX = 400 };

static const uint8_t frozen[N] = { 0, 0, 1, 0 };
static const double begin[N] = { 0.5, -1.25, 3, 0.2 };

static double known(const double *x, double *gradient)
{
	double a = x[1] - x[0] * x[0], b = 1 - x[0], c = x[3] + x[2] * x[1] - 1;

	if (gradient) {
		gradient[0] = -40 * a * x[0] - 2 * b;
		gradient[1] = 20 * a + 2 * c * x[2];
		gradient[2] = 2 * c * x[1];
		gradient[3] = 2 * c;
	}
	return 10 * a * a + b * b + c * c;
}

struct seen { double x[ASKED_MAX][N]; unsigned n, nkept; double kept[N]; unsigned fails_at; };

/* ---- directly ---- */

static double direct(unsigned n, const double *x, double *gradient, void *ctx)
{
	struct seen *s = ctx;
	double all[N], dreadout[N], loss;

	for (unsigned i = 0, k = 0; i < N; i++)
		all[i] = frozen[i] ? begin[i] : x[k++];
	loss = known(all, dreadout);
	for (unsigned i = 0, k = 0; gradient && i < N; i++)
		if (!frozen[i])
			gradient[k++] = dreadout[i];
	memcpy(s->x[s->n++], all, sizeof all);
	(void)n;
	return loss;
}

static void run_directly(nlopt_algorithm algorithm, const double *opt, struct seen *s)
{
	nlopt_opt o = nlopt_create(algorithm, N - 1);
	double x[N - 1] = { begin[0], begin[1], begin[3] }, least;

	nlopt_set_min_objective(o, direct, s);
	nlopt_set_xtol_abs1(o, opt[1]);
	nlopt_set_ftol_rel(o, opt[2]);
	nlopt_set_maxeval(o, ASKED_MAX);
	if (algorithm == NLOPT_LD_LBFGS)
		nlopt_set_vector_storage(o, (unsigned)opt[0]);
	else
		nlopt_set_initial_step1(o, opt[0]);
	nlopt_optimize(o, x, &least);
	nlopt_destroy(o);
}

/* ---- step by step ---- */

static struct seen steps;

static int ask(struct probe *p, const double *x, double *loss, double *gradient, struct err *e)
{
	(void)p;
	if (steps.fails_at && steps.n + 1 == steps.fails_at)
		return err_set(e, -ERR_NOT_FINITE, "enough");
	if (steps.n < ASKED_MAX)
		memcpy(steps.x[steps.n++], x, sizeof *steps.x);
	*loss = known(x, gradient);
	return 0;
}

static int again(struct probe *p, const double *x, uint64_t step, struct err *e)
{
	(void)p;
	(void)e;
	tap_ok(step >= 1 && step <= steps.n && !memcmp(steps.x[step - 1], x, sizeof *steps.x), "the best step is made again at its weights");
	return 0;
}

static void keep(struct probe *p)
{
	(void)p;
	steps.nkept++;
	memcpy(steps.kept, steps.x[steps.n - 1], sizeof steps.kept);
}

static const struct probe_ops ops = { .loss = ask, .again = again, .keep = keep };

struct start { double weight[N], origin[N]; struct search_record record; bool over; };

/* At most `n` more steps in a session of their own. */
static int go(const struct optimizer_row *o, const double *opt, struct start *s, uint64_t from, unsigned n, struct err *e)
{
	double gradient[N], moved[N], *slot[] = { s->origin };
	struct probe p = { .ops = &ops, .gradient = gradient, .moved = moved, .record = &s->record };
	struct update u = { .opt = opt, .step = from, .gradient = gradient, .weight = s->weight, .slot = slot, .frozen = frozen, .n = N };
	int code = 0;

	for (unsigned k = 0; !code && k < n && !p.over; k++, u.step++)
		code = o->search(&u, &p, e);
	if (p.session)
		o->session_free(p.session);
	s->over = p.over;
	return code;
}

static void test_algorithm(const char *name, nlopt_algorithm algorithm)
{
	const struct optimizer_row *o = optimizer_find(name);
	struct start one = { .over = false }, two = { .over = false };
	struct seen want = { .n = 0 };
	double opt[OPTIMIZER_OPTIONS_MAX];
	unsigned n;
	struct err e = { 0 };

	for (unsigned k = 0; k < o->noption; k++)
		opt[k] = o->option[k].value;
	tap_is_int(optimizer_check(o, opt, &e), 0, "%s: is there", name);
	if (o->check(NULL, &e))
		tap_bail("%s", e.text);
	run_directly(algorithm, opt, &want);
	memset(&steps, 0, sizeof steps);
	memcpy(one.weight, begin, sizeof begin);
	tap_is_int(go(o, opt, &one, 1, ASKED_MAX, &e), 0, "%s: runs", name);
	tap_is_int(steps.n, want.n, "%s: as many questions", name);
	tap_ok(!memcmp(steps.x, want.x, want.n * sizeof *want.x), "%s: the same", name);
	tap_ok(!memcmp(one.weight, steps.kept, sizeof begin) && steps.nkept > 1, "%s: the weights are the best, which is kept", name);
	tap_ok(one.weight[2] == begin[2], "%s: a frozen weight stays", name);
	tap_ok(want.n == ASKED_MAX || one.over, "%s: its end is seen", name);
	tap_ok(known(one.weight, NULL) < 1e-2 * known(begin, NULL), "%s: the loss falls to %g", name, known(one.weight, NULL));

	/* The same with a pause after some steps. */
	n = steps.n;
	memset(&steps, 0, sizeof steps);
	memcpy(two.weight, begin, sizeof begin);
	go(o, opt, &two, 1, n / 3, &e);
	go(o, opt, &two, n / 3 + 1, ASKED_MAX - n / 3, &e);
	tap_ok(steps.n == n && !memcmp(steps.x, want.x, n * sizeof *want.x), "%s: goes on from its record", name);
	tap_is_mem(one.weight, two.weight, sizeof begin, "%s: to the same weights", name);

	/* A record of something else. */
	two.record.value[0] = NAN;
	tap_is_int(go(o, opt, &two, 3, 1, &e), -ERR_BAD_DATA, "%s: a record that does not fit", name);

	/* A loss that fails. */
	memset(&steps, 0, sizeof steps);
	steps.fails_at = 3;
	two.record.n = 0;
	memcpy(two.weight, begin, sizeof begin);
	tap_is_int(go(o, opt, &two, 1, 10, &e), -ERR_NOT_FINITE, "%s: a loss that fails ends it", name);
	free(one.record.value);
	free(two.record.value);
}

int main(void)
{
	test_algorithm("cobyla", NLOPT_LN_COBYLA);
	test_algorithm("bobyqa", NLOPT_LN_BOBYQA);
	test_algorithm("nelder_mead", NLOPT_LN_NELDERMEAD);
	test_algorithm("lbfgs", NLOPT_LD_LBFGS);
	return tap_done();
}

#else

int main(void)
{
	const struct optimizer_row *o = optimizer_find("cobyla");
	double opt[OPTIMIZER_OPTIONS_MAX] = { 0 };
	struct err e;

	tap_is_int(optimizer_check(o, opt, &e), -ERR_CONFIG, "built without NLopt");
	tap_is_str(e.text, "the optimizer cobyla needs the library NLopt (on Debian and Ubuntu: libnlopt-dev), without which this qcnn was built",
		"the message says what is missing");
	return tap_done();
}

#endif
