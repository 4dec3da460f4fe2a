/* SPDX-License-Identifier: Apache-2.0
 * The leader of a group: a backend that sends each call to the other ranks, and does the same with its own part. */
#include "runtime/exec/statevector/split/split_group.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/comm.h"
#include "runtime/base/numerical_version.h"
#include "runtime/base/system/threads.h"
#include "runtime/exec/statevector/split/split_commands.h"
#include "runtime/exec/statevector/split/split_profile.h"

static int tell(struct split_rank *r, struct head h, const void *body, size_t nbody)
{
	h.nbody = nbody;
	if (!r->code)
		r->code = comm_broadcast(r->comm, 0, &h, sizeof h, &r->error);
	if (!r->code && nbody)
		r->code = comm_broadcast(r->comm, 0, (void *)body, nbody, &r->error);
	return r->code;
}

static int split_failure(const struct backend_state *b, struct err *e)
{
	return b->rank->code
		? err_set(e, -ERR_STOPPED, "the state was lost: %s", b->rank->error.text)
		: 0;
}

static void put_opening(const struct plan *pl, uint64_t devices, bool gradient, struct buf *b)
{
	struct opening o = { .numerical_version = NUMERICAL_VERSION,
		.plan = pl->options,
		.devices = devices,
		.two_states = gradient };
	buf_auto program = BUF_INIT;

	o.plan.target = NULL;
	snprintf(o.version, sizeof o.version, "%s", PACKAGE_VERSION);
	snprintf(o.device, sizeof o.device, "%s", pl->target->device);
	snprintf(o.kernels, sizeof o.kernels, "%s", pl->target->kernels);
	program_write(pl->program, &program);
	o.program_bytes = program.len;
	buf_add(b, &o, sizeof o);
	buf_add(b, program.data, program.len);
}

static int split_prepare(const struct plan *pl, unsigned nthread, uint64_t devices, bool gradient,
	struct split_rank *rank, struct backend_state **out, struct err *e)
{
	const struct backend *inner = pl->target->backend;
	struct buf body = BUF_INIT;
	struct err failed = { 0, "" };

	if (rank->wish == RANK_LINK_NCCL && !inner->join)
		return err_set(e, -ERR_CONFIG,
			"--transport=nccl is for ranks on GPUs: give --device=cuda");
	struct backend_state *b = mem_alloc(1, sizeof *b);
	*b = (struct backend_state){ .rank = rank, .pl = pl, .inner = inner };
	pthread_mutex_lock(&rank->turn);
	b->handle = ++rank->nhandle;
	put_opening(pl, devices, gradient, &body);
	tell(rank, (struct head){ .command = COMMAND_OPEN, .handle = b->handle }, body.data, body.len);
	buf_release(&body);
	int code = rank->code
		? 0
		: b->inner->prepare(pl, nthread, devices, gradient, rank, &b->state, &failed);
	code = split_join(b, split_agree(rank, code, &failed), &failed);
	pthread_mutex_unlock(&rank->turn);
	if (!code) {
		*out = b;
		return 0;
	}
	backend_split.free(b);
	return err_set(e, code, "%s", failed.text);
}

/* The group's turn is b's, and the others do the command. */
static void begin(struct backend_state *b, struct head h, const void *body, size_t nbody)
{
	h.handle = b->handle;
	pthread_mutex_lock(&b->rank->turn);
	tell(b->rank, h, body, nbody);
}

static void end(struct backend_state *b) { pthread_mutex_unlock(&b->rank->turn); }

static void split_matrices(struct backend_state *b, const cplx *u)
{
	begin(b, (struct head){ .command = COMMAND_MATRICES }, u, b->pl->nmatrix_entry * sizeof *u);
	b->inner->matrices(b->state, u);
	end(b);
}

static void split_run(struct backend_state *b, const struct unit_job *job)
{
	b->inner->run(b->state, job);
}

/* A pass over circuit h.circuit: the matrices and vectors of the sample are sent, and what follows them. */
static void begin_pass(struct backend_state *b, struct head h, enum profile_phase phase,
	const struct unit_input *in, const void *behind, size_t nbehind)
{
	buf_auto body = BUF_INIT;

	buf_add(&body, in->u[0], b->pl->nmatrix_entry * sizeof **in->u);
	for (uint32_t v = 0; v < b->pl->circuit[h.circuit].nprepare; v++)
		buf_add(&body, in->vector[h.circuit][v],
			in->length[h.circuit][v] * sizeof ***in->vector);
	buf_add(&body, behind, nbehind);
	h.whole = in->whole;
	begin(b, h, body.data, body.len);
	b->rank->pass = phase;
}

static void split_forward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, bool keep, double *readout)
{
	begin_pass(b, (struct head){ .command = COMMAND_FORWARD, .circuit = c, .keep = keep },
		PHASE_FORWARD, in, NULL, 0);
	b->inner->forward(b->state, worker, c, in, keep, readout);
	end(b);
}

