/* SPDX-License-Identifier: Apache-2.0
 * Starts a coordinator and its workers as options and configuration say. */
#include "cli/hosts/cluster.h"
#include "cli/hosts/cluster_files.h"
#include "cli/hosts/joined_groups.h"
#include "cli/hosts/rank_places.h"

#include <string.h>

#include "runtime/base/system/clock.h"
#include "runtime/exec/statevector/plan/plan.h"
#include "runtime/log/run.h"
#include "runtime/net/launch/allocation.h"
#include "runtime/train/remote.h"

/* ---- what is wished for ---- */

static int hosts_of_config(const struct config *config, struct hosts *h, struct err *e)
{
	const struct ynode *v = config_has(config, KEY_CLUSTER_HOSTS) ? config_node(config, KEY_CLUSTER_HOSTS) : NULL;
	int code = 0;

	if (v && v->kind != YNODE_LIST)
		return hosts_add_list(h, v->text, e);
	for (uint32_t i = 0; v && !code && i < v->n; i++)
		code = hosts_add_list(h, v->entry[i].value->text, e);
	if (!code && config_has(config, KEY_CLUSTER_HOSTFILE))
		code = hosts_add_file(h, config_path(config, config_text(config, KEY_CLUSTER_HOSTFILE)), e);
	return code;
}

static int hosts_of(const struct options *o, const struct config *config, struct hosts *h, struct err *e)
{
	int code = 0;

	if (!o->given[OPT_HOSTS] && !o->given[OPT_HOSTFILE])
		return config ? hosts_of_config(config, h, e) : 0;
	if (o->given[OPT_HOSTS])
		code = hosts_add_list(h, o->value[OPT_HOSTS], e);
	if (!code && o->given[OPT_HOSTFILE])
		code = hosts_add_file(h, o->value[OPT_HOSTFILE], e);
	return code;
}

/* Without a list of hosts: those of the batch job, where it has several. */
static int hosts_of_job(struct cluster *k, struct err *e)
{
	struct allocation a;
	int code = allocation_find(&a, e);

	if (code || !a.hosts.n)
		return code;
	k->hosts = a.hosts;
	k->why = a.why;
	k->wish.launcher = a.launcher;
	k->wish.agent = a.agent;
	cli_note(k->cli, "computing on the %zu hosts of this %s job; --hosts=local stays on this one", a.hosts.n, a.system);
	return 0;
}

/* What these hold of states. */
static void parts_text(const struct cluster *k, struct buf *out)
{
	if (k->groups.nrank)
		buf_printf(out, ", %u groups of %u which each hold states together%s", k->groups.n,
			k->groups.nrank, k->mpi ? " by MPI" : "");
	else if (k->nrank)
		buf_str(out,
			k->mpi ? ", which hold each state together by MPI"
			       : ", and each holds a part of the states");
}

/* Processes that were started together: this is the first, and a worker of its own is beside it, unless it is a rank. */
static int wish_joined(struct cluster *k, const struct config *config, const char *folder)
{
	buf_auto parts = BUF_INIT;
	struct join a;
	struct err e;
	int status = joined_find(k->cli, &a);

	if (status || !a.mode)
		return status;
	status = joined_open(k->cli, &a, config, folder, &k->joined);
	if (status)
		return status;
	if (k->joined.rendezvous.len && run_make_parents(k->joined.rendezvous.data, &e))
		return cli_fail(k->cli, &e);
	const struct joined *j = &k->joined;
	bool meet_by_file = j->rendezvous.len > 0;

	k->external = (struct external_workers){ .n = a.size - 1,
		.share = a.local,
		.on_this_host = a.local == a.size,
		.host = j->join.host,
		.port = a.port,
		.key = j->key,
		.job = meet_by_file ? NULL : j->job,
		.words = j->words,
		.rendezvous = meet_by_file ? j->rendezvous.data : NULL,
		.seconds = j->seconds };
	k->why = k->joined.join.why;
	if (k->nrank && a.size > k->nrank) {
		k->groups = (struct worker_groups){ .nrank = k->nrank, .n = a.size / k->nrank };
		k->nrank = 0;
	}
	parts_text(k, &parts);
	cli_note(k->cli,
		"%u processes that %s has started form one job%s (%s); --attach=off makes each a job of its own",
		a.size, join_row(a.mode)->name, parts.len ? parts.data : "", a.why);
	if (k->nrank)
		return 0;
	return hosts_add(&k->hosts, "local", 5, 1, &e) ? cli_fail(k->cli, &e) : 0;
}

