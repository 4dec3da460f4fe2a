/* SPDX-License-Identifier: Apache-2.0
 * A rank that follows: it does what the leader's commands say with its part. */
#include "runtime/exec/statevector/split/split_group.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/comm.h"
#include "runtime/base/numerical_version.h"
#include "runtime/base/profile/recorder.h"
#include "runtime/base/system/cpus.h"
#include "runtime/exec/statevector/split/split_commands.h"
#include "runtime/exec/statevector/split/split_profile.h"
#include "runtime/exec/statevector/state_memory.h"

/* The states of one evaluator of the leader. */
struct followed {
	struct followed *next;
	struct backend_state b;
	struct program *program;
	struct plan *pl;
	uint32_t nstate; /* that there is room for side by side */
	bool two_states;
};

struct follower {
	struct split_rank rank;
	struct split_host host;
	size_t text_max; /* of the profile that is being recorded */
	struct followed *first;
};

static void followed_free(struct followed *f)
{
	if (f->b.state)
		f->b.inner->free(f->b.state);
	plan_free(f->pl);
	if (f->program)
		program_free(f->program);
	free(f);
}

static int check_opening(const struct opening *o, struct err *e)
{
	if (memcmp(o->version, (char[sizeof o->version]){ PACKAGE_VERSION }, sizeof o->version)
		|| o->numerical_version != NUMERICAL_VERSION)
		return err_set(e, -ERR_PROTOCOL,
			"the leader is qcnn %.31s (numbers of version %u), this rank is qcnn %s (%u)",
			o->version, o->numerical_version, PACKAGE_VERSION, NUMERICAL_VERSION);
	return 0;
}

/* Is there memory for states side by side, besides those that are there? */
static int check_reserve(const struct follower *w, const struct followed *f, uint32_t nstate,
	struct err *e)
{
	uint64_t need = split_cache_bytes(f->pl, nstate, w->rank.nrank), taken = 0, have;
	char needed[MEMORY_TEXT_MAX], available[MEMORY_TEXT_MAX];

	if (w->host.memory_limit)
		taken = f->b.inner->bytes(f->pl, w->host.nthread, f->two_states, w->rank.nrank);
	have = w->host.memory_limit ? w->host.memory_limit : cpus_memory_available();
	have = have > taken ? have - taken : 0;
	if (need <= have)
		return 0;
	return err_set(e, -ERR_CONFIG,
		"the exact optimisation batch_rank needs %s for parts of %u states side by side, %s available: switch it off "
		"(run.optimizations: none, --optimizations=none)",
		memory_text((double)need, 0, needed), nstate,
		memory_text((double)have, 0, available));
}

static uint64_t memory_available(const struct follower *w, const struct backend *inner,
	uint64_t devices)
{
	if (inner->memory)
		return split_memory(&w->rank, inner->memory(devices), inner->devices(devices));
	return w->host.memory_limit ? w->host.memory_limit : cpus_memory_available();
}

static int check_memory(const struct follower *w, const struct plan *pl, const struct opening *o,
	struct err *e)
{
	const struct backend *inner = pl->target->backend;
	struct memory_need need = { .nqubit = program_nwire(pl->program)
			- (unsigned)__builtin_ctz(w->rank.nrank),
		.nstate = 1 + o->two_states,
		.precision = pl->precision,
		.available = memory_available(w, inner, o->devices) };
	int code = memory_check_states(&need, e);

	return code ? code
		    : memory_check(&need,
			    inner->bytes(pl, w->host.nthread, o->two_states, w->rank.nrank), e);
}

static int check_target(const struct target *t, const struct opening *o, struct err *e)
{
	const char *obstacle = t ? target_obstacle(t) : "this build has no";

	if (!obstacle)
		return 0;
	if (t && !target_of(o->device, 1)) /* the only one of its device */
		return err_set(e, -ERR_CONFIG,
			"the device %s cannot be used here: %s; all ranks of a state compute on the same device",
			o->device, obstacle);
	return err_set(e, -ERR_CONFIG, "%s %s: all ranks of a state need the same kernels",
		obstacle, o->kernels);
}

static int open_followed(struct follower *w, struct followed *f, const char *body, size_t nbody,
	struct err *e)
{
	struct opening o;

