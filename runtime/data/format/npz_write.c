/* SPDX-License-Identifier: Apache-2.0
 * Writing NumPy's .npz: members stored, one behind the other. */
#include "runtime/data/format/npz.h"

#include "runtime/base/system/inflate.h"
#include "runtime/data/format/npz_records.h"

static void write_common(struct buf *b, const struct entry *m)
{
	buf_u16(b, ZIP_VERSION);
	buf_u16(b, m->flags);
	buf_u16(b, METHOD_STORED);
	buf_u16(b, 0);
	buf_u16(b, DATE_1980);                   /* equal arrays are equal files */
	buf_u32(b, m->crc);
	buf_u32(b, m->size);
	buf_u32(b, m->size);
	buf_u16(b, m->name_len);
	buf_u16(b, 0);
}

static int write_member(const struct npz_member *member, struct buf *out, struct buf *directory,
	struct err *e)
{
	buf_auto array = BUF_INIT, name = BUF_INIT;
	struct entry m = { .flags = FLAG_UTF8, .offset = (uint32_t)out->len };

	npy_format(&member->array, &array);
	buf_printf(&name, "%s.npy", member->name);
	if ((uint64_t)out->len + array.len + directory->len + name.len + LOCAL_BYTES > ZIP32_MAX / 2
		|| name.len > NPZ_NAME_MAX) {
		return err_set(e, -ERR_BAD_DATA, "too large for an .npz file");
	}
	m.crc = crc32_of(array.data, array.len);
	m.size = (uint32_t)array.len;
	m.name_len = (uint16_t)name.len;
	buf_u32(out, SIG_LOCAL);
	write_common(out, &m);
	buf_add(out, name.data, name.len);
	buf_add(out, array.data, array.len);
	buf_u32(directory, SIG_ENTRY);
	buf_u16(directory, ZIP_VERSION);
	write_common(directory, &m);
	buf_pad(directory, 0, 10);               /* comment, disk, attributes */
	buf_u32(directory, m.offset);
	buf_add(directory, name.data, name.len);
	return 0;
}

int npz_format(const struct npz *z, struct buf *out, struct err *e)
{
	buf_auto directory = BUF_INIT, file = BUF_INIT;
	int code = 0;

	if (z->n > NPZ_MEMBERS_MAX)
		return err_set(e, -ERR_BAD_DATA, "%u arrays, more than %d", z->n, NPZ_MEMBERS_MAX);
	for (unsigned i = 0; !code && i < z->n; i++)
		code = write_member(&z->member[i], &file, &directory, e);
	if (!code) {
		buf_add(out, file.data, file.len);
		buf_add(out, directory.data, directory.len);
		buf_u32(out, SIG_END);
		buf_u32(out, 0);
		buf_u16(out, (uint16_t)z->n);
		buf_u16(out, (uint16_t)z->n);
		buf_u32(out, (uint32_t)directory.len);
		buf_u32(out, (uint32_t)file.len);
		buf_u16(out, 0);
	}
	return code;
}

int npz_write(const char *path, const struct npz *z, struct err *e)
{
	buf_auto b = BUF_INIT;
	int code = npz_format(z, &b, e);

	if (!code)
		code = buf_write_file(&b, path, 0, e);
	else
		err_prefix(e, "%s", path);
	return code;
}
