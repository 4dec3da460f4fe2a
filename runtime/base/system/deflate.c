/* SPDX-License-Identifier: Apache-2.0
 * Gzip files (RFC 1952), by zlib. */
#include "runtime/base/system/deflate.h"

#include <stdlib.h>
#include <zlib.h>

#include "runtime/base/arena.h"

enum { LEVEL = 6, MEMORY = 8, PIECE = 1 << 16 };

struct gzip {
	z_stream z;
	struct buf *out;
};

struct gzip *gzip_begin(struct buf *out, struct err *e)
{
	struct gzip *g = mem_alloc(1, sizeof *g);

	g->out = out;
	if (deflateInit2(&g->z, LEVEL, Z_DEFLATED, MAX_WBITS + 16, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK)
		return g;
	free(g);
	err_set(e, -ERR_CONFIG, "no memory to compress");
	return NULL;
}

/* Until all input is used up, or, to finish, until the stream has ended. */
static void pump(struct gzip *g, int flush)
{
	int code = Z_OK;

	while (code == Z_OK && (g->z.avail_in || flush == Z_FINISH)) {
		buf_reserve(g->out, PIECE);
		g->z.next_out = (unsigned char *)g->out->data + g->out->len;
		g->z.avail_out = PIECE;
		code = deflate(&g->z, flush);
		g->out->len += PIECE - g->z.avail_out;
		g->out->data[g->out->len] = '\0';
	}
	if (code != (flush == Z_FINISH ? Z_STREAM_END : Z_OK))
		BUG("deflate returned %d", code);
}

void gzip_add(struct gzip *g, const void *p, size_t len)
{
	const unsigned char *at = p;

	for (size_t n; len; at += n, len -= n) {
		n = len < PIECE ? len : PIECE;
		g->z.next_in = (unsigned char *)at;
		g->z.avail_in = (unsigned)n;
		pump(g, Z_NO_FLUSH);
	}
}

void gzip_end(struct gzip *g)
{
	pump(g, Z_FINISH);
	deflateEnd(&g->z);
	free(g);
}
