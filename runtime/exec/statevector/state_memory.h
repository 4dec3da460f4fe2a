/* SPDX-License-Identifier: Apache-2.0
 * What a state takes, compared with what there is, before anything is taken. */
#pragma once

#include <stdbool.h>
#include "runtime/base/system/cpus.h"
#include "runtime/exec/statevector/plan/plan.h"

struct memory_need {
	unsigned nqubit, nstate;     /* states held at once */
	enum precision precision;
	uint64_t available;
	unsigned sharers; /* workers that have as much each; 0: not known */
};

/* Do that many states fit, whatever comes on top?  Also right where 2^n overflows. */
int memory_check_states(const struct memory_need *n, struct err *e);
/* Do nbyte bytes fit, of which the states are the main part? */
int memory_check(const struct memory_need *n, uint64_t nbyte, struct err *e);
