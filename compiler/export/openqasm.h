/* SPDX-License-Identifier: Apache-2.0
 * A circuit in OpenQASM, for other programs and for quantum computers. */
#pragma once

#include "runtime/program/program.h"

enum openqasm { OPENQASM_2 = 2, OPENQASM_3 = 3 };

/* The program's circuits gate by gate, each with registers of its own, with weight[nweight_circuit] as numbers. Gates are those of qelib1.inc (A. Cross et al.,
 * arXiv:1707.03429) or stdgates.inc (arXiv:2104.14722), and all others are made of them; global phases are left out. What is
 * observed is measured at the end where one basis serves all outputs. Inputs in angles stay inputs in OpenQASM 3.
 * -ERR_BAD_DATA where OpenQASM cannot say it: inputs in angles of OpenQASM 2, angles that are not finite. */
int openqasm_print(const struct program *p, const double *weight, enum openqasm version,
	struct buf *out, struct err *e);
/* Whether the circuit has vectors of amplitudes, for which there is a comment alone. */
bool openqasm_lacks_states(const struct program *p);
