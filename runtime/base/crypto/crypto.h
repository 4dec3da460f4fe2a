/* SPDX-License-Identifier: Apache-2.0
 * Hashes (libsodium stays behind this file). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 64 };

struct sha256 { uint64_t opaque[16]; };
void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *p, size_t len);
void sha256_end(struct sha256 *h, uint8_t out[SHA256_BYTES]);
void sha256_of(const void *p, size_t len, uint8_t out[SHA256_BYTES]);
/* n bytes as 2 n digits, in lower case, and a 0; and back: false where the text is no 2 n digits. */
void hex_text(const void *bytes, size_t n, char *out);
bool hex_bytes(const char *text, size_t len, void *out, size_t n);
void sha256_hex(const uint8_t in[SHA256_BYTES], char out[SHA256_HEX + 1]); /* lower case */
