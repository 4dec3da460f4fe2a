/* SPDX-License-Identifier: Apache-2.0
 * Calls above the transports: parts cut into chunks, digests, deadlines, and errors that end the group. */
#include "runtime/net/comm/group.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/crypto/crypto_session.h"
#include "runtime/base/system/clock.h"
#include "runtime/net/comm/group_liveness.h"
#include "runtime/net/comm/strided.h"
#include "runtime/net/comm/transport.h"

enum { WAIT_MS = 50 };

enum call_kind { CALL_NONE = 0, CALL_EXCHANGE, CALL_GATHER, CALL_BROADCAST, CALL_KINDS };
static const char *const call_name[CALL_KINDS] = { "no call", "exchange", "gather", "broadcast" };

static const struct group_transport *const transports[] = { &transport_shm, &transport_tcp,
	&transport_mpi };
enum { NTRANSPORT = sizeof transports / sizeof *transports };
const char *const group_transports[] = { "shm", "tcp", NULL };

static const struct comm_ops group_ops;

struct group {
	struct comm comm;
	const struct group_transport *transport;
	void *t;
	bool digests;
	struct group_liveness live;
	size_t nbyte_chunk;
	uint64_t call;        /* number of the present, or last */
	pthread_mutex_t lock; /* held in a call, and to abort */
	struct err failed;    /* code 0: not yet */
	/* Of any thread. */
	atomic_int asked; /* to abort: ASKED_ */
	char reason[GROUP_REASON_MAX];
};
enum { ASKED_NOT = 0, ASKED_BEING_WRITTEN, ASKED };

/* comm is the first member. */
static struct group *group_of(struct comm *c) { return (struct group *)c; }

/* ---- opening and closing ---- */

static const struct group_transport *find_transport(const char *name)
{
	for (unsigned i = 0; i < NTRANSPORT; i++)
		if (!strcmp(transports[i]->name, name))
			return transports[i];
	return NULL;
}

int group_offer(const char *transport, const struct group_options *o, struct group_offer **out,
	char address[GROUP_ADDRESS_MAX], struct err *e)
{
	const struct group_transport *row = find_transport(transport);

	if (!row)
		return err_set(e, -ERR_CONFIG,
			"ranks do not communicate by `%s`; there are shm, tcp and mpi", transport);
	if (!crypto_start())
		return err_set(e, -ERR_CONFIG, "the system has no random numbers");
	struct group_offer *offer = crypto_secret_new(sizeof *offer);
	if (!offer)
		return err_set(e, -ERR_CONFIG, "no memory for a key");
	offer->transport = row;
	offer->options = *o;
	offer->listener = -1;
	if (!offer->options.deadline_ms)
		offer->options.deadline_ms = GROUP_DEADLINE_MS;
	if (!offer->options.buffer_bytes)
		offer->options.buffer_bytes = GROUP_BUFFER_BYTES;
	int code = row->offer(offer, address, e);
	if (code) {
		group_offer_free(offer);
		return code;
	}
	offer->options.bind = NULL;
	*out = offer;
	return 0;
}

void group_offer_free(struct group_offer *offer)
{
	if (offer)
		fd_close(offer->listener);
	crypto_secret_free(offer, sizeof *offer);
}

/* The chunks in flight with all others fit the buffers, but for the least size of a chunk. */
static size_t chunk_bytes(const struct group_transport *t, size_t buffer_bytes, unsigned size)
{
	size_t share = size > 1 ? buffer_bytes / (CHUNKS_IN_FLIGHT * (size - 1)) : buffer_bytes;
	size_t n = share < t->nbyte_chunk ? share : t->nbyte_chunk;

	return n < CHUNK_BYTES_MIN ? CHUNK_BYTES_MIN : n / CHUNK_BYTES_MIN * CHUNK_BYTES_MIN;
}

int group_open(struct group_offer *offer, unsigned rank, unsigned size, const char *const *address,
	struct comm **out, struct err *e)
{
	struct group_opening g = { .offer = offer, .rank = rank, .size = size, .address = address };
	const struct group_transport *transport = offer->transport;
	const unsigned deadline_ms = offer->options.deadline_ms;

