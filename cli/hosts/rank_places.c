/* SPDX-License-Identifier: Apache-2.0
 * Finds a place for each rank of a group: a process that was started together with this one, or one to be started on a host. */
#include "cli/hosts/rank_places.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/hosts/worker_start.h"
#include "runtime/exec/statevector/split/split.h"

bool is_this_machine(const struct host *h)
{
	const char *node = getenv("SLURMD_NODENAME");
	char own[HOST_NAME_LONGEST + 1] = "";

	if (host_is_local(h) || !strcmp(h->name, "localhost") || (node && !strcmp(h->name, node)))
		return true;
	gethostname(own, sizeof own - 1);
	size_t len = strcspn(own, ".");
	return len && !strncmp(h->name, own, len) && (!h->name[len] || h->name[len] == '.');
}

/* Processes that were started together with this one. */
static int joined_places(struct cluster *k, struct rank_places *out, struct err *e)
{
	unsigned local =
		k->joined.join.local; /* 0: how many share this machine is not known before they have come */
	int code = cluster_meet(k, e);

	if (code)
		return code;
	out->joined = k->coordinator;
	out->mpi = k->mpi;
	out->place[0] = (struct launch_place){ .launcher = LAUNCHER_LOCAL };
	for (unsigned n = 1; n < k->nrank; n++) {
		struct coordinator_rank r = coordinator_rank(k->coordinator, n - 1);

		out->place[n] = (struct launch_place){
			.launcher = r.on_this_host ? LAUNCHER_LOCAL : LAUNCHER_EXEC, .host = r.host
		};
		out->nthread[n] = local ? r.threads : 0;
	}
	out->nthread[0] = local ? worker_threads(local) : 0;
	return 0;
}

int rank_places_of(struct cluster *k, struct rank_places *out, struct err *e)
{
	unsigned nslot = hosts_workers(&k->hosts), n = 1;
	bool here = false;

	*out = (struct rank_places){ .encrypt = k->wish.encrypt,
		.link = k->link,
		.iface = k->wish.iface,
		.start_s = k->wish.start_s,
		.say = cluster_say,
		.ctx = k };
	if (k->external.n)
		return joined_places(k, out, e);
	if (nslot > k->nrank || k->nrank % nslot)
		return err_set(e, -ERR_USAGE,
			"%u ranks cannot be shared by the %u processes of %s equally: list as many as there are ranks, a "
			"part of that, or several times as many for several groups",
			k->nrank, nslot, k->why);
	for (size_t i = 0; i < k->hosts.n; i++) {
		const struct host *h = &k->hosts.host[i];
		struct launch_place p = cluster_place(k, h);
		unsigned count = h->nworker * (k->nrank / nslot);

		if (is_this_machine(h)) {
			p = (struct launch_place){
				.launcher = LAUNCHER_LOCAL, .host = h->name, .follow = true
			};
			if (!here) {
				out->place[0] = p;
				count--;
			}
			here = true;
		}
		while (count-- && n < k->nrank)
			out->place[n++] = p;
	}
	assert(here);
	return 0;
}

int ranks_of_cluster(struct cluster *k, struct evaluator_options *o, struct ranks **out)
{
	struct rank_places places = { .say = cluster_say, .ctx = k, .link = k->link };
	struct err e;
	bool elsewhere = k->hosts.n || k->external.n;
	int code = k->nrank && elsewhere ? rank_places_of(k, &places, &e) : 0;

	*out = NULL;
	if (!code && k->nrank)
		code = ranks_start(o, k->nrank, &places, out, &e);
	if (*out)
		ranks_check_processors(k->cli, o->rank->share, o->nthread);
	return code ? cli_fail(k->cli, &e) : 0;
}
