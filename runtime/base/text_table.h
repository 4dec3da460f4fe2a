/* SPDX-License-Identifier: Apache-2.0
 * Numbers by text: the paths of weights and layers, the columns of a file. */
#pragma once

#include <stdint.h>

struct text_table {
	const char **key;
	uint32_t *value;
	uint32_t n, size;
};

void text_table_release(struct text_table *p);
/* The number of a text, or UINT32_MAX. */
uint32_t text_table_find(const struct text_table *p, const char *text);
/* text is borrowed and not there yet. */
void text_table_add(struct text_table *p, const char *text, uint32_t value);
/* How often this was asked for the text before; borrowed. */
uint32_t text_table_count(struct text_table *p, const char *text);
