/* SPDX-License-Identifier: Apache-2.0
 * The program's entry: finds the command, parses its options, runs it. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/memory_exit.h"
#include "cli/signals.h"
#include "cli/stack.h"

/* Occupy those of the descriptors 0 to 2 that are closed, so that no file that is opened later gets one of their numbers and
 * receives messages. Reading from stdin and writing to stdout and stderr still fail with EBADF. */
static void standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			open("/", O_RDONLY | O_DIRECTORY);       /* a chroot without /dev */
}

/* BUG() and assert abort: the text is already out, the exit status is ours. */
static void aborted(int signal_number)
{
	static const char text[] = "qcnn: this is a bug in qcnn, not in your files; please report it with the lines above\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);

	(void)ignored;
	(void)signal_number;
	_exit(70);
}

static void handlers(void)
{
	memory_exit_install();
	stop_process_1();
	signal(SIGABRT, aborted);
	/* A closed pipe is a failed write, not a death in the middle of a run. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);   /* a write beyond `ulimit -f` fails like a full disk */
}

/* The common options, as far as they are given. */
static void common_options(struct cli *c, const struct options *o)
{
	static const enum diag_format formats[] = { DIAG_HUMAN, DIAG_SHORT, DIAG_JSON };
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (o->given[OPT_ERROR_FORMAT] || !c->command)
		c->error_format = formats[options_choice(o, OPT_ERROR_FORMAT)];
	if (o->given[OPT_COLOR] || !c->command) {
		unsigned when = options_choice(o, OPT_COLOR);

		c->colour = when == 1 || (when == 0 && !(no_color && *no_color) && isatty(STDERR_FILENO)
			&& !(terminal && !strcmp(terminal, "dumb")));
	}
	c->quiet |= o->given[OPT_QUIET];
	c->verbose |= o->given[OPT_VERBOSE];
	c->strict |= o->given[OPT_STRICT];
}

/* --error-format holds for faults of the command line too, also behind them. */
static void format_of_faults(struct cli *c)
{
	for (int i = 1; i < c->argc; i++)
		if (!strcmp(c->argv[i], "--error-format=json")
				|| (!strcmp(c->argv[i], "--error-format") && i + 1 < c->argc && !strcmp(c->argv[i + 1], "json")))
			c->error_format = DIAG_JSON;
}

/* `--set train.epochs 5`: the value has become an operand. */
static const char *half_of_change(const struct options *o)
{
	static const enum option_id id[] = { OPT_SET, OPT_SET_INFER, OPT_CONST };
	const char *text[OPTIONS_LIST_MAX];

	for (size_t k = 0; k < sizeof id / sizeof *id; k++)
		for (unsigned i = 0, n = options_list(o, id[k], text); i < n; i++)
			if (!strchr(text[i], '='))
				return text[i];
	return NULL;
}

static int operands_fit(const struct cli *c)
{
	const struct command_about *k = c->command->about;
	const char *half = c->options.noperand > k->max_operands ? half_of_change(&c->options) : NULL;

	if (half)
		return cli_usage(c, "`%s` has no value; write %s=VALUE, without a space", half, half);

	if (c->options.noperand < k->min_operands)
		return cli_usage(c, "missing %s", k->operands);
	if (c->options.noperand > k->max_operands)
		return cli_usage(c, "one operand too many: `%s`", c->options.operand[k->max_operands]);
	return 0;
}

static int run_command(struct cli *c, int narg, char *const *arg)
{
	struct err e;

	if (options_parse(c->command->bit, narg, arg, false, &c->options, NULL, &e)) {
		format_of_faults(c);
		return cli_usage(c, "%s", e.text);
	}
	common_options(c, &c->options);
	if (c->options.given[OPT_HELP]) {
		help_command(c->command, &c->out);
		return 0;
	}
	int status = operands_fit(c);
	return status ? status : c->command->about->run(c);
}

