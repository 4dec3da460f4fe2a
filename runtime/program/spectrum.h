/* SPDX-License-Identifier: Apache-2.0
 * How readouts depend on one weight while the others stay: as trigonometric polynomials, where the
 * weight is an angle of gates. */
#pragma once

#include "runtime/program/program.h"

enum { SPECTRUM_MAX = 512 };

/* Frequencies w, 2w, ..., nw at most; n 0: no readout depends on the weight. */
struct spectrum { double w; uint32_t n; };

/* Of weight number i of a circuit (i < nweight_circuit).  Bounds by counting: every use of a gate adds
 * its frequencies (gate_shift_frequencies).  -ERR_CONFIG names the weight and why it has none: an angle
 * is not the weight times a constant plus what does not depend on it, amplitudes depend on it, or there
 * are more than SPECTRUM_MAX frequencies. */
int weight_spectrum(const struct program *p, uint32_t i, struct spectrum *out, struct err *e);
