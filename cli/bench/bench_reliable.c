/* SPDX-License-Identifier: Apache-2.0
 * Statistics of measured calls, and whether they can be relied on: a machine that is busy with other work delays
 * some calls, or lowers the limits that a result is compared with. */
#include "cli/bench/bench.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/base/order.h"

/* Of all calls, the middle 90 % is shown: one call in a million that waited for the processor says nothing. */
static const double OUTLIERS = 0.05;
/* The slow end of it is at most this far above the median, in medians. */
static const double SPREAD_MAX = 1;
/* A share of a limit or of the floor is at most this: both are measured, too. */
static const double SHARE_MAX = 1.1;
/* A case that takes longer is not measured again. */
static const double REPEAT_SECONDS_MAX = 20;

void bench_statistics(double *t, uint64_t n, struct bench_result *r)
{
	const uint64_t outliers = (uint64_t)(OUTLIERS * (double)n);
	double sum = 0, squares = 0;

	qsort(t, n, sizeof *t, order_doubles);
	for (uint64_t k = 0; k < n; k++)
		sum += t[k];
	for (uint64_t k = 0; k < n; k++)
		squares += (t[k] - sum / (double)n) * (t[k] - sum / (double)n);
	r->runs = n;
	r->mean = sum / (double)n;
	r->min = t[0];
	r->max = t[n - 1];
	r->low = t[outliers];
	r->high = t[n - 1 - outliers];
	r->median = n % 2 ? t[n / 2] : (t[n / 2 - 1] + t[n / 2]) / 2;
	r->deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

enum bench_doubt bench_doubt(const struct bench_result *r)
{
	if (r->share_of_limit > SHARE_MAX || r->share_of_floor > SHARE_MAX)
		return BENCH_DOUBT_SHARE;
	return r->high > (1 + SPREAD_MAX) * r->median ? BENCH_DOUBT_SPREAD : BENCH_RELIABLE;
}

/* Is b better to rely on? */
static bool is_better(const struct bench_result *b, const struct bench_result *a)
{
	if (bench_doubt(a) != bench_doubt(b))
		return bench_doubt(b) < bench_doubt(a);
	return b->high / b->median < a->high / a->median;
}

int bench_repeat(bench_once_fn once, void *ctx, struct bench_result *out, struct err *e)
{
	int code = once(ctx, BENCH_RELIABLE, out, e);

	out->measured = 1;
	while (!code && bench_doubt(out) && out->measured <= BENCH_REPEATS
			&& (double)out->runs * out->mean <= REPEAT_SECONDS_MAX) {
		struct bench_result again = { 0 };
		const uint64_t measured = out->measured + 1;

		code = once(ctx, bench_doubt(out), &again, e);
		if (!code && is_better(&again, out)) {
			free(out->pass);
			*out = again;
			if (again.optimisations == again.optimisation_text)
				out->optimisations =
					out->optimisation_text; /* not that of `again`, which ends here */
		} else {
			free(again.pass);
		}
		out->measured = measured;
	}
	enum bench_doubt doubt = bench_doubt(out);
	out->reliable = !doubt;
	out->doubt = doubt == BENCH_DOUBT_SHARE ? "faster than the measured limits allow"
		: doubt == BENCH_DOUBT_SPREAD   ? "calls of very different times"
						: "";
	return code;
}
