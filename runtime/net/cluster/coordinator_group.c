/* SPDX-License-Identifier: Apache-2.0
 * Workers that become ranks of groups: the coordinator gives each what all of its group have to know, and gets its
 * address. In a group a worker is PREPARING until that has come, then READY; a worker that leads one gets jobs then. */
#include "runtime/net/cluster/cluster_state.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

struct coordinator_rank coordinator_rank(struct coordinator *c, unsigned k)
{
	const struct worker *w = &c->worker[k];

	mutex_auto held = mutex_hold(&c->loop.lock);
	return (struct coordinator_rank){ w->about.host, w->about.threads, w->on_this_host };
}

/* An end of its connection, as a number: of getsockname or getpeername. */
static int address_by(int (*name)(int, struct sockaddr *, socklen_t *), const struct worker *w,
	char out[OWN_ADDRESS_MAX], struct err *e)
{
	struct sockaddr_storage end;
	socklen_t len = sizeof end;

	if (w->peer.fd < 0 || name(w->peer.fd, (struct sockaddr *)&end, &len)
		|| getnameinfo((struct sockaddr *)&end, len, out, OWN_ADDRESS_MAX, NULL, 0,
			NI_NUMERICHOST))
		return err_set(e, -ERR_UNREACHABLE, "%s is not connected", w->name);
	return 0;
}

int coordinator_own_address(struct coordinator *c, unsigned k, char out[OWN_ADDRESS_MAX],
	struct err *e)
{
	mutex_auto held = mutex_hold(&c->loop.lock);
	return address_by(getsockname, &c->worker[k], out, e);
}

static bool is_same_host(const struct worker *v, const struct worker *w)
{
	char one[OWN_ADDRESS_MAX], other[OWN_ADDRESS_MAX];

	if (v->on_this_host || w->on_this_host)
		return v->on_this_host && w->on_this_host;
	return !strcmp(v->about.host, w->about.host) && !address_by(getpeername, v, one, NULL)
		&& !address_by(getpeername, w, other, NULL) && !strcmp(one, other);
}

bool coordinator_same_host(struct coordinator *c, unsigned a, unsigned b)
{
	mutex_auto held = mutex_hold(&c->loop.lock);
	return is_same_host(&c->worker[a], &c->worker[b]);
}

int coordinator_address_for(struct coordinator *c, unsigned a, unsigned b,
	char out[OWN_ADDRESS_MAX], struct err *e)
{
	const struct worker *v = &c->worker[a], *w = &c->worker[b];

	mutex_auto held = mutex_hold(&c->loop.lock);
	return w->on_this_host ? address_by(getsockname, v, out, e)
			       : address_by(getpeername, w, out, e);
}

void coordinator_group_follows(struct coordinator *c, unsigned k, uint32_t nthread)
{
	mutex_auto held = mutex_hold(&c->loop.lock);

	c->worker[k].follows = true;
	c->worker[k].ready.nthread = nthread;
}

void coordinator_group_begin(struct coordinator *c)
{
	mutex_auto held = mutex_hold(&c->loop.lock);

	workers_forget_job(c);
	c->grouped = true;
}

void coordinator_group_send(struct coordinator *c, unsigned k, const void *bytes, uint32_t n)
{
	struct worker *w = &c->worker[k];

	mutex_auto held = mutex_hold(&c->loop.lock);
	buf_clear(&c->body);
	wire_put_group(&c->body, &(struct wire_group){ bytes, n });
	if (w->state == WORKER_DESCRIBED)
		worker_set_state(w, WORKER_PREPARING);
	if (w->peer.fd >= 0)
		peer_put(&w->peer, &c->body);
	worker_flush(w);
	crypto_wipe(c->body.data, c->body.len);
}

bool group_take_address(struct coordinator *c, struct worker *w, const uint8_t *body, size_t len)
{
	struct wire_group m;

	if (!c->grouped || w->state != WORKER_PREPARING || !wire_get_group(body, len, &m)
		|| m.n >= sizeof w->address || memchr(m.bytes, 0, m.n))
		return false;
	snprintf(w->address, sizeof w->address, "%.*s", (int)m.n, (const char *)m.bytes);
	worker_set_state(w, WORKER_READY);
	return true;
}

bool group_keeps_quiet(const struct coordinator *c, const struct worker *w)
{
	bool alone = c->grouped && c->first_rank; /* this process leads, and it is the only group */

	return w->state == WORKER_READY && (w->follows || alone);
}

int coordinator_group_addresses(struct coordinator *c, const char **address, struct err *e)
{
	mutex_auto held = mutex_hold(&c->loop.lock);
	int code = workers_wait(c, WORKER_READY, "given its address", e);

	for (unsigned k = 0; k < c->nworker; k++)
		address[k] = c->worker[k].address;
	return code;
}