/* Commands of other programs. */
static const char *named_elsewhere(const char *name)
{
	static const char infer[] = "here it is called `infer`", run[] = "here it is called `run`",
			  check[] = "here it is called `check`",
			  init[] = "here it is called `init`", runs[] = "here it is called `runs`",
			  loop[] = "it is a loop over `qcnn train --set KEY=VALUE`; qcnn-runs(1) shows one";
	static const struct {
		const char *name, *here;
	} row[] = {
		{ "fit", "here it is called `train`" },
		{ "predict", infer },
		{ "evaluate", infer },
		{ "eval", infer },
		{ "test", infer },
		{ "simulate", run },
		{ "execute", run },
		{ "sample", run },
		{ "validate", check },
		{ "lint", check },
		{ "plot", "here it is called `draw`" },
		{ "export",
			"`qcnn compile --emit=openqasm` writes circuits, `qcnn weights convert` weights" },
		{ "convert", "`qcnn weights convert` writes weights, `qcnn compile` circuits" },
		{ "new", init },
		{ "create", init },
		{ "list", runs },
		{ "history", runs },
		{ "compare", "it is `qcnn runs compare`" },
		{ "summary", "it is `qcnn runs summary`" },
		{ "remove", "it is `qcnn runs remove`" },
		{ "resume", "it is `qcnn train --resume=RUN`" },
		{ "report", "each training writes report.html to the folder of its run" },
		{ "benchmark", "here it is called `bench`" },
		{ "search", loop },
		{ "sweep", loop },
		{ "tune", loop },
		{ "lang", "qcnn-lang(7) describes the language" },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		if (!strcmp(row[i].name, name))
			return row[i].here;
	return NULL;
}

static int unknown_command(struct cli *c, const char *name)
{
	const char *names[32], *near, *here = named_elsewhere(name);
	size_t n = 0;

	if (here)
		return cli_usage(c, "unknown command `%s`: %s", name, here);
	for (const struct command *k = commands; k->name; k++)
		names[n++] = k->name;
	near = diag_nearest(name, names, n);
	return near ? cli_usage(c, "unknown command `%s`: did you mean `%s`?", name, near)
		: cli_usage(c, "unknown command `%s`", name);
}

/* Help for a command, or, without a name, for all. */
static int help_of(struct cli *c, const char *name)
{
	if (name && !strcmp(name, "help"))
		name = NULL;
	c->command = name ? command_find(name) : NULL;
	if (name && !c->command)
		return unknown_command(c, name);
	c->command ? help_command(c->command, &c->out) : help_top(&c->out);
	return 0;
}

static int dispatch(void *ctx)
{
	struct cli *c = ctx;
	struct err e;
	int used, at;

	if (options_parse(COMMAND_TOP, c->argc - 1, c->argv + 1, true, &c->options, &used, &e)) {
		format_of_faults(c);
		return cli_usage(c, "%s", e.text);
	}
	at = used + 1;
	common_options(c, &c->options);
	if (c->options.given[OPT_VERSION]) {
		buf_printf(&c->out, "qcnn %s\n", PACKAGE_VERSION);
		return 0;
	}
	if (c->options.given[OPT_HELP])
		return help_of(c, at < c->argc ? c->argv[at] : NULL);
	if (at >= c->argc) {
		buf_auto names = BUF_INIT;

		for (const struct command *k = commands; k->name; k++)
			buf_printf(&names, "%s%s", k == commands ? "" : ", ", k->name);
		return cli_usage(c, "missing command: one of %s", names.data);
	}
	if (!strcmp(c->argv[at], "help"))
		return help_of(c, at + 1 < c->argc ? c->argv[at + 1] : NULL);
	c->command = command_find(c->argv[at]);
	if (!c->command)
		return unknown_command(c, c->argv[at]);
	return run_command(c, c->argc - at - 1, c->argv + at + 1);
}

int main(int argc, char **argv)
{
	struct cli c = { .argc = argc, .argv = argv };

	standard_descriptors();
	handlers();
	int status = stack_run(dispatch, &c);
	int written = cli_flush(&c, &c.out);
	buf_release(&c.out);
	return status ? status : written;
}
