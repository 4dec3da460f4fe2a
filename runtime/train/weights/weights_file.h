/* SPDX-License-Identifier: Apache-2.0
 * What writer and reader of weights.bin agree on beyond weights.h. */
#pragma once

#include "runtime/base/crypto/crypto.h"
#include "runtime/train/weights/weights.h"

#define WEIGHTS_PARAMS  "params/"
#define WEIGHTS_PROGRAM "program"
#define WEIGHTS_BYTES_MAX \
	((size_t)8 + WEIGHTS_HEADER_MAX + PROGRAM_BYTES_MAX + (size_t)8 * PROGRAM_WEIGHTS_MAX + WEIGHTS_VECTORS_MAX)
#define WEIGHTS_VECTORS_MAX ((size_t)2 << 30)        /* bytes of a checkpoint's vectors */

/* Where in the header the 64 digits begin; 0 when there are none. */
size_t weights_digest_place(const char *header, size_t len);
/* SHA-256 of the file with its seal, 64 digits, read as zeros. */
void weights_digest(const struct file_parts *f, char hex[SHA256_HEX + 1]);
