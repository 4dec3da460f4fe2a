/* SPDX-License-Identifier: Apache-2.0
 * The last lines of a training that has ended well. */
#pragma once

#include "cli/job/job.h"

struct train_words {
	bool shows_progress;         /* which names the best restart itself */
	const char *folder;          /* of the run */
	bool reported;               /* there is a report.html in it */
};

/* Notes on stderr; none with --quiet. */
void train_summary(const struct cli *c, const struct job *j, const struct train_words *w,
	const struct train_result *r);
