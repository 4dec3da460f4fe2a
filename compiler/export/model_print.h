/* SPDX-License-Identifier: Apache-2.0
 * What the parts of model_print share: the text so far, and its names. */
#pragma once

#include "compiler/compile.h"

enum { MODEL_TEXT_MAX = 1 << 28 };       /* bytes of all, about */

struct printer;

/* What differs between languages. */
struct print_language {
	/* a: as the gate acts, under the controls of all that is around it. */
	void (*gate)(struct printer *w, const struct item *it, const struct apply *a);
	void (*input)(struct printer *w, uint32_t scalar);
	/* A noise channel; NULL where programs with channels are refused before. */
	void (*channel)(struct printer *w, const struct matrix *m, const struct apply *a);
	const char *name;     /* for messages */
	unsigned no_function; /* bits 1 << EXPR_...: functions that the language has not */
};
extern const struct print_language model_language;

struct printer {
	const struct print_language *language;
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
	int code; /* of the first fault, behind which the text means nothing; 0: none */
};
#define PRINT_FAIL(w, ...) \
	((void)((w)->code || ((w)->code = err_set((w)->e, -ERR_BAD_DATA, __VA_ARGS__))))

/* model_print_gate.c.  Names of wires, inputs: */
void model_put_wires(struct printer *w, const uint32_t *wire, uint32_t n, const char *between);
void model_put_input_name(struct printer *w, uint32_t group);
/* A number that is read as a float, also where an integer would mean something else. */
void model_put_number(struct printer *w, double v);
/* An angle as text; statements, one for each gate. */
void model_put_angle(struct printer *w, uint32_t expr);
void model_put_unitary(struct printer *w, const struct apply *a);
void model_check_length(struct printer *w);
void model_put_output(struct printer *w, const struct output *o);
/* Whether a text can be the name of something in a model. */
bool model_is_name(const char *s);
