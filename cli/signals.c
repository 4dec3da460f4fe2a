/* SPDX-License-Identifier: Apache-2.0
 * Keeps the first signal that asks a training to stop. */
#include "cli/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/err.h"

static const struct { int number; const char *name; } stops[] = {
	{ SIGINT, "INT" }, { SIGTERM, "TERM" }, { SIGHUP, "HUP" }, { SIGUSR1, "USR1" }, { SIGUSR2, "USR2" }, { SIGXCPU, "XCPU" },
};

static volatile sig_atomic_t stopped_by;

/* Process 1 of a container: the kernel drops the signals that it has no handler for. */
static bool is_process_1(void) { return getpid() == 1; }

static void end_now(int number) { _exit(128 + number); }

static void note_signal(int number)
{
	if (number == SIGINT && stopped_by == SIGINT)
		end_now(number); /* process 1; another one has no handler for it any more */
	if (!stopped_by)
		stopped_by = number;
}

static char early_line[512], early_folder[4096];

static void leave(int number)
{
	ssize_t ignored = write(STDERR_FILENO, early_line, strlen(early_line));

	if (*early_folder)
		ignored = rmdir(early_folder);
	(void)ignored;
	(void)number;
	_exit(err_exit_status(-ERR_STOPPED));
}

static void install(void (*handler)(int))
{
	struct sigaction a = { .sa_handler = handler }, old;

	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
		a.sa_flags = stops[i].number == SIGINT && !is_process_1()
			? SA_RESTART | (int)SA_RESETHAND
			: SA_RESTART;
		/* nohup means it; shells that start background jobs with INT ignored do not. */
		if (stops[i].number == SIGINT || sigaction(stops[i].number, NULL, &old) || old.sa_handler != SIG_IGN)
			sigaction(stops[i].number, &a, NULL);
	}
}

void stop_process_1(void)
{
	if (is_process_1())
		install(end_now);
}

void stop_at_once(const char *line)
{
	strncpy(early_line, line, sizeof early_line - 1);
	install(leave);
}

void stop_removes(const char *folder)
{
	if (strlen(folder) < sizeof early_folder)
		memcpy(early_folder, folder, strlen(folder) + 1);
}

void stop_catch(void) { install(note_signal); }

const char *stop_asked(void)
{
	for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
		if (stopped_by == stops[i].number)
			return stops[i].name;
	return NULL;
}
