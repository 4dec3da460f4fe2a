/* SPDX-License-Identifier: Apache-2.0
 * Time: a steady clock for durations, the wall clock for names of runs. */
#pragma once

#include <stddef.h>

double clock_seconds(void);                          /* steady, arbitrary start */
double clock_wall(void);                             /* seconds since 1970 */
/* "20261120-233512" in local time, for folder names; buf of at least 32. */
void clock_stamp(char *buf, size_t len);
/* "2026-11-20T23:35:12Z" */
void clock_iso(char *buf, size_t len);
