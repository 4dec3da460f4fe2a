/* SPDX-License-Identifier: Apache-2.0
 * The work of each worker in an epoch, from differences of the coordinator's counters. */
#include "cli/training/train_workers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"

/* What all had done at a time. */
struct done { uint64_t *nsample; /* (n) */ double at; /* clock */ };

struct train_workers {
	struct coordinator *c;
	unsigned n;
	struct done last, epoch;     /* when the last epoch began; this one */
	struct metrics_worker *now;  /* (n) */
	struct arena arena;
};

struct train_workers *train_workers_new(struct coordinator *c)
{
	struct train_workers *w = c ? mem_alloc(1, sizeof *w) : NULL;
	struct coordinator_worker one;

	if (!w)
		return NULL;
	w->c = c;
	while (coordinator_worker(c, w->n, &one))
		w->n++;
	w->last.nsample = arena_alloc(&w->arena, w->n, sizeof *w->last.nsample);
	w->epoch.nsample = arena_alloc(&w->arena, w->n, sizeof *w->epoch.nsample);
	w->now = arena_alloc(&w->arena, w->n, sizeof *w->now);
	train_workers_epoch(w, NULL);
	train_workers_epoch(w, NULL);
	return w;
}

/* Since then. */
static const struct metrics_worker *done_since(struct train_workers *w, const struct done *then)
{
	double seconds = clock_seconds() - then->at, all = 0;
	struct coordinator_worker one;

	for (unsigned i = 0; i < w->n && coordinator_worker(w->c, i, &one); i++) {
		double samples = (double)(one.nsample - then->nsample[i]);

		all += samples;
		w->now[i] = (struct metrics_worker){ .name = one.name, .share = samples, .heard = one.heard, .lost = one.lost,
			.replaced = one.nrestart, .samples_per_second = seconds > 0 ? samples / seconds : 0 };
	}
	for (unsigned i = 0; i < w->n && all > 0; i++)
		w->now[i].share /= all;
	return w->now;
}

const struct metrics_worker *train_workers_now(struct train_workers *w, unsigned *n)
{
	*n = w ? w->n : 0;
	return w ? done_since(w, &w->epoch) : NULL;
}

static void add_line(const struct metrics_worker *m, int width, struct buf *out)
{
	buf_printf(out, "  %-*s  %5.1f %%  %10.0f samples/s  ", width, m->name, 100 * m->share, m->samples_per_second);
	if (m->lost)
		buf_str(out, "lost");
	else if (m->heard < 0)
		buf_str(out, "is started again");
	else
		buf_printf(out, "heard %.1f s ago", m->heard);
	buf_char(out, '\n');
}

static void add_lines(const struct train_workers *w, const struct metrics_worker *m, unsigned most, struct buf *out)
{
	unsigned shown = w->n <= most ? w->n : most ? most - 1 : 0, longest = 0;

	for (unsigned i = 0; i < shown; i++) {
		unsigned len = (unsigned)strlen(m[i].name);

		longest = len > longest ? len : longest;
	}
	for (unsigned i = 0; i < shown; i++)
		add_line(&m[i], (int)longest, out);
	if (shown < w->n && most)
		buf_printf(out, "  and %u workers more\n", w->n - shown);
}

/* Has this epoch done less than half of what the last one did? */
static bool is_young(const struct train_workers *w)
{
	struct coordinator_worker one;
	uint64_t now = 0, last = 0;

	for (unsigned i = 0; i < w->n && coordinator_worker(w->c, i, &one); i++) {
		now += one.nsample - w->epoch.nsample[i];
		last += w->epoch.nsample[i] - w->last.nsample[i];
	}
	return now < last / 2;
}

void train_workers_lines(void *workers, unsigned most, struct buf *out)
{
	struct train_workers *w = workers;

	if (w)
		add_lines(w, done_since(w, is_young(w) ? &w->last : &w->epoch), most, out);
}

/* ---- epochs ---- */

static void say_lines(struct train_workers *w, struct cli *c)
{
	buf_auto lines = BUF_INIT;

	add_lines(w, done_since(w, &w->epoch), w->n, &lines);
	for (char *at = lines.data, *end; at && *at; at = end + 1) {
		*(end = strchr(at, '\n')) = 0;
		cli_detail(c, "%s", at + strspn(at, " "));
	}
}

void train_workers_epoch(struct train_workers *w, struct cli *c)
{
	struct coordinator_worker one;

	if (!w)
		return;
	if (c && c->verbose && !isatty(STDERR_FILENO))
		say_lines(w, c);
	struct done last = w->last;
	w->last = w->epoch;
	w->epoch = last;             /* its room */
	for (unsigned i = 0; i < w->n && coordinator_worker(w->c, i, &one); i++)
		w->epoch.nsample[i] = one.nsample;
	w->epoch.at = clock_seconds();
}

void train_workers_free(struct train_workers *w)
{
	if (!w)
		return;
	arena_release(&w->arena);
	free(w);
}
