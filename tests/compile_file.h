/* SPDX-License-Identifier: Apache-2.0
 * From the path or the text of a model to its program. */
#ifndef TESTS_COMPILE_FILE_H
#define TESTS_COMPILE_FILE_H

#include <string.h>

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

/* The same for a text, with n for its constant of that name (NULL: its own); NULL where it has errors. */
static inline struct program *compile_text(const char *text, const char *n)
{
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	int file = source_add(s, "text.qcnn", text, strlen(text));
	struct ast *t = lang_parse(d, (uint32_t)file, &(struct lang_options){ 0 });
	struct const_override c = { "n", n };
	struct program *p;

	lang_resolve(t, d);
	p = compile_tree(t, d, &(struct compile_options){ .constant = &c, .nconstant = n != NULL });
	ast_free(t);
	diags_free(d);
	source_set_free(s);
	return p;
}

#endif
