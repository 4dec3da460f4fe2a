/* SPDX-License-Identifier: Apache-2.0
 * JSON by jansson, written by ourselves: its reals lose digits or gain noise. */
#include "runtime/base/json.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/order.h"

/* What jansson takes for each on a 64-bit system, with what malloc adds: a number with its place in a table that doubles,
 * a text beside its characters, the place of a member of an object, and an empty array and object. */
enum {
	VALUE_BYTES = 56,
	TEXT_BYTES = 48,
	MEMBER_BYTES = 64,
	ARRAY_BYTES = 144,
	OBJECT_BYTES = 240
};

/* Of a text: the deepest nesting and memory for its tree, without recursion and before any is taken. */
struct outline {
	size_t depth;
	uint64_t memory;
};

static struct outline outline_of(const char *text, size_t len)
{
	struct outline o = { 0, VALUE_BYTES + len };
	size_t depth = 0;
	int in_string = 0;

	for (size_t i = 0; i < len; i++) {
		if (in_string && text[i] == '\\')
			i++;
		else if (text[i] == '"' && (in_string = !in_string))
			o.memory += TEXT_BYTES;
		if (in_string)
			continue;
		switch (text[i]) {
		case '[':
		case '{':
			o.depth = ++depth > o.depth ? depth : o.depth;
			o.memory += text[i] == '[' ? ARRAY_BYTES : OBJECT_BYTES;
			break;
		case ']':
		case '}': depth -= depth > 0; break;
		case ',': o.memory += VALUE_BYTES; break;
		case ':': o.memory += MEMBER_BYTES; break;
		}
	}
	return o;
}

uint64_t json_memory(const char *text, size_t len) { return outline_of(text, len).memory; }

json_t *json_read(const char *text, size_t len, struct err *e)
{
	json_error_t fault;
	struct outline o = { 0, 0 };

	if (len <= JSON_BYTES_MAX)
		o = outline_of(text, len);
	if (len > JSON_BYTES_MAX || o.depth > JSON_DEPTH_MAX || o.memory > JSON_MEMORY_MAX) {
		err_set(e, -ERR_BAD_DATA,
			"JSON beyond the limits: at most %d bytes, with values for %d MiB of memory, nested at most %d deep",
			JSON_BYTES_MAX, JSON_MEMORY_MAX >> 20, JSON_DEPTH_MAX);
		return NULL;
	}
	json_t *v = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &fault);
	if (!v && fault.line > 0)
		err_set(e, -ERR_BAD_DATA, "line %d, column %d: %s", fault.line, fault.column,
			fault.text);
	else if (!v)
		err_set(e, -ERR_CONFIG, "no memory for %zu bytes of JSON, which need about %llu MiB",
			len, (unsigned long long)(o.memory >> 20) + 1);
	return v;
}

/* Keys of the canonical form are sorted; those of the printed one are in the order in which they were added, "schema" first. */
static const char **keys_of(const json_t *v, int printed)
{
	json_t *object = (json_t *)v, *member;
	const char **key = mem_alloc(json_object_size(v), sizeof *key), *k;
	size_t n = 0;

	if (printed && json_object_get(v, "schema"))
		key[n++] = "schema";
	json_object_foreach(object, k, member)
		if (!printed || strcmp(k, "schema"))
			key[n++] = k;
	if (!printed)
		qsort(key, n, sizeof *key, order_texts);
	return key;
}

static void write_value(const json_t *v, int printed, struct buf *out);

static void write_object(const json_t *v, int printed, struct buf *out)
{
	mem_auto const char **key = keys_of(v, printed);

	buf_char(out, '{');
	for (size_t i = 0; i < json_object_size(v); i++) {
		buf_str(out, !i ? "" : printed ? ", " : ",");
		buf_json_str(out, key[i]);
		buf_str(out, printed ? ": " : ":");
		write_value(json_object_get(v, key[i]), printed, out);
	}
	buf_char(out, '}');
}

static void write_array(const json_t *v, int printed, struct buf *out)
{
	buf_char(out, '[');
	for (size_t i = 0; i < json_array_size(v); i++) {
		buf_str(out, !i ? "" : printed ? ", " : ",");
		write_value(json_array_get(v, i), printed, out);
	}
	buf_char(out, ']');
}

/* A real stays a real: "1" would be read back as an integer. */
static void write_real(double x, struct buf *out)
{
	size_t from = out->len;

	buf_json_f64(out, x);
	if (!strpbrk(out->data + from, ".en"))
		buf_str(out, ".0");
}

static void write_value(const json_t *v, int printed, struct buf *out)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:  write_object(v, printed, out); break;
	case JSON_ARRAY:   write_array(v, printed, out); break;
	case JSON_STRING:  buf_json_str(out, json_string_value(v)); break;
	case JSON_INTEGER: buf_printf(out, "%lld", (long long)json_integer_value(v)); break;
	case JSON_REAL:    write_real(json_real_value(v), out); break;
	case JSON_TRUE:    buf_str(out, "true"); break;
	case JSON_FALSE:   buf_str(out, "false"); break;
	case JSON_NULL:    buf_str(out, "null"); break;
	}
}

void json_write(const json_t *v, struct buf *out) { write_value(v, 0, out); }

void json_print(const json_t *v, struct buf *out) { write_value(v, 1, out); }

void json_flatten(const json_t *v, const char *prefix, json_t *flat)
{
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)v, key, member) {
		buf_auto path = BUF_INIT;

		buf_printf(&path, "%s%s%s", prefix, *prefix ? "." : "", key);
		if (json_is_object(member))
			json_flatten(member, path.data, flat);
		else
			json_object_set(flat, path.data, member);
	}
}