	if (size > GROUP_RANKS_MAX || rank >= size) {
		group_offer_free(offer);
		return err_set(e, -ERR_CONFIG,
			"a group has 1 to %d ranks: rank %u of %u is none of one", GROUP_RANKS_MAX,
			rank, size);
	}
	g.nbyte_chunk = chunk_bytes(transport, offer->options.buffer_bytes, size);
	g.until = clock_seconds() + deadline_ms / 1e3;
	struct group *c = mem_alloc(1, sizeof *c);
	*c = (struct group){ .comm = { .ops = &group_ops,
				     .rank = rank,
				     .size = size,
				     .checks = !offer->options.no_digest,
				     .deadline_s = deadline_ms / 1e3 },
		.transport = transport,
		.nbyte_chunk = g.nbyte_chunk,
		.digests = !offer->options.no_digest && !transport->seals };
	int code = transport->open(&g, &c->t, e);
	group_offer_free(offer);
	if (!code) {
		code = group_liveness_start(&c->live, transport, c->t, size, deadline_ms, e);
		if (code) {
			transport->abort(c->t, rank, e->text);
			transport->close(c->t);
		}
	}
	if (code) {
		free(c);
		return code;
	}
	pthread_mutex_init(&c->lock, NULL);
	*out = &c->comm;
	return 0;
}

