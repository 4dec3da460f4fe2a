/* SPDX-License-Identifier: Apache-2.0
 * What every backend of the table has to have: names that others rely on, and all functions that are
 * not optional. */
#include <string.h>
#include "runtime/exec/statevector/backend.h"
#include "tests/tap.h"

enum { WORD_MAX = 16 /* of a device in execution.c */, SETS_MAX = 64 };

static const struct target *set[SETS_MAX]; /* of all backends */
static unsigned nset;

static void test_targets(const char *name, const struct backend *b)
{
	bool own = true, distinct = true;

	for (unsigned k = 0; k < b->ntarget && nset < SETS_MAX; k++) {
		const struct target *t = &b->target[k];

		own = own && !strcmp(t->device, name) && t->backend == b && t->version > 0
			&& target_find(name, t->kernels) == t;
		for (unsigned i = 0; i < nset; i++)
			distinct = distinct && strcmp(set[i]->kernels, t->kernels) != 0;
		set[nset++] = t;
	}
	tap_ok(b->ntarget > 0 && own, "%s: its targets name it, and are found by their names", name);
	tap_ok(distinct, "%s: no other kernel set has the name of one of its", name);
}

static void test_functions(const char *name, const struct backend *b)
{
	bool caches = false;

	for (unsigned k = 0; k < b->ntarget; k++)
		caches = caches || target_can(&b->target[k], TARGET_STATE_CACHE);
	tap_ok(b->supports && b->bytes && b->prepare && b->matrices && b->run && b->forward
			&& b->backward && b->amplitudes && b->free,
		"%s: all functions that are not optional", name);
	tap_ok(!caches || b->state_cache, "%s: a state cache where a target declares one", name);
}

/* What --device=auto may choose: the processor, and devices with memory of their own. */
static void test_automatic(void)
{
	const struct target *gpu = target_gpu();

	tap_ok(target_is_automatic(target_of(NULL, 0)) && !target_has_memory(target_of(NULL, 0)),
		"auto may choose the processor, whose states are in its memory");
	tap_ok(!gpu || (target_is_automatic(gpu) && target_has_memory(gpu)), "and a GPU");
	tap_ok(!target_is_automatic(&target_ref) && !target_is_automatic(&target_null),
		"but neither ref nor null");
}

/* The words of --isa are the kernel sets of the processor. */
static void test_kernel_words(void)
{
	static const char *const word[] = { PROCESSOR_KERNELS(WORD_IN_LIST) };
	enum { N = sizeof word / sizeof *word };
	unsigned n = 0;

	for (const struct target *t; n < N && (t = target_of(NULL, n)); n++)
		tap_is_str(t->kernels, word[n], "kernel set %u of the processor is a word of --isa",
			n);
	tap_ok(n == N && !target_of(NULL, n), "there are %u", N);
}

int main(void)
{
	const char *name;
	unsigned n = 0;

	for (; (name = device_name(n)); n++) {
		const struct backend *b = backend_find(name);

		tap_ok(strlen(name) < WORD_MAX && !strpbrk(name, ":|"), "%s: the name is a word",
			name);
		if (!b) {
			tap_is_str(name, "cuda", "%s is not in this build, which cuda alone may do",
				name);
			continue;
		}
		test_targets(name, b);
		test_functions(name, b);
	}
	test_automatic();
	test_kernel_words();
	tap_ok(n > 1 && nset > n, "%u backends, %u kernel sets", n, nset);
	tap_is_str(target_find(NULL, NULL)->device, device_name(0), "the first is that of auto");
	tap_ok(!backend_find("no such"), "none by another name");
	return tap_done();
}
