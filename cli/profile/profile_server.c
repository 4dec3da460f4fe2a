/* SPDX-License-Identifier: Apache-2.0
 * One thread waits for connections, and for those that came through the job's port, and serves them one after the other. */
#include "cli/profile/profile_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/profile/profile_stream.h"
#include "runtime/base/json.h"

struct profile_server {
	struct captures *captures;
	int listening;
	int handed[2];     /* pipe of struct peer *, without blocking */
	atomic_bool ended; /* the job has */
	struct sockaddr_un address;
	pthread_t thread;
};

/* ---- the folder ---- */

/* Sockets of processes that are no more. */
static void remove_stale(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		char *end, path[sizeof((struct sockaddr_un *)0)->sun_path];
		long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && !strcmp(end, ".socket") && kill((pid_t)pid, 0) && errno == ESRCH
			&& snprintf(path, sizeof path, "%s/%s", folder, entry->d_name)
				< (int)sizeof path)
			unlink(path);
	}
	if (d)
		closedir(d);
}

/* qcnn-UID in the folder for such things, of this user alone. */
static int own_folder(char *folder, size_t size, struct err *e)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (!runtime || *runtime != '/' || strlen(runtime) > size / 2)
		runtime = "/tmp";
	snprintf(folder, size, "%s/qcnn-%u", runtime, (unsigned)geteuid());
	if (mkdir(folder, 0700) && errno != EEXIST)
		return err_set(e, -ERR_CANT_CREATE, "%s: %s", folder, strerror(errno));
	if (lstat(folder, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return err_set(e, -ERR_CANT_CREATE,
			"%s is not a folder of this user alone (mode 0700)", folder);
	remove_stale(folder);
	return 0;
}

static int listen_in(struct profile_server *s, const char *folder, struct err *e)
{
	struct sockaddr_un *a = &s->address;

	a->sun_family = AF_UNIX;
	/* More than one in a process, one after the other, may have the same name. */
	if (snprintf(a->sun_path, sizeof a->sun_path, "%s/%ld.socket", folder, (long)getpid())
		>= (int)sizeof a->sun_path)
		return err_set(e, -ERR_CANT_CREATE, "%s: the path is too long for a socket", folder);
	s->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->listening < 0)
		return err_set(e, -ERR_CANT_CREATE, "cannot create a socket: %s", strerror(errno));
	unlink(a->sun_path);
	mode_t before = umask(0177);
	int failed = bind(s->listening, (const struct sockaddr *)a, sizeof *a)
		|| listen(s->listening, 8);
	umask(before);
	return failed ? err_set(e, -ERR_CANT_CREATE, "%s: %s", a->sun_path, strerror(errno)) : 0;
}

/* ---- one client ---- */

static bool is_own(int fd)
{
	struct ucred who;
	socklen_t len = sizeof who;

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) && who.uid == geteuid();
}

static uint64_t count_of(const json_t *v, const char *key)
{
	const json_t *n = json_object_get(v, key);

	return json_is_integer(n) && json_integer_value(n) > 0 ? (uint64_t)json_integer_value(n) : 0;
}

static int read_order(const char *line, size_t n, struct capture_order *o, struct err *e)
{
	json_auto_t *v = json_read(line, n, e);
	const char *version = v ? json_string_value(json_object_get(v, "version")) : NULL;
	const json_t *seconds = v ? json_object_get(v, "seconds") : NULL;
	uint64_t level = v ? count_of(v, "level") : 0;
	int code = 0;

	if (!v || !version)
		code = err_set(e, -ERR_PROTOCOL, "the request is no JSON object with a version");
	else if (strcmp(version, PACKAGE_VERSION))
		code = err_set(e, -ERR_PROTOCOL,
			"the run is of qcnn %s, and this is qcnn %.40s; take the profile with the run's version",
			PACKAGE_VERSION, version);
	else if (!level || level >= PROFILE_LEVELS)
		code = err_set(e, -ERR_PROTOCOL, "the request has no level");
	else
		*o = (struct capture_order){ .level = (enum profile_level)level,
			.steps = count_of(v, "steps"),
			.seconds = json_is_number(seconds) ? json_number_value(seconds) : 0,
			.bytes_max = count_of(v, "max_bytes") };
	return code;
}

