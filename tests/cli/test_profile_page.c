/* SPDX-License-Identifier: Apache-2.0
 * The pages of a profile whose names contain markup, quotes, line ends and control sequences, as names of hosts, models and
 * layers from elsewhere may: nothing of them becomes markup, a command for the terminal, or another row. */
#include "cli/profile/profile_page.h"

#include <jansson.h>
#include <string.h>

#include "tests/base/sample_profile.h"
#include "tests/tap.h"

static struct profile *both(void)
{
	struct profile *p = sample_profile(), *part = sample_part(0);

	profile_merge(p, part, NULL);
	profile_order_messages(p);
	profile_free(part);
	p->limits.single_gflop_s = 200; /* so that there is a roofline */
	return p;
}

static bool has_control(const struct buf *b)
{
	for (size_t k = 0; k < b->len; k++)
		if ((unsigned char)b->data[k] < ' ' && b->data[k] != '\n')
			return true;
	return false;
}

static void test_text(const struct profile *p)
{
	struct buf out = BUF_INIT;

	profile_page_text(p, &out);
	tap_ok(out.len > 1000 && !has_control(&out), "the text has no control characters");
	tap_ok(!strstr(out.data, HOSTILE) && strstr(out.data, "</script>\"\\x1b[31m"),
		"names show what they contain");
	buf_release(&out);
}

/* The string where the object, or one within it, has HOSTILE as it is. */
static bool has_string(const json_t *v, const char *s)
{
	const char *key;
	json_t *member;
	size_t k;
	bool found = json_is_string(v) && !strcmp(json_string_value(v), s);

	json_object_foreach((json_t *)v, key, member) found = found || has_string(member, s);
	json_array_foreach(v, k, member) found = found || has_string(member, s);
	return found;
}

/* A member `key` with that number in the object, or in one within it. */
static bool has_number(const json_t *v, const char *key, double number)
{
	const char *name;
	json_t *member;
	size_t k;
	bool found = json_is_object(v) && json_number_value(json_object_get(v, key)) == number;

	json_object_foreach((json_t *)v, name, member) found =
		found || has_number(member, key, number);
	json_array_foreach(v, k, member) found = found || has_number(member, key, number);
	return found;
}

static void test_json(const struct profile *p)
{
	struct buf out = BUF_INIT;
	json_error_t e;
	json_t *v;

	profile_page_json(p, &out);
	v = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, &e);
	tap_ok(v && has_string(v, HOSTILE)
			&& !strcmp(json_string_value(json_object_get(v, "model")), HOSTILE),
		"JSON has names as they are");
	tap_ok(strchr(out.data, '\n') == out.data + out.len - 1, "one line");
	tap_ok(has_number(v, "threads", 1) && has_number(v, "threads", 2),
		"a device's queue is not a thread of its process");
	json_decref(v);
	buf_release(&out);
}

/* RFC 4180: fields in a row from *at, quoted ones with their line ends; moves *at to the next row. */
static unsigned csv_fields(const char **at)
{
	unsigned n = 1;
	bool quoted = false;

	for (; **at && (quoted || **at != '\n'); (*at)++) {
		if (**at == '"')
			quoted = !quoted;
		n += !quoted && **at == ',';
	}
	*at += **at == '\n';
	return quoted ? 0 : n;
}

static void test_csv(const struct profile *p)
{
	struct buf out = BUF_INIT;
	unsigned rows = 0, wrong = 0;
	const char *at;

	profile_page_csv(p, &out);
	for (at = out.data; *at; rows++)
		wrong += csv_fields(&at) != 4;
	tap_ok(rows > 50 && !wrong, "each of %u rows of CSV has four fields", rows);
	buf_release(&out);
}

/* Tags outside of those that a page of ours has, and attributes that a browser would run or load. */
static bool has_foreign_markup(const struct buf *b)
{
	static const char *const bad[] = { "<script", "</script",
		" onload=", "javascript:", "http://", "https://", "\x1b" };

	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
		const char *at = strstr(b->data, bad[k]);

		/* The name of SVG's own vocabulary is no address that is loaded. */
		while (at && !strncmp(at, "http://www.w3.org/", 18))
			at = strstr(at + 1, bad[k]);
		if (at)
			return true;
	}
	return false;
}

static void test_html(const struct profile *p)
{
	struct profile_sections s;
	struct buf out = BUF_INIT;

	profile_page_html(p, &out);
	tap_ok(strstr(out.data, "&lt;/script&gt;") && !has_foreign_markup(&out),
		"names are text in the page");
	tap_ok(strlen(out.data) == out.len, "which has no zero byte");
	tap_ok(strstr(out.data, "</svg> validation</span>"), "a colour and its name are on one line");
	buf_clear(&out);
	profile_sections_make(p, &s);
	for (unsigned k = 0; k < s.n; k++)
		if (!strcmp(s.section[k].key, "stages"))
			profile_roofline(p, &s.section[k], true, &out);
	tap_ok(out.len && !has_foreign_markup(&out), "and in the roofline");
	profile_sections_release(&s);
	buf_release(&out);
}

int main(void)
{
	struct profile *p = both();

	test_text(p);
	test_json(p);
	test_csv(p);
	test_html(p);
	profile_free(p);
	return tap_done();
}
