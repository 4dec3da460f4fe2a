/* SPDX-License-Identifier: Apache-2.0
 * Describes this machine to the coordinator, sets the signals of a worker, and runs it. */
#include "cli/hosts/worker_start.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/hosts/ranks.h"
#include "cli/hosts/worker_groups.h"
#include "runtime/base/maths.h"
#include "runtime/train/remote.h"

enum { TERM_SECONDS = 10 };

/* The kernel sets of all devices that run here, the preferred one last; those of a device up to `most`. */
static void list_kernels(const char *most, char *to, size_t size)
{
	const struct target *t;
	unsigned n = 0;
	size_t len = 0;

	while (device_name(n))
		n++;
	while (n--)
		for (unsigned k = 0; (t = target_of(device_name(n), k)); k++) {
			if (target_obstacle(t))
				continue;
			len += (size_t)snprintf(to + len, size - len, "%s%s", len ? " " : "", t->kernels);
			if (most && !strcmp(t->kernels, most))
				break;
		}
}

/* Those that were given some of the cores share nothing. */
unsigned worker_threads(unsigned share)
{
	const char *rule;
	unsigned n = cpus_threads(&rule);

	if (share <= 1 || n != cpus_online())
		return n;
	return n > share ? n / share : 1;
}

static void describe(struct wire_about *a, unsigned share, const char *most)
{
	memset(a, 0, sizeof *a);
	list_kernels(most, a->kernels, sizeof a->kernels);
	a->threads = worker_threads(share);
	a->memory = cpus_memory_available();
	a->maths = maths_digest();
	snprintf(a->version, sizeof a->version, "%s", PACKAGE_VERSION);
	gethostname(a->host, sizeof a->host - 1);
	snprintf(a->processor, sizeof a->processor, "%s", cpus_model());
}

int worker_start(const struct worker_finder *f, unsigned share, const char *most, struct err *e)
{
	struct worker_group group = { 0 };
	struct remote_worker *w = remote_worker_new(worker_group_start, &group);
	struct worker_ops ops = remote_worker_ops;
	struct wire_about about;

	describe(&about, share, most);
	ops.join_group = worker_group_join;
	ops.group = &group;
	int code = f ? worker_process_join(f, &about, &ops, w, e)
		     : worker_process_run(STDIN_FILENO, &about, &ops, w, e);
	remote_worker_free(w);
	worker_group_end(&group);
	return code;
}

static void end_now(int number)
{
	static const char text[] = "qcnn worker: ended by TERM\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);

	(void)ignored;
	(void)number;
	_exit(err_exit_status(-ERR_STOPPED));
}

static void end_soon(int number)
{
	(void)number;
	alarm(TERM_SECONDS);
}

void stop_leave_to_control(void)
{
	static const int left[] = { SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU };
	struct sigaction a = { .sa_handler = end_soon, .sa_flags = SA_RESTART },
			 now = { .sa_handler = end_now };

	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < sizeof left / sizeof *left; i++)
		signal(left[i], SIG_IGN);
	sigemptyset(&now.sa_mask);
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGALRM, &now, NULL);
}
