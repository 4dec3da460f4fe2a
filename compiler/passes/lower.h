/* SPDX-License-Identifier: Apache-2.0
 * A design becomes a program: what is used, numbered, in the program's own memory. */
#pragma once

#include "compiler/circuit.h"

struct source_set;

/* Never NULL; not yet verified. */
struct program *lower(const struct design *d, const struct source_set *sources);
