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

/* Copies bytes run by run, each to `to` or from `from`; d: NULL, or for runs of whole stripes. */
static void pack_runs(const struct strided *p, size_t at, size_t len, uint8_t *to, struct digest *d)
{
	size_t left, offset = place(p, at, &left);

	for (size_t n; len; len -= n, to += n) {
		n = least(len, left);
		if (d)
			digest_copy(d, to, (const uint8_t *)p->send + offset, n);
		else
			memcpy(to, (const uint8_t *)p->send + offset, n);
		offset += n + (p->stride_bytes - p->run_bytes);
		left = p->run_bytes;
	}
}

static void unpack_runs(const struct strided *p, size_t at, size_t len, const uint8_t *from,
	struct digest *d)
{
	size_t left, offset = place(p, at, &left);

	for (size_t n; len; len -= n, from += n) {
		n = least(len, left);
		if (d)
			digest_copy(d, (uint8_t *)p->receive + offset, from, n);
		else
			memcpy((uint8_t *)p->receive + offset, from, n);
		offset += n + (p->stride_bytes - p->run_bytes);
		left = p->run_bytes;
	}
}

void strided_pack(const struct strided *p, size_t at, size_t len, uint8_t *to, struct digest *d)
{
	if (!d || has_whole_stripes(p, at)) {
		pack_runs(p, at, len, to, d);
		return;
	}
	for (size_t n; len; len -= n, at += n, to += n) {
		n = least(len, BLOCK);
		pack_runs(p, at, n, to, NULL);
		digest_add(d, to, n);
	}
}

void strided_unpack(const struct strided *p, size_t at, size_t len, const uint8_t *from,
	struct digest *d)
{
	if (!d || has_whole_stripes(p, at)) {
		unpack_runs(p, at, len, from, d);
		return;
	}
	for (size_t n; len; len -= n, at += n, from += n) {
		n = least(len, BLOCK);
		digest_add(d, from, n);
		unpack_runs(p, at, n, from, NULL);
	}
}