static const char *why_hosts(const struct options *o, const struct config *config)
{
	if (o->given[OPT_HOSTS] || o->given[OPT_HOSTFILE])
		return o->given[OPT_HOSTS] ? "--hosts" : "--hostfile";
	return config_has(config, KEY_CLUSTER_HOSTS) ? "cluster.hosts" : "cluster.hostfile";
}

static enum shard shard_of(const char *word)
{
	return !strcmp(word, "file") ? SHARD_FILE : !strcmp(word, "data") ? SHARD_DATA : !strcmp(word, "auto") ? SHARD_AUTO : SHARD_OFF;
}

/* Of workers, and of ranks on GPUs. */
static void set_transport(struct cluster *k, const char *word)
{
	bool any = !word || !strcmp(word, "auto"), nccl = word && !strcmp(word, "nccl");

	k->wish.transport = any || nccl  ? TRANSPORT_AUTO
		: !strcmp(word, "stdio") ? TRANSPORT_STDIO
					 : TRANSPORT_TCP;
	k->link = any ? RANK_LINK_AUTO : nccl ? RANK_LINK_NCCL : RANK_LINK_HOST;
}

/* Would starting workers run what the configuration names?  Workers on this machine are this program itself. */
static bool is_of_config(const struct cluster *k, const struct config *config)
{
	const struct options *o = &k->cli->options;
	bool hosts = !o->given[OPT_HOSTS] && !o->given[OPT_HOSTFILE];

	return config && cluster_is_remote(k)
		&& ((hosts
			    && (config_has(config, KEY_CLUSTER_HOSTS)
				    || config_has(config, KEY_CLUSTER_HOSTFILE)))
			|| (!o->given[OPT_LAUNCHER] && config_has(config, KEY_CLUSTER_LAUNCHER)
				&& k->wish.launcher == LAUNCHER_EXEC)
			|| (!o->given[OPT_REMOTE_PATH] && config_has(config, KEY_CLUSTER_REMOTE_PATH)));
}

bool cluster_is_remote(const struct cluster *k)
{
	bool remote = false;

	for (size_t i = 0; i < k->hosts.n; i++)
		remote |= !host_is_local(&k->hosts.host[i]);
	return remote;
}

/* Several times as many processes as ranks, or none on this machine: as many groups, each of which is a worker. */
static int cut_groups(struct cluster *k)
{
	unsigned n = hosts_workers(&k->hosts);
	bool here = false;
	struct err e;

	for (size_t i = 0; i < k->hosts.n; i++)
		here |= is_this_machine(&k->hosts.host[i]);
	if (k->nrank < 2 || !n || (n % k->nrank && k->nrank % n) || (n <= k->nrank && here))
		return 0;
	if (worker_groups_cut(&k->hosts, k->nrank, &k->wish, k->link, &k->groups, &e))
		return cli_fail(k->cli, &e);
	k->nrank = 0;
	return 0;
}

/* Ranks connect to free ports of each other, of this process too if it is one. */
static int check_port(const struct cluster *k)
{
	for (size_t i = 0; i < k->hosts.n && k->nrank > 1 && k->wish.port; i++)
		if (!is_this_machine(&k->hosts.host[i]))
			return cli_usage(k->cli,
				"with --ranks, processes of other hosts connect to this one at free ports, not at --port "
				"(cluster.port): leave it out");
	return 0;
}

/* A dry run tests the hosts, and bench measures all of them. */
static unsigned least_of(const struct cli *c, const struct config *config)
{
	const struct options *o = &c->options;

	if (c->command->bit == COMMAND_BENCH || (o->given[OPT_DRY_RUN] && !o->given[OPT_MIN_WORKERS]))
		return 0;
	return (unsigned)wished_number(o, OPT_MIN_WORKERS, config, KEY_CLUSTER_MIN_WORKERS);
}

