/* SPDX-License-Identifier: Apache-2.0
 * Reads the environment, row by row of attach.def. */
#include "runtime/net/launch/join.h"

#include <ctype.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/json.h"

static const struct join_row rows[JOIN_COUNT] = {
#define JOIN(id, name, rank, size, needs, local, job, step, text) [JOIN_##id] = { name, rank, size, needs, local, job, step, text },
#include "runtime/net/launch/join.def"
#undef JOIN
};

const struct join_row *join_row(enum join_mode m) { return &rows[m]; }

/* ---- numbers ---- */

static const char *value_of(const char *name)
{
	const char *text = name ? getenv(name) : NULL;

	return text && *text ? text : NULL;
}

static int number_of(const char *name, unsigned low, unsigned high, unsigned *out, struct err *e)
{
	const char *text = value_of(name);
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || v < low || v > high)
		return err_set(e, -ERR_CONFIG,
			"%s is `%.80s`, not a number from %u to %u; --attach=off ignores it", name,
			text, low, high);
	*out = (unsigned)v;
	return 0;
}

/* The first number of "4(x2),3". */
static unsigned leading_number(const char *name)
{
	const char *text = value_of(name);
	unsigned long n = text ? strtoul(text, NULL, 10) : 0;

	return n <= JOIN_SIZE_MAX ? (unsigned)n : 0;
}

/* What may be part of a file's name. */
static void add_job(struct join *a, const char *name)
{
	const char *text = value_of(name);
	size_t n = strlen(a->job);

	if (text && n && n < JOIN_JOB_MAX)
		a->job[n++] = '.';
	for (; text && *text && n < JOIN_JOB_MAX; text++)
		a->job[n++] = isalnum((unsigned char)*text) || *text == '-' || *text == '_' ? *text : '_';
	a->job[n] = 0;
}

/* ---- addresses ---- */

bool join_first_name(const char *own, unsigned rank, char out[JOIN_NAME_MAX + 1])
{
	size_t host = strcspn(own, "."), base;
	char tail[16];
	int n = snprintf(tail, sizeof tail, "-%u", rank);

	if (host <= (size_t)n || strncmp(own + host - n, tail, (size_t)n))
		return false;
	base = host - (size_t)n;
	return (size_t)snprintf(out, JOIN_NAME_MAX + 1, "%.*s-0%s", (int)base, own, own + host) <= JOIN_NAME_MAX;
}

/* The pod's own full name, as /etc/hosts there gives it, says that of pod 0. */
static void name_of_pod(struct join *a)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_CANONNAME }, *found = NULL;
	char own[JOIN_NAME_MAX + 1] = "";

	if (gethostname(own, sizeof own - 1))
		return;
	if (!getaddrinfo(own, NULL, &hints, &found)) {
		if (found->ai_canonname)
			snprintf(own, sizeof own, "%s", found->ai_canonname);
		freeaddrinfo(found);
	}
	if (!join_first_name(own, a->rank, a->host))
		a->host[0] = 0;
}

static int address_of(struct join *a, struct err *e)
{
	const char *host = value_of("MASTER_ADDR");
	unsigned port = JOIN_PORT;

	if (host && strlen(host) > JOIN_NAME_MAX)
		return err_set(e, -ERR_CONFIG, "MASTER_ADDR is longer than a name can be");
	if (host)
		snprintf(a->host, sizeof a->host, "%s", host);
	else if (a->mode == JOIN_KUBERNETES)
		name_of_pod(a);
	if (value_of("MASTER_PORT") && number_of("MASTER_PORT", 1, 65535, &port, e))
		return -ERR_CONFIG;
	a->port = (uint16_t)port;
	return 0;
}

/* ---- TF_CONFIG ---- */

static int tf_fault(struct err *e, const char *what)
{
	return err_set(e, -ERR_CONFIG, "TF_CONFIG %s; --attach=off ignores it", what);
}

/* The number that digits alone give; -1: they are none, or too many for an index or a port. */
static long tf_digits(const char *text)
{
	size_t n = strlen(text);

	return n && n < 10 && strspn(text, "0123456789") == n ? strtol(text, NULL, 10) : -1;
}

