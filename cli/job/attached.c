/* SPDX-License-Identifier: Apache-2.0
 * From the environment to a rank's part. */
#include "config.h"
#include "cli/job/attached.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/config/changes.h"
#include "cli/job/worker_start.h"
#include "runtime/log/run.h"
#include "runtime/net/launch/meeting.h"

int attached_find(struct cli *c, struct attach *out)
{
	const struct options *o = &c->options;
	struct err e;

	*out = (struct attach){ .mode = ATTACH_NONE };
	if (o->given[OPT_HOSTS] || o->given[OPT_HOSTFILE] || !o->value[OPT_ATTACH] || !strcmp(o->value[OPT_ATTACH], "off"))
		return 0;
	return attach_find(out, &e) ? cli_fail(c, &e) : 0;
}

/* Ranks of one job are started with the same words. */
static void hash_words(const struct cli *c, uint8_t out[SHA256_BYTES])
{
	struct sha256 h;

	sha256_init(&h);
	for (int i = 1; i < c->argc; i++)
		sha256_add(&h, c->argv[i], strlen(c->argv[i]) + 1);
	sha256_end(&h, out);
}

/* What the environment says of the job alike to all of its processes. */
static void hash_job(const struct attach *a, uint8_t out[SHA256_BYTES])
{
	const char *name = attach_row(a->mode)->name;
	struct buf b = BUF_INIT;

	buf_printf(&b, "qcnn job\n%s\n%s\n%u\n%u\n", name, a->job, a->size, a->port);
	sha256_of(b.data, b.len, out);
	buf_release(&b);
}

static const char *key_file_of(const struct options *o, const struct config *config)
{
	if (o->given[OPT_KEY_FILE])
		return o->value[OPT_KEY_FILE];
	return config && config_has(config, KEY_CLUSTER_KEY_FILE) ? config_path(config, config_text(config, KEY_CLUSTER_KEY_FILE)) : NULL;
}

static double seconds_of(const struct options *o, const struct config *config)
{
	return o->given[OPT_WAIT] || !config ? (double)options_count(o, OPT_WAIT) : (double)config_int(config, KEY_CLUSTER_WAIT);
}

int attached_open(struct cli *c, const struct attach *a, const struct config *config, const char *folder, struct attached *out)
{
	const char *file = key_file_of(&c->options, config);
	struct err e;

	*out = (struct attached){ .attach = *a, .seconds = seconds_of(&c->options, config) };
	hash_words(c, out->words);
	hash_job(a, out->job);
	if (file)
		out->key = crypto_start() ? crypto_secret_new(CRYPTO_KEY) : NULL;
	if (file && (out->key ? key_file_read(file, out->key, &e) : err_set(&e, -ERR_CONFIG, "no memory for a key")))
		return cli_fail(c, &e);
	if (!file || !*a->host)
		meeting_path(folder, a->job, &out->meeting);
	return 0;
}

void attached_release(struct attached *a)
{
	crypto_secret_free(a->key, CRYPTO_KEY);
	a->key = NULL;
	buf_release(&a->meeting);
}

void attached_guests(const struct attached *a, struct coordinator_guests *g)
{
	*g = (struct coordinator_guests){ .n = a->attach.size - 1, .share = a->attach.local, .near = a->attach.local == a->attach.size,
		.host = a->attach.host, .port = a->attach.port, .key = a->key, .job = a->meeting.len ? NULL : a->job, .words = a->words,
		.meeting = a->meeting.len ? a->meeting.data : NULL, .seconds = a->seconds };
}

/* ---- the other ranks ---- */

struct search { const struct attached *a; struct meeting *meeting; bool met; };

/* Numeric addresses of the name that the environment gave. */
static int resolve(const struct attach *a, struct wire_boot *boot, struct err *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG }, *found = NULL;
	int status = getaddrinfo(a->host, NULL, &hints, &found);
	char text[INET6_ADDRSTRLEN + 1];

	if (status)
		return err_set(e, -ERR_UNREACHABLE, "the host of rank 0, %s, is not known: %s", a->host, gai_strerror(status));
	for (struct addrinfo *i = found; i && boot->naddress < WIRE_ADDRESSES_MAX; i = i->ai_next)
		if (!getnameinfo(i->ai_addr, i->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST))
			snprintf(boot->address[boot->naddress++], sizeof boot->address[0], i->ai_family == AF_INET6 ? "[%s]:%u" : "%s:%u",
				text, a->port);
	freeaddrinfo(found);
	return 0;
}

