/* SPDX-License-Identifier: Apache-2.0
 * Short runs are copied by blocks that stay in the first cache until their digest is taken. */
#include "runtime/net/comm/strided.h"

#include <stdbool.h>
#include <string.h>

enum { BLOCK = 4096 };
_Static_assert(BLOCK % DIGEST_STRIPE == 0, "digests are taken of whole stripes");

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Offset of byte `at` of a part, and how many bytes follow it in its run. */
static size_t place(const struct strided *p, size_t at, size_t *left)
{
	size_t run = at / p->run_bytes, in_run = at % p->run_bytes;

	*left = p->run_bytes - in_run;
	return run * p->stride_bytes + in_run;
}

/* Runs of whole stripes are copied and digested in one visit. */
static bool has_whole_stripes(const struct strided *p, size_t at)
{
	return p->run_bytes % DIGEST_STRIPE == 0 && at % DIGEST_STRIPE == 0;
}

/* Copies bytes run by run, to `to` (NULL: to p->receive), from `from` (NULL: from p->send); d: NULL, or for runs of whole stripes. */
static void copy_runs(const struct strided *p, size_t at, size_t len, uint8_t *to,
	const uint8_t *from, struct digest *d)
{
	size_t left, offset = place(p, at, &left);

	for (size_t n, done = 0; done < len; done += n) {
		uint8_t *there = to ? to + done : (uint8_t *)p->receive + offset;
		const uint8_t *here = from ? from + done : (const uint8_t *)p->send + offset;

		n = least(len - done, left);
		if (d)
			digest_copy(d, there, here, n);
		else
			memcpy(there, here, n);
		offset += n + (p->stride_bytes - p->run_bytes);
		left = p->run_bytes;
	}
}

static void copy_part(const struct strided *p, size_t at, size_t len, uint8_t *to,
	const uint8_t *from, struct digest *d)
{
	if (!d || has_whole_stripes(p, at)) {
		copy_runs(p, at, len, to, from, d);
		return;
	}
	for (size_t n, done = 0; done < len; done += n) {
		n = least(len - done, BLOCK);
		copy_runs(p, at + done, n, to ? to + done : NULL, from ? from + done : NULL, NULL);
		digest_add(d, (to ? to : from) + done, n);
	}
}

void strided_pack(const struct strided *p, size_t at, size_t len, uint8_t *to, struct digest *d)
{
	copy_part(p, at, len, to, NULL, d);
}

void strided_unpack(const struct strided *p, size_t at, size_t len, const uint8_t *from,
	struct digest *d)
{
	copy_part(p, at, len, NULL, from, d);
}
