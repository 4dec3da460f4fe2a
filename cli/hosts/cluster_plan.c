/* SPDX-License-Identifier: Apache-2.0
 * Prints the hosts and commands of workers, and what happens when one is lost, as text and as JSON. */
#include "cli/hosts/cluster_plan.h"

/* How inputs come to the workers. */
static const char *const shard_word[] = { [SHARD_OFF] = "off", [SHARD_DATA] = "data", [SHARD_AUTO] = "auto", [SHARD_FILE] = "file" };
static const char *const shard_text[] = {
	[SHARD_OFF] = "inputs go to the workers with the work",
	[SHARD_DATA] = "inputs go to the workers once, and are kept there",
	[SHARD_AUTO] = "inputs of 64 numbers or more go to the workers once, and are kept there; others go with the work",
	[SHARD_FILE] = "each worker reads the data files itself; what is generated goes to them once",
};

static const char *mode_of(const struct cluster *k)
{
	if (k->external.n)
		return join_row(k->joined.join.mode)->name;
	if (cluster_is_remote(k))
		return launch_row(k->wish.launcher)->name;
	return k->hosts.n ? "local" : "alone";
}

static const char *lost_of(const struct cluster *k)
{
	if (k->mpi)
		return "the launcher ends the others; the same command goes on from the last checkpoint";
	if (k->nrank)
		return "the training ends with what was saved before the step, and status 75; the same command goes on";
	if (cluster_joined_groups(k))
		return "its units go to the other groups, and the weights stay the same; with none left, exit status 69; the same command goes on";
	if (k->groups.nrank)
		return "its units go to the other groups, it is started again, and the weights stay the same; with none left, exit status 69";
	if (k->hosts.n)
		return "its units go to the others, and the weights stay the same; with none left, exit status 69";
	return "there are no workers; after an end of this process the same command resumes from the last checkpoint";
}

static const char *why_of(const struct cluster *k)
{
	return k->why ? k->why : "no hosts are given";
}

/* Where the others look for rank 0. */
static void rank_0(const struct cluster *k, struct buf *out)
{
	const struct join *a = &k->joined.join;

	if (*a->host)
		buf_printf(out, "%s, port %u", a->host, a->port);
	if (k->joined.rendezvous.len)
		buf_printf(out, "%s%s", out->len ? ", with the key in " : "", k->joined.rendezvous.data);
}

void cluster_plan_text(const struct cluster *k, struct buf *out)
{
	buf_auto place = BUF_INIT;

	if (!k->external.n && !k->hosts.n) {
		buf_printf(out, "workers   none: %s\n", why_of(k));
		return;
	}
	buf_printf(out, "start     %s: %s\n", mode_of(k), why_of(k));
	if (k->external.n) {
		rank_0(k, &place);
		buf_printf(out, "processes %u, which find rank 0 by %s\n", k->joined.join.size,
			place.data);
	}
	if (k->mpi)
		buf_str(out, "messages  by MPI, not encrypted\n");
	for (size_t i = 0; i < k->hosts.n; i++) {
		const struct host *h = &k->hosts.host[i];
		struct launch_place p = cluster_place(k, h);
		arena_auto a = { 0 };
		char **argv = launch_argv(&p, &a);

		buf_printf(out, "command   %s, %u %s%s:", h->name, h->nworker,
			k->nrank || cluster_joined_groups(k) ? "rank"
				: k->groups.nrank            ? "group"
							     : "worker",
			h->nworker == 1 ? "" : "s");
		for (size_t n = 0; argv[n]; n++)
			buf_printf(out, " %s", argv[n]);
		buf_char(out, '\n');
	}
	if (k->groups.nrank)
		buf_printf(out, "groups    %u of %u ranks: %s\n", k->groups.n, k->groups.nrank,
			cluster_joined_groups(k) ? "ranks of a host are in one group where they can be"
						 : "the first rank of each starts the others");
	if (k->hosts.n && !k->nrank)
		buf_printf(out, "shard     %s\n", shard_text[k->wish.shard]);
	buf_printf(out, "lost      %s\n", lost_of(k));
}

static json_t *host_json(const struct cluster *k, const struct host *h)
{
	struct launch_place p = cluster_place(k, h);
	arena_auto a = { 0 };
	char **argv = launch_argv(&p, &a);
	json_t *words = json_array();

	for (size_t n = 0; argv[n]; n++)
		json_array_append_new(words, json_string(argv[n]));
	return json_pack("{s:s, s:i, s:o}", "host", h->name, "workers", (int)h->nworker, "command", words);
}

json_t *cluster_plan_json(const struct cluster *k)
{
	buf_auto place = BUF_INIT;
	json_t *hosts = json_array(), *all;

	for (size_t i = 0; i < k->hosts.n; i++)
		json_array_append_new(hosts, host_json(k, &k->hosts.host[i]));
	all = json_pack("{s:s, s:s, s:i, s:b, s:s, s:s, s:o}", "mode", mode_of(k), "why", why_of(k),
		"processes", k->external.n ? (int)k->joined.join.size : 1, "encrypt", k->wish.encrypt,
		"shard", shard_word[k->wish.shard], "lost", lost_of(k), "hosts", hosts);
	if (k->mpi)
		json_object_set_new(all, "messages", json_string("mpi"));
	if (k->groups.nrank)
		json_object_set_new(all, "group_ranks", json_integer(k->groups.nrank));
	if (k->external.n) {
		rank_0(k, &place);
		json_object_set_new(all, "rank_0", json_string(place.data));
	}
	return all;
}