int cluster_wish(struct cli *c, const struct config *config, const char *folder, struct cluster *out)
{
	const struct options *o = &c->options;
	const char *launcher = wished_word(o, OPT_LAUNCHER, config, KEY_CLUSTER_LAUNCHER),
		   *agreement, *encrypt;
	struct err e;

	*out = (struct cluster){ .cli = c,
		.wish = { .hosts = &out->hosts, .say = cluster_say, .ctx = out } };
	out->nrank = (unsigned)options_count_or(o, OPT_RANKS, 0);
	out->mpi = joined_by_mpi(o, config);
	if (joined_check_mpi(o, config, &e))
		return cli_fail(c, &e);
	int status = wish_joined(out, config, folder);
	if (status)
		return status;
	if (out->mpi && !out->external.n)
		return cli_usage(c,
			"--transport=mpi is for several processes that mpirun or srun has started together");
	if (!out->external.n && (hosts_of(o, config, &out->hosts, &e) || (!out->hosts.n && hosts_of_job(out, &e))))
		return cli_fail(c, &e);
	if (out->hosts.n && !out->why)
		out->why = why_hosts(o, config);
	if (o->given[OPT_LAUNCHER] || !out->wish.launcher)
		out->wish.launcher = launcher_find(launcher ? launcher : "ssh", &out->wish.agent);
	if (!out->wish.launcher)
		return cli_usage(c,
			"no launcher is called `%s`; there are local, ssh, srun and exec:WORDS, for a program exec:PROGRAM",
			launcher);
	out->wish.program = wished_word(o, OPT_REMOTE_PATH, config, KEY_CLUSTER_REMOTE_PATH);
	out->wish.iface = wished_word(o, OPT_IFACE, config, KEY_CLUSTER_IFACE);
	out->wish.port = (uint16_t)wished_number(o, OPT_PORT, config, KEY_CLUSTER_PORT);
	set_transport(out, wished_word(o, OPT_TRANSPORT, config, KEY_CLUSTER_TRANSPORT));
	if (out->link == RANK_LINK_NCCL && !out->nrank && !out->groups.nrank)
		return cli_usage(c,
			"--transport=nccl (cluster.transport: nccl) is for processes that hold each state together: give --ranks");
	out->wish.push = o->given[OPT_PUSH] || (config && config_bool(config, KEY_CLUSTER_PUSH));
	/* The option without a value means on. */
	encrypt = wished_word(o, OPT_ENCRYPT, config, KEY_CLUSTER_ENCRYPT);
	out->wish.encrypt = !encrypt || (strcmp(encrypt, "off") && strcmp(encrypt, "false"));
	if (config)
		out->wish.shard = shard_of(wished_word(o, OPT_SHARD, config, KEY_CLUSTER_SHARD));
	agreement = wished_word(o, OPT_HOSTS_ISA, config, KEY_CLUSTER_ISA);
	out->same_isa = agreement && !strcmp(agreement, "same");
	out->wish.start_s =
		(double)wished_number(o, OPT_START_SECONDS, config, KEY_CLUSTER_START_SECONDS);
	out->wish.restarts =
		(unsigned)wished_number(o, OPT_REPLACEMENTS, config, KEY_CLUSTER_REPLACEMENTS);
	out->wish.least = least_of(c, config);
	out->of_config = is_of_config(out, config);
	status = cut_groups(out);
	return status ? status : check_port(out);
}

struct launch_place cluster_place(const struct cluster *k, const struct host *h)
{
	bool local = host_is_local(h);

	return (struct launch_place){ local ? LAUNCHER_LOCAL : k->wish.launcher, k->wish.agent,
		h->name, local ? NULL : k->wish.program, !local && k->wish.push, k->nrank > 0 };
}

/* ---- workers ---- */

