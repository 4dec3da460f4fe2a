// SPDX-License-Identifier: Apache-2.0
// An NCCL of the emulated devices: ranks are processes of one machine, and a file that all of them map carries the bytes.
//
// EMU_NCCL=none is a working one. EMU_NCCL=fault:rank:n is one with a fault of that rank, in its n-th transfer (default 1, that which
// connects all ranks):
//   init   the communicator cannot be made     async   an error is reported later
//   byte   a byte changes on its way           lost    the process is killed
//   silent nothing is transferred
#include "emu.h"

#include "runtime/exec/statevector/cuda/cuda_nccl.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <type_traits>
#include <vector>

namespace
{

enum { RANKS_MAX = EMU_DEVICES_MAX, RING_BYTES = 1 << 16 };

/* Bytes from one rank to another, in order. */
struct ring {
	std::atomic<uint64_t> written, read;
	unsigned char byte[RING_BYTES];
};

struct shared {
	std::atomic<unsigned> njoined;
	ring to[RANKS_MAX][RANKS_MAX]; /* from, to */
};

struct transfer {
	bool sends;
	unsigned char *data;
	size_t n, done;
	int peer;
	struct ncclComm *comm;
	cudaStream_t stream;
};

std::vector<transfer> group; /* until it ends */

/* The fault, if this is the transfer that has it. */
bool has_fault(const char *name, int rank, unsigned long n)
{
	const char *text = getenv("EMU_NCCL");
	char fault[16] = "";
	int of = -1;
	unsigned long at = 1;

	return text && sscanf(text, "%15[a-z]:%d:%lu", fault, &of, &at) >= 2 && !strcmp(fault, name)
		&& of == rank && at == n;
}

} // namespace

struct ncclComm {
	struct shared *shared;
	int rank, size;
	char path[sizeof(nccl_id)];
	bool aborted;
	nccl_result error;
	unsigned long ntransfer;
};

const char *emu_nccl_name(void) { return getenv("EMU_NCCL") ? "" : nullptr; }

/* What can be moved now; has it all been? */
static bool move(transfer &t)
{
	const int from = t.sends ? t.comm->rank : t.peer, to = t.sends ? t.peer : t.comm->rank;
	ring &r = t.comm->shared->to[from][to];

	while (t.done < t.n) {
		const uint64_t written = r.written, read = r.read;
		const size_t at = (t.sends ? written : read) % RING_BYTES;
		size_t n = t.sends ? RING_BYTES - (written - read) : written - read;

		n = std::min({ n, t.n - t.done, (size_t)RING_BYTES - at });
		if (!n)
			return false;
		if (t.sends)
			memcpy(r.byte + at, t.data + t.done, n);
		else
			memcpy(t.data + t.done, r.byte + at, n);
		t.done += n;
		(t.sends ? r.written : r.read) += n;
	}
	return true;
}

/* Of one stream; true: all is done, or never will be. */
static bool move_all(std::vector<transfer> &all)
{
	bool done = true;

	for (transfer &t : all) {
		if (t.comm->aborted)
			return true;
		if (t.sends && !t.done)
			emu_check(t.data, t.n, true, "NCCL sends what is beyond an allocation, or was never written");
		if (!t.sends && !t.done)
			emu_check(t.data, t.n, false, "NCCL receives to beyond an allocation");
		done = move(t) && done;
	}
	if (!done)
		sched_yield();
	for (transfer &t : all)
		if (done && !t.sends)
			emu_mark(t.data, t.n, EMU_WRITTEN);
	return done;
}

static nccl_result add(bool sends, void *data, size_t n, nccl_type type, int peer, nccl_comm c, nccl_stream s)
{
	if (type != NCCL_BYTES || peer < 0 || peer >= c->size || peer == c->rank || !emu_on_device(data))
		return 4;
	group.push_back({ sends, (unsigned char *)data, n, 0, peer, c, (cudaStream_t)s });
	return NCCL_OK;
}

extern "C" {

nccl_result ncclGetVersion(int *version)
{
	*version = 21803;
	return NCCL_OK;
}

const char *ncclGetErrorString(nccl_result r)
{
	return r == 2 ? "unhandled system error" : r == 6 ? "remote process exited or there was a network error" : "another error";
}

/* The name of the file. */
nccl_result ncclGetUniqueId(nccl_id *id)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	*id = {};
	snprintf(id->internal, sizeof id->internal, "%s/emu-nccl-XXXXXX", folder ? folder : "/tmp");
	fd = mkstemp(id->internal);
	if (fd < 0 || ftruncate(fd, sizeof(struct shared)))
		return 2;
	close(fd);
	return NCCL_OK;
}

nccl_result ncclCommInitRankConfig(nccl_comm *out, int size, nccl_id id, int rank, nccl_config *config)
{
	const int fd = open(id.internal, O_RDWR);
	void *const p = fd < 0 ? MAP_FAILED
			       : mmap(nullptr, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	static std::deque<ncclComm> all; /* to the end, as work may wait that names them */
	all.push_back({ (struct shared *)p, rank, size, {}, false, NCCL_OK, 0 });
	nccl_comm const c = &all.back();

	close(fd);
	if (p == MAP_FAILED || size > RANKS_MAX || config->size != NCCL_CONFIG_BYTES || config->blocking)
		return 4;
	memcpy(c->path, id.internal, sizeof c->path);
	if (has_fault("init", rank, 1))
		c->error = 2;
	else
		c->shared->njoined++;
	*out = c;
	return NCCL_IN_PROGRESS;
}

nccl_result ncclCommGetAsyncError(nccl_comm c, nccl_result *r)
{
	const bool joined = c->shared->njoined == (unsigned)c->size;

	if (joined && *c->path && !c->rank)
		unlink(c->path);
	if (joined)
		*c->path = 0;
	*r = c->error != NCCL_OK || joined ? c->error : (nccl_result)NCCL_IN_PROGRESS;
	return NCCL_OK;
}

/* What its transfers need stays, as they are done or given up later. */
nccl_result ncclCommAbort(nccl_comm c)
{
	c->aborted = true;
	if (*c->path && !c->rank)
		unlink(c->path);
	return NCCL_OK;
}

nccl_result ncclGroupStart(void)
{
	group.clear();
	return NCCL_OK;
}

nccl_result ncclGroupEnd(void)
{
	if (group.empty())
		return NCCL_OK;
	nccl_comm const c = group[0].comm;
	const auto all = std::make_shared<std::vector<transfer>>(std::move(group));
	const unsigned long n = ++c->ntransfer;

	if (has_fault("lost", c->rank, n))
		raise(SIGKILL);
	if (has_fault("async", c->rank, n))
		c->error = 6;
	emu_push((*all)[0].stream, [=] {
		if (has_fault("silent", c->rank, n))
			return c->aborted;
		if (!move_all(*all))
			return false;
		for (transfer &t : *all)
			if (!t.sends && has_fault("byte", c->rank, n))
				t.data[t.n / 2] ^= 4;
		return true;
	});
	return NCCL_IN_PROGRESS;
}

nccl_result ncclSend(const void *data, size_t n, nccl_type type, int peer, nccl_comm c, nccl_stream s)
{
	return add(true, (void *)data, n, type, peer, c, s);
}

nccl_result ncclRecv(void *data, size_t n, nccl_type type, int peer, nccl_comm c, nccl_stream s)
{
	return add(false, data, n, type, peer, c, s);
}
}

#define AGREES(result, name, args) \
	static_assert(std::is_same<decltype(&name), decltype(nccl_library::name)>::value, #name);
NCCL_FUNCTIONS(AGREES)
