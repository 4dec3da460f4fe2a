/* SPDX-License-Identifier: Apache-2.0
 * A circuit's readouts as linear functions of expectations of Pauli sums: of forms.
 *
 * A Pauli output is one form; probabilities of k wires are those of the 2^k - 1 products
 * of Z on some of them.  The identity's part is a constant. */
#pragma once

#include "runtime/exec/statevector/observable.h"

enum { FORMS_PROBS_WIRES_MAX = 6 };

struct form_term {
	struct pauli_mask mask; /* on places of the state's bits (plan_circuit.place); ny modulo 4 */
	double coefficient;
	uint32_t form;
};

struct forms {
	uint32_t nform, nterm;
	struct form_term *term; /* no identities */
	double *constant;       /* (noutput) of Pauli outputs */
};

/* Have all probabilities at most FORMS_PROBS_WIRES_MAX wires? */
bool forms_possible(const struct plan_circuit *c);
/* Forms of a circuit. */
uint64_t forms_count(const struct plan_circuit *c);
/* Of a circuit for which that holds; lives in a. */
void forms_of(const struct plan_circuit *c, struct arena *a, struct forms *out);
/* readout[nreadout] from value[nform]; value = sum over the form's terms of coefficient <P>. */
void forms_readouts(const struct plan_circuit *c, const struct forms *f, const double *value,
	double *readout);
/* Back: dform[nform] from dreadout[nreadout]. */
void forms_gradient(const struct plan_circuit *c, const double *dreadout, double *dform);
