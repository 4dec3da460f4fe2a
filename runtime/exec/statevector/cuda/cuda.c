/* SPDX-License-Identifier: Apache-2.0
 * The cuda backend: states on a GPU, one sample at a time. Each worker has a stream of a device, and does units of its own.
 *
 * A stage is one launch where its steps fit (cuda_stage.h), and all work is done on one stream. The host waits for a unit once: losses
 * are computed by a function of the host between the two passes, and from the second unit of a size on all is one CUDA graph. Where
 * several devices share a unit, or a profile is recorded without CUPTI, the host waits for each pass. */
#include "config.h"
#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <omp.h>
#include <stdlib.h>

#include "runtime/exec/statevector/plan/plan_stage.h"

/* The lanes of a vector of 64 bytes are the amplitudes of a line of memory of 128; a block is a tile. */
static const struct target target_cuda = { .device = "cuda",
	.kernels = "cuda",
	.version = 1,
	.capabilities = TARGET_SINGLE | TARGET_STAGES | TARGET_HEISENBERG_TAIL | TARGET_SPLIT
		| TARGET_STATE_CACHE,
	.vector_bytes = 64,
	.block_bytes = 32 << 10,
	.unit_bits = 20,
	.usual_gflop_s = 20000,
	.usual_stream_gb_s = 2000,
	.backend = &backend_cuda };

/* ---- before there are states ---- */

/* Bits of the index of a state that any device can hold. */
enum { BITS_MAX = 36 };

static unsigned bits_max(const struct plan *pl)
{
	unsigned n = BITS_MAX + pl->nrank_bit;

	return n < CUDA_BITS_MAX ? n : CUDA_BITS_MAX;
}

static int cuda_supports(const struct plan *pl, struct err *e)
{
	if (pl->target != &target_cuda || pl->shape == SHAPE_BATCHED)
		return err_set(e, -ERR_CONFIG,
			"the cuda backend executes only plans made for it, without lanes");
	if (program_nwire(pl->program) > bits_max(pl))
		return err_set(e, -ERR_CONFIG,
			"a circuit of %u qubits: the cuda backend supports at most %u%s",
			program_nwire(pl->program), bits_max(pl),
			pl->nrank_bit ? " on as many ranks" : "");
	return 0;
}

static void cuda_count_work(struct plan *pl)
{
	if (program_nwire(pl->program) <= bits_max(pl) && !pl->nrank_bit)
		cuda_work(pl);
}

/* A device that waits for the host in one stream works in the others, where the host has threads for them. Units of more amplitudes
 * take so long that waits do not count. */
static unsigned cuda_streams(const struct plan *pl, unsigned nthread, unsigned ndevice)
{
	unsigned each = nthread / ndevice;

	if (each <= 1)
		return 1;
	return each < cuda_streams_most(pl) ? each : cuda_streams_most(pl);
}

static uint64_t cuda_bytes(const struct plan *pl, unsigned nthread, bool gradient, unsigned nrank)
{
	return cuda_state_bytes(pl, gradient, nrank) * cuda_streams(pl, nthread, 1);
}

static unsigned cuda_devices(uint64_t wanted)
{
	unsigned number[CUDA_DEVICES_MAX], n = cuda_device_list(wanted, number);

	return n ? n : 1; /* prepare says why it cannot be */
}

static uint64_t cuda_memory(uint64_t wanted)
{
	unsigned number[CUDA_DEVICES_MAX], n = cuda_device_list(wanted, number);
	uint64_t least = UINT64_MAX; /* of none: prepare says why there is none */

	for (unsigned k = 0; k < n; k++) {
		uint64_t here = cuda_device_memory(number[k]);

		least = here < least ? here : least;
	}
	return least;
}

static void cuda_free_states(struct backend_state *b)
{
	cuda_state_cache_free(b);
	for (unsigned k = 0; b && k < b->nstream; k++)
		cuda_state_free(b->device[k]);
	free(b);
}

static int cuda_prepare(const struct plan *pl, unsigned nthread, uint64_t devices, bool gradient,
	struct split_rank *split, struct backend_state **out, struct err *e)
{
	unsigned number[CUDA_DEVICES_MAX], n = cuda_device_list(devices, number);
	const char *obstacle = cuda_device_obstacle();
	struct backend_state *b;
	unsigned nstream;
	int code = 0;

