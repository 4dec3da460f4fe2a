/* SPDX-License-Identifier: Apache-2.0
 * Where the arrays of an .npz or .npy file lie, without their numbers.
 *
 * Stored members stay in the archive, deflated ones are inflated into temporary files; every CRC-32 is checked. */
#include "runtime/data/format/array_places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/inflate.h"
#include "runtime/base/system/temporary_file.h"

enum { PIECE = 1 << 18 };

struct unpacking {
	struct temporary_file *file;
	uint64_t size;
	uint32_t crc;
};

static int keep_piece(void *ctx, const void *p, size_t len, struct err *e)
{
	struct unpacking *u = ctx;

	if (len > u->size)
		return err_set(e, -ERR_BAD_DATA, "compressed data hold more bytes than declared");
	u->size -= len;
	u->crc = crc32_more(u->crc, p, len);
	return temporary_file_add(u->file, p, len, e);
}

static int inflate_member(const struct data_file *f, const struct npz_entry *m, struct array_place *p, struct err *e)
{
	struct temporary_file file;
	struct unpacking u = { &file, m->size, 0 };
	int code = temporary_file_open(&file, e);

	if (code)
		return code;
	code = inflate_file(f->fd, f->path, m->at, m->packed, false, keep_piece, &u, e);
	if (!code && u.size)
		code = err_set(e, -ERR_BAD_DATA, "compressed data hold %llu bytes too few", (unsigned long long)u.size);
	if (!code && u.crc != m->crc)
		code = err_set(e, -ERR_BAD_DATA, "the CRC-32 is wrong: the data are damaged");
	if (!code)
		code = temporary_file_take(&file, &p->fd, e);
	temporary_file_release(&file);
	p->at = 0;
	return code;
}

static int check_stored(const struct data_file *f, const struct npz_entry *m, struct err *e)
{
	mem_auto char *piece = mem_alloc(PIECE, 1);
	uint32_t crc = 0;
	int code = 0;

	for (uint64_t at = 0, n; !code && at < m->size; at += n) {
		n = m->size - at < PIECE ? m->size - at : PIECE;
		code = file_read(f->fd, f->path, m->at + at, piece, n, e);
		crc = crc32_more(crc, piece, n);
	}
	if (!code && crc != m->crc)
		code = err_set(e, -ERR_BAD_DATA, "the CRC-32 is wrong: the data are damaged");
	return code;
}

/* Shape and type of the array at p, from its header. */
static int look(const struct data_file *f, struct array_place *p, struct array *a, struct err *e)
{
	size_t have = p->size < NPY_START_BYTES + NPY_HEADER_MAX ? (size_t)p->size : NPY_START_BYTES + NPY_HEADER_MAX;
	mem_auto char *head = mem_alloc(have + 1, 1);
	int code = file_read(p->fd, f->path, p->at, head, have, e);

	return code ? code : npy_look(head, have, p->size, a, p, e);
}

static int own_descriptor(const struct data_file *f, struct array_place *p, struct err *e)
{
	p->fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	if (p->fd < 0)
		return err_set(e, -ERR_IO, "cannot read %s: %s", f->path, strerror(errno));
	return 0;
}

static int open_member(const struct data_file *f, const struct npz_entry *m, struct array_place *p, struct array *a,
	struct err *e)
{
	int code;

	p->size = m->size;
	if (m->is_deflated) {
		code = inflate_member(f, m, p, e);
	} else {
		code = check_stored(f, m, e);
		p->at = m->at;
		if (!code)
			code = own_descriptor(f, p, e);
	}
	return code ? code : look(f, p, a, e);
}

static int open_npz(const struct data_file *f, struct npz *z, struct array_place **place, struct err *e)
{
	struct npz_entry *entry = NULL;      /* set for compilers that do not see that npz_look sets both */
	unsigned n = 0;
	arena_auto a = { 0 };
	int code = npz_look(f, &a, &entry, &n, e);

	if (code)
		return code;
	z->member = mem_alloc(n + 1, sizeof *z->member);
	*place = f->bytes ? NULL : mem_alloc(n + 1, sizeof **place);
	for (unsigned i = 0; *place && i < n; i++)
		(*place)[i].fd = -1;
	for (; !code && z->n < n; z->n++) {
		const struct npz_entry *m = &entry[z->n];
		struct array *array = &z->member[z->n].array;

		z->member[z->n].name = mem_strdup(m->name);
		code = f->bytes ? npz_load(f, m, array, e)
				: open_member(f, m, &(*place)[z->n], array, e);
		if (code)
			err_prefix(e, "member \"%s\"", m->name);
	}
	return code;
}

static int open_npy(const struct data_file *f, const char *name, struct npz *z, struct array_place **place, struct err *e)
{
	z->member = mem_alloc(1, sizeof *z->member);
	z->member[0].name = mem_strdup(name);
	z->n = 1;
	if (f->bytes)
		return npy_parse(f->bytes, f->size, &z->member[0].array, e);
	*place = mem_alloc(1, sizeof **place);
	(*place)[0].size = f->size;
	int code = own_descriptor(f, *place, e);
	return code ? code : look(f, *place, &z->member[0].array, e);
}

int array_places_open(const struct data_file *f, const char *npy_name, struct npz *z, struct array_place **place,
	struct err *e)
{
	*place = NULL;
	int code = npy_name ? open_npy(f, npy_name, z, place, e) : open_npz(f, z, place, e);
	if (code) {
		array_places_close(z, *place);
		*place = NULL;
	}
	return code;
}

void array_places_close(struct npz *z, struct array_place *place)
{
	for (unsigned i = 0; place && i < z->n; i++)
		if (place[i].fd >= 0)
			close(place[i].fd);
	free(place);
	npz_free(z);
}

int array_place_load(const struct array_place *p, const char *path, struct array *a, struct err *e)
{
	mem_auto void *bytes = mem_try(p->size, 1);
	int code = bytes ? 0 : err_set(e, -ERR_CONFIG, "no memory for the %llu bytes of an array", (unsigned long long)p->size);
	struct array whole;

	if (!code)
		code = file_read(p->fd, path, p->at, bytes, p->size, e);
	if (!code)
		code = npy_parse(bytes, p->size, &whole, e);
	if (code)
		return code;
	array_free(a);
	*a = whole;
	return 0;
}