	if (nbody < sizeof o)
		return err_set(e, -ERR_PROTOCOL, "the leader's message is cut short");
	memcpy(&o, body, sizeof o);
	int code = check_opening(&o, e);
	if (code)
		return code;
	if (o.program_bytes != nbody - sizeof o)
		return err_set(e, -ERR_PROTOCOL, "the leader's message is cut short");
	const struct target *t = target_find(o.device, o.kernels);
	if (o.plan.split > SPLIT_RANKS_MAX)
		return err_set(e, -ERR_PROTOCOL, "the leader splits states over %u ranks",
			o.plan.split);
	code = check_target(t, &o, e);
	if (code)
		return code;
	code = program_read(body + sizeof o, nbody - sizeof o, &f->program, e);
	if (code)
		return code;
	o.plan.target = t;
	f->pl = plan_new(f->program, &o.plan, e);
	if (!f->pl)
		return -ERR_CONFIG;
	f->two_states = o.two_states;
	f->b.pl = f->pl;
	f->b.inner = t->backend;
	f->b.rank = &w->rank;
	code = check_memory(w, f->pl, &o, e);
	return code ? code
		    : f->b.inner->prepare(f->pl, w->host.nthread, o.devices, o.two_states, &w->rank,
			    &f->b.state, e);
}

static int do_open(struct follower *w, uint32_t handle, const char *body, size_t nbody)
{
	struct followed *f = mem_alloc(1, sizeof *f);
	struct err e = { 0, "" };

	f->b.handle = handle;
	f->next = w->first;
	w->first = f;
	/* Where it fails the leader says so to its user, and closes it. */
	split_join(&f->b, split_agree(&w->rank, open_followed(w, f, body, nbody, &e), &e), &e);
	return 0;
}

/* Matrices and vectors of a sample for circuit c, where they are in the body: in->u, vector and length, with lists in the arena. The bytes
 * that they have there; more than nbody: it is cut short. */
static size_t get_input(const struct plan *pl, uint32_t c, const char *body, size_t nbody,
	struct arena *a, struct unit_input *in)
{
	const struct plan_circuit *pc = &pl->circuit[c];
	const cplx *entry = (const cplx *)body, **u = arena_alloc(a, 1, sizeof *u),
		   **vector = arena_alloc(a, pc->nprepare, sizeof *vector);
	uint32_t *length = arena_alloc(a, pc->nprepare, sizeof *length);
	const cplx *const **vector_of = arena_alloc(a, pl->ncircuit, sizeof *vector_of);
	const uint32_t **length_of = arena_alloc(a, pl->ncircuit, sizeof *length_of);
	size_t n = pl->nmatrix_entry;

	*u = entry;
	for (uint32_t v = 0; v < pc->nprepare; n += length[v++]) {
		length[v] = apply_nentry(pc->prepare[v]);
		vector[v] = n * sizeof *entry <= nbody ? entry + n : NULL;
	}
	/* Those of circuit c alone are looked at. */
	vector_of[c] = vector;
	length_of[c] = length;
	in->u = u;
	in->vector = vector_of;
	in->length = length_of;
	return n * sizeof *entry;
}

/* As a unit of one sample. */
struct one_unit {
	struct followed *f;
	const struct head *h;
	struct unit_input in;
	const char *behind; /* the input: gradients with respect to readouts, or factors of a mixture */
	double *readout, *shared, *sample;
};

static void claim_nothing(void *ctx, unsigned worker) { (void)ctx, (void)worker; }

static void do_unit(void *ctx, unsigned worker)
{
	struct one_unit *x = ctx;
	struct backend_state *b = &x->f->b;
	const struct head *h = x->h;

	if (h->command == COMMAND_FORWARD)
		b->inner->forward(b->state, worker, h->circuit, &x->in, h->keep, x->readout);
	else if (h->command == COMMAND_MIXED)
		b->inner->state_cache->backward(b->state, worker, h->circuit, &x->in, h->unit,
			h->nstate, (const cplx *)x->behind, x->shared, &x->sample);
	else
		b->inner->backward(b->state, worker, h->circuit, &x->in, (const double *)x->behind,
			x->shared, &x->sample);
}

