/* SPDX-License-Identifier: Apache-2.0
 * Folded stacks: a line for each stack, frames between semicolons, then how long. */
#include "runtime/log/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/visible.h"

/* Lines at most: where threads times matrices are more, layers alone are printed, and then phases alone. */
enum { LINES_MAX = 1 << 20 };

/* Items of one layer and one matrix, and their time in the whole process. */
struct frame {
	const char *layer, *matrix; /* NULL: none */
	uint64_t ns;
};

/* A frame's name: nothing that ends it, or the line. */
static void put_frame(struct buf *out, const char *name)
{
	size_t from = out->len;

	visible_str(out, name);
	for (size_t k = from; k < out->len; k++)
		if (out->data[k] == ';')
			out->data[k] = ',';
	if (out->len == from)
		buf_char(out, '-');
}

/* What is below a microsecond is carried to the next line. */
static void put_line(struct buf *out, const struct buf *stack, const struct frame *f, uint64_t ns,
	uint64_t *carry)
{
	*carry += ns;
	uint64_t us = *carry / 1000;
	*carry %= 1000;
	if (!us)
		return;
	buf_add(out, stack->data, stack->len);
	for (unsigned k = 0; f && k < 2; k++) {
		const char *name = k ? f->matrix : f->layer;

		if (!name)
			continue;
		buf_char(out, ';');
		put_frame(out, name);
	}
	buf_printf(out, " %" PRIu64 "\n", us);
}

/* ---- frames ---- */

enum detail { DETAIL_PHASES, DETAIL_LAYERS, DETAIL_MATRICES };

static int by_text(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int by_frame(const void *x, const void *y)
{
	const struct frame *a = x, *b = y;
	int order = by_text(a->layer, b->layer);

	return order ? order : by_text(a->matrix, b->matrix);
}

static struct frame frame_of(const struct profile *p, const struct profile_item *item,
	enum detail detail)
{
	static const char *const other[ITEM_KINDS] = { "(matrix)", "(transfer)", "(start)",
		"(readouts)" };
	struct frame f = { .layer = item->layer < p->nlayer ? p->layer[item->layer].path
							    : "(outside of layers)" };

	if (detail == DETAIL_MATRICES)
		f.matrix = item->matrix ? item->matrix
					: other[item->kind < ITEM_KINDS ? item->kind : ITEM_STEP];
	return f;
}

/* Frames with time, forward or backward, each once: how many. */
static size_t frames_of(const struct profile *p, const struct profile_process *q, unsigned back,
	enum detail detail, struct frame **out)
{
	uint32_t nitem = q->nitem < p->nitem ? q->nitem : p->nitem;
	struct frame *f = mem_alloc(nitem, sizeof *f);
	size_t n = 0, nframe = 0;

	for (uint32_t k = 0; k < nitem && detail; k++)
		if (q->item_ns[back][k]) {
			f[n] = frame_of(p, &p->item[k], detail);
			f[n++].ns = q->item_ns[back][k];
		}
	if (n)
		qsort(f, n, sizeof *f, by_frame);
	for (size_t k = 0; k < n; k++)
		if (nframe && !by_frame(&f[nframe - 1], &f[k]))
			f[nframe - 1].ns += f[k].ns;
		else
			f[nframe++] = f[k];
	*out = f;
	return nframe;
}

static enum detail detail_of(const struct profile *p)
{
	uint64_t nthread = 0;

	for (uint32_t k = 0; k < p->nprocess; k++)
		nthread += p->process[k].nthread;
	if (nthread * 2 * p->nitem <= LINES_MAX)
		return DETAIL_MATRICES;
	return nthread * 2 * p->nlayer <= LINES_MAX ? DETAIL_LAYERS : DETAIL_PHASES;
}

/* ---- lines ---- */

/* A thread's time in a phase, split like the time of all threads; what no item has measured is the phase's own. */
static void put_phase(struct buf *out, const struct buf *stack, uint64_t ns, uint64_t all_ns,
	const struct frame *f, size_t n, uint64_t *carry)
{
	double measured = 0, left = (double)ns;

	for (size_t k = 0; k < n; k++)
		measured += (double)f[k].ns;
	if (measured < (double)all_ns)
		measured = (double)all_ns;
	for (size_t k = 0; k < n; k++) {
		double share = (double)ns * ((double)f[k].ns / measured);

		share = share < left ? share : left;
		left -= share;
		put_line(out, stack, &f[k], (uint64_t)share, carry);
	}
	put_line(out, stack, NULL, (uint64_t)left, carry);
}

static uint64_t phase_of_all(const struct profile_process *q, unsigned phase)
{
	uint64_t sum = 0;

	for (uint32_t t = 0; t < q->nthread; t++)
		sum += q->thread[t].ns[phase];
	return sum;
}

static void put_process(struct buf *out, const struct profile *p, const struct profile_process *q,
	enum detail detail)
{
	buf_auto stack = BUF_INIT, name = BUF_INIT;
	struct frame *frame[2];
	size_t n[2];
	uint64_t all[2] = { phase_of_all(q, PHASE_FORWARD), phase_of_all(q, PHASE_BACKWARD) };

	for (unsigned back = 0; back < 2; back++)
		n[back] = frames_of(p, q, back, detail, &frame[back]);
	trace_process_name(q, &name);
	for (uint32_t t = 0; t < q->nthread; t++)
		for (unsigned k = 0; k < PHASE_COUNT; k++) {
			uint64_t ns = q->thread[t].ns[k], carry = 0;
			unsigned back = k == PHASE_BACKWARD;
			bool split = back || k == PHASE_FORWARD;

			buf_clear(&stack);
			put_frame(&stack, name.data);
			buf_char(&stack, ';');
			put_frame(&stack, q->thread[t].name ? q->thread[t].name : "");
			buf_printf(&stack, ";%s", profile_phase_name((enum profile_phase)k));
			if (split)
				put_phase(out, &stack, ns, all[back], frame[back], n[back], &carry);
			else
				put_line(out, &stack, NULL, ns, &carry);
		}
	free(frame[0]);
	free(frame[1]);
}

void trace_folded(const struct profile *p, struct buf *out)
{
	enum detail detail = detail_of(p);

	for (uint32_t k = 0; k < p->nprocess; k++)
		put_process(out, p, &p->process[k], detail);
}