	if (obstacle)
		return err_set(e, -ERR_CONFIG, "the device cuda cannot be used: %s", obstacle);
	if (!n)
		return err_set(e, -ERR_CONFIG, "the device cuda:%d cannot be used: %s",
			__builtin_ctzll(devices),
			"there is no GPU of that number that is new enough");
	if (split) { /* the ranks of a host take its devices in turn */
		number[0] = number[split->local % n];
		n = 1;
	}
	nstream = n * cuda_streams(pl, nthread, n);
	b = mem_alloc(1, sizeof *b + nstream * sizeof *b->device);
	b->ndevice = n;
	b->share = 1;
	b->nthread = nthread;
	for (; b->nstream < nstream && !code; b->nstream += !code)
		code = cuda_state_new(pl, number[b->nstream % n], nthread > n ? nthread / n : 1,
			gradient, split, &b->device[b->nstream], e);
	if (code)
		cuda_free_states(b);
	else
		*out = b;
	return code;
}

/* ---- units ---- */

/* The other streams of a device take them when they have a unit (cuda_run). */
static void cuda_matrices(struct backend_state *b, const cplx *u)
{
	for (unsigned k = 0; k < b->ndevice; k++)
		cuda_state_matrices(b->device[k], u);
}

/* Workers of a batch; where there are fewer units than devices, several devices for each unit. A state cache has the states of a unit on
 * one device, and a profile shows what a device does one after the other. */
static unsigned begin_run(struct backend_state *b, uint32_t nunit)
{
	unsigned most = b->cache || recorder_on() ? b->ndevice : b->nstream,
		 n = most < nunit ? most : nunit + !nunit;

	b->share = b->cache || n > b->ndevice ? 1 : b->ndevice / n;
	for (unsigned k = 0; k < b->nstream; k++) {
		b->device[k]->nthread = b->nthread / (n * b->share);
		/* A stream that has its first unit now may be of a device that has worked in others. */
		b->device[k]->worked |= b->device[k % b->ndevice]->worked;
	}
	return n;
}

/* A thread for each worker that has something to do. */
static void cuda_run(struct backend_state *b, const struct unit_job *job)
{
	unsigned n = b ? begin_run(b, job->nunit) : 1;

	omp_set_dynamic(0);
	omp_set_max_active_levels(3); /* workers, devices of each (cuda_unit.c), threads of these (cuda_samples) */
	if (n == 1) {
		job->claim(job->ctx, 0);
		job->work(job->ctx, 0);
		return;
	}
#pragma omp parallel num_threads((int)n)
	{
		unsigned worker = (unsigned)omp_get_thread_num();

		job->claim(job->ctx, worker);
		if (worker >= b->ndevice)
			cuda_state_matrices(b->device[worker], b->device[0]->u);
#pragma omp barrier
		job->work(job->ctx, worker);
	}
}

static void cuda_samples_of(struct backend_state *b, uint32_t n,
	void (*part)(void *ctx, uint32_t from, uint32_t to), void *ctx)
{
	cuda_samples(b->device[0], n, part, ctx);
}

static int cuda_failure(const struct backend_state *b, struct err *e)
{
	int code = 0;

	for (unsigned k = 0; k < b->nstream && !code; k++)
		code = cuda_state_failure(b->device[k], e);
	return code;
}

static void cuda_join(struct backend_state *b) { cuda_nccl_join(b->device[0]); }

/* ---- the table ---- */

static const char *cuda_obstacle(const struct target *t)
{
	(void)t;
	return cuda_device_obstacle();
}

const struct backend backend_cuda = {
	.target = &target_cuda,
	.ntarget = 1,
	.obstacle = cuda_obstacle,
	.work = cuda_count_work,
	.supports = cuda_supports,
	.bytes = cuda_bytes,
	.devices = cuda_devices,
	.streams = cuda_streams,
	.describe = cuda_device_about,
	.memory = cuda_memory,
	.prepare = cuda_prepare,
	.library = cuda_nccl_about,
	.profiler = cuda_cupti_about,
	.join = cuda_join,
	.matrices = cuda_matrices,
	.run = cuda_run,
	.samples = cuda_samples_of,
	.forward = cuda_unit_forward,
	.backward = cuda_unit_backward,
	.unit = cuda_unit_pass,
	.failure = cuda_failure,
	.amplitudes = cuda_unit_amplitudes,
	.state_cache = &cuda_state_cache_ops,
	.free = cuda_free_states,
};
