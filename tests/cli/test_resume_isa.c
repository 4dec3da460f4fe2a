/* SPDX-License-Identifier: Apache-2.0
 * What becomes of a run that was begun with another instruction set, for machines that this one is not. */
#include "config.h"
#include "cli/training/resume_isa.h"
#include "runtime/exec/statevector/cpu/cpu_target.h"
#include "tests/tap.h"

int main(void)
{
	for (int run = ISA_BASELINE; run < ISA_COUNT; run++)
		for (int best = ISA_BASELINE; best < ISA_COUNT; best++) {
			enum isa_answer want = run == best ? ISA_ANSWER_NONE : run < best ? ISA_ANSWER_TAKE : ISA_ANSWER_REFUSE;

			tap_is_int(resume_isa_answer(cpu_target((enum isa)run), cpu_target((enum isa)best), run <= best, false), want,
				"begun with %s, the best here is %s", isa_name((enum isa)run), isa_name((enum isa)best));
			for (int now = ISA_BASELINE; now <= best; now++)
				tap_is_int(resume_isa_answer(cpu_target((enum isa)run), cpu_target((enum isa)now), run <= best, true),
					run == now ? ISA_ANSWER_NONE : ISA_ANSWER_NEW, "%s was asked for", isa_name((enum isa)now));
		}
	return tap_done();
}
