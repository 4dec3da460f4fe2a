/* SPDX-License-Identifier: Apache-2.0
 * Reads hosts.  A name is checked letter by letter, since it becomes a word of a command line. */
#include "runtime/net/launch/hostfile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"

enum { HOSTFILE_BYTES_MAX = 1 << 20 };

bool host_is_local(const struct host *h) { return !strcmp(h->name, "local"); }

unsigned hosts_workers(const struct hosts *h)
{
	unsigned n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += h->host[i].nworker;
	return n;
}

void hosts_release(struct hosts *h)
{
	free(h->host);
	*h = (struct hosts){ NULL, 0, 0 };
}

static bool is_name(const char *p, size_t len)
{
	if (!len || len > HOST_NAME_LONGEST || *p == '-' || *p == '@' || p[len - 1] == '@')
		return false;
	for (size_t i = 0; i < len; i++)
		if ((!isalnum((unsigned char)p[i]) && !strchr("._-@:%", p[i])) || (p[i] == '-' && p[i - 1] == '@'))
			return false;
	return true;
}

/* The bracket of [address] or user@[address]; NULL: there is none. */
static const char *bracket(const char *p, size_t len)
{
	const char *open = memchr(p, '[', len);

	return open && (open == p || open[-1] == '@') ? open : NULL;
}

/* user@address, as ssh takes it, from user@[address]. */
static size_t without_brackets(const char *p, size_t len, char out[HOST_NAME_LONGEST + 1])
{
	const char *open = len && p[len - 1] == ']' ? bracket(p, len) : NULL;
	size_t n = 0;

	for (size_t i = 0; i < len && n < HOST_NAME_LONGEST + 1; i++)
		if (!open || (p + i != open && i != len - 1))
			out[n++] = p[i];
	return n;
}

int hosts_add(struct hosts *h, const char *word, size_t nword, unsigned nworker, struct err *e)
{
	char name[HOST_NAME_LONGEST + 1];
	size_t len = without_brackets(word, nword, name);

	if (!is_name(name, len))
		return err_set(e, -ERR_USAGE,
			"`%.*s` is not a host: give a name, user@name or "
			"an address, and :N after it for N workers",
			(int)(nword < 80 ? nword : 80), word);
	if (!nworker || nworker > HOST_WORKERS_MAX)
		return err_set(e, -ERR_USAGE, "a host has 1 to %d workers", HOST_WORKERS_MAX);
	for (size_t i = 0; i < h->n; i++)
		if (strlen(h->host[i].name) == len && !memcmp(h->host[i].name, name, len)) {
			if (h->host[i].nworker + nworker > HOST_WORKERS_MAX)
				return err_set(e, -ERR_USAGE, "a host has 1 to %d workers", HOST_WORKERS_MAX);
			h->host[i].nworker += nworker;
			return 0;
		}
	if (h->n == HOSTS_MAX)
		return err_set(e, -ERR_USAGE, "more than %d hosts", HOSTS_MAX);
	mem_reserve(h->host, h->n, h->cap);
	memset(&h->host[h->n], 0, sizeof *h->host);
	memcpy(h->host[h->n].name, name, len);
	h->host[h->n++].nworker = nworker;
	return 0;
}

/* A number of at most 4 digits that fills the text. */
static bool number(const char *p, size_t len, unsigned *out)
{
	*out = 0;
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)p[i]) || len > 4)
			return false;
		*out = *out * 10 + (unsigned)(p[i] - '0');
	}
	return len > 0;
}

/* NAME or NAME:N.  A bare IPv6 address has more than one colon: [address]:N gives a number. */
static int add_word(struct hosts *h, const char *p, size_t len, struct err *e)
{
	const char *colon = memchr(p, ':', len), *last = colon;
	unsigned n = 1;

	if (bracket(p, len)) {
		const char *end = memchr(p, ']', len);

		last = end && end + 1 < p + len && end[1] == ':' ? end + 1 : NULL;
	} else if (colon && memchr(colon + 1, ':', (size_t)(p + len - colon - 1))) {
		last = NULL;
	}
	if (last && !number(last + 1, (size_t)(p + len - last - 1), &n))
		return err_set(e, -ERR_USAGE,
			"`%.*s`: a number of workers must follow the "
			"colon",
			(int)(len < 80 ? len : 80), p);
	return hosts_add(h, p, last ? (size_t)(last - p) : len, n, e);
}

int hosts_add_list(struct hosts *h, const char *text, struct err *e)
{
	for (;;) {
		size_t len = strcspn(text, ",");

		while (len && isspace((unsigned char)*text)) {
			text++;
			len--;
		}
		int code = add_word(h, text, len - (len && text[len - 1] == ' '), e);
		text += len;
		if (code || !*text)
			return code;
		text++;
	}
}

/* host[:N] [slots=N] [anything that Open MPI or MPICH know, which is refused by name]. */
static int add_line(struct hosts *h, const char *p, size_t len, struct err *e)
{
	static const char space[] = " \t\v\f\r", end[] = " \t\v\f\r#\n";
	size_t before = strspn(p, space), name, more = len - before, at;
	unsigned n;

	p += before;
	name = strcspn(p, end);
	at = name + strspn(p + name, space);
	while (more > at && isspace((unsigned char)p[more - 1]))
		more--;
	if (!name)
		return 0;
	if (more == at)
		return add_word(h, p, name, e);
	if (more - at > 6 && !strncmp(p + at, "slots=", 6) && number(p + at + 6, more - at - 6, &n))
		return hosts_add(h, p, name, n, e);
	return err_set(e, -ERR_CONFIG,
		"`%.*s` is not understood: write a host, and slots=N after it for N workers",
		(int)(more - at < 80 ? more - at : 80), p + at);
}

int hosts_add_file(struct hosts *h, const char *path, struct err *e)
{
	buf_auto b = BUF_INIT;
	int code = buf_read_file(&b, path, HOSTFILE_BYTES_MAX, e);
	size_t n = h->n;
	unsigned line = 0;

	for (size_t at = 0; !code && at < b.len; at++) {
		size_t len = strcspn(b.data + at, "\n"), comment = strcspn(b.data + at, "#\n");

		line++;
		code = add_line(h, b.data + at, comment < len ? comment : len, e);
		if (code) {
			err_prefix(e, "%s, line %u", path, line);
			code = -ERR_CONFIG;
			if (e)
				e->code = code;
		}
		at += len;
	}
	if (!code && h->n == n)
		code = err_set(e, -ERR_CONFIG, "%s names no host", path);
	return code;
}
