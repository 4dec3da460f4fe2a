/* SPDX-License-Identifier: Apache-2.0
 * Lost workers are started again, and come into the job that runs.
 *
 * Not those that are unable (another version, other bits, no key): nothing would be different. */
#include "config.h"
#include "runtime/net/cluster/worker.h"

#include <math.h>
#include <string.h>

#include "runtime/base/arena.h"

/* From a loss to the next start: the first, doubled with each in vain; the longest. */
#define AGAIN_FIRST_S 0.5
#define AGAIN_LONGEST_S 60.0
#define ALONE_S 5.0                      /* without any worker before the job ends */
#define SILENT_S 15.0                    /* or without a sign of any, where there is none */
#define TRY_S 4.0                        /* that the first replacement of a worker has, before either ends the job */

bool worker_restart_later(struct coordinator *c, struct worker *m, const struct err *why, double now)
{
	if (!c->started || why->code != -ERR_UNREACHABLE || (!m->external && m->nvain >= c->o.restarts))
		return false;
	m->start_at = now + fmin(AGAIN_FIRST_S * exp2(m->nvain < 20 ? m->nvain : 20), AGAIN_LONGEST_S);
	m->nvain++;
	m->nrestart++;
	worker_set_state(m, m->external ? WORKER_STARTED : WORKER_WAITING);
	m->nstart = m->npending = 0;
	m->nqueued = m->nlost = 0;
	m->weights = 0;
	m->unit_seconds = 0;
	m->suspected = false;
	return true;
}

/* Its first replacement is still to be started, or may still come. */
static bool is_untried(const struct worker *m, double now)
{
	if (m->external || m->nvain != 1)
		return false;
	return m->state == WORKER_WAITING || (m->state == WORKER_STARTED && now - m->heard < TRY_S);
}

void workers_restart_watch(struct coordinator *c, double now)
{
	bool alone = true, hope = false, untried = false, over;

	if (!c->started)
		return;
	for (unsigned i = 0; i < c->nworker; i++) {
		struct worker *m = &c->worker[i];
		struct err why;

		if (m->state == WORKER_STARTED && !m->external && now - m->heard > c->o.start_s) {
			err_set(&why, -ERR_UNREACHABLE, "it has not come within %.0f s", c->o.start_s);
			worker_lose(c, m, &why);
		}
		alone &= m->peer.fd < 0;
		hope |= m->state != WORKER_LOST;
		untried |= is_untried(m, now);
	}
	c->alone_since = alone && c->alone_since > 0 ? c->alone_since : now;
	over = now - c->alone_since > ALONE_S || (alone && now - c->heard > SILENT_S);
	if ((!hope || (over && !untried)) && !c->fault.code)
		err_set(&c->fault, -ERR_UNREACHABLE, "no worker is left; the first that was lost is %s", c->first.text);
}

int job_keep(struct coordinator *c, const struct wire_job *job, struct err *e)
{
	buf_clear(&c->job_body);
	wire_put_job(&c->job_body, job);
	if (c->job_body.len > WIRE_BODY_MAX || !wire_get_job((const uint8_t *)c->job_body.data, c->job_body.len, &c->job))
		return err_set(e, -ERR_CONFIG, "a job of %zu bytes is too large for a message to a worker", c->job_body.len);
	return 0;
}

/* Workers on the machine of one that others have started, as far as names of machines tell. */
static unsigned sharers(const struct coordinator *c, const struct worker *m)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->nworker; i++)
		n += !strcmp(c->worker[i].about.host, m->about.host);
	return n;
}

void job_send(struct coordinator *c, struct worker *m)
{
	struct wire_job mine = c->job;

	mine.share = m->external ? sharers(c, m) : m->share;
	if (m->external && !mine.threads)
		mine.threads = m->about.threads;
	buf_clear(&c->body);
	wire_put_job(&c->body, &mine);
	peer_put(&m->peer, &c->body);
	worker_set_state(m, WORKER_PREPARING);
	worker_flush(m);
}

bool job_same_answer(const struct coordinator *c, const struct worker *m, struct err *why)
{
	const struct wire_ready *r = &m->ready, *right = &c->right;

	if (r->width == right->width && r->nvector == right->nvector && r->nout == right->nout
			&& !memcmp(r->digest, right->digest, sizeof r->digest))
		return true;
	err_set(why, -ERR_PROTOCOL, "it computes other bits than %s: its mathematical library or processor (%s) differs; "
		"leave that host out, or use the same system on all", c->right_name, m->about.processor);
	return false;
}

bool worker_restart_described(struct coordinator *c, struct worker *m, struct err *why)
{
	if (!worker_has_kernels(&m->about, c->job.kernels)) {
		err_set(why, -ERR_PROTOCOL, "it lacks the instruction set that the others use");
		return false;
	}
	job_send(c, m);
	return true;
}

bool worker_restart_ready(struct coordinator *c, struct worker *m, struct err *why)
{
	if (!job_same_answer(c, m, why))
		return false;
	coordinator_say(c, NULL, "%s has been started again, and takes part", m->name);
	return true;
}
