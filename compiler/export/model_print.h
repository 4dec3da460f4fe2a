/* SPDX-License-Identifier: Apache-2.0
 * What the parts of model_print share: the text so far, and its names. */
#pragma once

#include "compiler/compile.h"

enum { MODEL_TEXT_MAX = 1 << 28 };       /* bytes of all, about */

struct printer {
	const struct program *p;
	const double *value;             /* (nexpr) right where no input is needed */
	/* Names of our own, where those of the program are no names of a model. */
	bool plain_inputs, plain;        /* plain: one register in each circuit */
	const char *register_name;       /* plain: of that register */
	const struct circuit_code *c;
	const char *register_of[PROGRAM_WIRES_MAX];
	uint32_t place[PROGRAM_WIRES_MAX];
	uint32_t nodes;                  /* left for the angle at hand */
	uint32_t layer;
	const char *indent;
	struct buf *out;
	struct err *e;
};

/* model_print_gate.c.  Names of wires, inputs: */
void model_put_wires(struct printer *w, const uint32_t *wire, uint32_t n, const char *between);
void model_put_input_name(struct printer *w, uint32_t group);
/* A number that is read as a float, also where an integer would mean something else. */
void model_put_number(struct printer *w, double v);
/* An angle as text; statements, one for each gate.  0 or a code and w->e. */
int model_put_angle(struct printer *w, uint32_t expr);
int model_put_unitary(struct printer *w, const struct apply *a);