void cluster_say(void *ctx, const char *worker, const char *line)
{
	const struct cluster *k = ctx;

	if (worker)
		cli_relay(k->cli, worker, line);
	else
		cli_note(k->cli, "%s", line);
}

/* Kernels that all have: those that were asked for, or the best common ones. */
static int agree(struct cluster *k, const struct cluster_work *w, struct err *e)
{
	const struct target *wanted = w->exec->target, *t, *common = NULL;
	const char *worker = "", *best = "", *other, *none;

	if (coordinator_has_kernels(k->coordinator, wanted->kernels, &worker, &best))
		return 0;
	if (w->any_device && target_has_memory(wanted)) {
		cli_note(k->cli, "%s cannot compute on the device %s: all workers use the processor",
			worker, wanted->device);
		w->exec->target = target_find(NULL, NULL);
		return agree(k, w, e);
	}
	if (!target_of(wanted->device, 1))
		return err_set(e, -ERR_PROTOCOL,
			"%s cannot compute on the device %s, and all workers of a job use the same: leave the host out, or set run.device to cpu",
			worker, wanted->device);
	for (unsigned i = 0; (t = target_of(wanted->device, i)) && t != wanted; i++)
		if (!target_obstacle(t)
			&& coordinator_has_kernels(k->coordinator, t->kernels, &other, &none))
			common = t;
	if (!common || !w->any_isa || k->same_isa)
		return err_set(e, -ERR_PROTOCOL, "%s has no %s; its best instruction set is %s: set run.isa to that%s, or leave the host out",
			worker, wanted->kernels, best, w->any_isa ? ", --hosts-isa to common" : "");
	w->exec->target = common;
	cli_note(k->cli, "all workers use %s, the best that %s has", common->kernels, worker);
	return 0;
}

/* Large states, and a device that this machine lacks, are tested among the workers alone. */
static int own_test(const struct cluster_work *w, struct wire_ready *own, bool *done, struct err *e)
{
	struct evaluator_options o = *w->exec;
	struct evaluator *ev = NULL;

	*done = (program_nwire(w->program) <= PLAN_STATE_WIRES_MAX || o.method == METHOD_TENSOR)
		&& !target_obstacle(w->exec->target);
	if (!*done)
		return 0;
	o.nthread = 1;
	o.optimisations = remote_optimisations(&o);
	int code = evaluator_new(w->program, &o, &ev, e);
	if (!code)
		code = remote_test(ev, o.gradient != GRADIENT_NONE, own, e);
	evaluator_free(ev);
	return code;
}

static int give_job(struct cluster *k, const struct cluster_work *w, const struct cluster_files *files, struct err *e)
{
	buf_auto program = BUF_INIT;
	struct wire_ready own;
	struct wire_job job;
	bool done;
	int code = own_test(w, &own, &done, e);

	if (!code) {
		remote_job(w->program, w->exec, w->loss, w->nlabel, &program, &job);
		job.threads = w->threads;
		memcpy(job.file, files->file, sizeof job.file);
		job.nfile = files->n;
		code = coordinator_job(k->coordinator, &job, done ? &own : NULL, e);
	}
	return code;
}

/* Ranks of groups on this machine; 0: not known. */
static unsigned ranks_here(const struct cluster *k)
{
	unsigned n = k->groups.n * k->groups.nrank, nlocal = 0;

	for (unsigned i = 0; i < n && k->external.n; i++)
		nlocal += coordinator_rank(k->coordinator, i).on_this_host;
	return k->external.n ? nlocal : cluster_is_remote(k) ? 0 : n;
}

