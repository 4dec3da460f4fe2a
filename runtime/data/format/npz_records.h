/* SPDX-License-Identifier: Apache-2.0
 * The records of a ZIP archive (APPNOTE.TXT), as far as .npz files have them. */
#pragma once

#include <stdint.h>

enum {
	SIG_LOCAL = 0x04034b50, SIG_ENTRY = 0x02014b50, SIG_END = 0x06054b50,
	LOCAL_BYTES = 30, END_BYTES = 22,
	METHOD_STORED = 0, METHOD_DEFLATED = 8,
	FLAG_UTF8 = 0x800, FLAG_LEVEL = 0x6,     /* the only flags a member may have */
	EXTRA_ZIP64 = 1,
	DATE_1980 = 1 << 5 | 1, ZIP_VERSION = 20,
	DEFLATE_RATIO_MAX = 1032                 /* RFC 1951: 258 bytes from 2 bits */
};
#define ZIP32_MAX 0xffffffffu

struct entry {
	uint16_t flags, method, time, date, name_len, extra_len;
	uint32_t crc, packed, size, offset;
	const uint8_t *name;
};
