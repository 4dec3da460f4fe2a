/* SPDX-License-Identifier: Apache-2.0
 * Numbers as files hold them, as doubles. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* kind: 'f' float, 'i' integer with a sign, 'u' without, 'b' truth value. */
struct number { char kind; uint8_t nbytes; bool big; };  /* big: the highest byte first */

/* out[n] from p[n * nbytes]. How many were decoded: fewer than n where the next has no exact double. */
size_t numbers_decode(struct number type, const uint8_t *p, size_t n, double *out);
