/* SPDX-License-Identifier: Apache-2.0
 * qcnn worker: computes for a coordinator, which starts it. */
#include "cli/command.h"

#include <sys/prctl.h>
#include <unistd.h>

#include "cli/hosts/ranks.h"
#include "cli/hosts/supervisor.h"
#include "cli/hosts/worker_start.h"
#include "runtime/net/launch/rendezvous.h"

static int worker(struct cli *c)
{
	const bool follows = c->options.given[OPT_FOLLOW];
	bool begun = false;
	struct err e;

	if (c->options.given[OPT_NEW_KEY]) {
		int code = crypto_start()
			? key_file_new(c->options.value[OPT_NEW_KEY], &e)
			: err_set(&e, -ERR_CONFIG, "the system provides no random numbers");

		return code ? cli_fail(c, &e) : 0;
	}
	if (!follows && isatty(STDIN_FILENO))
		return cli_usage(c, "workers are started by `qcnn train --hosts` and `qcnn infer --hosts`, not by hand");
	prctl(PR_SET_NAME, "qcnn");          /* one that was started by /proc/self/exe would be called exe */
	stop_leave_to_control();
	guard_begin();
	if (!(follows ? ranks_follow(&begun, &e)
		      : worker_start(NULL, 0, c->options.value[OPT_ISA], &e)))
		return 0;
	return begun ? err_exit_status(e.code) : cli_fail(c, &e);
}

const struct command_about command_worker = {
	.summary = "compute for a training on another host",
	.operands = "",
	.text = "Computes for a `qcnn train` or `qcnn infer` with --hosts, which starts it and sends the address and key on "
		"standard input. The worker exits when that process exits. It needs neither the configuration nor the data. On "
		"another host a second process supervises it: it reports the signal that ended the worker, and ends a worker that "
		"is stopped.",
	.example = (const char *const[]){ "qcnn worker --help", "qcnn worker --new-key job.key", NULL },
	.exit_1 = "the coordinator has ended the work, as a value is not finite",
	.run = worker,
};