/* "host:2222" of the one that leads. */
static int tf_address(struct join *a, const char *text, struct err *e)
{
	const char *colon = text ? strrchr(text, ':') : NULL;
	bool brackets = text && *text == '[';
	long port = colon ? tf_digits(colon + 1) : -1;

	if (!colon || colon - text > JOIN_NAME_MAX || colon - text <= 2 * brackets || port < 1
		|| port > 65535)
		return tf_fault(e, "names an address that is none: HOST:PORT");
	snprintf(a->host, sizeof a->host, "%.*s", (int)(colon - text - 2 * brackets), text + brackets);
	a->port = (uint16_t)port;
	return 0;
}

static int tf_read(struct join *a, const json_t *all, struct err *e)
{
	const json_t *cluster = json_object_get(all, "cluster"), *task = json_object_get(all, "task");
	const json_t *chief = json_object_get(cluster, "chief"), *worker = json_object_get(cluster, "worker");
	const char *type = json_string_value(json_object_get(task, "type"));
	const json_t *at = json_object_get(task, "index");
	json_int_t index =
		json_is_string(at) ? tf_digits(json_string_value(at)) : json_integer_value(at);
	size_t nchief = json_array_size(chief), nworker = json_array_size(worker);

	if (!type || !(json_is_integer(at) || json_is_string(at)) || nchief > 1
		|| !(nchief + nworker) || nchief + nworker > JOIN_SIZE_MAX)
		return tf_fault(e, "lacks a cluster of one chief and workers, or a task with its type and index");
	if (strcmp(type, "chief") && strcmp(type, "worker"))
		return tf_fault(e, "gives this process a role that there is none for here: the roles are chief and worker");
	if (index < 0 || (size_t)index >= (strcmp(type, "chief") ? nworker : nchief))
		return tf_fault(e, "gives this process an index that its cluster does not have");
	a->size = (unsigned)(nchief + nworker);
	a->rank = strcmp(type, "chief") ? (unsigned)(nchief + (size_t)index) : 0;
	snprintf(a->why, sizeof a->why, "TF_CONFIG says that it is %s %u of a cluster of %u", type, (unsigned)index, a->size);
	return tf_address(a, json_string_value(json_array_get(nchief ? chief : worker, 0)), e);
}

static int tf_config(struct join *a, struct err *e)
{
	const char *text = value_of("TF_CONFIG");
	struct err why;
	json_auto_t *all = json_read(text, strlen(text), &why);

	return all ? tf_read(a, all, e)
		   : err_set(e, -ERR_CONFIG,
			   "TF_CONFIG is not JSON: "
			   "%s; --attach=off ignores it",
			   why.text);
}

/* ---- rows ---- */

static bool holds(const struct join_row *r)
{
	return (!r->rank || value_of(r->rank)) && (!r->size || value_of(r->size)) && (!r->needs || value_of(r->needs));
}

static int read_row(struct join *a, const struct join_row *r, struct err *e)
{
	if (number_of(r->size, 1, JOIN_SIZE_MAX, &a->size, e) || number_of(r->rank, 0, a->size - 1, &a->rank, e))
		return -ERR_CONFIG;
	snprintf(a->why, sizeof a->why, "%s is %u, %s is %u", r->rank, a->rank, r->size, a->size);
	a->local = r->local ? leading_number(r->local) : 0;
	add_job(a, r->job);
	if (r->step)
		add_job(a, r->step);
	return address_of(a, e);
}

int join_find(struct join *out, struct err *e)
{
	int code = 0;

	*out = (struct join){ .mode = JOIN_NONE };
	for (int m = 1; m < JOIN_COUNT && !out->mode; m++)
		if (holds(&rows[m]))
			out->mode = (enum join_mode)m;
	if (out->mode)
		code = out->mode == JOIN_TF_CONFIG ? tf_config(out, e) : read_row(out, &rows[out->mode], e);
	if (code || out->size < 2)
		*out = (struct join){ .mode = JOIN_NONE };
	return code;
}
