/* SPDX-License-Identifier: Apache-2.0
 * The table of paths: every text keeps its number, in the slots that the table has. */
#include <stdio.h>
#include <string.h>

#include "runtime/base/text_table.h"
#include "tests/tap.h"

enum { NPATH = 1000 };

static char text[NPATH][32];

/* FNV-1a, as its authors define it. */
static uint32_t fnv(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h;
}

static uint32_t filled(const struct text_table *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->size; i++)
		n += p->key[i] != NULL;
	return n;
}

int main(void)
{
	struct text_table p = { 0 };
	uint32_t right = 0, absent = 0, own = 0, at;

	tap_ok(text_table_find(&p, "conv[0].t") == UINT32_MAX, "an empty table has no path");
	for (uint32_t i = 0; i < NPATH; i++) {
		snprintf(text[i], sizeof text[i], "conv[%u].t", i);
		text_table_add(&p, text[i], i);
	}
	for (uint32_t i = 0; i < NPATH; i++) {
		right += text_table_find(&p, text[i]) == i;
		at = fnv(text[i]) & (p.size - 1);
		own += p.key[at] == text[i];
	}
	for (uint32_t i = 0; i < NPATH; i++) {
		char other[32];

		snprintf(other, sizeof other, "pool[%u].t", i);
		absent += text_table_find(&p, other) == UINT32_MAX;
	}
	tap_is_int(right, NPATH, "all are found");
	tap_is_int(absent, NPATH, "others are not");
	tap_is_int(p.n, NPATH, "they are counted");
	tap_is_int(filled(&p), NPATH, "and stand in the table's slots");
	tap_ok(p.size >= 2 * NPATH && !(p.size & (p.size - 1)), "a power of 2, at most half full");
	tap_ok(own > NPATH / 2, "%u of %d stand where their hash says", own, NPATH);
	tap_ok(text_table_count(&p, "layer") == 0 && text_table_count(&p, "layer") == 1
			&& text_table_count(&p, "layer") == 2,
		"counts begin at 0");
	text_table_release(&p);
	return tap_done();
}
