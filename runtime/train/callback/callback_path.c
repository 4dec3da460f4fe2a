/* SPDX-License-Identifier: Apache-2.0
 * Templates of paths, "saved/{epoch:04d}-{val_loss:.2f}.bin": names in braces with a format of
 * Python's kind, [0][width][.precision][d, e, f or g]; doubled braces stand for themselves. */
#include "runtime/train/callback/callback_parts.h"

#include <stdio.h>
#include <string.h>

#include "runtime/log/event_folders.h"

enum { WIDTH_MAX = 99, PRECISION_MAX = 30, NAME_MAX_LEN = 64 };

struct number { double value; bool is_count; };
struct spec { bool zero; int width, precision; char letter; };

/* The number of a name; false: there is none. */
static bool number_of(const struct train_job *j, const char *name, const struct epoch_record *r, uint32_t batch,
	struct number *out)
{
	struct monitor m;

	if (!strcmp(name, "epoch"))
		*out = (struct number){ r->epoch, true };
	else if (!strcmp(name, "batch"))
		*out = (struct number){ batch, true };
	else if (!strcmp(name, "start"))
		*out = (struct number){ r->restart + 1.0, true };
	else if (!strcmp(name, "learning_rate"))
		*out = (struct number){ r->learning_rate, false };
	else if (callback_monitor(j, name, &m) && !(m.validation && !j->validation.nrow))
		*out = (struct number){ monitor_value(j, &m, r), false };
	else
		return false;
	return true;
}

/* A run of digits up to most; -1: none, or too many. */
static int digits(const char **at, int most)
{
	long v = 0;
	const char *begin = *at;

	for (; **at >= '0' && **at <= '9' && v <= most; ++*at)
		v = 10 * v + (**at - '0');
	return *at == begin || v > most ? -1 : (int)v;
}

/* What stands between the colon and the brace. */
static bool read_spec(const char *text, struct spec *s)
{
	*s = (struct spec){ .precision = -1 };
	if (*text == '0') {
		s->zero = true;
		text++;
	}
	if (*text >= '1' && *text <= '9' && (s->width = digits(&text, WIDTH_MAX)) < 0)
		return false;
	if (*text == '.' && (text++, (s->precision = digits(&text, PRECISION_MAX)) < 0))
		return false;
	if (*text && strchr("deEfFgG", *text))
		s->letter = *text++;
	return !*text;
}

static bool add_number(const struct number *n, const struct spec *s, struct buf *out)
{
	char text[512], form[8], letter = s->letter;
	int len;

	if (!letter && s->precision < 0 && !n->is_count) {
		buf_auto shortest = BUF_INIT;

		buf_real(&shortest, n->value);
		buf_pad(out, s->zero ? '0' : ' ', (size_t)s->width > shortest.len ? (size_t)s->width - shortest.len : 0);
		buf_add(out, shortest.data, shortest.len);
		return true;
	}
	if (!letter)
		letter = n->is_count ? 'd' : 'g';
	if (letter == 'd') {
		if (!n->is_count || s->precision >= 0)
			return false;
		len = snprintf(text, sizeof text, s->zero ? "%0*.0f" : "%*.0f", s->width, n->value);
	} else {
		snprintf(form, sizeof form, s->zero ? "%%0*.*%c" : "%%*.*%c", letter);
		len = snprintf(text, sizeof text, form, s->width, s->precision < 0 ? 6 : s->precision, n->value);
	}
	buf_add(out, text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1);
	return true;
}

/* One {name} or {name:format}, without the braces. */
static int add_field(const struct train_job *j, const char *field, size_t len, const struct epoch_record *r, uint32_t batch,
	struct buf *out, struct err *e)
{
	char name[NAME_MAX_LEN + 1], *colon;
	buf_auto names = BUF_INIT;
	struct number n;
	struct spec s = { .precision = -1 };
	int code = 0;

	snprintf(name, sizeof name, "%.*s", len > NAME_MAX_LEN ? NAME_MAX_LEN : (int)len, field);
	colon = strchr(name, ':');
	if (colon)
		*colon++ = 0;
	callback_names(j, &names);
	if (len > NAME_MAX_LEN || !number_of(j, name, r, batch, &n))
		code = err_set(e, -ERR_CONFIG, "there is no {%s}; there are epoch, batch, start, learning_rate, %s", name, names.data);
	else if ((colon && !read_spec(colon, &s)) || !add_number(&n, &s, out))
		code = err_set(e, -ERR_CONFIG, "{%.*s} has no format for %s; write for example {%s%s}",
			(int)len, field, n.is_count ? "a whole number" : "a number", name,
			n.is_count ? ":04d" : ":.4f");
	return code;
}

static int fill(const struct train_job *j, const char *template, const struct epoch_record *r, uint32_t batch,
	struct buf *out, struct err *e)
{
	int code = 0;

	for (const char *at = template; !code && *at; at++) {
		if ((*at == '{' || *at == '}') && at[1] == *at) {
			buf_char(out, *at++);
			continue;
		}
		if (*at != '{') {
			if (*at == '}')
				return err_set(e, -ERR_CONFIG, "character %d is a } without {; write }} for the character itself", (int)(at - template) + 1);
			buf_char(out, *at);
			continue;
		}
		size_t len = strcspn(at + 1, "{}");
		if (at[1 + len] != '}')
			return err_set(e, -ERR_CONFIG, "character %d is a { without }; write {{ for the character itself", (int)(at - template) + 1);
		code = add_field(j, at + 1, len, r, batch, out, e);
		at += len + 1;
	}
	return code;
}

/* Does the template contain the number of the restart? */
static bool has_start(const char *template)
{
	const char *at = template;

	while ((at = strstr(at, "{start"))) {
		if ((at == template || at[-1] != '{') && (at[6] == '}' || at[6] == ':'))
			return true;
		at++;
	}
	return false;
}

int callback_path(const struct train_job *j, const char *template, const struct epoch_record *r, uint32_t batch,
	struct buf *out, struct err *e)
{
	buf_auto name = BUF_INIT;
	int code = fill(j, template, r, batch, &name, e);

	if (!code && (!name.len || name.data[name.len - 1] == '/'))
		code = err_set(e, -ERR_CONFIG, "\"%s\" names no file", template);
	if (!code && name.len > CALLBACK_PATH_MAX)
		code = err_set(e, -ERR_CONFIG, "the path has %zu characters, more than %d", name.len, CALLBACK_PATH_MAX);
	if (!code) {
		const char *base = path_base(name.data);
		buf_add(out, name.data, (size_t)(base - name.data));
		if (j->restarts > 1 && !has_start(template))
			event_folder_restart(r->restart, out);
		buf_str(out, base);
	}
	return code;
}
