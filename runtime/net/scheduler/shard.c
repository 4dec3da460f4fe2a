/* SPDX-License-Identifier: Apache-2.0
 * Inputs that workers keep: each row of the data is sent to a worker at most once, and no row of a file that it reads.
 *
 * Kept rows take at most a part of the worker's free memory; further rows are sent with the work, each time. */
#include "runtime/net/scheduler/scheduler_state.h"

#include <stdlib.h>

#include "runtime/base/arena.h"
#include "runtime/base/order.h"
#include "runtime/base/profile/recorder.h"

enum {
	MEMORY_PART = 4,             /* of a machine's free memory, for all of its workers */
	WORTH_NUMBERS = 64           /* of a row, from which on SHARD_AUTO keeps it */
};

/* The number of the step's data among those that were met, or -1. */
static int find_set(struct scheduler *s)
{
	for (int k = 0; k < WIRE_SETS_MAX; k++) {
		if (!s->set[k])
			s->set[k] = s->step->all;
		if (s->set[k] == s->step->all)
			return k;
	}
	return -1;
}

static bool *kept_of(struct queue *q, int set, uint32_t nrow)
{
	if (!q->kept[set])
		q->kept[set] = mem_try(nrow, sizeof *q->kept[set]);
	return q->kept[set];
}

/* Rows of the units that the worker lacks, marked as kept, into s->row. */
static uint32_t missing(struct scheduler *s, bool *kept, const uint32_t *id, uint32_t nid)
{
	const struct pool_step *step = s->step;
	uint32_t n = 0;

	for (uint32_t k = 0; k < nid; k++)
		for (uint32_t i = 0, count = step_samples(step, id[k]); i < count; i++) {
			uint32_t row = step->row(step->ctx, id[k] * step->width + i);

			if (!kept[row])
				s->row[n++] = row;
			kept[row] = true;
		}
	qsort(s->row, n, sizeof *s->row, order_u32);
	return n;
}

static void send_rows(struct scheduler *s, struct queue *q, int set, uint32_t n)
{
	const struct pool_step *step = s->step;
	struct wire_data d = { .set = (uint32_t)set, .nrow = step->nall, .nx = step->nx, .n = n };
	int64_t began = recorder_begin();

	buf_clear(&s->body);
	wire_put_data(&s->body, &d, s->row);
	for (uint32_t k = 0; k < n; k++)
		buf_f64s(&s->body, step->all + (size_t)s->row[k] * step->nx, step->nx);
	scheduler_put(s, q, began);
}

bool shard_rows(struct scheduler *s, struct queue *q, const uint32_t *id, uint32_t nid, uint32_t *set)
{
	const struct pool_step *step = s->step;
	int k = step->all && step->nx && s->shard && (s->shard != SHARD_AUTO || step->nx >= WORTH_NUMBERS) ? find_set(s) : -1;
	bool *kept = k < 0 ? NULL : kept_of(q, k, step->nall);
	uint64_t each, most = q->worker.memory / MEMORY_PART / q->worker.share;

	if (step->file && step->nx) {
		*set = WIRE_SETS_MAX + step->file - 1;
		return true;
	}
	if (!kept || !ARRAY_RESERVE(s->row, s->row_cap, (size_t)nid * step->width))
		return false;
	uint32_t n = missing(s, kept, id, nid);
	each = step->nx * sizeof(double);
	if (n > most / each || q->nkept + n * each > most) {
		for (uint32_t i = 0; i < n; i++)
			kept[s->row[i]] = false;
		return false;
	}
	if (n)
		send_rows(s, q, k, n);
	q->nkept += n * each;
	*set = (uint32_t)k;
	return true;
}

void shard_forget(struct queue *q)
{
	for (int k = 0; k < WIRE_SETS_MAX; k++) {
		free(q->kept[k]);
		q->kept[k] = NULL;
	}
	q->nkept = 0;
}
