/* SPDX-License-Identifier: Apache-2.0
 * From the path of a model to its program. */
#ifndef TESTS_COMPILE_FILE_H
#define TESTS_COMPILE_FILE_H

#include "compiler/compile.h"
#include "runtime/base/diag.h"

/* Open, parse, resolve, compile; NULL with what is wrong in d, or in e where the file cannot be had. */
static inline struct program *compile_file(const char *path, struct diags *d, const struct compile_options *o, struct err *e)
{
	int file = source_open(diags_sources(d), path, SOURCE_BYTES_MAX, e);
	struct program *p;
	struct ast *t;

	if (file < 0)
		return NULL;
	t = lang_parse(d, (uint32_t)file, &(struct lang_options){ 0 });
	lang_resolve(t, d);
	p = compile_tree(t, d, o);
	ast_free(t);
	return p;
}

#endif
