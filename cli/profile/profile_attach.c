/* SPDX-License-Identifier: Apache-2.0
 * Asks a running job for a profile, through its socket or its port (profile_server.c answers). */
#include "cli/profile/profile_attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/job/run_folder.h"
#include "cli/profile/profile_stream.h"
#include "runtime/base/json.h"
#include "runtime/net/launch/connect.h"
#include "runtime/net/launch/rendezvous.h"

enum { LINE_MAX_BYTES = 4096 };
static const char RUNS[] = "runs";

/* ---- the run ---- */

/* HOST:PORT, or a run on another host. */
static int elsewhere(const char *host, int len, const char *run, struct err *e)
{
	return err_set(e, -ERR_NO_INPUT,
		"a job on another host is profiled there: ssh %.*s qcnn profile --attach %.200s; or, where its processes have a "
		"key file, through its port: --attach HOST:PORT --key-file FILE",
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
		return err_set(e, -ERR_NO_INPUT,
			"the run %.200s does not run now (%s); log.profile_steps records steps of a training from its beginning",
			r->path, run_state(r));
	if (host && strcmp(host, here))
		return elsewhere(host, (int)strnlen(host, 200), r->path, e);
	if (!path)
		return err_set(e, -ERR_NO_INPUT,
			"the run %.200s cannot be profiled while it runs: its run.json names no profile_socket",
			r->path);
	buf_str(&a->folder, r->path);
	buf_str(&a->socket, path);
	return 0;
}

static int newest_running(struct attached *a, struct err *e)
{
	run_list_auto l = { NULL, 0, 0 };
	int code = run_list_read(RUNS, false, &l, e);
	size_t k = 0;

	while (!code && k < l.n && strcmp(run_state(&l.run[k]), "running"))
		k++;
	if (code)
		return code;
	return k < l.n ? socket_of(&l.run[k], a, e)
		       : err_set(e, -ERR_NO_INPUT, "no run in the folder %s runs now", RUNS);
}

/* HOST:PORT, [ADDRESS]:PORT */
static bool is_port(const char *run, struct attached *a)
{
	const char *colon = strrchr(run, ':');
	bool brackets = *run == '[';

	if (!colon || colon - run <= 2 * brackets || !colon[1]
		|| strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return false;
	unsigned long port = strtoul(colon + 1, NULL, 10);
	if (!port || port > 65535)
		return false;
	buf_add(&a->host, run + brackets, (size_t)(colon - run) - 2 * brackets);
	a->port = (uint16_t)port;
	return true;
}

int attach_find(const char *run, const char *key_file, struct attached *a, struct err *e)
{
	run_list_auto l = { NULL, 0, 0 };

	*a = (struct attached){ BUF_INIT, BUF_INIT, BUF_INIT, 0, key_file };
	if (!strcmp(run, "latest"))
		return newest_running(a, e);
	int code = run_list_find(RUNS, run, &l, e);
	if (!code)
		code = socket_of(l.run, a, e);
	else if (is_port(run, a))
		code = key_file ? 0
				: elsewhere(a->host.data, (int)strnlen(a->host.data, 200), "RUN", e);
	return code;
}

void attach_release(struct attached *a)
{
	buf_release(&a->folder);
	buf_release(&a->socket);
	buf_release(&a->host);
}

/* ---- the profile ---- */

static int connect_to(const char *path, struct profile_stream *to, struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof a.sun_path)
		return err_set(e, -ERR_NO_INPUT, "the path of the run's socket is too long: %.120s",
			path);
	strcpy(a.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, -ERR_CANT_CREATE, "cannot create a socket: %s", strerror(errno));
	if (!connect(fd, (const struct sockaddr *)&a, sizeof a)) {
		*to = profile_stream_unix(fd, 0);
		return 0;
	}
	close(fd);
	return err_set(e, errno == EACCES ? -ERR_AUTH : -ERR_NO_INPUT, "%.120s: %s%s", path,
		strerror(errno),
		errno == EACCES ? ": the run is of another user"
				: ": the run has just ended, or runs in another container");
}

/* The job's own port, and the key that its processes have. */
static int connect_port(const struct attached *a, struct profile_stream *to, struct err *e)
{
	struct wire_boot *boot = crypto_start() ? crypto_secret_new(sizeof *boot) : NULL;
	struct peer p;
	const char *why;

	if (!boot)
		return err_set(e, -ERR_CONFIG, "no memory for a key");
	int code = key_file_read(a->key_file, boot->key, e);
	if (!code && connect_resolve(a->host.data, a->port, boot, &why))
		code = err_set(e, -ERR_UNREACHABLE, "the host %.200s is not known: %s",
			a->host.data, why);
	if (!code)
		code = connect_profiler(boot, &p, e);
	if (!code)
		*to = profile_stream_sealed(&p, 0);
	crypto_secret_free(boot, sizeof *boot);
	return code;
}

/* Where the run does not take it, its answer, or that there is none, says why. */
static void send_order(struct profile_stream *to, const struct capture_order *o)
{
	buf_auto line = BUF_INIT;

	buf_json(&line,
		"{\"schema\": 1, \"version\": %s, \"level\": %d, \"steps\": %llu, \"seconds\": %g, \"max_bytes\": %llu}\n",
		PACKAGE_VERSION, (int)o->level, (unsigned long long)o->steps, o->seconds,
		(unsigned long long)o->bytes_max);
	(void)profile_stream_send(to, line.data, line.len);
}

static int gone(struct err *e)
{
	return err_set(e, -ERR_STOPPED,
		"the run ended, or was killed, before its profile was complete");
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

static int malformed(struct err *e)
{
	return err_set(e, -ERR_PROTOCOL, "the run's answer is malformed");
}

static int read_profile(struct profile_stream *from, size_t n, struct profile **out, struct err *e)
{
	mem_auto char *text = mem_try(n + 1, 1);
	size_t at = 0;
	int code = 0;

	if (!text)
		return err_set(e, -ERR_CONFIG,
			"no memory for a profile of %zu bytes; take a smaller one with --max-bytes",
			n);
	while (at < n && !code) {
		size_t got = profile_stream_read(from, text + at, n - at);

		at += got;
		if (!got)
			code = gone(e);
	}
	if (!code) {
		code = profile_read_json(text, n, out, e);
		if (code)
			err_prefix(e, "the profile that the run has sent");
	}
	return code;
}

static int take(struct profile_stream *s, const struct capture_order *o, struct profile **out,
	struct err *e)
{
	char line[LINE_MAX_BYTES];
	json_auto_t *head = NULL;

	send_order(s, o);
	size_t n = profile_stream_line(s, line, sizeof line);
	if (!n)
		return gone(e);
	if (n == sizeof line || !(head = json_read(line, n, e)))
		return malformed(e);
	if (json_object_get(head, "error"))
		return refused(json_object_get(head, "error"), e);
	const json_t *bytes = json_object_get(head, "bytes");
	json_int_t length = json_integer_value(bytes);
	return length > 0 && length <= JSON_BYTES_MAX ? read_profile(s, (size_t)length, out, e)
						      : malformed(e);
}

int attach_take(const struct attached *a, const struct capture_order *o, struct profile **out,
	struct err *e)
{
	struct profile_stream s;
	int code = a->host.len ? connect_port(a, &s, e) : connect_to(a->socket.data, &s, e);

	if (code)
		return code;
	code = take(&s, o, out, e);
	profile_stream_close(&s);
	return code;
}
