/* SPDX-License-Identifier: Apache-2.0
 * Raw deflate streams (RFC 1951) and CRC-32, by zlib. */
#include "config.h"
#include "runtime/base/inflate.h"

#include <stdbool.h>
#include <zlib.h>

enum { PIECE = 1 << 30 };      /* zlib counts in unsigned int */

uint32_t crc32_of(const void *p, size_t len)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), p, len);
}

static uInt piece(size_t len)
{
	return len < PIECE ? (uInt)len : PIECE;
}

/* Behind the last block (zlib says so in data_type, with the number of bits not used
 * of the byte read last) writers fill up with zeros; anything else is damage. */
static bool padding_is_wrong(const z_stream *z)
{
	unsigned unused = (unsigned)z->data_type & 7;

	return (z->data_type & 192) == 192 && unused && z->next_in[-1] >> (8 - unused);
}

/* Runs until the stream ends or moves no more; *spare: output bytes not written. */
static int run(z_stream *z, size_t in_left, size_t out_left, size_t *spare)
{
	int code = Z_OK;

	while (code == Z_OK) {
		uInt in = piece(in_left), out = piece(out_left);

		z->avail_in = in;
		z->avail_out = out;
		code = inflate(z, Z_BLOCK);
		in_left -= in - z->avail_in;
		out_left -= out - z->avail_out;
		if (code == Z_OK && padding_is_wrong(z))
			code = Z_DATA_ERROR;
	}
	*spare = out_left;
	return in_left && code == Z_STREAM_END ? Z_DATA_ERROR : code;
}

int inflate_raw(const void *in, size_t in_len, void *out, size_t out_len, struct err *e)
{
	unsigned char none;
	z_stream z = { .next_in = (unsigned char *)in, .next_out = out_len ? out : &none };
	size_t spare;
	int code;

	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return err_set(e, -ERR_CONFIG, "no memory to inflate");
	code = run(&z, in_len, out_len, &spare);
	inflateEnd(&z);
	if (code == Z_STREAM_END && !spare)
		return 0;
	if (code == Z_STREAM_END)
		return err_set(e, -ERR_BAD_DATA, "compressed data hold %zu bytes too few", spare);
	if (code == Z_BUF_ERROR && !spare)
		return err_set(e, -ERR_BAD_DATA, "compressed data hold more than the %zu bytes declared",
			out_len);
	return err_set(e, -ERR_BAD_DATA, "compressed data are damaged");
}
