/* SPDX-License-Identifier: Apache-2.0
 * Joins the profiles of several processes: one clock, and no message that is received before it is sent. */
#include "runtime/base/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/order.h"

/* ---- merge ---- */

/* Is a - offset a time? */
static bool shifts(int64_t a, int64_t offset)
{
	int64_t t;

	return !__builtin_sub_overflow(a, offset, &t) && t >= -PROFILE_TIME_MAX
		&& t <= PROFILE_TIME_MAX;
}

static bool process_shifts(const struct profile_process *p)
{
	if (!shifts(p->begin, p->offset) || !shifts(p->end, p->offset))
		return false;
	for (uint32_t t = 0; t < p->nthread; t++)
		for (uint32_t k = 0; k < p->thread[t].nevent; k++)
			if (!shifts(p->thread[t].event[k].begin, p->offset)
				|| !shifts(p->thread[t].event[k].end, p->offset))
				return false;
	return true;
}

static int check_part(const struct profile *into, const struct profile *part, struct err *e)
{
	if ((uint64_t)into->nprocess + part->nprocess > UINT16_MAX + 1)
		return err_set(e, -ERR_BAD_DATA, "a profile has at most %d processes", UINT16_MAX + 1);
	for (uint32_t k = 0; k < part->nprocess; k++) {
		const struct profile_process *p = &part->process[k];

		if (into->nitem && p->nitem > into->nitem)
			return err_set(e, -ERR_BAD_DATA,
				"a profile of %u items does not belong to a plan of %u", p->nitem,
				into->nitem);
		if (!process_shifts(p))
			return err_set(e, -ERR_BAD_DATA,
				"a profile's times are out of range for its clock offset");
	}
	return 0;
}

/* All its times, to the coordinator's clock. */
static void shift(struct profile_process *p)
{
	p->begin -= p->offset;
	p->end -= p->offset;
	for (uint32_t t = 0; t < p->nthread; t++)
		for (uint32_t k = 0; k < p->thread[t].nevent; k++) {
			p->thread[t].event[k].begin -= p->offset;
			p->thread[t].event[k].end -= p->offset;
		}
}

/* Doubles, so that the arena keeps few arrays that have become too small. */
static void make_room(struct profile *p, uint32_t n)
{
	uint32_t room = 2 * p->nprocess > n ? 2 * p->nprocess : n;

	if (n <= p->process_room)
		return;
	struct profile_process *process = arena_alloc(&p->arena, room, sizeof *process);
	if (p->nprocess)
		memcpy(process, p->process, p->nprocess * sizeof *process);
	p->process = process;
	p->process_room = room;
}

int profile_merge(struct profile *into, struct profile *part, struct err *e)
{
	int code = check_part(into, part, e);

	if (code)
		return code;
	make_room(into, into->nprocess + part->nprocess);
	for (uint32_t k = 0; k < part->nprocess; k++) {
		shift(&part->process[k]);
		into->process[into->nprocess++] = part->process[k];
	}
	part->nprocess = 0;
	arena_join(&into->arena, &part->arena);
	return 0;
}

/* ---- messages ---- */

/* One end of a message. */
struct end {
	uint32_t from, to, id; /* ranks */
	uint32_t process, thread;
	const struct profile_event *event;
};

static int by_key(const struct end *a, const struct end *b)
{
	int order = ORDER(a->from, b->from);

	order = order ? order : ORDER(a->to, b->to);
	return order ? order : ORDER(a->id, b->id);
}

/* Ends of one number, if there are several, by their begins. */
static int by_message(const void *x, const void *y)
{
	const struct end *a = x, *b = y;
	int order = by_key(a, b);

	return order ? order : ORDER(a->event->begin, b->event->begin);
}

/* All ends of one kind, sorted. */
static struct end *ends_of(const struct profile *p, enum profile_kind kind, size_t *n)
{
	struct end *end = NULL;
	size_t room = 0;