static void say_ready(const struct cluster *k, double seconds)
{
	struct coordinator_worker w;
	unsigned n = 0, nthread = 0, nall = 0;

	for (; coordinator_worker(k->coordinator, nall, &w); nall++) {
		if (!w.nthread) /* it has not come yet */
			continue;
		cli_detail(k->cli, "worker %s uses %u thread%s", w.name, w.nthread, w.nthread == 1 ? "" : "s");
		nthread = n++ ? nthread : w.nthread;
	}
	if (cluster_joined_groups(k))
		cli_note(k->cli, "%u groups of %u ranks, ready after %.2f s", n, k->groups.nrank,
			seconds);
	else if (k->external.n)
		cli_note(k->cli, "%u workers, ready after %.2f s", n, seconds);
	else if (n < nall)
		cli_note(k->cli, "%u of %u %s, ready after %.2f s", n, nall,
			k->groups.nrank ? "groups of ranks" : "workers", seconds);
	else if (k->groups.nrank)
		cli_note(k->cli,
			"%u groups of %u ranks, which begin on %zu host%s, ready after %.2f s", n,
			k->groups.nrank, k->hosts.n, k->hosts.n == 1 ? "" : "s", seconds);
	else
		cli_note(k->cli, "%u worker%s on %zu host%s, ready after %.2f s", n, n == 1 ? "" : "s", k->hosts.n,
			k->hosts.n == 1 ? "" : "s", seconds);
	if (k->groups.nrank && n)
		ranks_check_processors(k->cli, ranks_here(k), nthread);
}

/* The key of a group goes through these connections: they are always encrypted where there is one. */
static int start_workers(struct cluster *k, struct err *e)
{
	struct coordinator_options o = k->wish;

	o.encrypt |= k->nrank || cluster_joined_groups(k);
	o.least = k->nrank || k->external.n ? 0 : o.least;
	o.nrank = k->groups.nrank;
	o.places = k->groups.places;
	o.external = k->external.n ? &k->external : NULL;
	return coordinator_new(&o, &k->coordinator, e);
}

int cluster_meet(struct cluster *k, struct err *e)
{
	double begin = clock_seconds();
	int code = k->coordinator ? 0 : start_workers(k, e);

	if (!code)
		cli_detail(k->cli, "%u ranks have come after %.2f s", k->nrank,
			clock_seconds() - begin);
	return code;
}

int cluster_start(struct cluster *k, const struct cluster_work *w, struct pool **pool)
{
	double begin = clock_seconds();
	bool first = !k->coordinator;
	struct cluster_work mine = *w;       /* workers evaluate what the evaluator here does */
	struct cluster_files files;
	arena_auto arena = { 0 };
	struct err e;

	*pool = NULL;
	if (!k->hosts.n || k->nrank)
		return 0;
	cluster_files_open(&files, k->wish.shard == SHARD_FILE ? w->samples : NULL);
	/* Processes that were started together wait for each other, and learn that it ends. */
	int code = cluster_joined_groups(k) ? 0 : ranks_check(k->groups.nrank, w->exec, &e);
	if (!code && first)
		code = start_workers(k, &e);
	if (!code && cluster_joined_groups(k))
		code = ranks_check(k->groups.nrank, w->exec, &e);
	if (!code && first && cluster_joined_groups(k))
		code = joined_groups_open(k, w->threads, &e);
	if (!code)
		code = agree(k, w, &e);
	if (!code) {
		mine.program = evaluator_program(w->program, w->exec, &arena);
		code = give_job(k, &mine, &files, &e);
	}
	cluster_files_release(&files);
	if (code) {
		cluster_end(k, err_exit_status(code));
		return cli_fail(k->cli, &e);
	}
	if (first)
		say_ready(k, clock_seconds() - begin);
	*pool = coordinator_pool(k->coordinator);
	return 0;
}

void cluster_end(struct cluster *k, int status)
{
	if (k->coordinator) {
		struct coordinator_worker w;

		for (unsigned n = 0; coordinator_worker(k->coordinator, n, &w); n++)
			cli_detail(k->cli,
				"worker %s did %llu unit%s in %.3g s of computing, and got %.4g MB%s",
				w.name, (unsigned long long)w.nunit, w.nunit == 1 ? "" : "s",
				w.seconds, (double)w.nsent / 1e6, w.lost ? ", and was lost" : "");
		coordinator_ending(k->coordinator, status ? -ERR_STOPPED : 0);
	}
	coordinator_free(k->coordinator);
	k->coordinator = NULL;
	joined_release(&k->joined);
	hosts_release(&k->hosts);
	worker_groups_release(&k->groups);
}
