/* SPDX-License-Identifier: Apache-2.0
 * Predicts whether a wait is short, and yields the core between two polls. */
#include "runtime/net/protocol/spin.h"

#include <sched.h>

enum { TRUST_MAX = 3, TRUST_ENOUGH = 2, TRUST_LOST = 2 };

bool spin_on(struct spin *s, double now)
{
	if (!s->allowed)
		return false;
	if (s->since == 0)
		s->since = now;
	if (s->trust < TRUST_ENOUGH || now - s->since >= SPIN_S)
		return false;
	sched_yield();
	return true;
}

void spin_over(struct spin *s, double now)
{
	if (s->since == 0)
		return;
	if (now - s->since < SPIN_S)
		s->trust += s->trust < TRUST_MAX;
	else
		s->trust -= s->trust < TRUST_LOST ? s->trust : TRUST_LOST;
	s->since = 0;
}
