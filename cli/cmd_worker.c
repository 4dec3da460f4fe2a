/* SPDX-License-Identifier: Apache-2.0
 * qcnn worker: computes for a coordinator, which starts it. */
#include "config.h"
#include "cli/commands.h"

#include <sys/prctl.h>
#include <unistd.h>

#include "cli/guard.h"
#include "cli/worker_start.h"

static int worker(struct cli *c)
{
	struct err e;

	if (isatty(STDIN_FILENO))
		return cli_usage(c, "workers are started by `qcnn train --hosts` and `qcnn infer --hosts`, not by hand");
	stop_leave_to_leash();
	guard_begin();
	return worker_start(NULL, 0, isa_find(c->options.value[OPT_ISA]), &e) ? cli_fail(c, &e) : 0;
}

static const char *const examples[] = { "qcnn worker --help", NULL };

const struct command command_worker = {
	.bit = COMMAND_WORKER,
	.name = "worker",
	.summary = "compute for a training on another host",
	prctl(PR_SET_NAME, "qcnn");          /* one that was started by /proc/self/exe would be called exe */
	.operands = "",
	.text = "Computes for a `qcnn train` or `qcnn infer` with --hosts, which starts it: the standard input brings the "
		"address and the key of that process, and when it ends, so does the worker. It needs neither the "
		"configuration nor the data. On another host a second process looks after it: it tells which signal ended the "
		"worker, and ends one that is stopped.",
	.example = examples,
	.run = worker,
};
