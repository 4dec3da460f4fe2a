/* SPDX-License-Identifier: Apache-2.0
 * The state of each unit of a step, and the sum of the results: each unit counts exactly once.
 *
 * It has no lock: its caller serialises all calls. */
#ifndef QCNN_LEDGER_H
#define QCNN_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/err.h"
#include "runtime/base/fixed.h"

enum { LEDGER_WORKERS_MAX = 1 << 16 };

struct ledger {
	uint32_t *state;             /* (nunit) see ledger.c */
	size_t state_cap;
	uint32_t nunit, ndone;
	uint32_t first_open;         /* no unit before it is open */
	struct fixed *sum;           /* (n) */
	size_t n, sum_cap;
};

/* A step of nunit units whose vectors have n entries; 0, or -ERR_CONFIG when it is too large. */
int ledger_begin(struct ledger *l, uint32_t nunit, size_t n, struct err *e);
/* The step has ended: late results are ignored. */
void ledger_close(struct ledger *l);
void ledger_release(struct ledger *l);
/* The next open unit, now `worker`'s; -1 when there is none. */
int64_t ledger_take(struct ledger *l, unsigned worker);
/* v (n entries) is the sum of the units id[0..nid) as `worker` made it.  1: counted; 0: one of them
 * was in already, so nothing was, and those that `worker` still had are open again;
 * -ERR_NOT_FINITE: the sum has grown too large. */
int ledger_put(struct ledger *l, unsigned worker, const uint32_t *id, size_t nid, const struct fixed *v);
/* The units of `worker` are open again; their number. */
uint32_t ledger_lose(struct ledger *l, unsigned worker);
/* Units that are neither done nor taken. */
uint32_t ledger_open(const struct ledger *l);

#endif
