/* SPDX-License-Identifier: Apache-2.0
 * NumPy's .npy format, versions 1 to 3 (numpy.lib.format): a header written as a
 * Python dictionary, then the numbers. */
#include "runtime/data/format/array_places.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/data/format/npz.h"

enum { NPY_DIMS_MAX = 8, DESCR_MAX = 8, NPY_ALIGN = 64, KEYS_ALL = 7 };

#define NPY_COUNT_MAX (DATASET_BYTES_MAX / 16)     /* complex numbers as re and im */

static const char magic[] = "\x93NUMPY";

/* A name begins with the kind of its numbers, or of the two parts of a complex one, "c". */
static const struct kind {
	const char *name;
	uint8_t nbytes;
	bool is_complex;
} kinds[] = {
	{ "f8", 8, false },
	{ "f4", 4, false },
	{ "c16", 8, true },
	{ "c8", 4, true },
	{ "i8", 8, false },
	{ "i4", 4, false },
	{ "i2", 2, false },
	{ "i1", 1, false },
	{ "u8", 8, false },
	{ "u4", 4, false },
	{ "u2", 2, false },
	{ "u1", 1, false },
	{ "b1", 1, false },
};

struct head {
	char order;                 /* '<', '>', '|' or '=' */
	const struct kind *kind;
	bool fortran;
	uint32_t ndim;
	uint64_t dim[NPY_DIMS_MAX];
};

static int broken(struct err *e) { return err_set(e, -ERR_BAD_DATA, "the .npy header is damaged"); }

static const char *blanks(const char *p) { return p + strspn(p, " \t\n"); }

/* 'text' into out[size]; the place behind it, or NULL. */
static const char *quoted(const char *p, char *out, size_t size)
{
	char quote = *p;

	if (quote != '\'' && quote != '"')
		return NULL;
	size_t len = strcspn(++p, "'\"");
	if (p[len] != quote || len >= size)
		return NULL;
	memcpy(out, p, len);
	out[len] = '\0';
	return p + len + 1;
}

static const char *read_descr(const char *p, struct head *h, struct err *e)
{
	char text[DESCR_MAX];

	if (*p == '[') {
		err_set(e, -ERR_BAD_DATA, "arrays of records are not read, only plain numbers");
		return NULL;
	}
	p = quoted(p, text, sizeof text);
	if (!p || !*text || !strchr("<>|=", *text)) {
		broken(e);
		return NULL;
	}
	h->order = *text;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, text + 1))
			h->kind = &kinds[i];
	/* One byte has no order; more bytes need one. */
	if (h->kind && (h->order == '|') == (h->kind->nbytes == 1))
		return p;
	if (text[1] && strchr("USO", text[1]))
		err_set(e, -ERR_BAD_DATA,
			"text and objects (type '%s') are not read; classes are numbers here, such as 0 and 1",
			text);
	else
		err_set(e, -ERR_BAD_DATA,
			"numbers of type '%s' are not read; f4 f8 c8 c16 i1-i8 u1-u8 and b1 are",
			text);
	return NULL;
}

static const char *read_order(const char *p, struct head *h, struct err *e)
{
	h->fortran = *p == 'T';
	if (!strncmp(p, "True", 4) || !strncmp(p, "False", 5))
		return p + (h->fortran ? 4 : 5);
	broken(e);
	return NULL;
}

static const char *read_shape(const char *p, struct head *h, struct err *e)
{
	char *end;

	if (*p++ != '(')
		goto bad;
	for (p = blanks(p); *p != ')'; p = blanks(p)) {
		if (*p < '0' || *p > '9')
			goto bad;
		if (h->ndim == NPY_DIMS_MAX) {
			err_set(e, -ERR_BAD_DATA, "an array has at most %d dimensions", NPY_DIMS_MAX);
			return NULL;
		}
		h->dim[h->ndim++] = strtoull(p, &end, 10);
		p = blanks(end);
		if (*p == ',')
			p++;
		else if (*p != ')' || h->ndim == 1)      /* "(3)" is no tuple */
			goto bad;
	}
	return p + 1;
bad:
	broken(e);
	return NULL;
}

