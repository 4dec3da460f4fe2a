/* SPDX-License-Identifier: Apache-2.0
 * Orders of numbers and texts, for qsort and bsearch. */
#pragma once

#include <stdint.h>
#include <string.h>

/* -1, 0 or 1: a is less, equal or greater. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Ascending; of numbers or texts, or of structures that begin with one. */
static inline int order_doubles(const void *x, const void *y)
{
	return ORDER(*(const double *)x, *(const double *)y);
}

static inline int order_u32(const void *x, const void *y)
{
	return ORDER(*(const uint32_t *)x, *(const uint32_t *)y);
}

static inline int order_texts(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}
