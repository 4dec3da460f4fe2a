/* SPDX-License-Identifier: Apache-2.0
 * Calls of a group of ranks, as chunks of its transport: their order, digests and deadlines.
 *
 * Each chunk begins with the number of its call, so that ranks which make different calls find out. While something is to be
 * sent and to be received, each is done as far as the transport has room, and nothing is received into memory that has not
 * been sent. */
#include "config.h"
#include "runtime/net/comm/transport.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"

enum { LOOKS = 2000 /* without waiting */, WAIT_MS = 100, TICK_MS = 250 };
static const double SUSPENDED_S =
	1; /* between two looks: this process did not wait all that time, or not run */

static const struct transport *const transports[] = { &transport_shm };
const char *const group_transports[] = { "shm", NULL };

static const struct comm_ops group_ops;

struct group_offer {
	const struct transport *transport;
	struct transport_state *state;
	struct group_options o;
};

struct group {
	struct comm comm;
	const struct transport *transport;
	struct transport_state *state;
	struct group_options o;
	uint32_t call;
	/* While the process computes, a thread shows the others that it runs. */
	pthread_t heart;
	pthread_mutex_t lock;
	pthread_cond_t ending;
	bool ends;
	/* Of each rank, when its ticks were seen to change; and when they were last looked at. */
	uint32_t ticks[GROUP_RANKS_MAX];
	double changed[GROUP_RANKS_MAX], looked;
};

/* comm is the first member. */
static struct group *group_of(struct comm *c) { return (struct group *)c; }

struct head {
	uint32_t call, part;
	uint64_t digest;
};

/* ---- digests ---- */

static uint64_t load(const unsigned char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
	return x;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
	return h ^ h >> 29;
}

/* Four sums side by side, so that a multiplication need not wait for the one before. Each step is a bijection of its sum: one
 * changed word always changes the digest. It finds errors, not attacks: those who could make them do not know the group's key. */
static uint64_t digest_of(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint64_t h[4] = { n, 1, 2, 3 }, rest = 0;

	for (; n >= 32; n -= 32, p += 32)
		for (unsigned k = 0; k < 4; k++)
			h[k] = mix(h[k], load(p + 8 * k));
	for (; n >= 8; n -= 8, p += 8)
		h[0] = mix(h[0], load(p));
	memcpy(&rest, p, n);
	h[0] = mix(h[0], rest);
	for (unsigned k = 1; k < 4; k++)
		h[0] = mix(h[0], h[k]);
	return h[0];
}

/* ---- its life ---- */

int group_offer(const char *transport, const struct group_options *o, struct group_offer **out,
	char address[GROUP_ADDRESS_MAX], struct err *e)
{
	for (size_t k = 0; k < sizeof transports / sizeof *transports; k++) {
		struct group_offer *offer;
		int code;

		if (strcmp(transports[k]->name, transport))
			continue;
		offer = mem_alloc(1, sizeof *offer);
		offer->transport = transports[k];
		offer->o = *o;
		if (!offer->o.deadline_ms)
			offer->o.deadline_ms = GROUP_DEADLINE_MS;
		code = transports[k]->offer(&offer->o, &offer->state, address, e);
		if (code)
			free(offer);
		else
			*out = offer;
		return code;
	}
	return err_set(e, -ERR_CONFIG, "ranks do not communicate by `%s`; there is shm", transport);
}

void group_offer_free(struct group_offer *offer)
{
	if (offer)
		offer->transport->free(offer->state);
	free(offer);
}

