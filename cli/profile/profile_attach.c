/* SPDX-License-Identifier: Apache-2.0
 * The other side of profile_server.c. */
#include "config.h"
#include "cli/profile/profile_attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/job/run_folder.h"
#include "runtime/base/json.h"

enum { LINE_MAX_BYTES = 4096 };
static const char RUNS[] = "runs";

/* ---- the run ---- */

static int not_running(const char *run, const char *state, struct err *e)
{
	return err_set(e, -ERR_NO_INPUT,
		"the run %.200s does not run now (%s); log.profile_steps records steps of a training from its beginning",
		run, state);
}

/* HOST:PORT, or a run on another host. */
static int elsewhere(const char *host, int len, const char *run, struct err *e)
{
	return err_set(e, -ERR_NO_INPUT,
		"a job on another host is profiled there: ssh %.*s qcnn profile --attach %.200s",
		len, host, run);
}

static int socket_of(const struct run_folder *r, struct attached *a, struct err *e)
{
	const char *path = json_string_value(json_object_get(r->record, "profile_socket"));
	const char *host =
		json_string_value(json_object_get(json_object_get(r->record, "machine"), "host"));
	char here[256] = "";

	gethostname(here, sizeof here - 1);
	if (strcmp(run_state(r), "running") && !(host && strcmp(host, here)))
		return not_running(r->path, run_state(r), e);
	if (host && strcmp(host, here))
		return elsewhere(host, (int)strnlen(host, 200), r->path, e);
	if (!path)
		return err_set(e, -ERR_NO_INPUT,
			"the run %.200s takes no profiles while it runs: its run.json names no profile_socket",
			r->path);
	buf_str(&a->folder, r->path);
	buf_str(&a->socket, path);
	return 0;
}

static int newest_running(struct attached *a, struct err *e)
{
	struct run_list l = { NULL, 0, 0 };
	int code = run_list_read(RUNS, &l, e);
	size_t k = 0;

	while (!code && k < l.n && strcmp(run_state(&l.run[k]), "running"))
		k++;
	if (!code)
		code = k < l.n ? socket_of(&l.run[k], a, e)
			       : err_set(e, -ERR_NO_INPUT, "no run in the folder %s runs now", RUNS);
	run_list_release(&l);
	return code;
}

int attach_find(const char *run, struct attached *a, struct err *e)
{
	struct run_list l = { NULL, 0, 0 };
	const char *colon = strrchr(run, ':');
	int code;

	*a = (struct attached){ BUF_INIT, BUF_INIT };
	if (!strcmp(run, "latest"))
		return newest_running(a, e);
	code = run_list_find(RUNS, run, &l, e);
	if (code && colon && colon > run && colon[1]
		&& strspn(colon + 1, "0123456789") == strlen(colon + 1))
		code = elsewhere(run, (int)(colon - run), "RUN", e);
	if (!code)
		code = socket_of(l.run, a, e);
	run_list_release(&l);
	return code;
}

void attach_release(struct attached *a)
{
	buf_release(&a->folder);
	buf_release(&a->socket);
}

/* ---- the profile ---- */

static int connect_to(const char *path, struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof a.sun_path)
		return err_set(e, -ERR_NO_INPUT, "the path of the run's socket is too long: %.120s",
			path);
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, -ERR_CANT_CREATE, "no socket can be made: %s", strerror(errno));
	if (!connect(fd, (const struct sockaddr *)&a, sizeof a))
		return fd;
	close(fd);
	return err_set(e, errno == EACCES ? -ERR_AUTH : -ERR_NO_INPUT, "%.120s: %s%s", path,
		strerror(errno),
		errno == EACCES ? ": the run is of another user"
				: ": the run has just ended, or runs in another container");
}

static int send_order(int fd, const struct capture_order *o, struct err *e)
{
	struct buf line = BUF_INIT;
	bool sent;

	buf_printf(&line,
		"{\"schema\": 1, \"version\": \"%s\", \"level\": %d, \"steps\": %llu, \"seconds\": ",
		PACKAGE_VERSION, (int)o->level, (unsigned long long)o->steps);
	buf_json_f64(&line, o->seconds);
	buf_printf(&line, ", \"max_bytes\": %llu}\n", (unsigned long long)o->bytes_max);
	sent = send(fd, line.data, line.len, MSG_NOSIGNAL) == (ssize_t)line.len;
	buf_release(&line);
	return sent ? 0
		    : err_set(e, -ERR_IO, "the run does not take the request: %s", strerror(errno));
}

static int gone(struct err *e)
{
	return err_set(e, -ERR_STOPPED,
		"the run ended, or was killed, before its profile was complete");
}

/* The answer's first line. */
static int read_head(int fd, char line[LINE_MAX_BYTES], struct err *e)
{
	size_t n = 0;

	while (n < LINE_MAX_BYTES - 1) {
		ssize_t got = recv(fd, line + n, 1, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return gone(e);
		if (line[n++] == '\n') {
			line[n] = 0;
			return 0;
		}
	}
	return err_set(e, -ERR_PROTOCOL, "the run's answer is malformed");
}

/* What the run says it could not do, by its exit status. */
static int refused(const json_t *error, struct err *e)
{
	const char *text = json_string_value(json_object_get(error, "text"));
	json_int_t status = json_integer_value(json_object_get(error, "code"));
	int code = -ERR_PROTOCOL;

	for (int k = 1; k < ERR_COUNT; k++)
		if (err_exit_status(-k) == status)
			code = -k;
	return err_set(e, code, "%.300s", text ? text : "the run refuses");
}

static int read_profile(int fd, size_t n, struct profile **out, struct err *e)
{
	char *text = n <= JSON_BYTES_MAX ? mem_try(n + 1, 1) : NULL;
	size_t at = 0;
	int code = 0;

	if (!text)
		return err_set(e, -ERR_CONFIG,
			"no memory for a profile of %zu bytes; take a smaller one with --max-bytes",
			n);
	while (at < n && !code) {
		ssize_t got = recv(fd, text + at, n - at, 0);

		if (got > 0)
			at += (size_t)got;
		else if (got == 0 || errno != EINTR)
			code = gone(e);
	}
	if (!code)
		code = profile_read_json(text, n, out, e);
	free(text);
	return code;
}

int attach_take(const struct attached *a, const struct capture_order *o, struct profile **out,
	struct err *e)
{
	char line[LINE_MAX_BYTES];
	int fd = connect_to(a->socket.data, e), code;
	json_t *head = NULL;

	if (fd < 0)
		return fd;
	code = send_order(fd, o, e);
	if (!code)
		code = read_head(fd, line, e);
	if (!code && !(head = json_read(line, strlen(line), e)))
		code = err_set(e, -ERR_PROTOCOL, "the run's answer is malformed");
	if (!code && json_object_get(head, "error"))
		code = refused(json_object_get(head, "error"), e);
	if (!code)
		code = read_profile(fd, (size_t)json_integer_value(json_object_get(head, "bytes")),
			out, e);
	json_decref(head);
	close(fd);
	return code;
}
