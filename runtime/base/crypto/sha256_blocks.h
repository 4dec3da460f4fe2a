/* SPDX-License-Identifier: Apache-2.0
 * The part of SHA-256 that takes the time, by instructions that some processors have. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Has this processor them?  Else sha256_blocks may not be called. */
bool sha256_blocks_are_fast(void);
/* nblock blocks of 64 bytes into the state (FIPS 180-4, 6.2.2). */
void sha256_blocks(uint32_t state[8], const uint8_t *p, size_t nblock);
