/* SPDX-License-Identifier: Apache-2.0
 * Lines of two pixels in pictures of two rows, as in Qiskit Machine Learning's tutorial of a QCNN
 * (generate_dataset): pi/2 on the line, noise up to pi/4 beside it. */
#include "runtime/data/generate/generate.h"

#include "runtime/base/maths.h"
#include "runtime/base/rng.h"

enum { STREAM_STRIPES = 1 };

/* Pixel 0 of the line, and its distance to the other; pixels count along the first row, then the second. */
static uint32_t place_line(const struct generate_options *o, uint64_t draw, bool upright, uint32_t *step)
{
	const uint32_t width = o->nqubit / 2, across = width - 1;

	*step = upright ? width : 1;
	if (upright)
		return (uint32_t)(width * rng_uniform(o->seed, RNG_DATA, STREAM_STRIPES, draw));
	uint32_t at = (uint32_t)(2 * across * rng_uniform(o->seed, RNG_DATA, STREAM_STRIPES, draw));
	return at < across ? at : at + 1;
}

int generate_stripes(const struct generate_options *o, struct dataset **out, struct err *e)
{
	const uint32_t n = o->nqubit;
	struct dataset *d;

	if (n < 4 || n % 2)
		return err_set(e, -ERR_CONFIG, "stripes makes pictures of two rows: an even number of pixels, at least 4, not %u", n);
	int code = dataset_new(o->rounds, n, 1, o->name, &d, e);
	if (code)
		return code;
	for (uint64_t i = 0; i < d->nrow; i++) {
		const uint64_t draw = i * (n + 2);
		const bool upright = rng_uniform(o->seed, RNG_DATA, STREAM_STRIPES, draw) >= 0.5;
		uint32_t step, at = place_line(o, draw + 1, upright, &step);
		double *x = d->x + i * n;

		for (uint32_t k = 0; k < n; k++)
			x[k] = PI / 4 * rng_uniform(o->seed, RNG_DATA, STREAM_STRIPES, draw + 2 + k);
		x[at] = x[at + step] = PI / 2;
		d->y[i] = upright ? 1 : -1;
	}
	*out = d;
	return 0;
}