static void split_backward(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, const double *dreadout, double *anti_hermitian_shared,
	double *const *anti_hermitian_sample)
{
	begin_pass(b, (struct head){ .command = COMMAND_BACKWARD, .circuit = c }, PHASE_BACKWARD,
		in, dreadout, b->pl->circuit[c].nreadout * sizeof *dreadout);
	b->inner->backward(b->state, worker, c, in, dreadout, anti_hermitian_shared,
		anti_hermitian_sample);
	end(b);
}

static void split_amplitudes(struct backend_state *b, unsigned worker, uint32_t c, uint32_t s,
	uint64_t first, uint64_t n, cplx *out)
{
	(void)worker, (void)s;
	mutex_auto held = mutex_hold(&b->rank->turn);
	for (uint64_t k = 0; k < n; k += SLICE) {
		uint64_t slice = n - k < SLICE ? n - k : SLICE;

		tell(b->rank,
			(struct head){ .command = COMMAND_AMPLITUDES,
				.handle = b->handle,
				.circuit = c,
				.first = first + k },
			&slice, sizeof slice);
		split_collect(b, c, first + k, slice, out + k);
	}
}

/* ---- states side by side ---- */

static int split_reserve(struct backend_state *b, uint32_t nstate, struct err *e)
{
	struct err failed = { 0, "" };

	begin(b, (struct head){ .command = COMMAND_RESERVE, .nstate = nstate }, NULL, 0);
	int code = b->rank->code ? 0 : b->inner->state_cache->reserve(b->state, nstate, &failed);
	code = split_agree(b->rank, code, &failed);
	end(b);
	if (split_failure(b, e))
		return -ERR_STOPPED;
	return code ? err_set(e, code, "%s", failed.text) : 0;
}

static void split_keep(struct backend_state *b, unsigned worker, uint32_t c, uint32_t unit)
{
	begin(b, (struct head){ .command = COMMAND_KEEP, .circuit = c, .unit = unit }, NULL, 0);
	b->inner->state_cache->keep(b->state, worker, c, unit);
	end(b);
}

static int split_overlaps(struct backend_state *b, uint32_t c, uint32_t nstate, cplx *m, struct err *e)
{
	begin(b, (struct head){ .command = COMMAND_OVERLAPS, .circuit = c, .nstate = nstate }, NULL,
		0);
	int code = b->inner->state_cache->overlaps(b->state, c, nstate, m, e);
	end(b);
	return code ? code : split_failure(b, e);
}

static void split_mixed(struct backend_state *b, unsigned worker, uint32_t c,
	const struct unit_input *in, uint32_t unit, uint32_t nstate, const cplx *a,
	double *anti_hermitian_shared, double *const *anti_hermitian_sample)
{
	begin_pass(b,
		(struct head){ .command = COMMAND_MIXED, .circuit = c, .unit = unit, .nstate = nstate },
		PHASE_BACKWARD, in, a, split_factors(&b->pl->circuit[c], nstate) * sizeof *a);
	b->inner->state_cache->backward(b->state, worker, c, in, unit, nstate, a,
		anti_hermitian_shared, anti_hermitian_sample);
	end(b);
}

static const struct state_cache_ops split_state_cache = {
	.bytes = split_cache_bytes,
	.reserve = split_reserve,
	.keep = split_keep,
	.overlaps = split_overlaps,
	.backward = split_mixed,
};

static const struct plan_seconds *split_passes(const struct backend_state *b, uint32_t c)
{
	return b->inner->passes ? b->inner->passes(b->state, c) : NULL;
}

static void split_free(struct backend_state *b)
{
	if (!b)
		return;
	begin(b, (struct head){ .command = COMMAND_CLOSE }, NULL, 0);
	if (b->state)
		b->inner->free(b->state);
	end(b);
	free(b);
}

void split_record(struct split_rank *r, enum profile_level level, uint64_t bytes_max)
{
	struct split_recording o = { .level = level,
		.bytes_max = bytes_max / r->nrank,
		.text_max = SPLIT_TEXTS_MAX / r->nrank };

	mutex_auto held = mutex_hold(&r->turn);
	free(r->clock);
	r->clock = mem_alloc(r->nrank, sizeof *r->clock);
	tell(r, (struct head){ .command = COMMAND_RECORD }, &o, sizeof o);
	split_compare_clocks(r);
}

void split_recorded(struct split_rank *r, struct profile *into)
{
	mutex_auto held = mutex_hold(&r->turn);
	tell(r, (struct head){ .command = COMMAND_RECORDED }, NULL, 0);
	split_take_profiles(r, into);
	free(r->clock);
	r->clock = NULL;
}

void split_end(struct split_rank *r) { tell(r, (struct head){ .command = COMMAND_END }, NULL, 0); }

const struct backend backend_split = {
	.prepare = split_prepare,
	.matrices = split_matrices,
	.run = split_run,
	.forward = split_forward,
	.backward = split_backward,
	.failure = split_failure,
	.amplitudes = split_amplitudes,
	.passes = split_passes,
	.state_cache = &split_state_cache,
	.free = split_free,
};
