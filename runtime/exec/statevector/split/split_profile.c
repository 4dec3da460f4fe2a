/* SPDX-License-Identifier: Apache-2.0
 * Clocks are read between a broadcast and a gathering, of which the leader knows begin and end. A profile is sent as JSON, in place of
 * as many bytes of the leader. */
#include "runtime/exec/statevector/split/split_profile.h"

#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/comm.h"
#include "runtime/base/profile/recorder.h"

enum { ROUNDS = 8 };

void split_compare_clocks(struct split_rank *r)
{
	for (unsigned k = 0; k < ROUNDS && !r->code; k++) {
		int64_t now, all[SPLIT_RANKS_MAX], began = recorder_clock(), trip;
		char any = 0;

		r->code = comm_broadcast(r->comm, 0, &any, sizeof any, &r->error);
		now = recorder_clock();
		if (!r->code)
			r->code = comm_gather(r->comm, &now, sizeof now, all, &r->error);
		trip = recorder_clock() - began;
		for (unsigned i = 1; i < r->nrank && r->clock && !r->code; i++)
			if (!k || trip / 2 < r->clock[i].uncertainty)
				r->clock[i] =
					(struct split_clock){ all[i] - began - trip / 2, trip / 2 };
	}
}

static void gather_lengths(struct split_rank *r, uint64_t own, uint64_t length[SPLIT_RANKS_MAX])
{
	if (!r->code)
		r->code = comm_gather(r->comm, &own, sizeof own, length, &r->error);
}

void split_give_profile(struct split_rank *r, size_t text_max)
{
	struct profile *p = profile_new();
	struct profile_process own = { .role = "rank", .pid = (uint32_t)getpid() };
	char host[256] = "localhost";
	uint64_t length[SPLIT_RANKS_MAX];
	buf_auto text = BUF_INIT;

	gethostname(host, sizeof host - 1);
	own.host = host;
	p->process = &own;
	p->nprocess = 1;
	recorder_stop(p, &own);
	profile_write_json_within(p, text_max, &text);
	profile_free(p);
	gather_lengths(r, text.len, length);
	if (!r->code)
		r->code = comm_exchange(r->comm,
			&(struct comm_part){ 0, text.data, text.len, 1, text.len }, text.len > 0,
			&r->error);
}

/* What cannot be read is left out. */
static void append(const struct split_rank *r, unsigned rank, const char *text, size_t len,
	struct profile *into)
{
	struct profile *p;
	struct err e;

	if (profile_read_json(text, len, &p, &e))
		return;
	for (uint32_t k = 0; k < p->nprocess; k++) {
		p->process[k].rank = rank;
		p->process[k].offset = r->clock[rank].offset;
		p->process[k].uncertainty = r->clock[rank].uncertainty;
	}
	(void)profile_merge(into, p, &e);
	profile_free(p);
}

void split_take_profiles(struct split_rank *r, struct profile *into)
{
	uint64_t length[SPLIT_RANKS_MAX] = { 0 };
	struct comm_part part[SPLIT_RANKS_MAX];
	char *text[SPLIT_RANKS_MAX] = { NULL };
	unsigned n = 0;

	gather_lengths(r, 0, length);
	for (unsigned k = 1; k < r->nrank && !r->code; k++)
		if (length[k] > SPLIT_TEXTS_MAX / r->nrank)
			r->code = err_set(&r->error, -ERR_PROTOCOL,
				"rank %u has a profile of %llu bytes, which is too long", k,
				(unsigned long long)length[k]);
	for (unsigned k = 1; k < r->nrank && !r->code; k++)
		if (length[k]) {
			text[k] = mem_alloc(length[k], 1);
			part[n++] = (struct comm_part){ k, text[k], length[k], 1, length[k] };
		}
	if (!r->code)
		r->code = comm_exchange(r->comm, part, n, &r->error);
	for (unsigned k = 1; k < r->nrank; k++) {
		if (text[k] && !r->code)
			append(r, k, text[k], length[k], into);
		free(text[k]);
	}
}