static int do_pass(struct follower *w, struct followed *f, const struct head *h, const char *body,
	size_t nbody, struct err *e)
{
	struct one_unit x = { .f = f, .h = h, .in = { .nsample = 1, .count = 1, .whole = h->whole } };
	arena_auto a = { 0 };
	size_t n;

	if (!f->b.state || h->circuit >= f->pl->ncircuit
		|| (h->command == COMMAND_MIXED && (h->nstate > f->nstate || h->unit >= h->nstate)))
		return err_set(e, -ERR_PROTOCOL, "the leader asks for states that are not there");
	const struct plan_circuit *pc = &f->pl->circuit[h->circuit];
	n = get_input(f->pl, h->circuit, body, nbody, &a, &x.in);
	if (nbody < n)
		return err_set(e, -ERR_PROTOCOL, "the leader's message is cut short");
	x.behind = body + n;
	nbody -= n;
	n = h->command == COMMAND_BACKWARD    ? pc->nreadout * sizeof *x.readout
		: h->command == COMMAND_MIXED ? split_factors(pc, h->nstate) * sizeof(cplx)
					      : 0;
	if (nbody != n)
		return err_set(e, -ERR_PROTOCOL,
			"the leader's message has %zu bytes instead of %zu", nbody, n);
	w->rank.pass = h->command == COMMAND_FORWARD ? PHASE_FORWARD : PHASE_BACKWARD;
	x.readout = arena_alloc(&a, pc->nreadout, sizeof *x.readout);
	x.shared = arena_alloc(&a, f->pl->nmatrix_entry, sizeof *x.shared);
	x.sample = arena_alloc(&a, f->pl->nmatrix_entry, sizeof *x.sample);
	f->b.inner->run(f->b.state, &(struct unit_job){ &x, 1, 0, claim_nothing, do_unit });
	if (!w->rank.code && f->b.inner->failure)
		return f->b.inner->failure(f->b.state, e);
	return 0;
}

static int do_reserve(struct follower *w, struct followed *f, uint32_t nstate)
{
	struct err e = { 0, "" };
	int code = f->b.state
		? check_reserve(w, f, nstate, &e)
		: err_set(&e, -ERR_PROTOCOL, "the leader asks for states that are not there");

	if (!code)
		code = f->b.inner->state_cache->reserve(f->b.state, nstate, &e);
	f->nstate = code ? 0 : nstate;
	split_agree(&w->rank, code, &e);
	return w->rank.code;
}

/* KEEP, and OVERLAPS, of which the leader alone needs the result. */
static int do_cached(struct followed *f, const struct head *h, struct err *e)
{
	const struct state_cache_ops *cache = f->b.inner->state_cache;

	if (h->circuit >= f->pl->ncircuit || h->unit >= f->nstate || h->nstate > f->nstate)
		return err_set(e, -ERR_PROTOCOL, "the leader asks for states that are not there");
	if (h->command == COMMAND_KEEP) {
		cache->keep(f->b.state, 0, h->circuit, h->unit);
		return 0;
	}
	mem_auto cplx *m =
		mem_alloc(split_factors(&f->pl->circuit[h->circuit], h->nstate), sizeof *m);
	return cache->overlaps(f->b.state, h->circuit, h->nstate, m, e);
}

static int do_amplitudes(struct followed *f, const struct head *h, const char *body, size_t nbody,
	struct err *e)
{
	uint64_t n;

	if (!f->b.state || h->circuit >= f->pl->ncircuit || nbody != sizeof n)
		return err_set(e, -ERR_PROTOCOL, "the leader asks for states that are not there");
	memcpy(&n, body, sizeof n);
	if (n > SLICE)
		return err_set(e, -ERR_PROTOCOL, "the leader asks for too many amplitudes");
	mem_auto cplx *out = mem_alloc(n, sizeof *out);
	split_collect(&f->b, h->circuit, h->first, n, out);
	return 0;
}

static void do_close(struct follower *w, uint32_t handle)
{
	for (struct followed **at = &w->first; *at; at = &(*at)->next)
		if ((*at)->b.handle == handle) {
			struct followed *f = *at;

			*at = f->next;
			followed_free(f);
			return;
		}
}