static void group_close(struct comm *comm)
{
	struct group *c = group_of(comm);

	group_liveness_stop(&c->live);
	c->transport->close(c->t);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

int group_opening_late(const struct group_opening *g, unsigned rank, unsigned nrefused, struct err *e)
{
	char refused[80] = "";

	if (nrefused)
		snprintf(refused, sizeof refused,
			"; %u connections without the group's key were refused", nrefused);
	return err_set(e, -ERR_UNREACHABLE, "rank %u has not joined the group within %.1f s%s",
		rank, g->offer->options.deadline_ms / 1e3, refused);
}

/* ---- giving up ---- */

/* Whether another thread asks for that. */
static bool is_asked(struct group *c, struct group_fault *fault)
{
	if (atomic_load(&c->asked) != ASKED)
		return false;
	*fault = (struct group_fault){ .code = -ERR_UNREACHABLE, .rank = c->comm.rank, .aborted = true };
	memcpy(fault->text, c->reason, sizeof fault->text);
	return true;
}

/* A thread in a call looks at `asked` when it waits, and here when it has let go of the lock. */
static void answer(struct group *c)
{
	if (atomic_load(&c->asked) != ASKED || pthread_mutex_trylock(&c->lock))
		return;
	if (!c->failed.code) {
		c->transport->abort(c->t, c->comm.rank, c->reason);
		err_set(&c->failed, -ERR_UNREACHABLE, "rank %u has given up: %s", c->comm.rank,
			c->reason);
	}
	pthread_mutex_unlock(&c->lock);
}

static void group_abort(struct comm *comm, const char *reason)
{
	struct group *c = group_of(comm);
	int not_yet = ASKED_NOT;

	if (!atomic_compare_exchange_strong(&c->asked, &not_yet, ASKED_BEING_WRITTEN))
		return;
	snprintf(c->reason, sizeof c->reason, "%s", reason);
	atomic_store(&c->asked, ASKED);
	answer(c);
}

/* ---- a call ---- */

/* How far the bytes of one direction between this rank and another are: they are those of its parts, one after another. */
struct way {
	unsigned part; /* npart: all done */
	size_t at;     /* next byte of the part */
	uint64_t done, total;
};
struct call {
	struct group *c;
	enum call_kind kind;
	const struct strided *part;
	unsigned npart;
	const struct comm_work *work;
	struct way out[GROUP_RANKS_MAX], in[GROUP_RANKS_MAX];
};

static size_t part_bytes(const struct strided *p) { return p->run_bytes * p->nrun; }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* The first part from w->part on that has bytes of that direction and rank. */
static void find_part(const struct call *k, struct way *w, unsigned rank, bool out)
{
	for (; w->part < k->npart; w->part++) {
		const struct strided *p = &k->part[w->part];

		if (p->peer == rank && (out ? p->send != NULL : p->receive != NULL) && part_bytes(p))
			return;
	}
}

static void step(const struct call *k, struct way *w, unsigned rank, bool out, size_t n)
{
	w->at += n;
	w->done += n;
	if (w->at == part_bytes(&k->part[w->part])) {
		w->part++;
		w->at = 0;
		find_part(k, w, rank, out);
	}
}

static void begin_ways(struct call *k)
{
	for (unsigned i = 0; i < k->npart; i++) {
		const struct strided *p = &k->part[i];

		assert(p->peer < k->c->comm.size && p->peer != k->c->comm.rank);
		assert(!p->nrun || p->run_bytes <= SIZE_MAX / p->nrun);
		assert(p->nrun <= 1 || p->stride_bytes >= p->run_bytes);
		k->out[p->peer].total += p->send ? part_bytes(p) : 0;
		k->in[p->peer].total += p->receive ? part_bytes(p) : 0;
	}
	for (unsigned r = 0; r < k->c->comm.size; r++) {
		find_part(k, &k->out[r], r, true);
		find_part(k, &k->in[r], r, false);
	}
}

static bool is_done(const struct way *w) { return w->done == w->total; }

static bool needs(const struct call *k, unsigned r)
{
	return !is_done(&k->in[r]) || !is_done(&k->out[r])
		|| (k->out[r].total && !k->c->transport->flushed(k->c->t, r));
}

/* ---- chunks ---- */

/* The first stripe of a digest is the fields of the chunk. */
static void begin_digest(struct digest *d, const struct chunk *fields)
{
	struct chunk f = *fields;

	f.digest = 0;
	digest_begin(d);
	digest_add(d, &f, sizeof f);
}

/* 1: sent one; 0: cannot now; negative: the work function failed. */
static int send_one(struct call *k, unsigned r, struct err *e)
{
	struct group *c = k->c;
	struct way *w = &k->out[r];
	struct chunk *chunk;
	struct digest d;

	if (is_done(w) || !(chunk = c->transport->reserve(c->t, r)))
		return 0;
	const struct strided *p = &k->part[w->part];
	size_t n = least(part_bytes(p) - w->at, c->nbyte_chunk);
	int code = k->work && k->work->before
		? k->work->before(k->work->ctx, w->part, w->at, w->at + n, e)
		: 0;
	if (code)
		return code;
	*chunk = (struct chunk){ .call = c->call,
		.nbyte_call = w->total,
		.at = w->done,
		.kind = k->kind,
		.nbyte = (uint32_t)n };
	if (c->digests)
		begin_digest(&d, chunk);
	strided_pack(p, w->at, n, chunk->byte, c->digests ? &d : NULL);
	if (c->digests)
		chunk->digest = digest_end(&d);
	c->transport->send(c->t, r);
	step(k, w, r, true, n);
	return 1;
}

/* Memory that both directions share is filled when its own bytes are gone. */
static bool may_fill(const struct call *k, unsigned r, size_t n)
{
	const struct way *in = &k->in[r], *out = &k->out[r];
	const struct strided *p = &k->part[in->part];

	if (p->send != p->receive || out->part > in->part)
		return true;
	return out->part == in->part && out->at >= in->at + n;
}

static int damaged(unsigned r, struct err *e)
{
	return err_set(e, -ERR_IO, "bytes from rank %u are not those that it sent", r);
}

static bool has_right_digest(const struct group *c, const struct chunk *f, const uint8_t *byte)
{
	struct digest d;

	if (!c->digests)
		return true;
	begin_digest(&d, f);
	digest_add(&d, byte, f->nbyte);
	return digest_end(&d) == f->digest;
}

/* The chunk is not what comes next: was it damaged, or does the other rank make another call? */
static int unexpected(const struct call *k, unsigned r, const struct chunk *f, const uint8_t *byte,
	struct err *e)
{
	if (f->kind >= CALL_KINDS || !has_right_digest(k->c, f, byte))
		return damaged(r, e);
	return err_set(e, -ERR_PROTOCOL,
		"rank %u sends bytes %llu to %llu of %llu of its call %llu (%s); expected are those from %llu of %llu",
		r, (unsigned long long)f->at, (unsigned long long)f->at + f->nbyte,
		(unsigned long long)f->nbyte_call, (unsigned long long)f->call, call_name[f->kind],
		(unsigned long long)k->in[r].done, (unsigned long long)k->in[r].total);
}

/* 1: received one; 0: cannot now; negative: it is not what was expected, or the work function failed. */
static int receive_one(struct call *k, unsigned r, struct err *e)
{
	struct group *c = k->c;
	struct way *w = &k->in[r];
	const unsigned part = w->part;
	const size_t at = w->at;
	const struct chunk *chunk;
	struct digest d;

	if (is_done(w) || !(chunk = c->transport->next(c->t, r)))
		return 0;
	const struct strided *p = &k->part[part];
	struct chunk f = *chunk;
	size_t n = least(part_bytes(p) - at, c->nbyte_chunk);
	if (f.nbyte > c->nbyte_chunk)
		return damaged(r, e);
	if (f.call != c->call || f.kind != k->kind || f.nbyte_call != w->total || f.at != w->done
		|| f.nbyte != n)
		return unexpected(k, r, &f, chunk->byte, e);
	if (!may_fill(k, r, n))
		return 0;
	if (c->digests)
		begin_digest(&d, &f);
	strided_unpack(p, at, n, chunk->byte, c->digests ? &d : NULL);
	if (c->digests && digest_end(&d) != f.digest)
		return damaged(r, e);
	c->transport->release(c->t, r);
	step(k, w, r, false, n);
	int code = k->work && k->work->arrived ? k->work->arrived(k->work->ctx, part, at, at + n, e)
					       : 0;
	return code ? code : 1;
}

/* ---- waiting ---- */

/* Puts down what is left to do with a rank. */
static void say_left(const struct call *k, unsigned r, char *text, size_t size)
{
	const struct way *in = &k->in[r], *out = &k->out[r];

	if (!is_done(in))
		snprintf(text, size, "%llu of %llu bytes have come from it",
			(unsigned long long)in->done, (unsigned long long)in->total);
	else
		snprintf(text, size, "%llu of %llu bytes for it are on their way",
			(unsigned long long)out->done, (unsigned long long)out->total);
}

/* Has a rank that is waited for not run for the whole deadline? k: in that call; NULL: between two. */
static int find_stopped(struct group *c, const struct call *k, const bool *needed, double now,
	struct err *e)
{
	struct group_liveness *l = &c->live;
	char left[128] = "no call has come from it";

	group_liveness_look(l, now);
	for (unsigned r = 0; r < c->comm.size; r++)
		if (needed[r] && now - l->seen[r] > c->comm.deadline_s) {
			if (k)
				say_left(k, r, left, sizeof left);
			return err_set(e, -ERR_UNREACHABLE,
				"rank %u has not run for %.1f s: its process is stopped, or its host; %s",
				r, now - l->seen[r], left);
		}
	return 0;
}

static int faulty(const struct call *k, const struct group_fault *f, struct err *e)
{
	char left[128];

	if (f->code == -ERR_IO)
		return damaged(f->rank, e);
	say_left(k, f->rank, left, sizeof left);
	return err_set(e, f->code, "rank %u %s; %s", f->rank, f->text, left);
}

/* An abort is passed on: not all may be reached by the rank that it comes from. */
static int aborted(struct group *c, const struct group_fault *f, struct err *e)
{
	c->transport->abort(c->t, f->rank, f->text);
	return err_set(e, f->code, "rank %u has given up: %s", f->rank, f->text);
}

/* Nothing moves. */
static int wait_for_any(struct call *k, struct group_fault *fault, struct err *e)
{
	struct group *c = k->c;
	bool needed[GROUP_RANKS_MAX];
	double before = clock_seconds();

	for (unsigned r = 0; r < c->comm.size; r++)
		needed[r] = needs(k, r);
	if (is_asked(c, fault))
		return fault->code;
	int code = find_stopped(c, k, needed, before, e);
	if (code)
		return code;
	c->transport->wait(c->t, needed, WAIT_MS, fault);
	c->comm.statistics.wait_seconds += clock_seconds() - before;
	return fault->code && !fault->aborted ? faulty(k, fault, e) : fault->code;
}

/* One turn over all ranks, this rank's successor first, so that not all begin with the same. */
static int move_some(struct call *k, struct err *e)
{
	struct group *c = k->c;
	int moved = 0, code = 0;

	for (unsigned i = 1; i < c->comm.size && code >= 0; i++) {
		unsigned r = (c->comm.rank + i) % c->comm.size;

		code = send_one(k, r, e);
		moved |= code > 0;
		if (code >= 0)
			code = receive_one(k, r, e);
		moved |= code > 0;
	}
	return code < 0 ? code : moved;
}

static bool all_done(const struct call *k)
{
	for (unsigned r = 0; r < k->c->comm.size; r++)
		if (needs(k, r))
			return false;
	return true;
}

static int run_call(struct call *k, struct group_fault *fault, struct err *e)
{
	static const bool none[GROUP_RANKS_MAX];

	k->c->transport->wait(k->c->t, none, 0, fault);
	int code = fault->code;
	while (!code && !all_done(k)) {
		code = move_some(k, e);
		if (code > 0)
			code = 0;
		else if (!code && !all_done(k))
			code = wait_for_any(k, fault, e);
	}
	return code;
}

/* The first error is that of all later calls. */
static int failed_by(struct group *c, const char *what, const struct group_fault *fault, int code,
	const struct err *why, struct err *e)
{
	if (fault->aborted) {
		aborted(c, fault, &c->failed);
	} else {
		err_set(&c->failed, code, "%s %llu: %s", what, (unsigned long long)c->call, why->text);
		c->transport->abort(c->t, c->comm.rank, c->failed.text);
	}
	return err_set(e, c->failed.code, "%s", c->failed.text);
}

static int has_failed(const struct group *c, struct err *e)
{
	return c->failed.code ? err_set(e, c->failed.code, "%s", c->failed.text) : 0;
}

static int run(struct group *c, enum call_kind kind, const struct strided *part, unsigned npart,
	const struct comm_work *work, struct err *e)
{
	struct call k = { .c = c, .kind = kind, .part = part, .npart = npart, .work = work };
	struct group_fault fault = { 0 };
	struct err why = { 0 };

	pthread_mutex_lock(&c->lock);
	int code = has_failed(c, e);
	if (!code) {
		c->call++;
		begin_ways(&k);
		code = run_call(&k, &fault, &why);
		if (code)
			code = failed_by(c, call_name[kind], &fault, code, &why, e);
	}
	pthread_mutex_unlock(&c->lock);
	answer(c);
	return code;
}

/* ---- the calls ---- */

static int group_exchange(struct comm *comm, const struct comm_part *part, unsigned npart,
	const struct comm_work *work, struct err *e)
{
	mem_auto struct strided *p = mem_alloc(npart + (size_t)1, sizeof *p);

	for (unsigned k = 0; k < npart; k++) {
		p[k] = (struct strided){ .peer = part[k].peer,
			.send = part[k].data,
			.receive = part[k].data,
			.run_bytes = part[k].run_bytes,
			.nrun = part[k].nrun,
			.stride_bytes = part[k].stride_bytes };
		comm->statistics.sent_bytes += part_bytes(&p[k]);
	}
	comm->statistics.nexchange++;
	return run(group_of(comm), CALL_EXCHANGE, p, npart, work, e);
}

static int group_gather(struct comm *comm, const void *mine, size_t bytes, void *all, struct err *e)
{
	struct strided part[GROUP_RANKS_MAX];
	char *own = (char *)all + comm->rank * bytes;
	unsigned n = 0;

	memmove(own, mine, bytes);
	for (unsigned r = 0; r < comm->size; r++)
		if (r != comm->rank)
			part[n++] = (struct strided){ .peer = r,
				.send = own,
				.receive = (char *)all + r * bytes,
				.run_bytes = bytes,
				.nrun = 1 };
	return run(group_of(comm), CALL_GATHER, part, n, NULL, e);
}

static int group_broadcast(struct comm *comm, unsigned root, void *data, size_t bytes, struct err *e)
{
	struct strided part[GROUP_RANKS_MAX];
	unsigned n = 0;

	assert(root < comm->size);
	for (unsigned r = 0; r < comm->size; r++)
		if (r != comm->rank && (r == root || comm->rank == root))
			part[n++] = (struct strided){ .peer = r,
				.send = comm->rank == root ? data : NULL,
				.receive = comm->rank == root ? NULL : data,
				.run_bytes = bytes,
				.nrun = 1 };
	return run(group_of(comm), CALL_BROADCAST, part, n, NULL, e);
}

/* Between two calls: has one of these ranks failed? Looks once. */
static int look(struct group *c, const bool *needed, unsigned ms, struct err *e)
{
	struct group_fault fault = { 0 };
	struct err why = { 0 };
	int code = find_stopped(c, NULL, needed, clock_seconds(), &why);

	if (!code && !is_asked(c, &fault))
		c->transport->wait(c->t, needed, ms, &fault);
	if (!code && fault.code)
		code = err_set(&why, fault.code, "rank %u %s", fault.rank, fault.text);
	return code ? failed_by(c, "wait after call", &fault, code, &why, e) : 0;
}

/* Nothing is taken: the next call finds it. */
static int group_wait(struct comm *comm, unsigned root, struct err *e)
{
	struct group *c = group_of(comm);
	bool needed[GROUP_RANKS_MAX] = { false };

	assert(root < comm->size && root != comm->rank);
	needed[root] = true;
	pthread_mutex_lock(&c->lock);
	int code = has_failed(c, e);
	while (!code && !c->transport->next(c->t, root))
		code = look(c, needed, WAIT_MS, e);
	pthread_mutex_unlock(&c->lock);
	answer(c);
	return code;
}

static int group_look(struct comm *comm, unsigned ms, struct err *e)
{
	struct group *c = group_of(comm);
	bool needed[GROUP_RANKS_MAX];

	for (unsigned r = 0; r < comm->size; r++)
		needed[r] = r != comm->rank;
	pthread_mutex_lock(&c->lock);
	int code = has_failed(c, e);
	if (!code)
		code = look(c, needed, ms, e);
	pthread_mutex_unlock(&c->lock);
	answer(c);
	return code;
}

static const struct comm_ops group_ops = {
	.exchange = group_exchange,
	.gather = group_gather,
	.broadcast = group_broadcast,
	.wait = group_wait,
	.look = group_look,
	.abort = group_abort,
	.close = group_close,
};
