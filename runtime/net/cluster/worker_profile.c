/* SPDX-License-Identifier: Apache-2.0
 * Profiles of workers: each records when it takes work, answers questions about its clock, and sends what it has
 * recorded in the end. Neither the states of workers nor their units depend on any of it. */
#include "runtime/net/cluster/cluster_state.h"

#include <stdlib.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"

enum {
	TEXT_LEAST = 4 << 20,  /* of a worker's answer, without events */
	TEXTS_MAX = 256 << 20, /* of all workers */
	EVENT_TEXT = 4,        /* bytes of text for each of an event in memory, at most */
	LOSSES_MAX = 1024,     /* that are named in a profile */
	ROUND = 8,
	ROUND_MAX = 40, /* questions to a worker at the beginning and the end; where trips are long */
	AT_ONCE = 4,    /* of them to several workers, more would wait for each other */
	SLOW_NS = 20000000, /* an answer that takes longer does not keep others from being asked */
	GOOD_NS = 200000,   /* a trip that needs no further questions */
	BETWEEN_NS = 20000000 /* two questions to a worker that computes */
};
#define COMPARE_S 0.25 /* for all questions at the beginning, and as long at the end */
#define ANSWER_S 10.0  /* for the answers to PROFILE */

/* ---- traffic ---- */

static void traffic_add(struct traffic *sum, const struct traffic *t)
{
	sum->sent += t->sent;
	sum->received += t->received;
	sum->messages += t->messages;
}

static struct traffic traffic_since(struct traffic now, const struct traffic *then)
{
	return (struct traffic){ now.sent - then->sent, now.received - then->received,
		now.messages - then->messages };
}

struct traffic worker_traffic(const struct worker *w)
{
	struct traffic t = { w->peer.nwritten, w->peer.nread,
		peer_nsent(&w->peer) + peer_nreceived(&w->peer) };

	traffic_add(&t, &w->ended);
	return t;
}

static struct traffic all_traffic(const struct coordinator *c)
{
	struct traffic sum = { 0, 0, 0 };

	for (unsigned i = 0; i < c->nworker; i++) {
		struct traffic t = worker_traffic(&c->worker[i]);

		traffic_add(&sum, &t);
	}
	return sum;
}

/* ---- clocks ---- */

static void ask_clock(struct coordinator *c, struct worker *w)
{
	struct worker_profile *p = &w->profile;
	struct wire_clock m = { .sent = recorder_clock() };

	p->nleft -= p->nleft > 0;
	p->nasked++;
	p->question = p->asked_at = m.sent;
	buf_clear(&c->body);
	wire_put_clock(&c->body, &m);
	peer_put(&w->peer, &c->body);
	worker_flush(w);
}

bool worker_profile_clock(struct coordinator *c, struct worker *w, const uint8_t *body, size_t len)
{
	int64_t now = recorder_clock();
	struct worker_profile *p = &w->profile;
	struct wire_clock m;

	if (!wire_get_clock(body, len, &m) || !p->question || m.sent != p->question
		|| !clock_offset_add(&p->clock, p->when, &m, now))
		return false;
	p->question = 0;
	if (p->state == RECORD_ASKED || p->state == RECORD_LATE)
		return true;
	if (!p->nleft && p->when != CLOCK_DURING && p->nasked < ROUND_MAX
		&& p->clock.best[p->when].trip > GOOD_NS)
		p->nleft++;
	if (p->nleft)
		ask_clock(c, w);
	else
		p->when = CLOCK_DURING;
	return true;
}

void worker_profile_idle(struct coordinator *c, struct worker *w)
{
	struct worker_profile *p = &w->profile;

	if (p->state == RECORD_ON && !p->question && scheduler_idle(c->scheduler, w->rank)
		&& recorder_clock() - p->asked_at > BETWEEN_NS)
		ask_clock(c, w);
}

/* Its clock is compared, before it begins or after it has stopped. */
static bool is_compared(const struct worker *w)
{
	enum worker_record state = w->profile.state;

	return w->state == WORKER_READY && w->profile.life == w->nrestart
		&& (state == RECORD_COMPARE || state == RECORD_COMPLETE);
}

