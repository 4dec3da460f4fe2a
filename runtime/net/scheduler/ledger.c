/* SPDX-License-Identifier: Apache-2.0
 * One word per unit (open, done, or the worker that has it) and one running sum. */
#include "runtime/net/scheduler/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

/* A unit's word: UNIT_TAKEN + w means that worker w has it. */
enum unit_state { UNIT_OPEN = 0, UNIT_DONE, UNIT_TAKEN };

bool array_renew(void **p, size_t *cap, size_t n, size_t size)
{
	size_t room = *cap ? n + n / 2 : n; /* one that has grown once will do so again */
	void *more = mem_try(room, size);

	if (!more)
		return false;
	free(*p);
	*p = more;
	*cap = room;
	return true;
}

int ledger_begin(struct ledger *l, uint32_t nunit, size_t n, struct err *e)
{
	if (nunit > FIXED_TERMS_MAX)
		return err_set(e, -ERR_CONFIG, "a step has %u work units; at most %d can be summed exactly",
			nunit, FIXED_TERMS_MAX);
	if (!ARRAY_RESERVE(l->state, l->state_cap, nunit + (size_t)1)
		|| !ARRAY_RESERVE(l->sum, l->sum_cap, n + 1))
		return err_set(e, -ERR_CONFIG, "no memory for the sums of %zu numbers over %u work units", n, nunit);
	memset(l->state, 0, nunit * sizeof *l->state);
	memset(l->sum, 0, n * sizeof *l->sum);
	l->nunit = nunit;
	l->n = n;
	l->ndone = l->first_open = 0;
	return 0;
}

void ledger_close(struct ledger *l) { l->nunit = l->ndone = l->first_open = 0; }

int ledger_end(struct ledger *l, const struct err *fault, struct fixed *sum, struct err *e)
{
	if (fault->code)
		err_set(e, fault->code, "%s", fault->text);
	else if (l->n)
		memcpy(sum, l->sum, l->n * sizeof *sum);
	ledger_close(l);
	return fault->code;
}

void ledger_release(struct ledger *l)
{
	free(l->state);
	free(l->sum);
	memset(l, 0, sizeof *l);
}

int64_t ledger_take(struct ledger *l, unsigned worker)
{
	while (l->first_open < l->nunit && l->state[l->first_open] != UNIT_OPEN)
		l->first_open++;
	if (l->first_open == l->nunit)
		return -1;
	l->state[l->first_open] = UNIT_TAKEN + worker;
	return l->first_open++;
}

static void reopen(struct ledger *l, uint32_t id)
{
	l->state[id] = UNIT_OPEN;
	if (id < l->first_open)
		l->first_open = id;
}

/* Mark the units as done; false, with none marked, where one of them was done already. */
static bool mark_done(struct ledger *l, unsigned worker, const uint32_t *id, size_t nid)
{
	size_t k;

	for (k = 0; k < nid; k++) {
		if (id[k] >= l->nunit || l->state[id[k]] == UNIT_DONE)
			break;
		l->state[id[k]] = UNIT_DONE;
	}
	if (k == nid)
		return true;
	for (size_t i = 0; i < k; i++)
		reopen(l, id[i]);
	for (size_t i = k; i < nid; i++)
		if (id[i] < l->nunit && l->state[id[i]] == UNIT_TAKEN + worker)
			reopen(l, id[i]);
	return false;
}

int ledger_put(struct ledger *l, unsigned worker, const uint32_t *id, size_t nid, const struct fixed *v)
{
	if (!nid || !mark_done(l, worker, id, nid))
		return 0;
	if (l->n && !fixed_add(l->sum, v, l->n))
		return -ERR_NOT_FINITE;
	l->ndone += (uint32_t)nid;
	return 1;
}

uint32_t ledger_lose(struct ledger *l, unsigned worker)
{
	uint32_t n = 0;

	for (uint32_t id = l->nunit; id-- > 0; )
		if (l->state[id] == UNIT_TAKEN + worker) {
			reopen(l, id);
			n++;
		}
	return n;
}

uint32_t ledger_open(const struct ledger *l)
{
	uint32_t n = 0;

	for (uint32_t id = l->first_open; id < l->nunit; id++)
		n += l->state[id] == UNIT_OPEN;
	return n;
}
