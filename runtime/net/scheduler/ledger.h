/* SPDX-License-Identifier: Apache-2.0
 * The state of each unit of a step, and the sum of the results: each unit counts exactly once.
 *
 * It has no lock: its caller serialises all calls. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"
#include "runtime/base/fixed.h"

enum { LEDGER_WORKERS_MAX = 1 << 16 };

/* Grow an array to n elements and discard its contents; false: no memory. */
#define ARRAY_RESERVE(p, cap, n) \
	((n) <= (cap) || array_renew((void **)&(p), &(cap), (n), sizeof *(p)))
bool array_renew(void **p, size_t *cap, size_t n, size_t size);

struct ledger {
	uint32_t *state;             /* (nunit) see ledger.c */
	size_t state_cap;
	uint32_t nunit, ndone;
	uint32_t first_open;         /* all units before it are taken or done */
	struct fixed *sum;           /* (n) */
	size_t n, sum_cap;
};

/* Begin a step of nunit units whose vectors have n entries: 0, or -ERR_CONFIG if it is too large. */
int ledger_begin(struct ledger *l, uint32_t nunit, size_t n, struct err *e);
/* End the step: later results are ignored. */
void ledger_close(struct ledger *l);
/* The step's end: its sums, or why it was given up; code 0: it was not. */
int ledger_end(struct ledger *l, const struct err *fault, struct fixed *sum, struct err *e);
void ledger_release(struct ledger *l);
/* Assign the next open unit to `worker` and return it; -1: no unit is open. */
int64_t ledger_take(struct ledger *l, unsigned worker);
/* Add v (n entries), the sum over the units id[0..nid) that `worker` computed.  1: added; 0: one of the units was done
 * already, so that v was not added, and those still assigned to `worker` are open again; -ERR_NOT_FINITE: the sum has
 * grown too large. */
int ledger_put(struct ledger *l, unsigned worker, const uint32_t *id, size_t nid, const struct fixed *v);
/* Reopen the units assigned to `worker`; returns their number. */
uint32_t ledger_lose(struct ledger *l, unsigned worker);
/* Number of units that are neither done nor assigned. */
uint32_t ledger_open(const struct ledger *l);
