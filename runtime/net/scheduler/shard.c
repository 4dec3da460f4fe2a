/* SPDX-License-Identifier: Apache-2.0
 * Inputs that workers keep: each row of the data goes to a worker at most once, and none of files that it reads.
 *
 * A worker holds at most a part of its free memory; the rows beyond that come with the work, each time. */
#include "config.h"
#include "runtime/net/cluster/worker.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

enum {
	MEMORY_PART = 4,             /* of a machine's free memory, for all of its workers */
	WORTH_NUMBERS = 64           /* of a row, from which on SHARD_AUTO keeps it */
};

/* The number of the step's data among those that were met, or -1. */
static int find_set(struct coordinator *c)
{
	for (int k = 0; k < WIRE_SETS_MAX; k++) {
		if (!c->set[k])
			c->set[k] = c->step->all;
		if (c->set[k] == c->step->all)
			return k;
	}
	return -1;
}

static bool *kept_of(struct worker *m, int set, uint32_t nrow)
{
	if (!m->kept[set])
		m->kept[set] = mem_try(nrow, sizeof *m->kept[set]);
	return m->kept[set];
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Rows of the units that the worker lacks, marked as kept, into c->row. */
static uint32_t missing(struct coordinator *c, bool *kept, const uint32_t *id, uint32_t nid)
{
	const struct pool_step *s = c->step;
	uint32_t n = 0;

	for (uint32_t k = 0; k < nid; k++)
		for (uint32_t i = 0, count = step_samples(s, id[k]); i < count; i++) {
			uint32_t row = s->row(s->ctx, id[k] * s->width + i);

			if (!kept[row])
				c->row[n++] = row;
			kept[row] = true;
		}
	qsort(c->row, n, sizeof *c->row, ascending);
	return n;
}

static void send_rows(struct coordinator *c, struct worker *m, int set, uint32_t n)
{
	const struct pool_step *s = c->step;
	struct wire_data d = { .set = (uint32_t)set, .nrow = s->nall, .nx = s->nx, .n = n };

	buf_clear(&c->body);
	wire_put_data(&c->body, &d, c->row);
	for (uint32_t k = 0; k < n; k++)
		buf_f64s(&c->body, s->all + (size_t)c->row[k] * s->nx, s->nx);
	peer_put(&m->peer, &c->body);
}

bool shard_rows(struct coordinator *c, struct worker *m, const uint32_t *id, uint32_t nid, uint32_t *set)
{
	const struct pool_step *s = c->step;
	int k = s->all && s->nx && c->o.shard && (c->o.shard != SHARD_AUTO || s->nx >= WORTH_NUMBERS) ? find_set(c) : -1;
	bool *kept = k < 0 ? NULL : kept_of(m, k, s->nall);
	uint64_t each, most = m->about.memory / MEMORY_PART / m->share;
	uint32_t n;

	if (s->file && s->nx) {
		*set = WIRE_SETS_MAX + s->file - 1;
		return true;
	}
	if (!kept || !SCHEDULER_ROOM(c->row, c->row_cap, (size_t)nid * s->width))
		return false;
	n = missing(c, kept, id, nid);
	each = s->nx * sizeof(double);
	if (n > most / each || m->nkept + n * each > most) {
		for (uint32_t i = 0; i < n; i++)
			kept[c->row[i]] = false;
		return false;
	}
	if (n)
		send_rows(c, m, k, n);
	m->nkept += n * each;
	*set = (uint32_t)k;
	return true;
}

void shard_forget(struct worker *m)
{
	for (int k = 0; k < WIRE_SETS_MAX; k++) {
		free(m->kept[k]);
		m->kept[k] = NULL;
	}
	m->nkept = 0;
}
