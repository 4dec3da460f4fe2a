/* SPDX-License-Identifier: Apache-2.0
 * NumPy's .npz: a ZIP archive (APPNOTE.TXT) of .npy members, stored or deflated.
 *
 * The reader is strict so that damage shows: members follow one another from the
 * first byte to the directory, each local header agrees with its directory entry,
 * and every CRC-32 is checked. */
#include "runtime/data/format/array_places.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/inflate.h"
#include "runtime/data/format/npz.h"
#include "runtime/data/format/npz_records.h"

static int broken(struct err *e, const char *what)
{
	return err_set(e, -ERR_BAD_DATA, "the .npz file is damaged: %s", what);
}

/* The fields that local header and directory entry share. */
static void read_common(struct rd *r, struct entry *m)
{
	m->flags = rd_u16(r);
	m->method = rd_u16(r);
	m->time = rd_u16(r);
	m->date = rd_u16(r);
	m->crc = rd_u32(r);
	m->packed = rd_u32(r);
	m->size = rd_u32(r);
	m->name_len = rd_u16(r);
	m->extra_len = rd_u16(r);
}

static int read_entry(struct rd *r, struct entry *m, struct err *e)
{
	if (rd_u32(r) != SIG_ENTRY)
		return broken(e, "a directory entry is missing");
	rd_u16(r);                               /* version made by */
	rd_u16(r);                               /* version needed */
	read_common(r, m);
	uint16_t comment_len = rd_u16(r);
	uint16_t disk = rd_u16(r);
	rd_u16(r);                               /* internal attributes */
	rd_u32(r);                               /* external attributes */
	m->offset = rd_u32(r);
	m->name = rd_bytes(r, m->name_len);
	rd_bytes(r, m->extra_len);
	if (r->bad || disk || comment_len)
		return broken(e, "a directory entry is wrong");
	if (m->packed == ZIP32_MAX || m->size == ZIP32_MAX || m->offset == ZIP32_MAX)
		return err_set(e, -ERR_BAD_DATA, ".npz members of 4 GiB and more are not read; use .npy files");
	return 0;
}

/* Streams and NumPy put a local header's sizes into a ZIP64 field although they fit. */
static bool zip64_sizes_agree(const uint8_t *extra, size_t len, const struct entry *m)
{
	struct rd r = { extra, len, 0, 0 };

	while (r.at < r.len) {
		uint16_t id = rd_u16(&r), size = rd_u16(&r);

		if (id == EXTRA_ZIP64 && size == 16)
			return rd_u64(&r) == m->size && rd_u64(&r) == m->packed && !r.bad;
		rd_bytes(&r, size);
		if (r.bad)
			break;
	}
	return false;
}

static bool sizes_agree(const struct entry *local, const struct entry *m, const uint8_t *extra)
{
	if (local->size == m->size && local->packed == m->packed)
		return true;
	return local->size == ZIP32_MAX && local->packed == ZIP32_MAX
		&& zip64_sizes_agree(extra, local->extra_len, m);
}

/* The local header, which is to agree with the directory. */
static int read_local_head(struct rd *r, const struct entry *m, struct err *e)
{
	struct entry local;

	if (rd_u32(r) != SIG_LOCAL)
		return broken(e, "a member's header is missing");
	rd_u16(r);                               /* version needed */
	read_common(r, &local);
	const uint8_t *name = rd_bytes(r, local.name_len);
	const uint8_t *extra = rd_bytes(r, local.extra_len);
	if (r->bad)
		return broken(e, "a member is cut off");
	if (local.name_len != m->name_len || memcmp(name, m->name, m->name_len)
			|| local.flags != m->flags || local.method != m->method || local.time != m->time
			|| local.date != m->date || local.crc != m->crc || !sizes_agree(&local, m, extra))
		return broken(e, "a member's header and the directory disagree");
	return 0;
}