static int read_head(const char *p, struct head *h, struct err *e)
{
	static const struct {
		const char *key;
		const char *(*read)(const char *, struct head *, struct err *);
	} entry[] = {
		{ "descr", read_descr }, { "fortran_order", read_order }, { "shape", read_shape },
	};
	char key[16];
	unsigned seen = 0, i;

	p = blanks(p);
	if (*p++ != '{')
		return broken(e);
	for (p = blanks(p); *p != '}'; p = blanks(p)) {
		p = quoted(p, key, sizeof key);
		if (!p || *(p = blanks(p)) != ':')
			return broken(e);
		for (i = 0; i < 3 && strcmp(entry[i].key, key); )
			i++;
		if (i == 3 || seen & 1u << i)
			return broken(e);
		seen |= 1u << i;
		p = entry[i].read(blanks(p + 1), h, e);
		if (!p)
			return -ERR_BAD_DATA;
		p = blanks(p);
		if (*p == ',')
			p++;
		else if (*p != '}')
			return broken(e);
	}
	return seen == KEYS_ALL && !*blanks(p + 1) ? 0 : broken(e);
}

/* Where the element at C position `i` lies in Fortran order (first index fastest). */
static uint64_t fortran_place(const struct array *a, uint64_t i)
{
	uint64_t place = 0, stride[NPY_DIMS_MAX], s = 1;

	for (uint32_t k = 0; k < a->ndim; k++) {
		stride[k] = s;
		s *= a->dim[k];
	}
	for (uint32_t k = a->ndim; k-- > 0; i /= a->dim[k])
		place += i % a->dim[k] * stride[k];
	return place;
}

static int decode(const struct array_place *place, const uint8_t *p, struct array *a, struct err *e)
{
	const struct number type = place->type;
	const size_t parts = a->is_complex ? 2 : 1, n = parts * a->count;
	size_t done = 0;

	while (place->is_fortran && done < n) {
		const uint8_t *at = p + fortran_place(a, done / parts) * parts * type.nbytes;

		if (numbers_decode(type, at, parts, a->value + done) != parts)
			break;
		done += parts;
	}
	if (!place->is_fortran)
		done = numbers_decode(type, p, n, a->value);
	return done == n ? 0
			 : err_set(e, -ERR_BAD_DATA, "number %zu (type %c%u) has no exact double",
				 done / parts, type.kind, type.nbytes);
}

/* The header's bytes; *text is the caller's to free. */
static int find_head(struct rd *r, char **text, struct err *e)
{
	const uint8_t *start = rd_bytes(r, sizeof magic - 1), *p;

	if (!start || memcmp(start, magic, sizeof magic - 1))
		return err_set(e, -ERR_BAD_DATA, "this is no .npy array");
	uint8_t major = rd_u8(r);
	uint8_t minor = rd_u8(r);
	if (!r->bad && (major < 1 || major > 3 || minor))
		return err_set(e, -ERR_BAD_DATA, "version %u.%u of the .npy format is unknown", major, minor);
	uint32_t len = major == 1 ? rd_u16(r) : rd_u32(r);
	if (len > NPY_HEADER_MAX)
		return err_set(e, -ERR_BAD_DATA, "the .npy header has %u bytes, more than %d", len,
			NPY_HEADER_MAX);
	p = rd_bytes(r, len);
	if (!p || memchr(p, 0, len))
		return broken(e);
	*text = mem_alloc(len + 1, 1);
	memcpy(*text, p, len);
	return 0;
}

