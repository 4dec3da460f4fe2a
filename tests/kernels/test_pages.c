/* SPDX-License-Identifier: Apache-2.0
 * Large states lie on whole 2 MiB pages, and the system is asked for such. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "runtime/exec/statevector/cpu/cpu_state.h"
#include "tests/tap.h"

enum { HUGE_PAGE = 2 << 20, LARGE = 16 << 20, LINE_BYTES = 512 };

/* Do the flags of the mapping that holds p have this one?  -1: the system does not say. */
static int has_flag(const void *p, const char *flag)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[LINE_BYTES];
	uintptr_t low, high;
	int inside = 0, answer = -1;

	while (f && answer < 0 && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &low, &high) == 2)
			inside = (uintptr_t)p >= low && (uintptr_t)p < high;
		else if (inside && !strncmp(line, "VmFlags:", 8))
			answer = strstr(line, flag) != NULL;
	}
	if (f)
		fclose(f);
	return answer;
}

int main(void)
{
	char *large = cpu_aligned(MEMORY_STATES, LARGE), *small = cpu_aligned(MEMORY_STATES, 1000);
	int asked;

	tap_ok(large && (uintptr_t)large % HUGE_PAGE == 0, "16 MiB begin on a 2 MiB page");
	tap_ok(small && (uintptr_t)small % 64 == 0, "a little begins on a cache line");
	asked = access("/sys/kernel/mm/transparent_hugepage", R_OK) ? -1 : has_flag(large, " hg");
	if (asked < 0)
		tap_skip("this system says nothing of large pages");
	else
		tap_ok(asked == 1, "2 MiB pages are asked for");
	cpu_release(MEMORY_STATES, large);
	cpu_release(MEMORY_STATES, small);
	return tap_done();
}
