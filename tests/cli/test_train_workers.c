/* SPDX-License-Identifier: Apache-2.0
 * The lines of workers: shares that mean something from an epoch's first moment on. */
#include "cli/training/train_workers.h"

#include "tests/tap.h"

static uint64_t done[2];

/* A coordinator of two workers, in the place of the real one. */
bool coordinator_worker(struct coordinator *c, unsigned rank, struct coordinator_worker *out)
{
	(void)c;
	if (rank > 1)
		return false;
	*out = (struct coordinator_worker){ .name = rank ? "b[1]" : "a[0]", .nsample = done[rank] };
	return true;
}

void cli_detail(const struct cli *c, const char *fmt, ...)
{
	(void)c;
	(void)fmt;
}

static void is_lines(struct train_workers *w, const char *a, const char *b, const char *what)
{
	struct buf out = BUF_INIT;

	train_workers_lines(w, 2, &out);
	tap_ok(out.len && strstr(out.data, a) && strstr(out.data, b), "%s:\n# %s", what, out.len ? out.data : "nothing");
	buf_release(&out);
}

int main(void)
{
	static char some;            /* its address is all that is used of a coordinator */
	struct train_workers *w = train_workers_new((struct coordinator *)(void *)&some);
	const struct metrics_worker *m;
	unsigned n;

	is_lines(w, "a[0]    0.0 %", "b[1]    0.0 %", "before the first sample");
	done[0] = 30, done[1] = 10;
	is_lines(w, "a[0]   75.0 %", "b[1]   25.0 %", "in the first epoch");
	train_workers_epoch(w, NULL);
	is_lines(w, "a[0]   75.0 %", "b[1]   25.0 %", "at the beginning of the second the first counts as well");
	m = train_workers_now(w, &n);
	tap_ok(n == 2 && m[0].share == 0 && m[1].share == 0, "but not in what is logged of the second");
	done[0] += 5, done[1] += 15;
	is_lines(w, "a[0]   25.0 %", "b[1]   75.0 %", "as soon as it has done half as much it stands alone");
	done[0] += 15, done[1] += 45;
	m = train_workers_now(w, &n);
	tap_ok(m[0].share == 0.25 && m[1].share == 0.75, "of which the shares are its own");
	train_workers_epoch(w, NULL);
	is_lines(w, "a[0]   25.0 %", "b[1]   75.0 %", "the epoch before the last counts no more");
	train_workers_free(w);
	return tap_done();
}