/* Elements and bytes that the shape declares, against the bytes that are there. */
static int check_size(const struct head *h, uint64_t left, uint64_t *count, struct err *e)
{
	unsigned item = h->kind->nbytes * (h->kind->is_complex ? 2 : 1);
	bool empty = false, overflow = false;
	uint64_t nbytes;

	*count = 1;
	for (uint32_t k = 0; k < h->ndim; k++) {
		empty |= !h->dim[k];
		overflow |= __builtin_mul_overflow(*count, h->dim[k], count);
	}
	if (empty)
		*count = 0, overflow = false;
	overflow |= __builtin_mul_overflow(*count, item, &nbytes);
	if (overflow || *count > NPY_COUNT_MAX)
		return err_set(e, -ERR_BAD_DATA, "the array's shape is beyond the limit of %llu numbers",
			(unsigned long long)NPY_COUNT_MAX);
	if (nbytes == left)
		return 0;
	return err_set(e, -ERR_BAD_DATA, "the array's shape needs %llu bytes, the file has %llu",
		(unsigned long long)nbytes, (unsigned long long)left);
}

int npy_look(const void *bytes, size_t have, uint64_t size, struct array *a, struct array_place *p, struct err *e)
{
	struct rd r = { bytes, have, 0, 0 };
	struct head h = { 0 };
	uint64_t count;
	mem_auto char *text = NULL;
	int code = find_head(&r, &text, e);

	if (!code)
		code = read_head(text, &h, e);
	if (!code)
		code = check_size(&h, size - r.at, &count, e);
	if (code)
		return code;
	*a = (struct array){ .ndim = h.ndim, .is_complex = h.kind->is_complex, .count = count };
	memcpy(a->dim, h.dim, sizeof a->dim);
	p->head = r.at;
	p->is_fortran = h.fortran && h.ndim > 1;
	p->type = (struct number){ h.kind->is_complex ? 'f' : h.kind->name[0], h.kind->nbytes,
		h.order == '>' };
	return 0;
}

int npy_check_file(const char *path, struct err *e)
{
	buf_auto head = BUF_INIT;
	uint64_t size;
	int code = buf_read_part(&head, path, NPY_START_BYTES + NPY_HEADER_MAX, false, &size, e);

	if (!code && size) {
		code = npy_look(head.data, head.len, size, &(struct array){ 0 }, &(struct array_place){ 0 }, e);
		if (code)
			err_prefix(e, "%s", path);
	}
	return code;
}

int npy_parse(const void *bytes, size_t len, struct array *out, struct err *e)
{
	struct array_place place = { 0 };
	struct array a;
	int code = npy_look(bytes, len, len, &a, &place, e);

	if (code)
		return code;
	a.value = mem_try(a.count, (a.is_complex ? 2 : 1) * sizeof *a.value);
	if (!a.value)
		return err_set(e, -ERR_CONFIG, "no memory for an array of %llu numbers",
			(unsigned long long)a.count);
	code = decode(&place, (const uint8_t *)bytes + place.head, &a, e);
	if (code)
		array_free(&a);
	else
		*out = a;
	return code;
}

void array_free(struct array *a)
{
	free(a->value);
	*a = (struct array){ 0 };
}

int npy_format(const struct array *a, struct buf *out)
{
	uint64_t count = a->count * (a->is_complex ? 2 : 1);
	buf_auto head = BUF_INIT;

	buf_printf(&head, "{'descr': '<%s', 'fortran_order': False, 'shape': (",
		a->is_complex ? "c16" : "f8");
	for (uint32_t k = 0; k < a->ndim; k++)
		buf_printf(&head, "%s%llu%s", k ? ", " : "", (unsigned long long)a->dim[k],
			a->ndim == 1 ? "," : "");
	buf_str(&head, "), }");
	size_t rest = (sizeof magic - 1 + 4 + head.len + 1) % NPY_ALIGN;
	buf_pad(&head, ' ', rest ? NPY_ALIGN - rest : 0);
	buf_char(&head, '\n');
	buf_str(out, magic);
	buf_u8(out, 1);
	buf_u8(out, 0);
	buf_u16(out, (uint16_t)head.len);
	buf_add(out, head.data, head.len);
	buf_f64s(out, a->value, count);
	return 0;
}
