/* SPDX-License-Identifier: Apache-2.0
 * Numbers by text: the paths of weights and layers. */
#pragma once

#include <stdint.h>

struct paths { const char **key; uint32_t *value; uint32_t n, size; };

void paths_release(struct paths *p);
/* The number of a text, or INDEX_NONE. */
uint32_t paths_find(const struct paths *p, const char *text);
/* text is borrowed and not there yet. */
void paths_add(struct paths *p, const char *text, uint32_t value);
/* How often this was asked for the text before; borrowed. */
uint32_t paths_count(struct paths *p, const char *text);
