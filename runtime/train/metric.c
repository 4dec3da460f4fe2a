/* SPDX-License-Identifier: Apache-2.0
 * The metrics of metric.def, one function each, and the losses as metrics. */
#include "config.h"
#include "runtime/train/loss.h"

#include <stdbool.h>
#include <string.h>

static double share(uint64_t count, uint64_t total)
{
	return total ? (double)count / (double)total : 0;
}

static double metric_sign_accuracy(const double *output, const double *label, uint32_t nsample,
	uint32_t n, uint32_t nlabel)
{
	uint64_t right = 0, total = (uint64_t)nsample * n;

	(void)nlabel;
	for (uint64_t i = 0; i < total; i++)
		right += (output[i] >= 0) == (label[i] >= 0);
	return share(right, total);
}

/* The first of equal largest ones, as Keras's argmax. */
static uint32_t largest(const double *v, uint32_t n)
{
	uint32_t at = 0;

	for (uint32_t j = 1; j < n; j++)
		if (v[j] > v[at])
			at = j;
	return at;
}

static double class_accuracy(const double *output, const double *label, uint32_t nsample,
	uint32_t n, uint32_t nlabel)
{
	uint64_t right = 0;

	for (uint32_t s = 0; s < nsample; s++) {
		uint32_t got = largest(output + (size_t)s * n, n);

		if (nlabel == 1)
			right += label[s] == got;
		else
			right += largest(label + (size_t)s * n, n) == got;
	}
	return share(right, nsample);
}

/* Labels 0 and 1; a set without a 0, and any with a negative label, is read by sign. */
static bool zero_or_one(const double *label, uint32_t nsample)
{
	bool zero = false;

	for (uint32_t s = 0; s < nsample; s++) {
		if (label[s] < 0)
			return false;
		zero |= label[s] == 0;
	}
	return zero;
}

static double metric_accuracy(const double *output, const double *label, uint32_t nsample,
	uint32_t n, uint32_t nlabel)
{
	uint64_t right = 0;

	if (n > 1)
		return class_accuracy(output, label, nsample, n, nlabel);
	if (!zero_or_one(label, nsample))
		return metric_sign_accuracy(output, label, nsample, n, nlabel);
	for (uint32_t s = 0; s < nsample; s++)
		right += (output[s] > 0.5) == (label[s] > 0.5);
	return share(right, nsample);
}

static double mean_loss(const struct loss_row *loss, const double *output, const double *label,
	uint32_t nsample, uint32_t n)
{
	double sum = 0;

	for (uint32_t s = 0; s < nsample; s++)
		sum += loss->value(output + (size_t)s * n, label + (size_t)s * n, n, NULL);
	return nsample ? sum / nsample : 0;
}

#define LOSS(name, doc, source) \
	static double metric_##name(const double *output, const double *label, uint32_t nsample, \
		uint32_t n, uint32_t nlabel) \
	{ \
		(void)nlabel; \
		return mean_loss(loss_find(#name), output, label, nsample, n); \
	}
#include "runtime/train/loss.def"
#undef LOSS

static const struct metric_row table[] = {
#define METRIC(name, doc, source, takes_class) { #name, doc, source, takes_class, metric_##name },
#include "runtime/train/metric.def"
#undef METRIC
#define LOSS(name, doc, source) { #name, doc, source, 0, metric_##name },
#include "runtime/train/loss.def"
#undef LOSS
};

size_t metric_rows(const struct metric_row **rows)
{
	*rows = table;
	return sizeof table / sizeof *table;
}

const struct metric_row *metric_find(const char *name)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}
