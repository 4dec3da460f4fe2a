/* SPDX-License-Identifier: Apache-2.0
 * The IDX format, as the page of the MNIST database describes it (LeCun, Cortes, Burges, "The IDX
 * file format"). */
#include "runtime/data/format/idx.h"

#include <stdbool.h>

#include "runtime/base/buf.h"

enum { IDX_U8 = 8, IDX_I8 = 9, IDX_I16 = 11, IDX_I32 = 12, IDX_F32 = 13, IDX_F64 = 14, IDX_TYPES = 16 };

static const uint8_t nbytes_of[IDX_TYPES] = {
	[IDX_U8] = 1, [IDX_I8] = 1, [IDX_I16] = 2, [IDX_I32] = 4, [IDX_F32] = 4, [IDX_F64] = 8,
};

static int read_dims(struct rd *r, struct idx *a, struct err *e)
{
	for (uint32_t k = 0; k < a->ndim; k++) {
		const uint8_t *p = rd_bytes(r, 4);
		if (!p)
			return err_set(e, -ERR_BAD_DATA, "the header of the IDX file is cut short");
		a->dim[k] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
		if (__builtin_mul_overflow(a->count, a->dim[k], &a->count))
			return err_set(e, -ERR_BAD_DATA, "the dimensions of the IDX file are beyond all limits");
	}
	return 0;
}

struct number idx_number(uint8_t type)
{
	char kind = type == IDX_U8 ? 'u' : type >= IDX_F32 ? 'f' : 'i';

	return (struct number){ kind, nbytes_of[type], true };
}

int idx_parse_head(const void *bytes, size_t have, uint64_t len, struct idx *out, size_t *head, struct err *e)
{
	struct rd r = { bytes, have, 0, 0 };
	const uint8_t *magic = rd_bytes(&r, 4);
	struct idx a = { .count = 1 };

	if (!magic || magic[0] || magic[1] || magic[2] >= IDX_TYPES || !nbytes_of[magic[2]])
		return err_set(e, -ERR_BAD_DATA, "not an IDX file: it begins with two bytes 0 and a type from 8 to 14");
	a.type = magic[2];
	a.ndim = magic[3];
	if (!a.ndim || a.ndim > IDX_DIMS_MAX)
		return err_set(e, -ERR_BAD_DATA, "the IDX file has %u dimensions, not 1 to %d", a.ndim, IDX_DIMS_MAX);
	int code = read_dims(&r, &a, e);
	if (code)
		return code;
	if (a.count > len || a.count * nbytes_of[a.type] != len - r.at)
		return err_set(e, -ERR_BAD_DATA, "the IDX file's header states %llu numbers of %u bytes, %llu bytes follow",
			(unsigned long long)a.count, nbytes_of[a.type], (unsigned long long)(len - r.at));
	*head = r.at;
	*out = a;
	return 0;
}

int idx_parse(const void *bytes, size_t len, struct idx *out, struct err *e)
{
	size_t head;
	int code = idx_parse_head(bytes, len, len, out, &head, e);

	if (!code)
		out->at = (const uint8_t *)bytes + head;
	return code;
}

double idx_value(const struct idx *a, uint64_t i)
{
	double v;

	numbers_decode(idx_number(a->type), a->at + i * nbytes_of[a->type], 1, &v);
	return v;
}
