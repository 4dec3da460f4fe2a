/* SPDX-License-Identifier: Apache-2.0
 * Optimisers that ask for losses against an independent re-implementation (searches.txt), on a loss
 * of three weights that is known in closed form. */
#include "runtime/train/optimizer/optimizer.h"

#include "tests/train/numbers.h"

enum { N = 3, STEPS = 6 };

static struct weight_group group[] = { { .path = "a", .first = 0, .count = 2 }, { .path = "b", .first = 2, .count = 1 } };
static const struct program program = { .nweight = N, .nweight_group = 2, .weight_group = group };

static unsigned nloss, nkeep;
static unsigned fails_at;            /* the number of the loss that fails, or 0 */
static double last, kept[N], seen[N];

static int known_loss(struct probe *p, const double *x, double *loss, double *gradient, struct err *e)
{
	(void)p;
	if (++nloss == fails_at)
		return err_set(e, -ERR_NOT_FINITE, "loss %u", nloss);
	memcpy(seen, x, sizeof seen);
	*loss = last = sin(x[0]) + 0.5 * (x[1] - 0.25) * (x[1] - 0.25) + cos(x[0] * x[2]);
	if (gradient) {
		gradient[0] = cos(x[0]) - x[2] * sin(x[0] * x[2]);
		gradient[1] = x[1] - 0.25;
		gradient[2] = -x[0] * sin(x[0] * x[2]);
	}
	return 0;
}

static void known_keep(struct probe *p)
{
	(void)p;
	nkeep++;
	memcpy(kept, seen, sizeof kept);
}

static const struct probe_ops ops = { .loss = known_loss, .keep = known_keep };

struct state { double weight[N], slot[OPTIMIZER_SLOTS_MAX][N]; };

/* Steps from..to of a restart, which goes on from *s; the code of the first that fails. */
static int run(const struct optimizer_row *o, const double *option, const uint8_t *frozen, uint32_t restart,
	uint64_t from, uint64_t to, struct state *s, struct err *e)
{
	double gradient[N], moved[N], *slot[OPTIMIZER_SLOTS_MAX];
	struct search_record record = { .value = NULL };
	struct probe p = { .ops = &ops, .program = &program, .seed = 11, .restart = restart, .gradient = gradient,
		.moved = moved, .record = &record };
	struct update u = { .opt = option, .gradient = gradient, .weight = s->weight, .slot = slot, .frozen = frozen, .n = N };
	int code = 0;

	for (unsigned k = 0; k < OPTIMIZER_SLOTS_MAX; k++)
		slot[k] = s->slot[k];
	for (u.step = from; !code && u.step <= to; u.step++) {
		double before[N];

		memcpy(before, s->weight, sizeof before);
		code = o->search(&u, &p, e);
		if (!code && o->method <= METHOD_PROBE_GRADIENT)
			tap_ok(!memcmp(kept, before, sizeof kept), "%s, step %d: the loss that is kept is that of the weights before", o->name, (int)u.step);
	}
	return code;
}

static const struct state begin = { .weight = { 0.5, -1.25, 3.0 } };

static void test_line(const struct numbers *r)
{
	const struct optimizer_row *o = optimizer_find(r->name);
	const uint8_t frozen[N] = { 0, 1, 0 };
	double option[OPTIMIZER_OPTIONS_MAX];
	struct state whole = begin, parts = begin, other = begin, still = begin;
	struct err e = { 0 };

	if (!o)
		tap_bail("no optimiser %s", r->name);
	numbers_options(r, o->option, o->noption, option);
	tap_is_int(optimizer_check(o, option, &e), 0, "%s: the options go together", r->what);
	tap_is_int(run(o, option, NULL, 0, 1, STEPS, &whole, &e), 0, "%s: runs", r->what);
	for (int i = 0; i < N; i++)
		tap_close(whole.weight[i], r->part[0][i], 4e-14, "%s: weight %d", r->what, i);
	run(o, option, NULL, 0, 1, 2, &parts, &e);
	run(o, option, NULL, 0, 3, STEPS, &parts, &e);
	tap_ok(!memcmp(&whole, &parts, sizeof whole), "%s: goes on from its slots and its step to the same bits", r->what);
	run(o, option, frozen, 0, 1, STEPS, &still, &e);
	tap_ok(still.weight[1] == -1.25 && still.weight[0] != 0.5, "%s: frozen weights stay", r->what);
	run(o, option, NULL, 1, 1, STEPS, &other, &e);
	tap_ok(!memcmp(&whole, &other, sizeof whole) == (o->method == METHOD_PROBE_GRADIENT), "%s: starts have directions of their own", r->what);
}

/* An error of a probe is that of the step, whichever probe it is, and the weights stay. */
static void test_failing(const struct optimizer_row *o)
{
	double option[OPTIMIZER_OPTIONS_MAX];
	unsigned all;

	for (unsigned k = 0; k < o->noption; k++)
		option[k] = o->option[k].value;
	nloss = 0;
	run(o, option, NULL, 0, 1, 1, &(struct state){ .weight = { 0.5, -1.25, 3.0 } }, NULL);
	all = nloss;
	for (fails_at = 1; fails_at <= all; fails_at++) {
		struct state s = begin;
		struct err e = { 0 };

		nloss = 0;
		tap_is_int(run(o, option, NULL, 0, 1, 1, &s, &e), -ERR_NOT_FINITE, "%s: loss %u of %u fails", o->name, fails_at, all);
		tap_ok(!memcmp(s.weight, begin.weight, sizeof s.weight), "%s: and nothing has moved", o->name);
	}
	fails_at = 0;
}

int main(void)
{
	static struct numbers r;
	FILE *f = numbers_open("searches.txt");
	const struct optimizer_row *row;
	size_t n = optimizer_rows(&row);
	unsigned found = 0;

	while (numbers_next(f, &r)) {
		test_line(&r);
		found |= 1u << (optimizer_find(r.name) - row);
	}
	fclose(f);
	for (size_t i = 0; i < n; i++)
		if (!row[i].check && (row[i].method == METHOD_PROBE || row[i].method == METHOD_PROBE_GRADIENT)) {     /* rotosolve: test_searches.sh */
			tap_ok(found & 1u << i, "%s has been compared", row[i].name);
			test_failing(&row[i]);
		}
	return tap_done();
}