/* Checks a name and gives it without ".npy", in the arena. */
static int member_name(const struct entry *m, struct arena *a, const char **name, struct err *e)
{
	size_t len = m->name_len;

	if (len > NPZ_NAME_MAX)
		return err_set(e, -ERR_BAD_DATA, "a member's name has more than %d bytes", NPZ_NAME_MAX);
	for (size_t i = 0; i < len; i++)
		if (m->name[i] < ' ' || m->name[i] == 0x7f)
			return broken(e, "a member's name has control characters");
	if (len < 5 || memcmp(m->name + len - 4, ".npy", 4))
		return err_set(e, -ERR_BAD_DATA, "member \"%.*s\" is no .npy array", (int)len,
			(const char *)m->name);
	*name = arena_strndup(a, (const char *)m->name, len - 4);
	return 0;
}

/* data: the member's packed bytes. */
static int unpack(const struct npz_entry *m, const uint8_t *data, void *out, struct err *e)
{
	int code = 0;

	if (m->is_deflated)
		code = inflate_raw(data, m->packed, out, m->size, e);
	else
		memcpy(out, data, m->size);
	if (!code && crc32_of(out, m->size) != m->crc)
		code = err_set(e, -ERR_BAD_DATA, "the CRC-32 is wrong: the data are damaged");
	return code;
}

static int check_packing(const struct entry *m, struct err *e)
{
	if (m->flags & ~(FLAG_UTF8 | FLAG_LEVEL))
		return err_set(e, -ERR_BAD_DATA, "it is encrypted or written as a stream; neither is read");
	if (m->method != METHOD_STORED && m->method != METHOD_DEFLATED)
		return err_set(e, -ERR_BAD_DATA, "packing method %u is unknown", m->method);
	if (m->method == METHOD_STORED && m->packed != m->size)
		return err_set(e, -ERR_BAD_DATA, "its sizes differ though it is not compressed");
	if ((uint64_t)m->packed * DEFLATE_RATIO_MAX < m->size)
		return err_set(e, -ERR_BAD_DATA, "%u bytes cannot hold the %u it declares", m->packed, m->size);
	return 0;
}

int npz_load(const struct data_file *f, const struct npz_entry *m, struct array *out, struct err *e)
{
	mem_auto void *bytes = mem_try(m->size, 1);
	int code = bytes ? unpack(m, f->bytes + m->at, bytes, e)
			 : err_set(e, -ERR_CONFIG, "no memory for its %u bytes", m->size);

	return code ? code : npy_parse(bytes, m->size, out, e);
}

struct end { unsigned nmember; uint32_t size, offset; };

/* The end record, which must be the file's last bytes; p has the last `have` of them. */
static int read_end(const uint8_t *p, size_t have, uint64_t len, struct end *out, struct err *e)
{
	struct rd r = { p, have, have - END_BYTES, 0 };

	if (have < END_BYTES || rd_u32(&r) != SIG_END)
		return broken(e, "it does not end as a ZIP archive does");
	uint16_t disk = rd_u16(&r);
	uint16_t start_disk = rd_u16(&r);
	uint16_t here = rd_u16(&r);
	uint16_t all = rd_u16(&r);
	uint32_t size = rd_u32(&r);
	uint32_t offset = rd_u32(&r);
	uint16_t comment_len = rd_u16(&r);
	if (disk || start_disk || here != all || comment_len || (uint64_t)offset + size != len - END_BYTES)
		return broken(e, "its end record is wrong");
	if (all > NPZ_MEMBERS_MAX)
		return err_set(e, -ERR_BAD_DATA, "%u members, more than %d", all, NPZ_MEMBERS_MAX);
	*out = (struct end){ all, size, offset };
	return 0;
}

int npz_check_file(const char *path, struct err *e)
{
	buf_auto tail = BUF_INIT;
	struct end end;
	uint64_t size;
	int code = buf_read_part(&tail, path, END_BYTES, true, &size, e);

	if (!code && size) {
		code = read_end((const uint8_t *)tail.data, tail.len, size, &end, e);
		if (code)
			err_prefix(e, "%s", path);
	}
	return code;
}

/* ---- places of members ---- */