	*n = 0;
	for (uint32_t i = 0; i < p->nprocess; i++)
		for (uint32_t t = 0; t < p->process[i].nthread; t++)
			for (uint32_t k = 0; k < p->process[i].thread[t].nevent; k++) {
				const struct profile_event *v = &p->process[i].thread[t].event[k];
				uint32_t rank = p->process[i].rank;

				if (v->kind != kind)
					continue;
				mem_reserve(end, *n, room);
				end[(*n)++] = kind == EVENT_SEND
					? (struct end){ rank, v->peer, v->id, i, t, v }
					: (struct end){ v->peer, rank, v->id, i, t, v };
			}
	if (*n)
		qsort(end, *n, sizeof *end, by_message);
	return end;
}

size_t profile_messages(const struct profile *p, struct profile_message **out)
{
	size_t nsend, nreceive, n = 0, at = 0;
	struct end *send = ends_of(p, EVENT_SEND, &nsend),
		   *receive = ends_of(p, EVENT_RECEIVE, &nreceive);
	struct profile_message *message =
		mem_alloc(nsend < nreceive ? nsend : nreceive, sizeof *message);

	/* Where a number was used again, the k-th send belongs to the k-th receive. */
	for (size_t k = 0; k < nsend && at < nreceive;) {
		const struct end *s = &send[k], *r = &receive[at];
		int order = by_key(s, r);

		if (!order)
			message[n++] = (struct profile_message){ r->process, r->thread, s->event,
				r->event };
		k += order <= 0;
		at += order >= 0;
	}
	free(send);
	free(receive);
	*out = message;
	return n;
}

/* ---- order ---- */

static int by_receiver(const void *x, const void *y)
{
	const struct profile_message *a = x, *b = y;
	int order = ORDER(a->to_process, b->to_process);

	order = order ? order : ORDER(a->to_thread, b->to_thread);
	return order ? order : ORDER(a->receive, b->receive);
}

struct numbered {
	struct profile_event event;
	uint32_t number;
};

static int by_end(const void *x, const void *y)
{
	const struct numbered *a = x, *b = y;
	int order = ORDER(a->event.end, b->event.end);

	return order ? order : ORDER(a->number, b->number);
}

static bool is_late(const struct profile_message *m) { return m->receive->end < m->send->begin; }

/* n messages that one thread received too early: its events with later ends, in order. */
static struct profile_event *moved(struct arena *a, const struct profile_thread *t,
	const struct profile_message *m, size_t n)
{
	mem_auto struct numbered *v = mem_alloc(t->nevent, sizeof *v);
	struct profile_event *out = arena_alloc(a, t->nevent, sizeof *out);

	for (uint32_t k = 0; k < t->nevent; k++)
		v[k] = (struct numbered){ t->event[k], k };
	for (size_t k = 0; k < n; k++)
		v[m[k].receive - t->event].event.end = m[k].send->begin + 1;
	qsort(v, t->nevent, sizeof *v, by_end);
	for (uint32_t k = 0; k < t->nevent; k++)
		out[k] = v[k].event;
	return out;
}

/* Of one process: n messages, by thread. */
static void move_in(struct arena *a, struct profile_process *p, const struct profile_message *m,
	size_t n)
{
	for (size_t k = 0, end; k < n; k = end) {
		struct profile_thread *t = &p->thread[m[k].to_thread];

		for (end = k; end < n && m[end].to_thread == m[k].to_thread;)
			end++;
		t->event = moved(a, t, m + k, end - k);
	}
	p->moved_events += n;
}

void profile_order_messages(struct profile *p)
{
	struct profile_message *m;
	size_t nmessage = profile_messages(p, &m), n = 0;

	for (size_t k = 0; k < nmessage; k++)
		if (is_late(&m[k]))
			m[n++] = m[k];
	if (n)
		qsort(m, n, sizeof *m, by_receiver);
	for (size_t k = 0, end; k < n; k = end) {
		for (end = k; end < n && m[end].to_process == m[k].to_process;)
			end++;
		move_in(&p->arena, &p->process[m[k].to_process], m + k, end - k);
	}
	free(m);
}