static bool has_gone(void *fd)
{
	struct pollfd p = { .fd = *(int *)fd, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0;
}

static void serve(struct profile_server *s, struct profile_stream *to)
{
	char line[PROFILE_REQUEST_MAX];
	struct capture_order o;
	struct profile *p = NULL;
	buf_auto b = BUF_INIT, head = BUF_INIT;
	struct err e;
	size_t n = profile_stream_line(to, line, sizeof line);

	if (!n || n == sizeof line)
		return;
	if (read_order(line, n, &o, &e)
		|| captures_take(s->captures, &o, has_gone, &to->peer.fd, &p, &e)) {
		buf_auto line = BUF_INIT;

		buf_json(&line, "{\"schema\": 1, \"error\": {\"code\": %d, \"text\": %s}}\n",
			err_exit_status(e.code), e.text);
		profile_stream_send(to, line.data, line.len);
		return;
	}
	profile_write_json(p, &b);
	buf_printf(&head, "{\"schema\": 1, \"bytes\": %zu}\n", b.len);
	if (profile_stream_send(to, head.data, head.len))
		profile_stream_send(to, b.data, b.len);
	profile_free(p);
}

static void accept_one(struct profile_server *s)
{
	int fd = accept4(s->listening, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
		poll(NULL, 0, 1000);
	if (fd < 0)
		return;
	struct profile_stream to = profile_stream_unix(fd, PROFILE_ANSWER_SECONDS);
	if (is_own(fd))
		serve(s, &to);
	profile_stream_close(&to);
}

/* One that came through the job's port. */
static void take_one(struct profile_server *s)
{
	struct peer *p;

	if (read(s->handed[0], &p, sizeof p) != sizeof p)
		return;
	struct profile_stream to = profile_stream_sealed(p, PROFILE_ANSWER_SECONDS);
	free(p);
	if (!atomic_load(&s->ended))
		serve(s, &to);
	profile_stream_close(&to);
}

static void *run(void *server)
{
	struct profile_server *s = server;
	struct pollfd f[2] = { { .fd = s->listening, .events = POLLIN },
		{ .fd = s->handed[0], .events = POLLIN } };

	while (!atomic_load(&s->ended)) {
		if (poll(f, 2, -1) < 0)
			continue;
		if (f[0].revents)
			accept_one(s);
		if (f[1].revents)
			take_one(s);
	}
	return NULL;
}

void profile_server_hand(void *server, struct peer *p)
{
	struct profile_server *s = server;
	struct peer *copy = mem_try(1, sizeof *copy);

	if (copy)
		*copy = *p;
	if (!copy || write(s->handed[1], &copy, sizeof copy) != sizeof copy) {
		peer_close(p);
		free(copy);
	}
}

/* ---- life ---- */

/* Connections that nobody served are closed. */
static void release(struct profile_server *s)
{
	struct peer *p;

	while (s->handed[0] >= 0 && read(s->handed[0], &p, sizeof p) == sizeof p) {
		peer_close(p);
		free(p);
	}
	for (unsigned k = 0; k < 2; k++)
		if (s->handed[k] >= 0)
			close(s->handed[k]);
	if (s->listening >= 0) {
		unlink(s->address.sun_path);
		close(s->listening);
	}
	free(s);
}

struct profile_server *profile_server_open(struct captures *c, struct err *e)
{
	char folder[sizeof((struct sockaddr_un *)0)->sun_path];
	struct profile_server *s = mem_alloc(1, sizeof *s);
	sigset_t all, before;

	s->captures = c;
	s->listening = s->handed[0] = s->handed[1] = -1;
	int code = own_folder(folder, sizeof folder, e);
	if (!code)
		code = listen_in(s, folder, e);
	if (!code && pipe2(s->handed, O_CLOEXEC | O_NONBLOCK))
		code = err_set(e, -ERR_CANT_CREATE, "cannot create a pipe: %s", strerror(errno));
	/* Signals are for the job's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!code && pthread_create(&s->thread, NULL, run, s))
		code = err_set(e, -ERR_CANT_CREATE, "cannot start a thread");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!code)
		return s;
	release(s);
	return NULL;
}

const char *profile_server_path(const struct profile_server *s) { return s->address.sun_path; }

void profile_server_close(struct profile_server *s)
{
	if (!s)
		return;
	atomic_store(&s->ended, true);
	shutdown(s->listening, SHUT_RDWR); /* poll returns */
	pthread_join(s->thread, NULL);
	release(s);
}
