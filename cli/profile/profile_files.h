/* SPDX-License-Identifier: Apache-2.0
 * The files of a profile: profile.json, profile.html, roofline.svg, trace.json.gz, stacks.folded, and for TensorBoard's
 * plugin plugins/profile/NAME/HOST.xplane.pb. */
#pragma once

#include "cli/command.h"
#include "runtime/base/profile/profile.h"
#include "runtime/log/run.h"

/* Into `folder`, which is made where it is missing. 0, or said and the exit status. */
int profile_write_files(struct cli *c, const struct profile *p, const char *folder);
/* Into profile/NAME of a run's folder, and TensorBoard's beside its event files of the training. */
int profile_write_run(const struct profile *p, struct run *run, const char *name, struct err *e);