/* Ask workers, a few at a time; each answer leads to the worker's next question. False: all have answered. */
static bool ask_some(struct coordinator *c)
{
	int64_t now = recorder_clock();
	unsigned nopen = 0;
	bool left = false;

	for (unsigned i = 0; i < c->nworker; i++) {
		const struct worker_profile *p = &c->worker[i].profile;

		nopen += is_compared(&c->worker[i]) && p->question && now - p->asked_at < SLOW_NS;
	}
	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *w = &c->worker[i];

		if (!is_compared(w))
			continue;
		if (!w->profile.question && w->profile.nleft && nopen < AT_ONCE) {
			ask_clock(c, w);
			nopen++;
		}
		left |= w->profile.question || w->profile.nleft;
	}
	return left;
}

/* Between steps, when workers answer at once. */
static void compare_clocks(struct coordinator *c, enum clock_when when)
{
	double until = clock_seconds() + COMPARE_S;

	for (unsigned i = 0; i < c->nworker; i++)
		if (is_compared(&c->worker[i])) {
			c->worker[i].profile.when = when;
			c->worker[i].profile.nleft = ROUND;
			c->worker[i].profile.nasked = 0;
		}
	loop_allow_spin(c, true);
	while (ask_some(c) && clock_seconds() < until)
		loop_turn(c, 5);
	loop_allow_spin(c, false);
	for (unsigned i = 0; i < c->nworker; i++)
		if (is_compared(&c->worker[i])) {
			c->worker[i].profile.when = CLOCK_DURING;
			c->worker[i].profile.nleft = 0;
		}
}

/* ---- begin ---- */

static void send_profile(struct coordinator *c, struct worker *w, enum profile_level level)
{
	struct wire_profile m = {
		.level = (uint8_t)level, .label = w->peer.label, .capture = c->capture.number
	};

	if (level) {
		m.bytes = c->capture.bytes;
		m.text_max = c->capture.text_max;
	}
	buf_clear(&c->body);
	wire_put_profile(&c->body, &m);
	peer_put(&w->peer, &c->body);
	worker_flush(w);
}

/* It takes work, and has nothing to do with a profile. */
static bool is_free(const struct coordinator *c, const struct worker *w)
{
	return w->state == WORKER_READY && w->profile.state == RECORD_NONE
		&& !group_keeps_quiet(c, w);
}

static void prepare(struct coordinator *c, struct worker *w)
{
	buf_release(&w->profile.text);
	w->profile = (struct worker_profile){ .state = RECORD_COMPARE,
		.capture = c->capture.number,
		.life = w->nrestart,
		.text_max = c->capture.text_max,
		.question = w->profile.question };
}

static void begin(struct coordinator *c, struct worker *w)
{
	struct worker_profile *p = &w->profile;

	p->state = RECORD_ON;
	p->began = recorder_clock();
	p->traffic = worker_traffic(w);
	p->nunit = scheduler_stats(c->scheduler, w->rank).nunit;
	w->peer.label = (uint8_t)w->nrestart;
	send_profile(c, w, c->capture.level);
}

void worker_profile_ready(struct coordinator *c, struct worker *w)
{
	if (!c->capture.on || c->capture.stopping || !is_free(c, w))
		return;
	prepare(c, w);
	begin(c, w);
	w->profile.nleft = ROUND;
	if (!w->profile.question)
		ask_clock(c, w);
}

int worker_profile_record(struct pool *pool, int level, uint64_t bytes_max, struct err *e)
{
	struct coordinator *c = coordinator_of(pool);
	struct capture *now = &c->capture;
	uint64_t most = TEXTS_MAX / (c->nworker + 1);

	if (level <= PROFILE_OFF || level >= PROFILE_LEVELS)
		return err_set(e, -ERR_CONFIG, "a profile has a level from 1 to %d",
			PROFILE_LEVELS - 1);
	mutex_auto held = mutex_hold(&c->loop.lock);
	if (now->on)
		return err_set(e, -ERR_CONFIG, "a profile of the workers is being taken already");
	most = most < WIRE_PROFILE_MAX ? most : WIRE_PROFILE_MAX;
	now->on = true;
	now->number++;
	now->level = (enum profile_level)level;
	now->bytes = bytes_max < most ? bytes_max : most;
	now->text_max = (uint32_t)(TEXT_LEAST + EVENT_TEXT * now->bytes < most
			? TEXT_LEAST + EVENT_TEXT * now->bytes
			: most);
	now->nlost = 0;
	now->traffic = all_traffic(c);
	for (unsigned i = 0; i < c->nworker; i++)
		if (is_free(c, &c->worker[i]))
			prepare(c, &c->worker[i]);
	compare_clocks(c, CLOCK_BEGIN);
	for (unsigned i = 0; i < c->nworker; i++)
		if (c->worker[i].profile.state == RECORD_COMPARE)
			begin(c, &c->worker[i]);
	return 0;
}

