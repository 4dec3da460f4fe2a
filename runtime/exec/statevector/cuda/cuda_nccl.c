/* SPDX-License-Identifier: Apache-2.0
 * Exchanges by NCCL, from the memory of one GPU to that of another.
 *
 * NCCL does not notice each loss of a process: while it works, the group's own communication is looked at, and the group's deadline
 * ends what makes no progress. Then NCCL is aborted, so that the stream comes to an end. */
#include "config.h"
#if QCNN_NCCL_HEADER
#include <nccl.h>
#endif
#include "runtime/exec/statevector/cuda/cuda_nccl.h"

#include "runtime/exec/statevector/cuda/cuda_state.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/comm.h"
#include "runtime/base/system/clock.h"

#ifdef NCCL_MAJOR
#define AGREES(result, name, args) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(name), result args), #name);
NCCL_FUNCTIONS(AGREES)
_Static_assert(ncclSuccess == NCCL_OK && ncclInProgress == NCCL_IN_PROGRESS && ncclInt8 == NCCL_BYTES
		&& sizeof(ncclResult_t) == sizeof(unsigned) && sizeof(ncclUniqueId) == 128,
	"values of NCCL");
_Static_assert(offsetof(ncclConfig_t, magic) == 8 && offsetof(ncclConfig_t, version) == 12
		&& offsetof(ncclConfig_t, blocking) == 16,
	"the configuration of NCCL");
#endif

/* What the states of a device that exchange by NCCL share (split.h). */
struct backend_link {
	nccl_comm comm; /* NULL: it has been aborted */
	unsigned device, nuser;
};

/* ---- the library ---- */

static struct nccl_library lib;

