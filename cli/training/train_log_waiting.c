/* SPDX-License-Identifier: Apache-2.0
 * Lines and records that could not be written yet, as a vector of a checkpoint: the number of bytes, then six bytes a number. */
#include "cli/training/train_log.h"

#include <stdint.h>
#include <stdlib.h>

enum { BYTES_A_NUMBER = 6 };

void train_log_pack(struct train_log_waiting *w, const char *name, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	struct weights_vector *v = &w->vector[w->n];
	struct buf whole = BUF_INIT;
	double *value;

	if (!n)
		return;
	buf_printf(&whole, TRAIN_LOG_WAITING "%s", name);
	v->name = buf_take(&whole);
	v->n = 1 + (n + BYTES_A_NUMBER - 1) / BYTES_A_NUMBER;
	v->value = value = mem_alloc(v->n, sizeof *value);
	*value++ = (double)n;
	for (size_t i = 0; i < n; i += BYTES_A_NUMBER) {
		uint64_t bits = 0;

		for (size_t k = 0; k < BYTES_A_NUMBER && i + k < n; k++)
			bits |= (uint64_t)p[i + k] << 8 * k;
		*value++ = (double)bits;
	}
	w->n++;
}

void train_log_waiting_release(struct train_log_waiting *w)
{
	for (unsigned k = 0; k < w->n; k++) {
		free((char *)w->vector[k].name);
		free((double *)w->vector[k].value);
	}
	w->n = 0;
}

bool train_log_unpack(const struct weights *from, const char *name, struct buf *out)
{
	buf_auto whole = BUF_INIT;

	buf_printf(&whole, TRAIN_LOG_WAITING "%s", name);
	const struct weights_vector *v = from ? weights_vector(from, whole.data) : NULL;
	if (!v || !v->n || !(v->value[0] >= 1 && v->value[0] <= (double)(v->n - 1) * BYTES_A_NUMBER))
		return false;
	size_t n = (size_t)v->value[0];
	for (size_t i = 0; i < n; i++) {
		double d = v->value[1 + i / BYTES_A_NUMBER];

		buf_char(out, d >= 0 && d < 281474976710656.0 ? (int)((uint64_t)d >> 8 * (i % BYTES_A_NUMBER) & 255) : 0);   /* 2^48 */
	}
	return true;
}
