/* SPDX-License-Identifier: Apache-2.0
 * Elaboration: the probabilities of noise channels. */
#include "compiler/channels.h"
#include "compiler/elaborate/elab.h"

#include <stdio.h>

static bool probability(struct elab *e, const struct value *v, const struct node *at, double *out)
{
	*out = 0;
	if (v->kind == KIND_ANGLE && !exprs_is_const(&e->design.exprs, v->expr, out))
		return true; /* checked with its values */
	if (v->kind != KIND_ANGLE)
		*out = value_number(v);
	return (*out >= 0 && *out <= 1)
		|| elab_refuse(e, DIAG_PROBABILITY, at->span, "%g is no probability: 0 to 1 are",
			*out);
}

/* Rounding of three numbers that add up to 1 is no error. */
static bool fit_together(struct elab *e, const struct node *call, const double *p, unsigned n)
{
	double sum = 0;

	for (unsigned k = 0; k < n; k++)
		sum += p[k];
	return sum <= 1 + 1e-12
		|| elab_refuse(e, DIAG_PROBABILITY, call->span,
			"probabilities add up to %g, more than 1", sum);
}

bool elab_channel(struct elab *e, const struct node *call, const struct value *v,
	const struct node *const *at, uint32_t width, struct calls *out)
{
	enum channel c = (enum channel)call->word;
	unsigned n = channel_row(c)->nnumber;
	double p[CHANNEL_NUMBERS_MAX];
	uint32_t number[CHANNEL_NUMBERS_MAX];
	bool varies = false;

	for (unsigned k = 0; k < n; k++)
		if (!probability(e, &v[k], at[k], &p[k]))
			return false;
	if (!fit_together(e, call, p, n))
		return false;
	for (unsigned k = 0; k < n; k++)
		varies |= v[k].kind == KIND_ANGLE
			&& !exprs_is_const(&e->design.exprs, v[k].expr, NULL);
	for (unsigned k = 0; varies && k < n; k++)
		number[k] = value_expr(&e->design.exprs, &v[k]);
	if (c == CHANNEL_AMPLITUDE_DAMPING)
		build_damping(&e->design, out, value_expr(&e->design.exprs, &v[0]));
	else if (varies)
		build_varying_channel(&e->design, out, c, width, number, DRAW_LATER);
	else
		build_channel(&e->design, out, c, width, p, DRAW_LATER);
	return true;
}
