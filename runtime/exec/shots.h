/* SPDX-License-Identifier: Apache-2.0
 * Readouts as a device measures them: frequencies of a number of shots instead of expectations.
 *
 * A circuit's Pauli products and probabilities are put into groups that can be measured together, which
 * want every wire in one basis: in the order of the outputs, each goes to the first group that it fits
 * (a probability measures its wires in the basis of Z).  Every group gets all the shots, anew; one shot
 * is a string of bits drawn from the exact distribution of the state in the group's bases.  The random
 * numbers are counter-based, so that threads and the order of the work change nothing. */
#pragma once

#include "runtime/base/arena.h"
#include "runtime/program/program.h"

enum { SHOTS_MAX = 1 << 24 };

/* Where the random numbers of a state come from: variant counts the circuits that are run for one
 * sample (shifted ones), group the states of one circuit. */
struct shot_stream { uint64_t key; uint32_t sample, variant, group; };

struct shot_groups;

/* The groups of a circuit, in the arena; first_group: number of the first among those of the program. */
struct shot_groups *shot_groups_new(struct arena *a, const struct circuit_code *c, uint32_t first_group);
uint32_t shot_groups_count(const struct shot_groups *g);
/* Bytes of the scratch of shot_readouts. */
uint64_t shot_scratch_bytes(const struct shot_groups *g);

/* readout[nreadout] from nshot shots for each group of the state psi[2^nwire], wire 0 the lowest
 * bit; s->group is not looked at.  scratch: shot_scratch_bytes, aligned for cplx. */
void shot_readouts(const struct shot_groups *g, const cplx *psi, uint64_t nshot, const struct shot_stream *s,
	void *scratch, double *readout);

/* p[n] (sums of squares of amplitudes) become the frequencies of nshot draws. */
void shot_frequencies(double *p, uint64_t n, uint64_t nshot, const struct shot_stream *s, double *scratch);
/* The same draws one by one: bit[(nshot, nwire)], 0 or 1, wire 0 being the lowest bit of an index of p[2^nwire], which
 * is used up. */
void shot_bits(double *p, uint32_t nwire, uint64_t nshot, const struct shot_stream *s, double *bit);
