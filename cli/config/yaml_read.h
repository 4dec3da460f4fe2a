/* SPDX-License-Identifier: Apache-2.0
 * YAML text as a tree of nodes with places: the 1.2 core scalars and nothing else.
 *
 * No anchors, aliases, tags, directives or second documents; at most YAML_BYTES_MAX
 * bytes, YAML_DEPTH_MAX levels and YAML_ENTRIES_MAX entries in a list or map; keys are
 * scalars and unique in their map.  Every
 * fault is a diagnostic Q0501-Q0504.  Only yaml_read.c knows libyaml. */
#pragma once

#include <stdbool.h>
#include "runtime/base/arena.h"
#include "runtime/base/diag.h"

enum { YAML_BYTES_MAX = 1 << 20, YAML_DEPTH_MAX = 32, YAML_ENTRIES_MAX = 10000 };

enum ynode_kind { YNODE_NONE = 0, YNODE_NULL, YNODE_BOOL, YNODE_INT, YNODE_REAL, YNODE_TEXT, YNODE_LIST, YNODE_MAP };

struct ynode {
	enum ynode_kind kind;
	struct span at;              /* of a list or map in block style: its first character */
	const char *text;            /* a scalar as written, without quotes */
	bool b;
	int64_t i;
	double f;                    /* of INT too */
	uint32_t n, cap;             /* LIST, MAP */
	struct yentry *entry;
};

struct yentry {
	const char *key;             /* NULL in a list */
	struct span key_at;
	struct ynode *value;
};

/* What `text` is as a plain scalar: fills kind, b, i, f. */
void yaml_resolve(struct ynode *v, const char *text);

/* The tree of text[0..len), which stands at offset `base` of source `file` (0: no source,
 * then faults are ours).  NULL and diagnostics when it is not acceptable; an empty text
 * is a NULL node. */
struct ynode *yaml_read(struct diags *d, uint32_t file, size_t base, const char *text, size_t len, struct arena *a);

struct yentry *ynode_find(const struct ynode *map, const char *key);     /* NULL if absent */
/* Append to a list or map (key NULL: list). */
void ynode_add(struct arena *a, struct ynode *n, const char *key, struct span key_at, struct ynode *value);
const char *ynode_kind_text(enum ynode_kind k); /* "a whole number", "a map" */
