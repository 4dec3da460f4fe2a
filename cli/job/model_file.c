/* SPDX-License-Identifier: Apache-2.0
 * From a path to a verified program, by what the file holds. */
#include "cli/job/model_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/import/qsim.h"
#include "runtime/base/input_files.h"
#include "runtime/program/bytecode.h"

struct input_want *input_wants(const struct program *p)
{
	struct input_want *want = mem_alloc(p->ninput_group + 1, sizeof *want);

	for (uint32_t i = 0; i < p->ninput_group; i++) {
		const struct input_group *g = &p->input_group[i];

		want[i].name = g->name;
		want[i].is_state = g->is_state;
		want[i].count = g->count;
		want[i].ndim = g->ndim;
		memcpy(want[i].dim, g->dim, sizeof want[i].dim);
	}
	return want;
}

/* Inputs stand at file level, so their declarations are direct children of the root. */
static void find_inputs(const struct ast *t, struct model_file *m)
{
	const struct node_list *list = &t->file->list;
	uint32_t n = m->program->ninput_group, at = 0;

	/* In the same order: the next one is the one, but for those of included files. */
	for (uint32_t k = 0; k < list->n; k++)
		for (uint32_t i = 0; list->v[k]->kind == NODE_INPUT && list->v[k]->name && i < n; i++)
			if (!strcmp(list->v[k]->name, m->want[(at + i) % n].name)) {
				at = (at + i) % n;
				m->want[at].at = list->v[k]->span;
				break;
			}
}

static void compile_source(struct diags *d, uint32_t file, const struct lang_options *lo,
	const struct compile_options *co, struct model_file *m)
{
	struct ast *t = lang_parse(d, file, lo);

	lang_resolve(t, d);
	if (!diags_errors(d))
		m->program = compile_tree(t, d, co);
	if (m->program) {
		m->want = input_wants(m->program);
		find_inputs(t, m);
	}
	ast_free(t);
}

enum { LOOK_BYTES = BYTECODE_MAGIC_BYTES > 9 ? BYTECODE_MAGIC_BYTES : 9 };

static bool has_magic(const struct buf *b)
{
	return b->len >= BYTECODE_MAGIC_BYTES && !memcmp(b->data, BYTECODE_MAGIC, BYTECODE_MAGIC_BYTES);
}

/* The length of a header, which is an object; as a text it would have control characters. */
static bool is_weights(const struct buf *b)
{
	struct rd r = { (const uint8_t *)b->data, b->len, 0, 0 };

	return b->len >= 9 && rd_u64(&r) <= WEIGHTS_HEADER_MAX && b->data[8] == '{';
}

/* The program of a weights.bin, and the text that it was compiled from. b: all of the file, or NULL where it can be read again. */
static int read_weights(const char *path, const struct buf *b, struct diags *d, struct model_file *m, struct err *e)
{
	int code = b ? weights_parse(b->data, b->len, &m->weights, e) : weights_open(path, &m->weights, e);
	const char *text = code ? NULL : weights_meta(m->weights, "source");
	int file = text && *text ? source_add(diags_sources(d), path, text, strlen(text)) : -1;

	if (code)
		return code;
	m->program = m->weights->program;
	if (file > 0)
		m->text = source_text(diags_sources(d), (uint32_t)file, &m->len);
	return 0;
}

/* A file of weights alone, by its ending, as `qcnn weights convert` writes. */
static bool is_numbers(const char *path)
{
	return path_ends(path, ".npz") || path_ends(path, ".npy") || path_ends(path, ".h5");
}

/* Bytecode and weights are known by how they begin, whatever the file is called.  A text that was read to find out, from a pipe, is
 * left in *text: it cannot be read again. */
static int read_compiled(const char *path, struct diags *d, struct model_file *m, struct buf *text, struct err *e)
{
	uint64_t size;
	int code = buf_read_part(text, path, LOOK_BYTES, false, &size, e);

	if (!code && size && !has_magic(text) && !is_weights(text)) {
		buf_release(text);
		return 0;
	}
	if (!code && !(size && is_weights(text)))
		code = buf_read_file(text, path, PROGRAM_BYTES_MAX, e);
	if (!code && !has_magic(text) && !is_weights(text))
		return 0;
	if (!code && is_weights(text)) {
		code = read_weights(path, size ? NULL : text, d, m, e);
	} else if (!code) {
		code = program_read(text->data, text->len, &m->program, e);
		if (code)
			err_prefix(e, "%s", input_name(path));
	}
	buf_release(text);
	return code;
}

int model_file_open(const char *path, struct diags *d, const struct lang_options *lo,
	const struct compile_options *co, struct model_file *out, struct err *e)
{
	struct model_file m = { .program = NULL };
	struct buf text = BUF_INIT;
	int code = 0, file;

	if (path_ends(path, ".yaml") || path_ends(path, ".yml"))
		return err_set(e, -ERR_BAD_DATA, "%s is a configuration, not a model; try `qcnn train %s` or `qcnn draw %s`, or give the model that "
			"it names at `model: {file: ...}`", path, path, path);
	if (is_numbers(path) && !access(path, F_OK))
		return err_set(e, -ERR_BAD_DATA,
			"%s has numbers, not a model; name the model, and for run and compile also --weights=%s",
			path, path);
	if (!path_ends(path, ".qcnn") && !path_ends(path, ".asm"))
		code = read_compiled(path, d, &m, &text, e);
	if (code)
		return code;
	if (co->nconstant && (m.program || path_ends(path, ".asm"))) {
		model_file_release(&m);
		buf_release(&text);
		return err_set(e, -ERR_CONFIG, "%s is compiled already: its constants, such as %s, are what they were then", path, co->constant->name);
	}
	if (!m.program) {
		file = text.data ? source_take(diags_sources(d), path, &text, e) : source_open(diags_sources(d), path, SOURCE_BYTES_MAX, e);
		if (file < 0)
			return file;
		m.text = source_text(diags_sources(d), (uint32_t)file, &m.len);
		if (path_ends(path, ".asm"))
			m.program = asm_read(d, (uint32_t)file);
		else if (!path_ends(path, ".qcnn") && qsim_is(m.text, m.len))
			m.program = qsim_read(d, (uint32_t)file, co);
		else
			compile_source(d, (uint32_t)file, lo, co, &m);
	}
	if (diags_errors(d)) {
		model_file_release(&m);
	} else if (!m.program) {
		BUG("%s: no program and no error", path);
	} else if (!m.want) {
		m.want = input_wants(m.program);
	}
	*out = m;
	return 0;
}

int model_fault_status(const struct diags *d, bool configured)
{
	return err_exit_status(configured && diags_errors_of(d, DIAG_OVERRIDE) == diags_errors(d) ? -ERR_CONFIG : -ERR_BAD_DATA);
}

void model_file_release(struct model_file *m)
{
	if (m->weights)
		weights_free(m->weights);
	else
		program_free(m->program);
	free(m->want);
	m->weights = NULL;
	m->program = NULL;
	m->want = NULL;
}
