/* SPDX-License-Identifier: Apache-2.0
 * Finds the rank of this process in its environment; rank 0 gets workers, the others become workers. */
#include "cli/hosts/joined.h"

#include <string.h>

#include "cli/hosts/worker_start.h"
#include "cli/job/named_model.h"
#include "runtime/net/comm/mpi_load.h"
#include "runtime/net/launch/connect.h"
#include "runtime/net/launch/rendezvous.h"

const char *wished_word(const struct options *o, enum option_id id, const struct config *config,
	enum key_id key)
{
	if (o->given[id])
		return o->value[id];
	return config ? config_text(config, key) : NULL;
}

uint64_t wished_number(const struct options *o, enum option_id id, const struct config *config,
	enum key_id key)
{
	if (config && !o->given[id])
		return (uint64_t)config_int(config, key);
	return o->value[id] ? options_count(o, id) : 0;
}

int joined_find(struct cli *c, struct join *out)
{
	const struct options *o = &c->options;
	struct err e;

	*out = (struct join){ .mode = JOIN_NONE };
	if (o->given[OPT_HOSTS] || o->given[OPT_HOSTFILE] || !o->value[OPT_ATTACH] || !strcmp(o->value[OPT_ATTACH], "off"))
		return 0;
	return join_find(out, &e) ? cli_fail(c, &e) : 0;
}

static const char *key_file_of(const struct options *o, const struct config *config)
{
	if (o->given[OPT_KEY_FILE])
		return o->value[OPT_KEY_FILE];
	return config && config_has(config, KEY_CLUSTER_KEY_FILE) ? config_path(config, config_text(config, KEY_CLUSTER_KEY_FILE)) : NULL;
}

int joined_open(struct cli *c, const struct join *a, const struct config *config, const char *folder, struct joined *out)
{
	const char *file = key_file_of(&c->options, config);
	struct err e;

	*out = (struct joined){ .join = *a,
		.seconds = (double)wished_number(&c->options, OPT_WAIT, config, KEY_CLUSTER_WAIT) };
	/* Ranks of one job are started with the same words. */
	struct sha256 h;

	sha256_init(&h);
	for (int i = 1; i < c->argc; i++)
		sha256_add(&h, c->argv[i], strlen(c->argv[i]) + 1);
	sha256_end(&h, out->words);
	/* What the environment says of the job alike to all of its processes. */
	const char *name = join_row(a->mode)->name;
	buf_auto b = BUF_INIT;

	buf_printf(&b, "qcnn job\n%s\n%s\n%u\n%u\n", name, a->job, a->size, a->port);
	sha256_of(b.data, b.len, out->job);
	if (file)
		out->key = crypto_start() ? crypto_secret_new(CRYPTO_KEY) : NULL;
	if (file && (out->key ? key_file_read(file, out->key, &e) : err_set(&e, -ERR_CONFIG, "no memory for a key")))
		return cli_fail(c, &e);
	if (!file || !*a->host)
		rendezvous_path(folder, a->job, &out->rendezvous);
	return 0;
}

void joined_release(struct joined *a)
{
	crypto_secret_free(a->key, CRYPTO_KEY);
	a->key = NULL;
	buf_release(&a->rendezvous);
}

bool joined_by_mpi(const struct options *o, const struct config *config)
{
	const char *word = wished_word(o, OPT_TRANSPORT, config, KEY_CLUSTER_TRANSPORT);

	return word && !strcmp(word, "mpi");
}

int joined_check_mpi(const struct options *o, const struct config *config, struct err *e)
{
	if (!joined_by_mpi(o, config))
		return 0;
	if (!o->given[OPT_RANKS])
		return err_set(e, -ERR_USAGE,
			"--transport=mpi (cluster.transport: mpi) is for processes that hold each state together: give --ranks");
	if (o->given[OPT_ENCRYPT] && strcmp(o->value[OPT_ENCRYPT], "off"))
		return err_set(e, -ERR_USAGE,
			"MPI does not encrypt what it sends: leave out --encrypt, or --transport=mpi");
	return mpi_check(e);
}

/* ---- the other ranks ---- */

struct search {
	const struct joined *a;
	struct rendezvous *rendezvous;
	bool connected;
};