/* ---- what has come ---- */

static void complete(struct coordinator *c, struct worker *w)
{
	struct worker_profile *p = &w->profile;

	if (p->state == RECORD_ASKED) {
		p->state = RECORD_COMPLETE;
		return;
	}
	p->state = RECORD_NONE;
	worker_profile_ready(c, w);
}

bool worker_profile_part(struct coordinator *c, struct worker *w, const uint8_t *body, size_t len)
{
	struct worker_profile *p = &w->profile;
	struct wire_profiled m;

	if ((p->state != RECORD_ASKED && p->state != RECORD_LATE)
		|| !wire_get_profiled(body, len, &m) || m.capture != p->capture || m.at != p->at
		|| (p->at && m.total != p->total) || m.total > p->text_max)
		return false;
	if (p->state == RECORD_ASKED)
		buf_add(&p->text, m.text, m.n);
	p->total = m.total;
	p->at += m.n;
	if (p->at == p->total)
		complete(c, w);
	return true;
}

static struct profile_process lost_process(const struct worker *w, int64_t begin, int64_t end)
{
	return (struct profile_process){ .host = w->about.host,
		.role = "worker",
		.rank = w->rank + 1,
		.pid = (uint32_t)w->about.pid,
		.begin = begin,
		.end = end,
		.lost = true,
		.wall_ns[PHASE_NONE] = (uint64_t)(end - begin) };
}

static void note_loss(struct coordinator *c, const struct worker *w)
{
	struct capture *now = &c->capture;
	struct traffic t = traffic_since(worker_traffic(w), &w->profile.traffic);
	struct profile_process p = lost_process(w, w->profile.began, recorder_clock());

	if (now->nlost == LOSSES_MAX)
		return;
	p.units = scheduler_stats(c->scheduler, w->rank).nunit - w->profile.nunit;
	p.bytes_sent = t.received;
	p.bytes_received = t.sent;
	p.messages = t.messages;
	mem_reserve(now->lost, now->nlost, now->lost_cap);
	now->lost[now->nlost++] = p;
}

void worker_profile_lost(struct coordinator *c, struct worker *w)
{
	struct worker_profile *p = &w->profile;

	p->question = 0;
	if (p->state == RECORD_COMPLETE)
		return;
	if (p->state == RECORD_ON || p->state == RECORD_ASKED)
		note_loss(c, w);
	buf_release(&p->text);
	*p = (struct worker_profile){ .state = RECORD_NONE };
}

/* ---- end ---- */

static bool any_in(const struct coordinator *c, enum worker_record state)
{
	for (unsigned i = 0; i < c->nworker; i++)
		if (c->worker[i].profile.state == state)
			return true;
	return false;
}

/* Ask all that record for it, and wait; those that do not answer in time are as lost. */
static void collect(struct coordinator *c)
{
	double until = clock_seconds() + ANSWER_S;

	c->capture.stopping = true;
	for (unsigned i = 0; i < c->nworker; i++)
		if (c->worker[i].profile.state == RECORD_ON) {
			c->worker[i].profile.state = RECORD_ASKED;
			send_profile(c, &c->worker[i], PROFILE_OFF);
		}
	while (any_in(c, RECORD_ASKED) && clock_seconds() < until)
		loop_turn(c, KEEPER_MS / 5);
	compare_clocks(c, CLOCK_END);
	for (unsigned i = 0; i < c->nworker; i++)
		if (c->worker[i].profile.state == RECORD_ASKED) {
			note_loss(c, &c->worker[i]);
			buf_release(&c->worker[i].profile.text);
			c->worker[i].profile.state = RECORD_LATE;
		}
}

/* Every time as if the worker's clock ran as fast as ours: with the same offset all the time, that in the middle. */
static void align_times(struct profile_process *process, const struct clock_offset *o)
{
	int64_t offset = clock_offset_at(o, process->begin + (process->end - process->begin) / 2);

	process->offset = offset;
	if (clock_offset_drift(o) == 0)
		return;
	process->begin += offset - clock_offset_at(o, process->begin);
	process->end += offset - clock_offset_at(o, process->end);
	for (uint32_t t = 0; t < process->nthread; t++)
		for (uint32_t k = 0; k < process->thread[t].nevent; k++) {
			struct profile_event *event = &process->thread[t].event[k];

			event->begin += offset - clock_offset_at(o, event->begin);
			event->end += offset - clock_offset_at(o, event->end);
		}
}

