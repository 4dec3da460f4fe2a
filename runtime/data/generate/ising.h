/* SPDX-License-Identifier: Apache-2.0
 * Ground states of open chains: H = -zz sum Z Z - zxz sum Z X Z - x sum X - xx sum X X, over neighbours. */
#pragma once

#include <stdint.h>
#include "runtime/base/err.h"

enum { ISING_QUBITS_MAX = 14 };

struct ising { uint32_t nqubit; double zz, zxz, x, xx; };

/* The lowest state that flips of all qubits (zz = 0: of the even ones, and of the odd ones) leave as it
 * is; for x > 0 it is the ground state, also where others lie close by. state (2^nqubit): real
 * amplitudes, qubit 0 the lowest bit, the largest positive. */
int ising_ground_state(const struct ising *h, double *energy, double *state, struct err *e);
