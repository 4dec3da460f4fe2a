/* SPDX-License-Identifier: Apache-2.0
 * Reads files of expected numbers: lines `name option=value ... : numbers : numbers ...`; # begins a remark. */
#ifndef TESTS_TRAIN_NUMBERS_H
#define TESTS_TRAIN_NUMBERS_H

#include "runtime/train/option/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { NUMBERS_MAX = 8, PARTS_MAX = 4, LINE_MAX_BYTES = 1024 };

struct numbers {
	char line[LINE_MAX_BYTES], what[LINE_MAX_BYTES];     /* what: the line up to the first colon */
	const char *name;
	unsigned noption;
	struct { const char *name; double value; } given[TRAIN_OPTIONS_MAX];
	double part[PARTS_MAX][NUMBERS_MAX];
};

static FILE *numbers_open(const char *file)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/train/%s", tap_srcdir(), file);
	f = fopen(path, "r");
	if (!f)
		tap_bail("cannot read %s", path);
	return f;
}

static void numbers_of(char *text, double *out)
{
	unsigned n = 0;

	for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n")) {
		if (n == NUMBERS_MAX)
			tap_bail("too many numbers");
		out[n++] = strtod(word, NULL);
	}
}

static bool numbers_next(FILE *f, struct numbers *r)
{
	char *part[PARTS_MAX + 1];
	unsigned n = 0;

	do
		if (!fgets(r->line, sizeof r->line, f))
			return false;
	while (*r->line == '#');
	for (char *p = r->line; p && n <= PARTS_MAX; n++) {
		part[n] = p;
		p = strstr(p, " : ");
		if (p) {
			*p = 0;
			p += 3;
		}
	}
	snprintf(r->what, sizeof r->what, "%s", part[0]);
	for (unsigned k = 1; k < n; k++)
		numbers_of(part[k], r->part[k - 1]);
	r->name = strtok(part[0], " ");
	r->noption = 0;
	for (char *word; (word = strtok(NULL, " ")); r->noption++) {
		char *equals = strchr(word, '=');

		*equals = 0;
		r->given[r->noption].name = word;
		r->given[r->noption].value = strtod(equals + 1, NULL);
	}
	return true;
}

/* The options' defaults, then what the line gives. */
static void numbers_options(const struct numbers *r, const struct train_option *row, unsigned n, double *option)
{
	unsigned found = 0;

	for (unsigned k = 0; k < n; k++) {
		option[k] = row[k].value;
		for (unsigned i = 0; i < r->noption; i++)
			if (!strcmp(r->given[i].name, row[k].name)) {
				option[k] = r->given[i].value;
				found++;
			}
	}
	if (found != r->noption)
		tap_bail("%s: an option is unknown", r->what);
}

#endif
