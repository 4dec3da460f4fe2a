/* SPDX-License-Identifier: Apache-2.0
 * The offset of a worker's clock against ours, from CLOCK requests and answers with the times at which each was sent and
 * received. The exchange with the shortest round trip is the most exact: its error is at most half of the trip. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/net/protocol/protocol.h"

struct clock_sample {
	int64_t at;     /* our clock, in the middle of the exchange */
	int64_t offset; /* the worker's clock minus ours */
	int64_t trip;   /* round trip, without the time between receipt and answer; 0: no sample */
};

/* When a sample was taken relative to the recording, since clocks drift. */
enum clock_when { CLOCK_BEGIN = 0, CLOCK_DURING, CLOCK_END, CLOCK_WHEN_COUNT };

struct clock_offset {
	struct clock_sample best[CLOCK_WHEN_COUNT];
};

/* Add the exchange with answer m, received at `now`; false: its times contradict each other. */
bool clock_offset_add(struct clock_offset *o, enum clock_when when, const struct wire_clock *m,
	int64_t now);
/* The sample with the shortest round trip. */
const struct clock_sample *clock_offset_best(const struct clock_offset *o);
/* How much faster the worker's clock runs than ours, per nanosecond; 0 if unknown. */
double clock_offset_drift(const struct clock_offset *o);
/* The offset at a time of the worker's clock. */
int64_t clock_offset_at(const struct clock_offset *o, int64_t theirs);
/* Largest error of the offsets between two times of the worker's clock. */
int64_t clock_offset_uncertainty(const struct clock_offset *o, int64_t begin, int64_t end);
