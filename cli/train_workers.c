/* SPDX-License-Identifier: Apache-2.0
 * Differences of the coordinator's counters. */
#include "config.h"
#include "cli/train_workers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/clock.h"

struct train_workers {
	const struct coordinator *c;
	unsigned n;
	uint64_t *before;            /* (n) samples done when the last epoch ended */
	double begun;                /* clock */
	struct metrics_worker *now;  /* (n) */
};

static unsigned count(const struct coordinator *c)
{
	struct coordinator_worker one;
	unsigned n = 0;

	while (coordinator_worker(c, n, &one))
		n++;
	return n;
}

struct train_workers *train_workers_new(const struct coordinator *c)
{
	struct train_workers *w = c ? mem_alloc(1, sizeof *w) : NULL;

	if (!w)
		return NULL;
	w->c = c;
	w->n = count(c);
	w->before = mem_alloc(w->n + 1, sizeof *w->before);
	w->now = mem_alloc(w->n + 1, sizeof *w->now);
	train_workers_epoch(w, NULL);
	return w;
}

static void say_lines(struct train_workers *w, struct cli *c)
{
	struct buf lines = BUF_INIT;

	train_workers_lines(w, w->n, &lines);
	for (char *at = lines.data, *end; at && *at; at = end + 1) {
		*(end = strchr(at, '\n')) = 0;
		cli_detail(c, "%s", at + strspn(at, " "));
	}
	buf_release(&lines);
}

void train_workers_epoch(struct train_workers *w, struct cli *c)
{
	struct coordinator_worker one;

	if (w && c && c->verbose && !isatty(STDERR_FILENO))
		say_lines(w, c);
	for (unsigned i = 0; w && i < w->n && coordinator_worker(w->c, i, &one); i++)
		w->before[i] = one.nsample;
	if (w)
		w->begun = clock_seconds();
}

const struct metrics_worker *train_workers_now(struct train_workers *w, unsigned *n)
{
	double seconds = w ? clock_seconds() - w->begun : 0, all = 0;
	struct coordinator_worker one;

	*n = w ? w->n : 0;
	for (unsigned i = 0; i < *n && coordinator_worker(w->c, i, &one); i++) {
		double samples = (double)(one.nsample - w->before[i]);

		all += samples;
		w->now[i] = (struct metrics_worker){ .name = one.name, .share = samples, .heard = one.heard, .lost = one.lost,
			.replaced = one.nreplaced, .samples_per_second = seconds > 0 ? samples / seconds : 0 };
	}
	for (unsigned i = 0; i < *n && all > 0; i++)
		w->now[i].share /= all;
	return w ? w->now : NULL;
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

void train_workers_lines(void *workers, unsigned most, struct buf *out)
{
	const struct metrics_worker *m;
	unsigned n, shown, longest = 0;

	m = train_workers_now(workers, &n);
	shown = n <= most ? n : most ? most - 1 : 0;
	for (unsigned i = 0; i < shown; i++) {
		unsigned len = (unsigned)strlen(m[i].name);

		longest = len > longest ? len : longest;
	}
	for (unsigned i = 0; i < shown; i++)
		add_line(&m[i], (int)longest, out);
	if (shown < n && most)
		buf_printf(out, "  and %u workers more\n", n - shown);
}

void train_workers_free(struct train_workers *w)
{
	if (!w)
		return;
	free(w->before);
	free(w->now);
	free(w);
}