static int do_record(struct follower *w, const char *body, size_t nbody, struct err *e)
{
	struct split_recording o;

	if (nbody != sizeof o)
		return err_set(e, -ERR_PROTOCOL, "the leader's message is cut short");
	memcpy(&o, body, sizeof o);
	w->text_max = o.text_max;
	split_compare_clocks(&w->rank);
	recorder_start(o.level, o.bytes_max);
	return 0;
}

static int obey(struct follower *w, const struct head *h, const char *body, struct err *e)
{
	struct followed *f = w->first;

	if (h->command == COMMAND_OPEN)
		return do_open(w, h->handle, body, h->nbody);
	if (h->command == COMMAND_RECORD)
		return do_record(w, body, h->nbody, e);
	if (h->command == COMMAND_RECORDED) {
		split_give_profile(&w->rank, w->text_max);
		return 0;
	}
	while (f && f->b.handle != h->handle)
		f = f->next;
	if (!f)
		return err_set(e, -ERR_PROTOCOL, "the leader asks for states that are not there");
	switch (h->command) {
	case COMMAND_MATRICES:
		if (!f->b.state || h->nbody != f->pl->nmatrix_entry * sizeof(cplx))
			return err_set(e, -ERR_PROTOCOL,
				"the leader's matrices are not those of the plan");
		f->b.inner->matrices(f->b.state, (const cplx *)body);
		return 0;
	case COMMAND_FORWARD:
	case COMMAND_BACKWARD:
	case COMMAND_MIXED: return do_pass(w, f, h, body, h->nbody, e);
	case COMMAND_RESERVE: return do_reserve(w, f, h->nstate);
	case COMMAND_KEEP:
	case COMMAND_OVERLAPS: return do_cached(f, h, e);
	case COMMAND_AMPLITUDES: return do_amplitudes(f, h, body, h->nbody, e);
	case COMMAND_CLOSE: do_close(w, h->handle); return 0;
	default:
		return err_set(e, -ERR_PROTOCOL, "the leader sends the unknown command %u",
			h->command);
	}
}

/* What the time of a command is of. */
static enum profile_phase phase_of(uint32_t command)
{
	return command == COMMAND_MATRICES      ? PHASE_MATRICES
		: command == COMMAND_FORWARD    ? PHASE_FORWARD
		: command == COMMAND_BACKWARD   ? PHASE_BACKWARD
		: command == COMMAND_MIXED      ? PHASE_BACKWARD
		: command == COMMAND_KEEP       ? PHASE_FORWARD
		: command == COMMAND_OVERLAPS   ? PHASE_COMBINE
		: command == COMMAND_AMPLITUDES ? PHASE_FORWARD
						: PHASE_NONE;
}

int split_follow(struct comm *c, const struct split_host *host, struct err *e)
{
	struct follower w = { .rank = { .rank = c->rank,
				      .nrank = c->size,
				      .comm = c,
				      .local = host->local,
				      .share = host->share },
		.host = *host };
	struct head h = { 0 };
	int code = 0;

	pthread_mutex_init(&w.rank.turn, NULL);
	while (!code) {
		char *body = NULL;

		code = comm_wait(c, 0, e);
		recorder_mark(PHASE_WAIT);
		code = code ? code : comm_broadcast(c, 0, &h, sizeof h, e);
		if (code || h.command == COMMAND_END)
			break;
		if (h.nbody > BODY_MAX || !(body = mem_try(h.nbody + 1, 1)))
			code = err_set(e, -ERR_CONFIG, "no memory for a message of %llu bytes",
				(unsigned long long)h.nbody);
		if (!code && h.nbody)
			code = comm_broadcast(c, 0, body, h.nbody, e);
		recorder_mark(PHASE_RECEIVE);
		if (!code)
			code = obey(&w, &h, body, e);
		recorder_mark(phase_of(h.command));
		free(body);
		if (!code && w.rank.code)
			code = err_set(e, w.rank.code, "%s", w.rank.error.text);
	}
	while (w.first)
		do_close(&w, w.first->b.handle);
	if (code)
		comm_abort(c, e->text);
	pthread_mutex_destroy(&w.rank.turn);
	return code;
}
