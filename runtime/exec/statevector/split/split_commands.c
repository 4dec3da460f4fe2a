/* SPDX-License-Identifier: Apache-2.0
 * What the leader and the ranks that follow do alike for a command. */
#include "runtime/exec/statevector/split/split_commands.h"

#include <string.h>

#include "runtime/base/comm.h"
#include "runtime/exec/statevector/pauli_observables.h"

/* The answer of each rank to OPEN. */
struct answer {
	int32_t code;
	char text[sizeof((struct err *)0)->text];
};

int split_agree(struct split_rank *r, int code, struct err *e)
{
	struct answer mine = { .code = code }, all[SPLIT_RANKS_MAX];

	if (code)
		memcpy(mine.text, e->text, sizeof mine.text);
	if (!r->code)
		r->code = comm_gather(r->comm, &mine, sizeof mine, all, &r->error);
	if (r->code)
		return err_set(e, r->code, "%s", r->error.text);
	for (unsigned k = 0; k < r->nrank; k++)
		if (all[k].code)
			return err_set(e, all[k].code, "rank %u of %u: %s", k, r->nrank, all[k].text);
	return 0;
}

int split_join(struct backend_state *b, int code, struct err *e)
{
	if (code || !b->inner->join)
		return code;
	b->inner->join(b->state);
	return b->rank->code ? err_set(e, b->rank->code, "%s", b->rank->error.text) : 0;
}

void split_collect(struct backend_state *b, uint32_t c, uint64_t first, uint64_t n, cplx *out)
{
	mem_auto cplx *all = mem_alloc(n * b->rank->nrank, sizeof *all);

	b->inner->amplitudes(b->state, 0, c, 0, first, n, out);
	if (!b->rank->code)
		b->rank->code =
			comm_gather(b->rank->comm, out, n * sizeof *out, all, &b->rank->error);
	memset(out, 0, n * sizeof *out);
	for (unsigned k = 0; k < b->rank->nrank && !b->rank->code; k++)
		for (uint64_t i = 0; i < n; i++)
			out[i] += all[k * n + i];
}

size_t split_factors(const struct plan_circuit *c, uint32_t nstate)
{
	return forms_count(c) * nstate * nstate;
}

uint64_t split_cache_bytes(const struct plan *pl, uint32_t nstate, unsigned nrank)
{
	uint64_t sum = pl->target->backend->state_cache->bytes(pl, nstate, nrank), most = 0, n;

	for (uint32_t c = 0; c < pl->ncircuit; c++) {
		n = split_factors(&pl->circuit[c], nstate) * sizeof(cplx);
		most = n > most ? n : most;
	}
	return sum > UINT64_MAX - most ? UINT64_MAX : sum + most;
}
