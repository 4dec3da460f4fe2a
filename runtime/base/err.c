/* SPDX-License-Identifier: Apache-2.0
 * Failures of the world, from the rows of err.def. */
#include "runtime/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct err_row {
	int status;
	const char *name;
};

static const struct err_row row[ERR_COUNT] = {
	[ERR_NONE] = { 0, "NONE" },
#define ERR(name, status, text) [ERR_##name] = { status, #name },
#include "runtime/base/err.def"
#undef ERR
};

/* Texts are one line: a file name may carry anything. */
static void one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = ' ';
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	char text[ERR_TEXT_MAX];
	va_list ap;

	if (!e)
		return code;
	/* Through a copy: an argument may be e->text itself. */
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	one_line(text);
	e->code = code;
	memcpy(e->text, text, sizeof text);
	return code;
}

void err_prefix(struct err *e, const char *fmt, ...)
{
	char prefix[ERR_TEXT_MAX], old[ERR_TEXT_MAX];
	va_list ap;

	if (!e)
		return;
	va_start(ap, fmt);
	vsnprintf(prefix, sizeof prefix, fmt, ap);
	va_end(ap);
	memcpy(old, e->text, sizeof old);
	err_set(e, e->code, "%s: %s", prefix, old);
}

static const struct err_row *row_of(int code)
{
	int i = code < 0 ? -code : code;

	return &row[i < ERR_COUNT ? i : ERR_BUG];
}

int err_exit_status(int code) { return row_of(code)->status; }

const char *err_name(int code) { return row_of(code)->name; }

void bug_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "qcnn: bug at %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}
