/* SPDX-License-Identifier: Apache-2.0
 * Sums that do not depend on their order: fixed point in two int64 limbs.
 *
 * x = a * 2^-20 + b * 2^-60: first a = round(x * 2^20), then b from what is
 * left, both half to even.  |x| < 2^20 for one term and at most 2^22 terms in a
 * sum, so no limb overflows.  A sum is read back as the 128-bit integer
 * a * 2^40 + b, rounded once to double. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fixed { int64_t a, b; };

enum { FIXED_TERMS_MAX = 1 << 22 };
#define FIXED_LIMIT 1048576.0          /* |x| must be below */

/* False when x is not finite or too large; *f is then unchanged. */
bool fixed_from(double x, struct fixed *f);
/* The same for n numbers; false where one of them is, which becomes 0. */
bool fixed_from_all(const double *x, size_t n, struct fixed *f);
double fixed_value(struct fixed f);
/* v[i] += w[i] for n entries; false (v partly changed) when a limb would overflow. */
bool fixed_add(struct fixed *v, const struct fixed *w, size_t n);
