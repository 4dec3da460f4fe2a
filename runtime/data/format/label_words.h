/* SPDX-License-Identifier: Apache-2.0
 * Labels of a file that are words without a number: reported once, with a fix for all of them. */
#pragma once

#include <stdbool.h>

#include "runtime/base/diag.h"

enum { LABEL_WORDS_MAX = 12 };

struct arena;

struct label_words {
	struct diag *fault;          /* what was said of the first; the caller's to set */
	const char *word[LABEL_WORDS_MAX]; /* in the order of the file */
	unsigned n;
	bool more;                   /* than these */
};

/* Remembers a word, in the arena; is it the first of all? */
bool label_words_add(struct label_words *w, struct arena *a, const char *word);
/* Behind the last row: how data.label_map would give them numbers.  known[nknown]: the labels that it names, or NULL
 * without a map. */
void label_words_help(const struct label_words *w, const char *const *known, unsigned nknown);
