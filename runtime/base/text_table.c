/* SPDX-License-Identifier: Apache-2.0
 * A hash table of texts with open addressing. */
#include "runtime/base/text_table.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

void text_table_release(struct text_table *p)
{
	free(p->key);
	free(p->value);
	*p = (struct text_table){ 0 };
}

/* FNV-1a; the text's slot or the free one where it belongs. */
static uint32_t slot(const struct text_table *p, const char *text)
{
	uint32_t h = 2166136261u;

	for (const char *s = text; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	h &= p->size - 1;
	while (p->key[h] && strcmp(p->key[h], text))
		h = (h + 1) & (p->size - 1);
	return h;
}

uint32_t text_table_find(const struct text_table *p, const char *text)
{
	uint32_t k = p->size ? slot(p, text) : 0;

	return p->size && p->key[k] ? p->value[k] : UINT32_MAX;
}

static void grow(struct text_table *p)
{
	struct text_table old = *p;

	p->size = old.size ? 2 * old.size : 64;
	p->key = mem_alloc(p->size, sizeof *p->key);
	p->value = mem_alloc(p->size, sizeof *p->value);
	for (uint32_t i = 0; i < old.size; i++)
		if (old.key[i]) {
			uint32_t k = slot(p, old.key[i]);
			p->key[k] = old.key[i];
			p->value[k] = old.value[i];
		}
	free(old.key);
	free(old.value);
}

void text_table_add(struct text_table *p, const char *text, uint32_t value)
{
	if (2 * (p->n + 1) > p->size)
		grow(p);
	uint32_t k = slot(p, text);
	p->key[k] = text;
	p->value[k] = value;
	p->n++;
}

uint32_t text_table_count(struct text_table *p, const char *text)
{
	if (text_table_find(p, text) == UINT32_MAX)
		text_table_add(p, text, 0);
	return p->value[slot(p, text)]++;
}