/* Sets lib. The version; 0: too old. */
static unsigned find_functions(void *handle)
{
	bool all = true;
	int version;

#define FIND(result, name, args) \
	{ \
		void *p = dlsym(handle, #name); \
		memcpy(&lib.name, &p, sizeof p); \
		all = all && p; \
	}
	NCCL_FUNCTIONS(FIND)
#undef FIND
	return all && lib.ncclGetVersion(&version) == NCCL_OK && version >= NCCL_VERSION_LEAST
		? (unsigned)version
		: 0;
}

/* NULL: it is loaded. */
static const char *load(int *version)
{
	static int loaded;
	bool old = false;

	if (!loaded)
		loaded = (int)cuda_load(CUDA_NCCL, find_functions, &old);
	*version = loaded;
	return loaded ? NULL
		: old ? "libnccl.so.2 is older than 2.14"
		      : "no libnccl.so.2 can be loaded";
}

static void print_version(int version, char *text, size_t size)
{
	snprintf(text, size, "NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

const char *cuda_nccl_about(void)
{
	static char text[32];
	int version;
	const char *obstacle = load(&version);

	if (!obstacle)
		print_version(version, text, sizeof text);
	return obstacle ? obstacle : text;
}

/* ---- failures ---- */

static void abort_comm(struct backend_link *n)
{
	if (n->comm)
		lib.ncclCommAbort(n->comm);
	n->comm = NULL;
}

static bool is_well(nccl_result r) { return r == NCCL_OK || r == NCCL_IN_PROGRESS; }

/* NULL while it works or has done its work. */
static const char *failure(nccl_comm comm, nccl_result *state)
{
	nccl_result r = lib.ncclCommGetAsyncError(comm, state);

	if (r == NCCL_OK)
		r = *state;
	return is_well(r) ? NULL : lib.ncclGetErrorString(r);
}

static const char deadline_passed[] = "nothing has been transferred for the whole deadline";

enum { NO_MOMENT = UINT_MAX };

/* Waits until NCCL has nothing in progress and, unless NO_MOMENT, the stream has come to that moment; NULL, or why it will never be. A
 * rank that was lost is r->error then, where that comes to be known soon. */
static const char *await(struct cuda_state *b, nccl_comm comm, unsigned moment)
{
	enum {
		SPIN_MS = 50 /* a batch takes less, and the next is asked for at once */,
		NAMED_MS = 1000
	};
	struct split_rank *r = b->split;
	double began = clock_seconds(), passed;
	const char *why = NULL;
	nccl_result state;

	while (!r->code) {
		why = failure(comm, &state);
		if (why
			|| (state != NCCL_IN_PROGRESS
				&& (moment == NO_MOMENT || cuda_moment_passed(b->stream, moment))))
			break;
		passed = clock_seconds() - began;
		if (passed > r->comm->deadline_s)
			why = deadline_passed;
		if (why)
			break;
		if (passed > SPIN_MS * 1e-3)
			r->code = comm_look(r->comm, 1, &r->error);
		else
			sched_yield();
	}
	for (unsigned ms = 0; why && ms < NAMED_MS && !r->code; ms++)
		r->code = comm_look(r->comm, 1, &r->error);
	return r->code ? r->error.text : why;
}

/* What arrives is put `behind` bytes behind what is sent. NULL: the stream has been asked for it. */
static const char *ask(nccl_comm comm, nccl_stream stream, const struct comm_part *part,
	unsigned npart, size_t behind)
{
	nccl_result result = lib.ncclGroupStart(), ended;

	if (!is_well(result))
		return lib.ncclGetErrorString(result);
	for (unsigned k = 0; k < npart && is_well(result); k++) {
		result = lib.ncclSend(part[k].data, part[k].run_bytes, NCCL_BYTES,
			(int)part[k].peer, comm, stream);
		if (is_well(result))
			result = lib.ncclRecv((char *)part[k].data + behind, part[k].run_bytes,
				NCCL_BYTES, (int)part[k].peer, comm, stream);
	}
	ended = lib.ncclGroupEnd();
	if (is_well(result))
		result = ended;
	return is_well(result) ? NULL : lib.ncclGetErrorString(result);
}

/* ---- joining ---- */

/* What a rank brings. */
struct ability {
	int32_t version;
	uint8_t device[16];      /* the GPU's own number */
	uint32_t wish, one_host; /* of rank 0 */
	uint32_t is_unknown;     /* the GPU's number is not known */
	uint32_t is_joined;      /* with this GPU, as another evaluator has */
	uint32_t is_elsewhere;   /* with another one */
};

/* Why not all can use NCCL: the same for all ranks. */
static bool is_impossible(const struct split_rank *r, const struct ability *all, char *why, size_t size)
{
	if (all[0].wish == RANK_LINK_HOST)
		return snprintf(why, size, "as --transport says");
	if (!all[0].one_host && all[0].wish != RANK_LINK_NCCL)
		return snprintf(why, size,
			"NCCL does not encrypt what it sends to other hosts, and --transport=nccl is not given");
	for (unsigned k = 0; k < r->nrank; k++) {
		if (!all[k].version)
			return snprintf(why, size, "rank %u finds no NCCL of version 2.14 or later",
				k);
		if (all[k].version != all[0].version)
			return snprintf(why, size, "ranks 0 and %u have different versions of NCCL",
				k);
		if (all[k].is_unknown)
			return snprintf(why, size, "rank %u cannot ask which GPU it has", k);
		if (all[k].is_elsewhere)
			return snprintf(why, size, "rank %u uses another GPU as well", k);
		for (unsigned j = 0; j < k; j++)
			if (!memcmp(all[j].device, all[k].device, sizeof all[k].device))
				return snprintf(why, size, "ranks %u and %u have the same GPU", j, k);
	}
	return false;
}

/* A few bytes to and from every other rank: NCCL connects two of them when they exchange for the first time. */
static const char *connect_all(struct cuda_state *b, nccl_comm comm)
{
	struct split_rank *r = b->split;
	struct comm_part part[SPLIT_RANKS_MAX];
	nccl_stream stream = cuda_stream_handle(b->stream);
	unsigned npart = 0;
	const char *why;

	for (unsigned k = 0; k < r->nrank; k++)
		if (k != r->rank)
			part[npart++] = (struct comm_part){ .peer = k,
				.data = b->gpu.digest + k,
				.run_bytes = sizeof *b->gpu.digest };
	cuda_clear(b->stream, b->gpu.digest, CUDA_DIGESTS * sizeof *b->gpu.digest);
	if (!cuda_goes_on(b))
		return r->error.text;
	why = ask(comm, stream, part, npart, SPLIT_RANKS_MAX * sizeof *b->gpu.digest);
	/* The group's calls end before the stream is asked for more. */
	why = why ? why : await(b, comm, NO_MOMENT);
	if (why)
		return why;
	cuda_moment(b->stream, CUDA_MOMENT_BATCH);
	why = await(b, comm, CUDA_MOMENT_BATCH);
	return why || cuda_goes_on(b) ? why : r->error.text;
}

/* The communicator; NULL: *why, of this rank. Every rank calls it. */
static nccl_comm open_comm(struct cuda_state *b, const char **why)
{
	struct split_rank *r = b->split;
	nccl_config config = { .size = NCCL_CONFIG_BYTES,
		.magic = nccl_config_magic,
		.version = NCCL_CONFIG_VERSION,
		.blocking = 0 };
	struct {
		uint32_t result;
		nccl_id id;
	} start = { .result = NCCL_OK };
	nccl_comm comm = NULL;
	nccl_result result;

	if (!r->rank)
		start.result = lib.ncclGetUniqueId(&start.id);
	r->code = comm_broadcast(r->comm, 0, &start, sizeof start, &r->error);
	result = (nccl_result)start.result;
	if (!r->code && result == NCCL_OK)
		result = lib.ncclCommInitRankConfig(&comm, (int)r->nrank, start.id, (int)r->rank,
			&config);
	*why = r->code            ? r->error.text
		: is_well(result) ? await(b, comm, NO_MOMENT)
				  : lib.ncclGetErrorString(result);
	if (!*why)
		*why = connect_all(b, comm);
	if (*why && comm) {
		lib.ncclCommAbort(comm);
		comm = NULL;
	}
	return comm;
}

/* All ranks have one, or none has and *why says why: of the first that fails, but not because others do not come. */
static void open_all(struct cuda_state *b, char *why, size_t size)
{
	struct answer {
		char text[120];
	} mine = { "" }, all[SPLIT_RANKS_MAX];
	struct split_rank *r = b->split;
	const char *failed;
	nccl_comm comm = open_comm(b, &failed);

	snprintf(mine.text, sizeof mine.text, "%.119s", failed ? failed : "");
	if (!r->code)
		r->code = comm_gather(r->comm, &mine, sizeof mine, all, &r->error);
	for (unsigned last = 0; last < 2; last++)
		for (unsigned k = 0; k < r->nrank && !r->code; k++)
			if (*all[k].text && !*why && (last || strcmp(all[k].text, deadline_passed)))
				snprintf(why, size, "NCCL fails in rank %u: %.119s", k, all[k].text);
	if (comm && (r->code || *why)) {
		lib.ncclCommAbort(comm);
		return;
	}
	if (!comm)
		return;
	r->link = mem_alloc(1, sizeof *r->link);
	*r->link = (struct backend_link){ .comm = comm, .device = b->number };
}

static void use(struct cuda_state *b, const struct ability *all, char *why, size_t size)
{
	struct split_rank *r = b->split;
	bool is_open = true;

	for (unsigned k = 0; k < r->nrank; k++)
		is_open = is_open && all[k].is_joined;
	/* Between processes of one host NCCL meets on the loopback interface. */
	if (all[0].one_host)
		setenv("NCCL_SOCKET_IFNAME", "lo", 0);
	if (!is_open)
		open_all(b, why, size);
	if (r->code || *why)
		return;
	b->nccl = r->link;
	b->nccl->nuser++;
	print_version(all[0].version, r->way, sizeof r->way);
}

void cuda_nccl_join(struct cuda_state *b)
{
	struct split_rank *r = b->split;
	struct ability mine = { .wish = r->wish, .one_host = r->one_host }, all[SPLIT_RANKS_MAX];
	struct device_about about = { 0 };
	char why[160] = "";

	cuda_stream_enter(b->stream);
	mine.is_unknown = !cuda_device_about(b->number, &about);
	memcpy(mine.device, about.id, sizeof mine.device);
	mine.is_joined = r->link && r->link->device == b->number;
	mine.is_elsewhere = r->link && !mine.is_joined;
	load(&mine.version);
	if (!r->code)
		r->code = comm_gather(r->comm, &mine, sizeof mine, all, &r->error);
	if (r->code)
		return;
	if (!is_impossible(r, all, why, sizeof why))
		use(b, all, why, sizeof why);
	if (r->code || !*why)
		return;
	snprintf(r->way, sizeof r->way, "memory of the host: %s", why);
	/* The others know it, too, and wait for rank 0 to end the group: one that ended first would be reported. */
	if (r->wish == RANK_LINK_NCCL)
		r->code = err_set(&r->error, -ERR_CONFIG, "--transport=nccl cannot be used: %s", why);
}

void cuda_nccl_leave(struct cuda_state *b)
{
	struct backend_link *n = b->nccl;

	b->nccl = NULL;
	if (!n)
		return;
	if (!--n->nuser) {
		abort_comm(n); /* nothing is on its way, or the group has failed */
		b->split->link = NULL;
		free(n);
	} else if (b->split->code) {
		abort_comm(n);
	}
}

/* ---- an exchange ---- */

/* why: NULL, or what ends the group. */
static bool goes_on(struct cuda_state *b, const char *why)
{
	struct split_rank *r = b->split;

	if (why && !r->code) {
		r->code = err_set(&r->error, -ERR_STOPPED, "NCCL failed: %s", why);
		comm_abort(r->comm, r->error.text);
	}
	if (r->code)
		abort_comm(b->nccl);
	return !r->code;
}

bool cuda_nccl_exchange(struct cuda_state *b, const struct comm_part *part, unsigned npart,
	size_t behind)
{
	struct comm_statistics *s = &b->split->comm->statistics;
	nccl_stream stream = cuda_stream_handle(b->stream);
	nccl_comm comm = b->nccl->comm;
	const char *why;

	if (!cuda_goes_on(b))
		return goes_on(b, NULL);
	why = ask(comm, stream, part, npart, behind);
	for (unsigned k = 0; k < npart; k++)
		s->sent_bytes += part[k].run_bytes;
	s->nexchange++;
	return goes_on(b, why ? why : await(b, comm, NO_MOMENT));
}

bool cuda_nccl_await(struct cuda_state *b, unsigned moment)
{
	/* NCCL is aborted after a failure of the device, too: the stream may be waiting for it. */
	return goes_on(b, await(b, b->nccl->comm, moment)) && (cuda_goes_on(b) || goes_on(b, NULL));
}
