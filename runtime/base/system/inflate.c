/* SPDX-License-Identifier: Apache-2.0
 * Raw deflate streams (RFC 1951), gzip files (RFC 1952) and CRC-32, by zlib. */
#include "runtime/base/system/inflate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/temporary_file.h"

enum { FILE_PIECE = 1 << 16 };
enum { PIECE = 1 << 30 };      /* zlib counts in unsigned int */

uint32_t crc32_of(const void *p, size_t len)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), p, len);
}

uint32_t crc32_more(uint32_t crc, const void *p, size_t len)
{
	return (uint32_t)crc32_z(crc, p, len);
}

static uInt piece(size_t len) { return len < PIECE ? (uInt)len : PIECE; }

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

	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return err_set(e, -ERR_CONFIG, "no memory to inflate");
	int code = run(&z, in_len, out_len, &spare);
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

/* ---- gzip ---- */

enum { GZIP_TAIL = 8 };

/* Bytes of the header (RFC 1952, section 2.3), which zlib checks; 0 when it is none. */
static size_t gzip_head(const void *in, size_t len)
{
	unsigned char none;
	z_stream z = { .next_in = (unsigned char *)in, .avail_in = piece(len), .next_out = &none };
	gz_header head = { 0 };

	if (inflateInit2(&z, MAX_WBITS + 16) != Z_OK)
		return 0;
	inflateGetHeader(&z, &head);
	inflate(&z, Z_BLOCK); /* ends behind the header */
	inflateEnd(&z);
	return head.done == 1 ? z.total_in : 0;
}

int inflate_gzip(const void *in, size_t in_len, struct buf *out, struct err *e)
{
	struct rd tail = { in, in_len, in_len - GZIP_TAIL, 0 };
	size_t head = gzip_head(in, in_len);

	if (!head || in_len - head < GZIP_TAIL)
		return err_set(e, -ERR_BAD_DATA, "not a gzip file, or its header is damaged");
	uint32_t crc = rd_u32(&tail);
	uint32_t len = rd_u32(&tail);
	size_t deflated = in_len - GZIP_TAIL - head;
	if (len / GZIP_RATIO_MAX > deflated)
		return err_set(e, -ERR_BAD_DATA, "%zu compressed bytes cannot hold the %u that are stated", deflated, len);
	char *bytes = mem_try((size_t)len + 1, 1); /* ends in the buffer's NUL */
	if (!bytes)
		return err_set(e, -ERR_CONFIG, "no memory for %u bytes", len);
	int code = inflate_raw((const char *)in + head, deflated, bytes, len, e);
	if (!code && crc32_of(bytes, len) != crc)
		code = err_set(e, -ERR_BAD_DATA, "compressed data are damaged (their CRC differs)");
	if (code)
		free(bytes);
	else
		*out = (struct buf){ bytes, len, (size_t)len + 1 };
	return code;
}

/* ---- files ---- */

struct pipe { z_stream z; int fd; const char *path; uint64_t at, left; unsigned char in[FILE_PIECE], out[4 * FILE_PIECE]; };

static int more_input(struct pipe *p, struct err *e)
{
	size_t n = p->left < sizeof p->in ? (size_t)p->left : sizeof p->in;
	int code = file_read(p->fd, p->path, p->at, p->in, n, e);

	p->z.next_in = p->in;
	p->z.avail_in = (uInt)n;
	p->at += n;
	p->left -= n;
	return code;
}

static int pump(struct pipe *p, inflate_sink sink, void *ctx, struct err *e)
{
	int state = Z_OK, code = 0;

	while (!code && state != Z_STREAM_END) {
		if (!p->z.avail_in && p->left)
			code = more_input(p, e);
		if (code)
			return code;
		p->z.next_out = p->out;
		p->z.avail_out = sizeof p->out;
		state = inflate(&p->z, Z_NO_FLUSH);
		if (state != Z_OK && state != Z_STREAM_END)
			return err_set(e, -ERR_BAD_DATA, "compressed data are damaged%s%s", p->z.msg ? ": " : " or cut off",
				p->z.msg ? p->z.msg : "");
		code = sink(ctx, p->out, sizeof p->out - p->z.avail_out, e);
	}
	if (!code && (p->left || p->z.avail_in))
		return err_set(e, -ERR_BAD_DATA, "bytes behind the end of the compressed data");
	return code;
}

int inflate_file(int fd, const char *path, uint64_t at, uint64_t len, bool gzip, inflate_sink sink, void *ctx, struct err *e)
{
	mem_auto struct pipe *p = mem_alloc(1, sizeof *p);

	p->fd = fd;
	p->path = path;
	p->at = at;
	p->left = len;
	int code = inflateInit2(&p->z, gzip ? MAX_WBITS + 16 : -MAX_WBITS) != Z_OK
		? err_set(e, -ERR_CONFIG, "no memory to inflate")
		: pump(p, sink, ctx, e);
	inflateEnd(&p->z);
	return code;
}
