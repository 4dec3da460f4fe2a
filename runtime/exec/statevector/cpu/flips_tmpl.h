/* SPDX-License-Identifier: Apache-2.0
 * Template: cx that the kernel of a matrix does in the same visit. */
#pragma once

#include "runtime/exec/statevector/cpu/vectors_tmpl.h"

/* Flips exchange columns of the matrix, or rows of that which undoes it, for all groups with the same bits where flips look:
 * these are the rows of one step without flips.  The matrix is on two targets, not lanewise and without controls. */
struct flipped {
	size_t controls;
	struct kernel_step step;
	real u[32];
};

INLINE void flipped_begin(struct flipped *f, const struct kernel_step *s)
{
	f->controls = 0;
	for (unsigned k = 0; k < s->nflip; k++)
		f->controls |= (size_t)1 << s->flip[k].row_bit;
	f->controls &= ~fixed_mask(s); /* a bit that is fixed is as `control` has it */
	f->step = *s;
	f->step.nflip = 0;
	for (size_t left = f->controls; left; left &= left - 1)
		f->step.fixed[f->step.nfixed++] = (uint8_t)__builtin_ctzll(left);
}

INLINE bool flipped_next(struct flipped *f)
{
	f->step.control = (f->step.control - f->controls) & f->controls;
	return f->step.control != 0;
}

/* The matrix for the rows of f->step; exchanged by one target alone, parity's entries are elsewhere. */
INLINE void flipped_matrix(struct flipped *f, const struct kernel_step *s, const real *u, bool columns)
{
	size_t move = 0;
	unsigned flip = 0;
	for (unsigned k = 0; k < s->nflip; k++)
		move ^= (f->step.control >> s->flip[k].row_bit & 1) == s->flip[k].value ? s->flip[k].mask : 0;
	while (s->target[flip] != move)
		flip++;
	f->step.form = s->form == FORM_PARITY && __builtin_parity(flip) ? FORM_COMPLEX : s->form;
	for (unsigned r = 0; r < 4; r++)
		for (unsigned c = 0; c < 4; c++) {
			unsigned row = columns ? r : r ^ flip, column = columns ? c ^ flip : c;
			for (unsigned part = 0; part < 2; part++) {
				bool there = s->form == FORM_COMPLEX
					|| part == is_imaginary(s->form, row, column);
				f->u[2 * (4 * r + c) + part] = there ? u[2 * (4 * row + column) + part] : 0;
			}
		}
}
