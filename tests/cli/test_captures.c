/* SPDX-License-Identifier: Apache-2.0
 * What a job makes of the profiles that its workers recorded: no message is received before it is sent. */
#include "cli/profile/captures.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/profile/profile_attach.h"
#include "tests/base/sample_profile.h"
#include "tests/tap.h"

enum { LATE_NS = 500000 }; /* by which a worker's clock is taken for later than it is */

static int begin_nowhere(struct pool *p, int level, uint64_t bytes_max, struct err *e)
{
	(void)p, (void)level, (void)bytes_max, (void)e;
	return 0;
}

static int record_both(struct pool *p, struct profile *into, struct err *e)
{
	struct profile *own = sample_profile(), *part = sample_part(-LATE_NS);
	int code = profile_merge(into, own, e);

	(void)p;
	code = code ? code : profile_merge(into, part, e);
	profile_free(own);
	profile_free(part);
	return code;
}

static size_t early_receives(const struct profile *p, size_t *n)
{
	struct profile_message *m;
	size_t early = 0;

	*n = profile_messages(p, &m);
	for (size_t k = 0; k < *n; k++)
		early += m[k].receive->end < m[k].send->begin;
	free(m);
	return early;
}

static void describe(void *ctx, struct profile *p) { (void)ctx, (void)p; }

static void keep(void *ctx, struct profile *p) { *(struct profile **)ctx = p; }

/* Answers of a process at the socket of a run, and what is made of them. */
static const struct {
	const char *answer, *text;
	int code;
} answers[] = {
	{ "", "the run ended", -ERR_STOPPED },
	{ "no JSON\n", "the run's answer is malformed", -ERR_PROTOCOL },
	{ "[1]\n", "the run's answer is malformed", -ERR_PROTOCOL },
	{ "{\"bytes\": 0}\n", "the run's answer is malformed", -ERR_PROTOCOL },
	{ "{\"bytes\": -1}\n{}", "the run's answer is malformed", -ERR_PROTOCOL },
	{ "{\"bytes\": 67108865}\n{}", "the run's answer is malformed", -ERR_PROTOCOL },
	{ "{\"bytes\": 2.5}\n{}", "the run's answer is malformed", -ERR_PROTOCOL },
	{ "{\"bytes\": 3}\n{}", "the run ended", -ERR_STOPPED },
	{ "{\"bytes\": 1}\n{}", "the profile that the run has sent: line 1, column 1:", -ERR_BAD_DATA },
	{ "{\"bytes\": 2}\n{}", "the profile that the run has sent: a profile's \"schema\" is missing",
		-ERR_BAD_DATA },
	{ "{\"error\": {\"code\": 77, \"text\": \"no\"}}\n", "no", -ERR_AUTH },
	{ "{\"error\": 5}\n", "the run refuses", -ERR_PROTOCOL },
};
enum { ANSWERS = sizeof answers / sizeof *answers };

static void play_run(int listening)
{
	char request[4096];

	for (unsigned k = 0; k < ANSWERS; k++) {
		int fd = accept(listening, NULL, NULL);
		ssize_t n = read(fd, request, sizeof request);

		if (n > 0)
			n = write(fd, answers[k].answer, strlen(answers[k].answer));
		close(fd);
	}
	_exit(0);
}

static void test_answers(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int listening = socket(AF_UNIX, SOCK_STREAM, 0);
	struct attached a = { .socket = BUF_INIT };

	buf_str(&a.socket, address.sun_path);
	if (bind(listening, (struct sockaddr *)&address, sizeof address) || listen(listening, 1))
		tap_bail("no socket");
	if (!fork())
		play_run(listening);
	for (unsigned k = 0; k < ANSWERS; k++) {
		const struct capture_order o = { .level = PROFILE_PHASES, .steps = 1 };
		struct err e = { 0, "" };
		struct profile *p;
		int code = attach_take(&a, &o, &p, &e);

		tap_ok(code == answers[k].code && strstr(e.text, answers[k].text),
			"the answer %.40s: %s", answers[k].answer, e.text);
	}
	wait(NULL);
	close(listening);
	attach_release(&a);
}

int main(void)
{
	static const struct pool_ops ops = { .record = begin_nowhere, .recorded = record_both };
	struct pool pool = { .ops = &ops };
	struct captures *c = captures_new(describe, NULL, &pool, NULL);
	struct profile *p = NULL;
	uint64_t moved = 0;
	size_t n, early;

	captures_ask(c,
		&(struct capture_order){
			.level = PROFILE_LAYERS, .steps = 1, .bytes_max = PROFILE_BYTES_DEFAULT },
		keep, &p);
	captures_step(c, 1);
	captures_step(c, 1);
	tap_ok(p && p->nprocess == 3, "the profile has what workers recorded");
	if (!p)
		tap_bail("no profile");
	early = early_receives(p, &n);
	tap_ok(!early && n > 0, "none of %zu messages is received before it is sent", n);
	for (uint32_t k = 0; k < p->nprocess; k++)
		moved += p->process[k].moved_events;
	tap_is_int((long long)moved, SAMPLE_STEPS, "those that were moved for that are counted");
	captures_end(c);
	captures_free(c);
	profile_free(p);
	test_answers();
	return tap_done();
}
