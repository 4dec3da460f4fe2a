/* SPDX-License-Identifier: Apache-2.0
 * A group's places are a text: launcher, program, interface, "push", "encrypt" with a word of links, and the hosts of its processes but the first, a line each;
 * "local" is the host of the first. */
#include "cli/hosts/worker_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/cpus.h"
#include "runtime/net/launch/own_address.h"

static const char *const links[] = {
	[RANK_LINK_AUTO] = "", [RANK_LINK_HOST] = " host", [RANK_LINK_NCCL] = " nccl"
};

/* ---- on the side of the coordinator ---- */

/* The host of process n. */
static const struct host *host_of(const struct hosts *h, unsigned n)
{
	size_t i = 0;

	while (n >= h->host[i].nworker)
		n -= h->host[i++].nworker;
	return &h->host[i];
}

static int put_places(struct buf *out, const struct hosts *h, unsigned first, unsigned nrank,
	const struct coordinator_options *o, enum rank_link link, struct err *e)
{
	const struct host *leader = host_of(h, first);

	buf_printf(out, "%s%s\n%s\n%s\n%s\n%s%s\n", o->agent ? "exec:" : launch_row(o->launcher)->name,
		o->agent ? o->agent : "", o->program ? o->program : "", o->iface ? o->iface : "",
		o->push ? "push" : "", o->encrypt ? "encrypt" : "", links[link]);
	for (unsigned k = 1; k < nrank; k++) {
		const struct host *other = host_of(h, first + k);

		if (host_is_local(other) && !host_is_local(leader))
			return err_set(e, -ERR_USAGE,
				"a group that begins on %s has a process on `local`: give this machine the name by which "
				"%s reaches it, or list it first",
				leader->name, leader->name);
		buf_printf(out, "%s\n", other == leader ? "local" : other->name);
	}
	return 0;
}

int worker_groups_cut(struct hosts *hosts, unsigned nrank, const struct coordinator_options *o,
	enum rank_link link, struct worker_groups *out, struct err *e)
{
	unsigned n, placed = 0, nlisted = hosts_workers(hosts);
	struct hosts first = { 0 };
	int code = 0;

	for (size_t i = 0; i < hosts->n && nlisted < nrank; i++)
		hosts->host[i].nworker *= nrank / nlisted;
	n = hosts_workers(hosts) / nrank;
	*out = (struct worker_groups){ .nrank = nrank,
		.places = mem_alloc(n + 1, sizeof *out->places) };
	for (unsigned k = 0; k < n && !code; k++) {
		const struct host *h = host_of(hosts, k * nrank);

		code = hosts_add(&first, h->name, strlen(h->name), 1, e);
	}
	/* Workers are numbered host by host. */
	for (size_t i = 0; i < first.n && !code; i++)
		for (unsigned k = 0; k < n && !code; k++)
			if (!strcmp(host_of(hosts, k * nrank)->name, first.host[i].name)) {
				out->places[placed] = (struct buf)BUF_INIT;
				out->n = placed + 1;
				code = put_places(&out->places[placed++], hosts, k * nrank, nrank,
					o, link, e);
			}
	hosts_release(hosts);
	*hosts = first;
	return code;
}

void worker_groups_release(struct worker_groups *g)
{
	for (unsigned k = 0; k < g->n && g->places; k++)
		buf_release(&g->places[k]);
	free(g->places);
	*g = (struct worker_groups){ 0 };
}

/* ---- in a worker ---- */

static void say(void *ctx, const char *host, const char *line)
{
	(void)ctx;
	fprintf(stderr, "%s: %s\n", host, line);
}

/* A line each; text is cut, and stays in use. */
static bool get_places(char *text, unsigned nrank, struct rank_places *out)
{
	const char *launcher = strsep(&text, "\n"), *program = strsep(&text, "\n"),
		   *iface = strsep(&text, "\n"), *push = strsep(&text, "\n"),
		   *encrypt = strsep(&text, "\n"), *agent;
	char own[OWN_ADDRESS_MAX];
	struct err none;
	enum launcher how = launcher ? launcher_find(launcher, &agent) : LAUNCHER_NONE;

	if (!how || !encrypt || nrank < 2 || nrank > SPLIT_RANKS_MAX)
		return false;
	*out = (struct rank_places){ .encrypt = *encrypt == 'e',
		.link = strstr(encrypt, links[RANK_LINK_NCCL])   ? RANK_LINK_NCCL
			: strstr(encrypt, links[RANK_LINK_HOST]) ? RANK_LINK_HOST
								 : RANK_LINK_AUTO,
		.iface = *iface && !own_address_of(iface, own, &none) ? iface : NULL,
		.say = say };
	out->place[0] = (struct launch_place){ .launcher = LAUNCHER_LOCAL, .host = "local" };
	for (unsigned k = 1; k < nrank; k++) {
		const char *host = strsep(&text, "\n");
		bool here = host && !strcmp(host, "local");

		if (!host || !*host || strlen(host) > HOST_NAME_LONGEST)
			return false;
		out->place[k] = (struct launch_place){ .launcher = here ? LAUNCHER_LOCAL : how,
			.agent = here ? NULL : agent,
			.host = host,
			.program = here || !*program ? NULL : program,
			.push = !here && *push,
			.follow = true };
	}
	return text && !*text;
}

static int start(struct worker_group *g, const struct wire_job *job, struct evaluator_options *o,
	struct err *e)
{
	struct rank_places places;

	free(g->text);
	g->text = mem_alloc(job->nplaces + (size_t)1, 1);
	memcpy(g->text, job->places, job->nplaces);
	if (strlen(g->text) != job->nplaces || !get_places(g->text, job->nrank, &places))
		return err_set(e, -ERR_PROTOCOL,
			"the coordinator sent places of processes that make no sense");
	if (!target_has_memory(target_or_best(o->target)))
		o->memory_limit = cpus_memory_available() / (job->share ? job->share : 1);
	int code = ranks_start(o, job->nrank, &places, &g->ranks, e);
	g->first = *o;
	return code;
}

int worker_group_join(void *group, const void *start, size_t n, rank_exchange_fn exchange,
	void *ctx, bool *begun, struct err *e)
{
	struct worker_group *g = group;

	if (g->ranks)
		return err_set(e, -ERR_PROTOCOL, "the coordinator requested a second group");
	return ranks_join(start, n, exchange, ctx, &g->first, &g->ranks, begun, e);
}

int worker_group_start(void *group, const struct wire_job *job, struct evaluator_options *o,
	struct err *e)
{
	struct worker_group *g = group;

	if (!job->nrank)
		return 0;
	if (!g->ranks)
		return start(g, job, o, e);
	o->rank = g->first.rank;
	o->nthread = g->first.nthread;
	if (!target_has_memory(target_or_best(o->target)))
		o->memory_limit = g->first.memory_limit;
	return 0;
}

void worker_group_end(struct worker_group *g)
{
	ranks_end(g->ranks);
	free(g->text);
	*g = (struct worker_group){ 0 };
}