/* The local header at m->offset; *at is behind it. */
static int look_at_local(const struct data_file *f, const struct entry *m, uint64_t end, uint64_t *at, struct err *e)
{
	uint8_t head[LOCAL_BYTES];

	if (*at != m->offset || *at + LOCAL_BYTES > end)
		return broken(e, "a member does not follow the one before");
	int code = data_file_read(f, *at, head, sizeof head, e);
	if (code)
		return code;
	uint64_t len = LOCAL_BYTES + (head[26] | head[27] << 8) + (head[28] | head[29] << 8);
	if (*at + len + m->packed > end)
		return broken(e, "a member is cut off");
	mem_auto uint8_t *whole = mem_alloc(len, 1);
	code = data_file_read(f, *at, whole, len, e);
	if (!code)
		code = read_local_head(&(struct rd){ whole, len, 0, 0 }, m, e);
	*at += len;
	return code;
}

static int look_at_member(const struct data_file *f, struct rd *directory, uint64_t end,
	uint64_t *at, struct arena *a, struct npz_entry *out, struct err *e)
{
	struct entry m;
	int code = read_entry(directory, &m, e);

	if (!code)
		code = member_name(&m, a, &out->name, e);
	if (!code)
		code = look_at_local(f, &m, end, at, e);
	if (!code) {
		code = check_packing(&m, e);
		if (code)
			err_prefix(e, "member \"%s\"", out->name);
	}
	if (code)
		return code;
	out->at = *at;
	out->packed = m.packed;
	out->size = m.size;
	out->crc = m.crc;
	out->is_deflated = m.method == METHOD_DEFLATED;
	*at += m.packed;
	return 0;
}

static int look_at_all(const struct data_file *f, const struct end *end, struct arena *a,
	struct npz_entry *entry, struct err *e)
{
	mem_auto uint8_t *bytes = mem_try(end->size, 1);
	struct rd directory = { bytes, end->size, 0, 0 };
	uint64_t at = 0;
	int code = bytes ? data_file_read(f, end->offset, bytes, end->size, e)
			 : err_set(e, -ERR_CONFIG, "no memory for the directory");

	for (unsigned i = 0; !code && i < end->nmember; i++) {
		code = look_at_member(f, &directory, end->offset, &at, a, &entry[i], e);
		for (unsigned k = 0; !code && k < i; k++)
			if (!strcmp(entry[k].name, entry[i].name))
				code = err_set(e, -ERR_BAD_DATA, "two members are named \"%s\"", entry[i].name);
	}
	if (!code && (at != end->offset || directory.at != directory.len))
		code = broken(e, "bytes that belong to no member");
	return code;
}

int npz_look(const struct data_file *f, struct arena *a, struct npz_entry **entry, unsigned *n,
	struct err *e)
{
	uint8_t tail[END_BYTES];
	struct end end;

	if (f->size < END_BYTES)
		return broken(e, "it does not end as a ZIP archive does");
	int code = data_file_read(f, f->size - END_BYTES, tail, sizeof tail, e);
	if (!code)
		code = read_end(tail, sizeof tail, f->size, &end, e);
	if (code)
		return code;
	*entry = arena_alloc(a, end.nmember, sizeof **entry);
	*n = end.nmember;
	return look_at_all(f, &end, a, *entry, e);
}

int npz_parse(const void *bytes, size_t len, struct npz *out, struct err *e)
{
	const struct data_file f = { .fd = -1, .size = len, .bytes = bytes };
	struct array_place *none;
	struct npz z = { 0 };
	int code = array_places_open(&f, NULL, &z, &none, e);

	if (!code)
		*out = z;
	return code;
}

int npz_read(const char *path, struct npz *out, struct err *e)
{
	buf_auto b = BUF_INIT;
	int code = npz_check_file(path, e);

	if (!code)
		code = buf_read_file(&b, path, ZIP32_MAX, e);
	if (code)
		return code;
	code = npz_parse(b.data, b.len, out, e);
	if (code)
		err_prefix(e, "%s", path);
	return code;
}

void npz_free(struct npz *z)
{
	for (unsigned i = 0; i < z->n; i++) {
		free(z->member[i].name);
		array_free(&z->member[i].array);
	}
	free(z->member);
	*z = (struct npz){ 0 };
}

const struct array *npz_find(const struct npz *z, const char *name)
{
	for (unsigned i = 0; i < z->n; i++)
		if (!strcmp(z->member[i].name, name))
			return &z->member[i].array;
	return NULL;
}