static void *beat(void *ctx)
{
	struct group *c = ctx;
	unsigned ms = c->o.deadline_ms / 8 < TICK_MS ? c->o.deadline_ms / 8 + 1 : TICK_MS;

	pthread_mutex_lock(&c->lock);
	while (!c->ends) {
		struct timespec until;

		c->transport->tick(c->state);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += ms * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&c->ending, &c->lock, &until);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Signals are for the other threads. */
static int start_heart(struct group *c)
{
	sigset_t all, before;
	int failed;

	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->ending, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&c->heart, NULL, beat, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

static void stop_heart(struct group *c)
{
	pthread_mutex_lock(&c->lock);
	c->ends = true;
	pthread_cond_signal(&c->ending);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->heart, NULL);
}

int group_open(struct group_offer *offer, unsigned rank, unsigned size, const char *const *address,
	struct comm **out, struct err *e)
{
	double end = clock_seconds() + offer->o.deadline_ms / 1000.0;
	struct group *c;
	int code;

	for (;;) {
		offer->transport->look(offer->state);
		code = offer->transport->connect(offer->state, rank, size, address, e);
		if (code || clock_seconds() >= end)
			break;
		offer->transport->wait(offer->state, WAIT_MS);
	}
	if (code <= 0) {
		if (!code)
			code = err_set(e, -ERR_UNREACHABLE,
				"rank %u: not all of the %u ranks came within %u ms", rank, size,
				offer->o.deadline_ms);
		group_offer_free(offer);
		return code;
	}
	c = mem_alloc(1, sizeof *c);
	*c = (struct group){ .comm = { .ops = &group_ops, .rank = rank, .size = size },
		.transport = offer->transport,
		.state = offer->state,
		.o = offer->o };
	free(offer);
	if (start_heart(c)) {
		c->transport->free(c->state);
		free(c);
		return err_set(e, -ERR_CONFIG, "the system has no thread for a group of ranks");
	}
	*out = &c->comm;
	return 0;
}

/* ---- parts ---- */

/* Something on its way to a peer, or from it, or both in the same memory. */
struct flow {
	struct comm_part part;
	size_t bytes, sent, received;
	bool sends, receives;
	bool takes_turns; /* nothing is received into memory that was not sent */
};

/* n bytes of a part from byte `at` on, into data or out of it. */
static void copy_part(const struct comm_part *p, size_t at, size_t n, char *data, bool into)
{
	size_t run = at / p->run_bytes, inside = at % p->run_bytes;

	for (size_t k; n; n -= k, data += k, run++, inside = 0) {
		char *here = (char *)p->data + run * p->stride_bytes + inside;

		k = p->run_bytes - inside < n ? p->run_bytes - inside : n;
		if (into)
			memcpy(data, here, k);
		else
			memcpy(here, data, k);
	}
}

/* Flows with the same peer take turns: the chunks of the first are sent and received before those of the next. */
static bool earlier_flow(const struct flow *f, unsigned k, bool sending)
{
	for (unsigned j = 0; j < k; j++)
		if (f[j].part.peer == f[k].part.peer
			&& (sending ? f[j].sends && f[j].sent < f[j].bytes
				    : f[j].receives && f[j].received < f[j].bytes))
			return true;
	return false;
}

static bool send_some(struct group *c, struct flow *f, uint32_t number)
{
	struct head h = { .call = c->call, .part = number };
	size_t most = c->transport->chunk_max(c->state) - sizeof h, n = f->bytes - f->sent;
	char *room = n ? c->transport->room(c->state, f->part.peer) : NULL;

	if (!room)
		return false;
	n = n < most ? n : most;
	copy_part(&f->part, f->sent, n, room + sizeof h, true);
	h.digest = c->o.no_digest ? 0 : digest_of(room + sizeof h, n);
	memcpy(room, &h, sizeof h);
	c->transport->send(c->state, f->part.peer, n + sizeof h);
	f->sent += n;
	return true;
}

static int receive_some(struct group *c, struct flow *f, uint32_t number, bool *some, struct err *e)
{
	struct head h;
	size_t n, left = f->bytes - f->received;
	char *chunk = left ? c->transport->chunk(c->state, f->part.peer, &n) : NULL;

	if (!chunk)
		return 0;
	if (n < sizeof h || n - sizeof h > left)
		return err_set(e, -ERR_PROTOCOL, "rank %u sent %zu bytes where %zu were left",
			f->part.peer, n, left);
	memcpy(&h, chunk, sizeof h);
	n -= sizeof h;
	if (h.call != c->call || h.part != number)
		return err_set(e, -ERR_PROTOCOL,
			"rank %u is at part %u of call %u, this one at part %u of call %u",
			f->part.peer, h.part, h.call, number, c->call);
	if (f->takes_turns && f->sent < f->received + n)
		return 0;
	if (!c->o.no_digest && h.digest != digest_of(chunk + sizeof h, n))
		return err_set(e, -ERR_PROTOCOL,
			"a part of a state came damaged from rank %u: its digest is wrong",
			f->part.peer);
	copy_part(&f->part, f->received, n, chunk + sizeof h, false);
	c->transport->done(c->state, f->part.peer);
	f->received += n;
	*some = true;
	return 0;
}

/* Has the process of a rank run within the deadline? What this process has not seen, as it computed or was suspended, does not
 * count. */
static bool runs(struct group *c, unsigned rank, double now)
{
	uint32_t ticks = c->transport->ticks(c->state, rank);

	if (ticks != c->ticks[rank] || c->changed[rank] == 0) {
		c->ticks[rank] = ticks;
		c->changed[rank] = now;
	}
	return now - c->changed[rank] <= c->o.deadline_ms / 1000.0;
}

/* Of the ranks that are waited for, the first that has died, given up or, with a deadline, not run. */
static int check_alive(struct group *c, const struct flow *f, unsigned nflow, bool deadline,
	struct err *e)
{
	double now = clock_seconds();

	if (now - c->looked > SUSPENDED_S)
		memset(c->changed, 0, sizeof c->changed);
	c->looked = now;
	for (unsigned k = 0; k < nflow; k++) {
		bool waits = (f[k].sends && f[k].sent < f[k].bytes)
			|| (f[k].receives && f[k].received < f[k].bytes);
		const char *dead = waits ? c->transport->dead(c->state, f[k].part.peer) : NULL;

		if (dead)
			return err_set(e, -ERR_UNREACHABLE, "rank %u %s", f[k].part.peer, dead);
		if (waits && deadline && !runs(c, f[k].part.peer, now))
			return err_set(e, -ERR_UNREACHABLE,
				"rank %u has not run for %.1f s: its process is stopped, or its host",
				f[k].part.peer, now - c->changed[f[k].part.peer]);
	}
	return 0;
}

/* Number of a part among those that go to, or come from, the same peer. */
static uint32_t number_of(const struct flow *f, unsigned k, bool sending)
{
	uint32_t n = 0;

	for (unsigned j = 0; j < k; j++)
		n += f[j].part.peer == f[k].part.peer && (sending ? f[j].sends : f[j].receives);
	return n;
}

static int do_flows(struct group *c, struct flow *f, unsigned nflow, struct err *e)
{
	double wait_from = 0;
	unsigned looks = 0;
	bool looked_again =
		false; /* since something seemed wrong: the last of a rank may have come just before its end */

	c->call++;
	for (;;) {
		bool some = false, all = true;

		c->transport->look(c->state);
		for (unsigned k = 0; k < nflow; k++) {
			int code = 0;

			if (f[k].sends && f[k].sent < f[k].bytes && !earlier_flow(f, k, true))
				some = send_some(c, &f[k], number_of(f, k, true)) || some;
			if (f[k].receives && !earlier_flow(f, k, false))
				code = receive_some(c, &f[k], number_of(f, k, false), &some, e);
			if (code)
				return code;
			all = all && !(f[k].sends && f[k].sent < f[k].bytes)
				&& !(f[k].receives && f[k].received < f[k].bytes);
		}
		if (some || all) {
			if (wait_from > 0)
				c->comm.statistics.wait_seconds += clock_seconds() - wait_from;
			wait_from = 0;
			looks = 0;
			looked_again = false;
		}
		if (all)
			return 0;
		if (some || ++looks < LOOKS)
			continue;
		if (wait_from == 0)
			wait_from = clock_seconds();
		c->transport->wait(c->state, WAIT_MS);
		int code = check_alive(c, f, nflow, true, e);
		if (code && looked_again)
			return code;
		looked_again = code;
	}
}

/* The first error ends the group: the others learn the cause, which may be a rank that they do not wait for. */
static int run_flows(struct group *c, struct flow *f, unsigned nflow, struct err *e)
{
	struct err why = { 0, "" };
	int code = do_flows(c, f, nflow, &why);

	if (!code)
		return 0;
	c->transport->abort(c->state, why.text);
	return err_set(e, code, "%s", why.text);
}

/* ---- calls ---- */

static int group_exchange(struct comm *c, const struct comm_part *part, unsigned npart, struct err *e)
{
	struct flow *f = mem_alloc(npart + (size_t)1, sizeof *f);
	int code;

	for (unsigned k = 0; k < npart; k++) {
		f[k] = (struct flow){ .part = part[k],
			.bytes = part[k].run_bytes * part[k].nrun,
			.sends = true,
			.receives = true,
			.takes_turns = true };
		c->statistics.sent_bytes += f[k].bytes;
	}
	c->statistics.nexchange++;
	code = run_flows(group_of(c), f, npart, e);
	free(f);
	return code;
}

static struct flow whole(unsigned peer, const void *data, size_t bytes, bool sends)
{
	return (struct flow){ .part = { peer, (void *)data, bytes, bytes > 0, bytes },
		.bytes = bytes,
		.sends = sends,
		.receives = !sends };
}

static int group_gather(struct comm *c, const void *mine, size_t bytes, void *all, struct err *e)
{
	struct flow f[2 * GROUP_RANKS_MAX];
	unsigned n = 0;

	memmove((char *)all + c->rank * bytes, mine, bytes);
	for (unsigned r = 0; r < c->size; r++)
		if (r != c->rank) {
			f[n++] = whole(r, (char *)all + c->rank * bytes, bytes, true);
			f[n++] = whole(r, (char *)all + r * bytes, bytes, false);
		}
	return run_flows(group_of(c), f, n, e);
}

static int group_broadcast(struct comm *c, unsigned root, void *data, size_t bytes, struct err *e)
{
	struct flow f[GROUP_RANKS_MAX];
	unsigned n = 0;

	if (c->rank != root)
		f[n++] = whole(root, data, bytes, false);
	for (unsigned r = 0; c->rank == root && r < c->size; r++)
		if (r != root)
			f[n++] = whole(r, data, bytes, true);
	return run_flows(group_of(c), f, n, e);
}

static int group_wait(struct comm *comm, unsigned root, struct err *e)
{
	struct group *c = group_of(comm);
	struct flow f = whole(root, NULL, 1, false);
	size_t n;
	bool looked_again = false;

	for (;;) {
		int code;

		c->transport->look(c->state);
		if (c->transport->chunk(c->state, root, &n))
			return 0;
		code = check_alive(c, &f, 1, false, e);
		if (code && looked_again)
			return code;
		looked_again = code;
		c->transport->wait(c->state, WAIT_MS);
	}
}

static void group_abort(struct comm *c, const char *reason)
{
	group_of(c)->transport->abort(group_of(c)->state, reason);
}

static void group_close(struct comm *c)
{
	stop_heart(group_of(c));
	group_of(c)->transport->free(group_of(c)->state);
	free(c);
}

static const struct comm_ops group_ops = {
	.exchange = group_exchange,
	.gather = group_gather,
	.broadcast = group_broadcast,
	.wait = group_wait,
	.abort = group_abort,
	.close = group_close,
};
