/* SPDX-License-Identifier: Apache-2.0
 * The job as workers get it: at its start, and when they come later. */
#include "runtime/net/cluster/cluster_state.h"

#include <string.h>

int job_keep(struct coordinator *c, const struct wire_job *job, struct err *e)
{
	buf_clear(&c->job.body);
	wire_put_job(&c->job.body, job);
	if (c->job.body.len > WIRE_BODY_MAX || !wire_get_job((const uint8_t *)c->job.body.data, c->job.body.len, &c->job.message))
		return err_set(e, -ERR_CONFIG, "a job of %zu bytes is too large for a message to a worker", c->job.body.len);
	return 0;
}

/* Of the first n workers, those on the machine of an external worker, by the names of machines. */
static unsigned sharers(const struct coordinator *c, const struct worker *w, unsigned n)
{
	unsigned same = 0;

	for (unsigned i = 0; i < n; i++)
		same += !strcmp(c->worker[i].about.host, w->about.host);
	return same;
}

void job_send(struct coordinator *c, struct worker *w)
{
	struct wire_job mine = c->job.message;

	mine.share = w->external || c->grouped ? sharers(c, w, c->nworker) : w->share;
	mine.place = w->external ? sharers(c, w, (unsigned)(w - c->worker)) : w->local;
	mine.nrank = c->o.nrank;
	if (c->o.places) {
		mine.places = c->o.places[w->rank].data;
		mine.nplaces = (uint32_t)c->o.places[w->rank].len;
	}
	if (w->external && !mine.threads)
		mine.threads = w->about.threads;
	buf_clear(&c->body);
	wire_put_job(&c->body, &mine);
	peer_put(&w->peer, &c->body);
	worker_set_state(w, WORKER_PREPARING);
	worker_flush(w);
}

bool job_same_answer(const struct coordinator *c, const struct worker *w, struct err *why)
{
	const struct wire_ready *r = &w->ready, *right = &c->job.right;

	if (r->width == right->width && r->nvector == right->nvector && r->nout == right->nout
			&& !memcmp(r->digest, right->digest, sizeof r->digest))
		return true;
	err_set(why, -ERR_PROTOCOL,
		"it computes other bits than %s: its mathematical library "
		"or processor (%s) differs; leave out this host, or use the same system on all hosts",
		c->job.right_name, w->about.processor);
	return false;
}
