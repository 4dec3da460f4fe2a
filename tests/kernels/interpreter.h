/* SPDX-License-Identifier: Apache-2.0
 * A backend for tests that does what a plan says, literally: stage by stage, block by block, in complex128.
 *
 * Its target has a vector width and a block size that no kernel set has, and no optional capability. It
 * aborts where a plan breaks a rule: a block that is larger than the target's, a step that changes a bit
 * outside its block, amplitudes that leave it. */
#ifndef TESTS_KERNELS_INTERPRETER_H
#define TESTS_KERNELS_INTERPRETER_H

#include "runtime/exec/target.h"

extern const struct target target_interpreter;

/* Target number k of those that are compared with ref: all others of target_here, then the interpreter's;
 * NULL: no more. */
const struct target *tested_target(unsigned k);

/* Blocks of stages that all interpreters of this process have worked on. */
extern unsigned long interpreter_blocks;

#endif
