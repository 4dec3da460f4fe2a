/* SPDX-License-Identifier: Apache-2.0
 * Of several ways to cut a circuit into stages, the one that is expected to be the fastest.
 *
 * A greedy cut takes as much as it can into each stage.  But bits that the first stages leave for later ones are |0> until then,
 * and with each of them all that is there of the state is half as large: with fewer local bits in the first stages, whole passes
 * become smaller ones. */
#include "runtime/exec/statevector/plan/plan_build.h"
#include "runtime/exec/statevector/plan/plan_stage.h"

#include <stdlib.h>
#include <string.h>

/* Local bits that a stage is tried without; visits of steps by the greedy cut beyond which no others are tried, and by all. */
enum { LESS_MAX = 5, VISITS_MAX = 500000, VISITS_ALL = 20000000 };
/* What another cut must be expected to take at most, of the greedy one's time. */
static const double WORTH = 0.985;

struct expected { double seconds; uint32_t nstage; };

static void *copy(const void *from, size_t n, size_t size)
{
	void *to = mem_alloc(n + 1, size);

	if (n)
		memcpy(to, from, n * size);
	return to;
}

/* With tables and memory of its own, which go when it is done.  Where gradients are wanted, outputs alone are as often. */
static struct expected expect_cut(const struct plan_build *b, const struct plan_circuit *c, struct plan_cut *cut)
{
	struct plan pl = *b->pl;
	struct plan_build own = *b;
	struct plan_circuit trial = *c;

	arena_init(&pl.arena);
	own.pl = &pl;
	own.def = copy(b->def, b->cap, sizeof *b->def);
	own.trainable = copy(b->trainable, b->trainable_cap, sizeof *b->trainable);
	own.bucket = copy(b->bucket, b->nbucket, sizeof *b->bucket);
	plan_cut(&pl, &trial, cut, 0);
	plan_pairs(&own, &trial);
	pl.set.def = own.def;
	plan_tail_last(&trial);
	if (!b->o->forward)
		plan_backward_pass(&pl, &trial);
	struct plan_seconds all = plan_usual_seconds(&pl, &trial);
	struct expected x =
		(struct expected){ b->o->forward ? all.forward : 2 * all.forward + all.back,
			trial.nstage - trial.nstart_stage };
	free(own.def);
	free(own.trainable);
	free(own.bucket);
	arena_release(&pl.arena);
	return x;
}

struct search { const struct plan_build *b; const struct plan_circuit *c; struct plan_cut best; double least; uint64_t spent; };

static void better(struct search *s, struct plan_cut t)
{
	if (s->spent > VISITS_ALL)
		return;
	double seconds = expect_cut(s->b, s->c, &t).seconds;
	s->spent += t.visits;
	if (seconds < s->least) {
		s->least = seconds;
		s->best = t;
	}
}

struct plan_cut plan_try(const struct plan_build *b, const struct plan_circuit *c)
{
	struct plan_cut t = { 0 };
	struct expected greedy = expect_cut(b, c, &t);
	struct search s = { .b = b, .c = c, .least = WORTH * greedy.seconds, .spent = t.visits };

	if (greedy.nstage < 2 || t.visits > VISITS_MAX)
		return s.best;
	for (unsigned first = 0; first <= LESS_MAX; first++)
		for (unsigned second = !first; second <= LESS_MAX; second++)
			better(&s, (struct plan_cut){ .less = { first, second } });
	t = s.best;
	for (t.less[2] = 1; t.less[2] <= LESS_MAX; t.less[2]++)
		better(&s, t);
	return s.best;
}
