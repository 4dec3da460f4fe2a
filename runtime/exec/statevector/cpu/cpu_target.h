/* SPDX-License-Identifier: Apache-2.0
 * The kernel sets of the cpu backend as targets. */
#pragma once

#include "runtime/exec/target.h"

/* By instruction set, of a processor from the least to the best; ISA_NONE: empty. */
extern const struct target cpu_target_row[ISA_COUNT];

/* The target of an instruction set; ISA_NONE: of the best one of this machine. */
const struct target *cpu_target(enum isa isa);
/* The instruction set of a target of this backend, else ISA_NONE. */
enum isa cpu_target_isa(const struct target *t);
const char *cpu_target_obstacle(const struct target *t);
