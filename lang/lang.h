/* SPDX-License-Identifier: Apache-2.0
 * The front end in two calls: text to tree, tree to tree with names and kinds. */
#pragma once

#include "lang/ast.h"
#include "runtime/base/diag.h"

enum {
	LANG_NESTING_MAX = 256,      /* braces, parentheses, includes */
	LANG_NODES_MAX = 4 << 20,
	LANG_IDENT_MAX = 255
};

/* Where `include "x"` looks: the including file's folder, then these, in order. */
struct lang_options { const char *const *include_dir; unsigned ninclude_dir; };

/* Parse source `file` (an id of the diags' source set).  Never NULL; look at
 * diags_errors before using the tree further.  Several errors per run. */
struct ast *lang_parse(struct diags *d, uint32_t file, const struct lang_options *o);

/* Resolve names and kinds in all branches, also untaken ones; writes decl, rank,
 * gate, word, builtin on the nodes.  Reports through d.  Trees with syntax errors are
 * resolved too, so that a run reports both; names in dropped text are then silent. */
void lang_resolve(struct ast *t, struct diags *d);