static int find(void *ctx, struct wire_boot *out, struct err *e)
{
	struct search *s = ctx;
	const struct joined *a = s->a;
	const char *why;

	*out = (struct wire_boot){ .version = WIRE_VERSION, .rank = a->join.rank };
	memcpy(out->job, a->job, sizeof out->job);
	if (a->key)
		memcpy(out->key, a->key, sizeof out->key);
	if (a->rendezvous.len) {
		int code = rendezvous_read(a->rendezvous.data, s->rendezvous, e);
		if (code)
			return code;
		if (!a->key && !s->rendezvous->has_key)
			return err_set(e, -ERR_UNREACHABLE, "%s holds no key: all ranks need the same --key-file", a->rendezvous.data);
		if (!a->key)
			memcpy(out->key, s->rendezvous->key, sizeof out->key);
		memcpy(out->job, s->rendezvous->job, sizeof out->job);
		out->naddress = s->rendezvous->naddress;
		memcpy(out->address, s->rendezvous->address, sizeof out->address);
	}
	if (!*a->join.host)
		return 0;
	out->naddress = 0;
	if (connect_resolve(a->join.host, a->join.port, out, &why))
		return err_set(e, -ERR_UNREACHABLE, "the host of rank 0, %s, is not known: %s",
			a->join.host, why);
	return 0;
}

/* The file was that of this job: its words count. */
static int found(void *ctx, struct err *e)
{
	struct search *s = ctx;

	s->connected = true;
	if (s->a->rendezvous.len && memcmp(s->rendezvous->words, s->a->words, sizeof s->a->words))
		return err_set(e, -ERR_CONFIG,
			"it was started with other arguments than rank "
			"0; all processes of a job need the same ones, and --attach=off makes each a job of its own");
	stop_leave_to_control();
	return 0;
}

static int work(struct cli *c, const struct joined *a)
{
	struct search s = { .a = a, .rendezvous = crypto_start() ? crypto_secret_new(sizeof *s.rendezvous) : NULL };
	const struct worker_finder f = { find, found, &s, a->seconds };
	struct err e;
	int code = s.rendezvous ? worker_start(&f, a->join.local, NULL, &e) : err_set(&e, -ERR_CONFIG, "no memory for a key");

	crypto_secret_free(s.rendezvous, sizeof *s.rendezvous);
	if (code && !s.connected) {
		err_prefix(&e, "rank %u of %u", a->join.rank, a->join.size);
		return cli_fail(c, &e);
	}
	return err_exit_status(code);        /* rank 0 has said why */
}

/* Rank 0 says what is true on all hosts: 0, or the status. */
static int check_mpi(struct cli *c, const struct join *a, const struct config *config)
{
	struct err e;
	int code = joined_check_mpi(&c->options, config, &e);

	if (!code)
		return 0;
	if (code == -ERR_USAGE || a->local == a->size)
		return err_exit_status(code);
	err_prefix(&e, "rank %u of %u", a->rank, a->size);
	return cli_fail(c, &e);
}

static int open_and_work(struct cli *c, const struct join *a, const char *path, const char *weights)
{
	struct config_change change[OPTIONS_LIST_MAX];
	unsigned nchange = path ? config_changes(&c->options, change) : 0;
	struct diags *d = diags_new(source_set_new());
	struct config *config = path ? config_open(path, change, nchange, d, NULL) : NULL;
	buf_auto folder = BUF_INIT;
	struct joined all;
	int status = err_exit_status(-ERR_CONFIG);   /* what is wrong with the configuration rank 0 says */
	int code = check_mpi(c, a, config && !diags_errors(d) ? config : NULL);

	if (config && c->config_folder)
		config_of_run(config, c->config_folder);
	if (code)
		status = code;
	else if (weights)
		path_folder(weights, &folder);
	else if (config && !diags_errors(d))
		buf_str(&folder, config_text(config, KEY_LOG_DIR));
	if (folder.len) {
		status = joined_open(c, a, config, folder.data, &all);
		if (!status)
			status = work(c, &all);
		joined_release(&all);
	}
	config_free(config);
	diags_free_all(d);
	return status;
}

/* The processes are the ranks of one group or several, and all of them find it if they cannot be. */
static int check_ranks(struct cli *c, const struct join *a)
{
	unsigned nrank = (unsigned)options_count_or(&c->options, OPT_RANKS, 0);

	if (!nrank || !a->mode || nrank == a->size || (nrank > 1 && a->size % nrank == 0))
		return 0;
	if (a->rank)
		return err_exit_status(-ERR_USAGE);
	return cli_usage(c,
		"--ranks is %u, and %s has started %u processes (%s): each holds a part of the states, so start as many, or several "
		"times as many for several groups; with --attach=off one process starts its ranks itself",
		nrank, join_row(a->mode)->name, a->size, a->why);
}

bool joined_work(struct cli *c, const char *config_path, const char *weights, int *status)
{
	struct join a;

	*status = joined_find(c, &a);
	if (!*status)
		*status = check_ranks(c, &a);
	if (*status)
		return true;
	if (!a.mode || !a.rank)
		return false;
	*status = open_and_work(c, &a, config_path, weights);
	return true;
}
