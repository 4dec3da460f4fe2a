/* SPDX-License-Identifier: Apache-2.0
 * Options of losses, metrics, optimisers, schedules and callbacks: rows that their tables
 * carry, and from which the configuration's schema and the manual are expanded. */
#pragma once

#include <math.h>

enum { TRAIN_OPTIONS_MAX = 16, VALUE_LIST_MAX = 64, OPTION_WORD_MAX = 32 };

/* How a value is held: a number, 0 or 1, a whole number, or a list, whose number of
 * entries stands in the option's place; one of some words (which one, from 0) or a list of
 * them (a bit each); a text, or a command line (a text, or a list of texts), both of which lie
 * elsewhere: 1 in the option's place when it is given. */
enum value_kind { VALUE_REAL = 0, VALUE_BOOL, VALUE_COUNT, VALUE_LIST, VALUE_WORD, VALUE_WORDS, VALUE_TEXT, VALUE_COMMAND };

#define VALUE_UNSET NAN              /* default: null, left out */
#define VALUE_REQUIRED HUGE_VAL     /* default: none, must be given */

struct train_option {
	const char *name;
	double value, min, max;      /* value: the default */
	enum value_kind kind;
	const char *doc;
	/* WORD, WORDS: "min|max"; COUNT: a word that means null, or NULL; TEXT: the default, NULL for null */
	const char *words;
};

/* Which of the words of a row, from 0; -1: none.  How many there are; the k-th into out[size]. */
int option_word(const char *words, const char *word);
unsigned option_nword(const char *words);
const char *option_word_at(const char *words, unsigned k, char *out, unsigned size);

static inline int value_given(double value) { return !isnan(value); }
