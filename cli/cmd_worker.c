/* SPDX-License-Identifier: Apache-2.0
 * qcnn worker: computes for a coordinator, which starts it. */
#include "config.h"
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/guard.h"
#include "runtime/base/cpus.h"
#include "runtime/base/maths.h"
#include "runtime/train/remote.h"

static void describe(const struct cli *c, struct wire_about *a)
{
	enum isa most = isa_find(c->options.value[OPT_ISA]);
	const char *rule;

	memset(a, 0, sizeof *a);
	a->isa = (uint8_t)(most && most < isa_best() ? most : isa_best());
	a->threads = cpus_threads(&rule);
	a->memory = cpus_memory_available();
	a->maths = maths_digest();
	snprintf(a->version, sizeof a->version, "%s", PACKAGE_VERSION);
	gethostname(a->host, sizeof a->host - 1);
	snprintf(a->processor, sizeof a->processor, "%s", cpus_model());
}

static int worker(struct cli *c)
{
	struct remote_worker *w;
	struct wire_about about;
	struct err e;
	int code;

	if (isatty(STDIN_FILENO))
		return cli_usage(c, "workers are started by `qcnn train --hosts` and `qcnn infer --hosts`, not by hand");
	guard_begin();
	w = remote_worker_new();
	describe(c, &about);
	code = worker_run(STDIN_FILENO, &about, &remote_worker_ops, w, &e);
	remote_worker_free(w);
	return code ? cli_fail(c, &e) : 0;
}

static const char *const examples[] = { "qcnn worker --help", NULL };

const struct command command_worker = {
	.bit = COMMAND_WORKER,
	.name = "worker",
	.summary = "compute for a training on another host",
	.operands = "",
	.text = "Computes for a `qcnn train` or `qcnn infer` with --hosts, which starts it: the standard input brings the "
		"address and the key of that process, and when it ends, so does the worker. It needs neither the "
		"configuration nor the data. On another host a second process looks after it: it tells which signal ended the "
		"worker, and ends one that is stopped.",
	.example = examples,
	.run = worker,
};