static int find(void *ctx, struct wire_boot *out, struct err *e)
{
	struct search *s = ctx;
	const struct attached *a = s->a;
	int code;

	*out = (struct wire_boot){ .version = WIRE_VERSION, .rank = a->attach.rank };
	memcpy(out->job, a->job, sizeof out->job);
	if (a->key)
		memcpy(out->key, a->key, sizeof out->key);
	if (a->meeting.len) {
		code = meeting_read(a->meeting.data, s->meeting, e);
		if (code)
			return code;
		if (!a->key && !s->meeting->has_key)
			return err_set(e, -ERR_UNREACHABLE, "%s holds no key: all ranks need the same --key-file", a->meeting.data);
		if (!a->key)
			memcpy(out->key, s->meeting->key, sizeof out->key);
		memcpy(out->job, s->meeting->job, sizeof out->job);
		out->naddress = s->meeting->naddress;
		memcpy(out->address, s->meeting->address, sizeof out->address);
	}
	if (*a->attach.host) {
		out->naddress = 0;
		return resolve(&a->attach, out, e);
	}
	return 0;
}

/* The file was that of this job: its words count. */
static int found(void *ctx, struct err *e)
{
	struct search *s = ctx;

	s->met = true;
	if (s->a->meeting.len && memcmp(s->meeting->words, s->a->words, sizeof s->a->words))
		return err_set(e, -ERR_CONFIG, "it was started with other words than rank 0; all processes of one job need the same, "
			"and --attach=off makes each a job of its own");
	stop_leave_to_leash();
	return 0;
}

static int work(struct cli *c, const struct attached *a)
{
	struct search s = { .a = a, .meeting = crypto_start() ? crypto_secret_new(sizeof *s.meeting) : NULL };
	const struct worker_finder f = { find, found, &s, a->seconds };
	struct err e;
	int code = s.meeting ? worker_start(&f, a->attach.local, NULL, &e) : err_set(&e, -ERR_CONFIG, "no memory for a key");

	crypto_secret_free(s.meeting, sizeof *s.meeting);
	if (code && !s.met) {
		err_prefix(&e, "rank %u of %u", a->attach.rank, a->attach.size);
		return cli_fail(c, &e);
	}
	return err_exit_status(code);        /* rank 0 has said why */
}

void attached_folder(const char *path, struct buf *out)
{
	const char *slash = strrchr(path, '/');

	if (slash)
		buf_add(out, path, slash == path ? 1 : (size_t)(slash - path));
	else
		buf_str(out, ".");
}

static int open_and_work(struct cli *c, const struct attach *a, const char *path, const char *weights)
{
	struct config_change change[OPTIONS_LIST_MAX];
	unsigned nchange = path ? changes_of(&c->options, change) : 0;
	struct source_set *sources = source_set_new();
	struct diags *d = diags_new(sources);
	struct config *config = path ? config_open(path, change, nchange, d, NULL) : NULL;
	struct buf folder = BUF_INIT;
	struct attached all;
	int status = err_exit_status(-ERR_CONFIG);   /* what is wrong with the configuration rank 0 says */

	if (weights)
		attached_folder(weights, &folder);
	else if (config && !diags_errors(d))
		buf_str(&folder, config_text(config, KEY_LOG_DIR));
	if (folder.len) {
		status = attached_open(c, a, config, folder.data, &all);
		if (!status)
			status = work(c, &all);
		attached_release(&all);
	}
	buf_release(&folder);
	config_free(config);
	diags_free(d);
	source_set_free(sources);
	return status;
}

bool attached_work(struct cli *c, const char *config_path, const char *weights, int *status)
{
	struct attach a;

	*status = attached_find(c, &a);
	if (*status)
		return true;
	if (!a.mode || !a.rank)
		return false;
	*status = open_and_work(c, &a, config_path, weights);
	return true;
}
