/* SPDX-License-Identifier: Apache-2.0
 * Restarts of lost workers, at growing intervals.
 *
 * A worker that is unable (another version, other bits, no key) is not started again: it would fail in the same way. */
#include "runtime/net/cluster/cluster_state.h"

#include <math.h>
#include <string.h>

/* From a loss to the next start: at first, doubled with each restart in vain; at most. */
#define AGAIN_FIRST_S 0.5
#define AGAIN_LONGEST_S 60.0
#define ALONE_S 5.0                      /* without any worker, after which the job ends */
#define SILENT_S 15.0                    /* or without a message of any, where none is connected */
#define TRY_S 4.0                        /* for the first restart of a worker, before either ends the job */

bool worker_restart_later(struct coordinator *c, struct worker *w, const struct err *why, double now)
{
	if (!c->liveness.started || c->grouped || why->code != -ERR_UNREACHABLE
		|| (!w->external && w->nvain >= c->o.restarts))
		return false;
	w->start_at = now + fmin(AGAIN_FIRST_S * exp2(w->nvain < 20 ? w->nvain : 20), AGAIN_LONGEST_S);
	w->nvain++;
	w->nrestart++;
	worker_set_state(w, w->external ? WORKER_STARTED : WORKER_WAITING);
	w->nstart = 0;
	w->nlost = 0;
	w->suspected = false;
	return true;
}

bool worker_may_miss(const struct coordinator *c, const struct worker *w, const struct err *why)
{
	return c->o.least && !c->liveness.started && !w->external && !c->grouped
		&& why->code == -ERR_UNREACHABLE;
}

/* All that are missed of the host of worker i: how many, and *again: are they started again? */
static unsigned start_host(struct coordinator *c, unsigned i, double now, bool *again)
{
	const char *host = c->worker[i].place.host;
	unsigned n = 0;

	for (; i < c->nworker; i++) {
		struct worker *w = &c->worker[i];

		if (!w->missed || strcmp(w->place.host, host))
			continue;
		w->missed = false;
		*again = worker_restart_later(c, w, &w->left, now);
		n++;
	}
	return n;
}

void workers_start_missed(struct coordinator *c, double now)
{
	for (unsigned i = 0; i < c->nworker; i++) {
		const struct worker *w = &c->worker[i];
		bool again = false;

		if (!w->missed)
			continue;
		unsigned n = start_host(c, i, now, &again);
		coordinator_say(c, NULL,
			"warning: the others compute without %u %s%s of %s, which %s: %s", n,
			c->o.nrank ? "group" : "worker", n == 1 ? "" : "s", w->place.host,
			again ? "may join later" : "will not be started again", w->left.text);
	}
}

/* Its first restart is still to come, or may still connect. */
static bool is_untried(const struct worker *w, double now)
{
	if (w->external || w->nvain != 1)
		return false;
	return w->state == WORKER_WAITING || (w->state == WORKER_STARTED && now - w->heard < TRY_S);
}

void workers_restart_watch(struct coordinator *c, double now)
{
	bool alone = true, hope = false, untried = false, over;
	struct err why;

	if (!c->liveness.started)
		return;
	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *w = &c->worker[i];

		if (w->state == WORKER_STARTED && !w->external && now - w->heard > c->o.start_s) {
			err_set(&why, -ERR_UNREACHABLE, "it has not connected within %.0f s",
				c->o.start_s);
			worker_lose(c, w, &why);
		}
		if (w->follows)
			continue;
		alone &= w->peer.fd < 0;
		hope |= w->state != WORKER_LOST;
		untried |= is_untried(w, now);
	}
	c->liveness.alone_since = alone && c->liveness.alone_since > 0 ? c->liveness.alone_since : now;
	over = now - c->liveness.alone_since > ALONE_S || (alone && now - c->liveness.heard > SILENT_S);
	if (!hope || (over && !untried)) {
		err_set(&why, -ERR_UNREACHABLE, "all workers are lost; the first one was %s",
			c->liveness.first.text);
		scheduler_fail(c->scheduler, &why);
	}
}
