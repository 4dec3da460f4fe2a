/* SPDX-License-Identifier: Apache-2.0
 * Words of options, "auto|min|max". */
#include "runtime/train/option/option.h"

#include <stdio.h>
#include <string.h>

unsigned option_nword(const char *words)
{
	unsigned n = 1;

	for (const char *w = words; *w; w++)
		n += *w == '|';
	return n;
}

static const char *nth(const char *words, unsigned k)
{
	while (k--)
		words += strcspn(words, "|") + 1;
	return words;
}

const char *option_word_at(const char *words, unsigned k, char *out, unsigned size)
{
	const char *w = nth(words, k);

	snprintf(out, size, "%.*s", (int)strcspn(w, "|"), w);
	return out;
}

int option_word(const char *words, const char *word)
{
	for (unsigned k = 0; k < option_nword(words); k++) {
		const char *w = nth(words, k);
		size_t len = strcspn(w, "|");

		if (strlen(word) == len && !strncmp(w, word, len))
			return (int)k;
	}
	return -1;
}
