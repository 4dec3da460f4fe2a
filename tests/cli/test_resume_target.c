/* SPDX-License-Identifier: Apache-2.0
 * What becomes of a run that was begun with another instruction set, for machines that this one is not. */
#include "cli/training/resume_target.h"
#include "runtime/exec/target.h"
#include "tests/tap.h"

int main(void)
{
	const struct target *theirs, *ours, *now;

	for (unsigned run = 0; (theirs = target_of("cpu", run)); run++)
		for (unsigned best = 0; (ours = target_of("cpu", best)); best++) {
			enum resume_answer want = run == best ? RESUME_SAME
				: run < best                  ? RESUME_TAKE
							      : RESUME_REFUSE;

			tap_is_int(resume_target_answer(theirs, ours, run <= best, false), want,
				"begun with %s, the best here is %s", theirs->kernels, ours->kernels);
			for (unsigned k = 0; k <= best; k++) {
				now = target_of("cpu", k);
				tap_is_int(resume_target_answer(theirs, now, run <= best, true),
					run == k ? RESUME_SAME : RESUME_NEW, "%s was asked for",
					now->kernels);
			}
		}
	return tap_done();
}