/* What the worker says of itself counts where it cannot be known otherwise. */
static int add_answer(struct profile *into, const struct worker *w,
	const struct worker_profile *from, struct err *e)
{
	struct profile *p = NULL;
	int code = profile_read_json(from->text.data ? from->text.data : "", from->text.len, &p, e);

	if (code)
		return code;
	struct profile_process *process = p->process;
	if (p->nprocess != 1) {
		code = err_set(e, -ERR_BAD_DATA, "its profile has %u processes instead of 1",
			p->nprocess);
	} else if (!clock_offset_best(&from->clock)->trip) {
		code = err_set(e, -ERR_BAD_DATA, "the offset of its clock is unknown");
	} else {
		process->host = arena_strdup(&p->arena, w->about.host);
		process->role = "worker";
		process->rank = w->rank + 1;
		process->pid = (uint32_t)w->about.pid;
		process->uncertainty =
			clock_offset_uncertainty(&from->clock, process->begin, process->end);
		process->moved_events = 0;
		process->lost = false;
		align_times(process, &from->clock);
		code = profile_merge(into, p, e);
	}
	profile_free(p);
	return code;
}

/* The answer leaves the worker, so that it is read without the lock. */
static struct worker_profile take_answer(struct worker *w)
{
	struct worker_profile p = w->profile;

	if (p.state != RECORD_COMPLETE)
		return (struct worker_profile){ .state = RECORD_NONE };
	w->profile = (struct worker_profile){ .state = RECORD_NONE,
		.question = p.question }; /* it may still answer */
	return p;
}

static void add_lost(struct profile *into, struct profile_process process)
{
	process.host = arena_strdup(&into->arena, process.host);
	profile_merge(into, &(struct profile){ .nprocess = 1, .process = &process }, NULL);
}

static void add_all(struct coordinator *c, struct profile *into, struct worker_profile *answer,
	const struct profile_process *lost, size_t nlost)
{
	for (unsigned i = 0; i < c->nworker; i++) {
		const struct worker *w = &c->worker[i];
		struct err why = { 0, "" };

		for (size_t k = 0; k < nlost; k++)
			if (lost[k].rank == i + 1)
				add_lost(into, lost[k]);
		if (answer[i].state == RECORD_COMPLETE && add_answer(into, w, &answer[i], &why)) {
			int64_t begin = answer[i].began, asked = answer[i].asked_at;

			coordinator_say(c, NULL, "the profile of %s is left out: %s", w->name,
				why.text);
			add_lost(into, lost_process(w, begin, asked > begin ? asked : begin));
		}
		buf_release(&answer[i].text);
	}
}

int worker_profile_recorded(struct pool *pool, struct profile *into, struct err *e)
{
	struct coordinator *c = coordinator_of(pool);

	pthread_mutex_lock(&c->loop.lock);
	if (!c->capture.on) {
		pthread_mutex_unlock(&c->loop.lock);
		return err_set(e, -ERR_CONFIG, "no profile of the workers is being taken");
	}
	struct traffic traffic = traffic_since(all_traffic(c), &c->capture.traffic);
	collect(c);
	mem_auto struct worker_profile *answer = mem_alloc(c->nworker + 1, sizeof *answer);
	for (unsigned i = 0; i < c->nworker; i++)
		answer[i] = take_answer(&c->worker[i]);
	mem_auto struct profile_process *lost = c->capture.lost;
	size_t nlost = c->capture.nlost;
	c->capture = (struct capture){ .number = c->capture.number };
	pthread_mutex_unlock(&c->loop.lock);
	if (into->nprocess) {
		into->process[0].bytes_sent += traffic.sent;
		into->process[0].bytes_received += traffic.received;
		into->process[0].messages += traffic.messages;
	}
	add_all(c, into, answer, lost, nlost);
	return 0;
}

void worker_profile_release(struct coordinator *c)
{
	for (unsigned i = 0; i < c->nworker; i++)
		buf_release(&c->worker[i].profile.text);
	free(c->capture.lost);
}
