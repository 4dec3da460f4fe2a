/* SPDX-License-Identifier: Apache-2.0
 * Finds the name that qcnn has for a word of another program, or of its own before. */
#include "cli/config/aliases.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const struct {
	const char *theirs, *ours;
} row[] = {
#define ALIAS(theirs, ours) { theirs, ours },
#include "cli/config/aliases.def"
#undef ALIAS
};

/* Are they one word, but for capital letters, _ and -? */
static bool alike(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, "_-");
		b += strspn(b, "_-");
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
	}
}

const char *alias_find(const char *word, const char *const *name, size_t n)
{
	for (size_t k = 0; k < sizeof row / sizeof *row; k++)
		for (size_t i = 0; i < n && alike(row[k].theirs, word); i++)
			if (alike(row[k].ours, name[i]))
				return name[i];
	return NULL;
}

bool choice_is(const char *word, size_t n, const char *value)
{
	size_t len = strlen(value);

	if (n > 2 && !memcmp(word + n - 2, ":N", 2))
		return len > n - 1 && len <= n + 1 && !memcmp(word, value, n - 1)
			&& strspn(value + n - 1, "0123456789") == len - (n - 1);
	return n == len && !memcmp(word, value, n);
}

static const struct {
	enum former_kind kind;
	const char *before, *now;
} former[] = {
#define FORMER(kind, before, now) { FORMER_##kind, before, now },
#include "cli/config/former_names.def"
#undef FORMER
};

const char *former_now(enum former_kind kind, const char *name, size_t len)
{
	for (size_t k = 0; k < sizeof former / sizeof *former; k++)
		if (former[k].kind == kind && strlen(former[k].before) == len
			&& !strncmp(former[k].before, name, len))
			return former[k].now;
	return NULL;
}

const char *former_name(enum former_kind kind, const char *now)
{
	for (size_t k = 0; k < sizeof former / sizeof *former; k++)
		if (former[k].kind == kind && !strcmp(former[k].now, now))
			return former[k].before;
	return now;
}
