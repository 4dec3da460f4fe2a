/* SPDX-License-Identifier: Apache-2.0
 * Offsets of clocks, as the Network Time Protocol finds them (RFC 5905, section 8). */
#include "runtime/net/cluster/clock_offset.h"

#include <math.h>

enum {
	DRIFT_NS = 10000000, /* shorter profiles have no drift that matters */
	SLACK_NS = 50000
}; /* by which a round trip may be longer than the best to count for the drift */
#define DRIFT_MAX 1e-3            /* of any clock */
#define DRIFT_USUAL 2e-4          /* of clocks whose drift could not be measured */
#define FAR_NS ((int64_t)1 << 61) /* of any time */

static bool is_time(int64_t ns) { return ns > -FAR_NS && ns < FAR_NS; }

bool clock_offset_add(struct clock_offset *o, enum clock_when when, const struct wire_clock *m,
	int64_t now)
{
	struct clock_sample s, *best = &o->best[when];

	if (!is_time(m->received) || !is_time(m->answered) || m->received > m->answered
		|| m->answered - m->received > now - m->sent)
		return false;
	s.at = m->sent + (now - m->sent) / 2;
	s.trip = now - m->sent - (m->answered - m->received) + 1;
	s.offset = m->received + (m->answered - m->received) / 2 - s.at;
	if (!best->trip || s.trip < best->trip)
		*best = s;
	return true;
}

const struct clock_sample *clock_offset_best(const struct clock_offset *o)
{
	const struct clock_sample *best = &o->best[0];

	for (unsigned k = 1; k < CLOCK_WHEN_COUNT; k++)
		if (o->best[k].trip && (!best->trip || o->best[k].trip < best->trip))
			best = &o->best[k];
	return best;
}

double clock_offset_drift(const struct clock_offset *o)
{
	const struct clock_sample *from = &o->best[CLOCK_BEGIN], *to = &o->best[CLOCK_END];
	int64_t longest = 2 * clock_offset_best(o)->trip + SLACK_NS;

	if (!from->trip || !to->trip || from->trip > longest || to->trip > longest
		|| to->at - from->at < DRIFT_NS)
		return 0;
	double drift = (double)(to->offset - from->offset) / (double)(to->at - from->at);
	return fabs(drift) <= DRIFT_MAX ? drift : 0;
}

int64_t clock_offset_at(const struct clock_offset *o, int64_t theirs)
{
	const struct clock_sample *best = clock_offset_best(o);

	return best->offset
		+ (int64_t)(clock_offset_drift(o) * (double)(theirs - best->offset - best->at));
}

/* How far a time is from those between two samples, at `from` and `to`. */
static int64_t beyond(int64_t at, int64_t from, int64_t to)
{
	return at < from ? from - at : at > to ? at - to : 0;
}

int64_t clock_offset_uncertainty(const struct clock_offset *o, int64_t begin, int64_t end)
{
	const struct clock_sample *best = clock_offset_best(o), *from = best, *to = best;
	double rate = DRIFT_USUAL;
	int64_t trip = best->trip, far, late;

	if (clock_offset_drift(o) != 0) {
		from = &o->best[CLOCK_BEGIN];
		to = &o->best[CLOCK_END];
		trip = from->trip > to->trip ? from->trip : to->trip;
		rate = (double)trip / (double)(to->at - from->at);
	}
	far = beyond(begin - best->offset, from->at, to->at);
	late = beyond(end - best->offset, from->at, to->at);
	return trip / 2 + 1 + (int64_t)(rate * (double)(late > far ? late : far));
}
