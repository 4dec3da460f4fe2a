/* SPDX-License-Identifier: Apache-2.0
 * What qcnn bench runs: named circuits and files at all the sizes that are asked for, compiled. */
#include "cli/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/system/clock.h"

enum { QUBITS_PRESET = 20 };

static uint64_t count_gates(const struct program *p)
{
	uint64_t n = 0;

	for (uint32_t c = 0; c < p->ncircuit; c++)
		for (uint32_t k = 0; k < p->circuit[c].napply; k++)
			n += p->circuit[c].apply[k].op == APPLY_UNITARY || p->circuit[c].apply[k].op == APPLY_SWAP;
	return n;
}

static struct bench_program *add_program(struct bench_programs *j, const char *name)
{
	if (j->nprogram == BENCH_CIRCUITS_MAX)
		return NULL;
	struct bench_program *bp = &j->program[j->nprogram++];
	bp->name = mem_strdup(name);
	bp->start = "";
	return bp;
}

/* A text of ours: it has no faults but sizes beyond a limit. */
static void compile_text(struct bench_programs *j, struct bench_program *bp, const struct buf *text)
{
	struct lang_options lo = { NULL, 0 };
	int file = source_add(diags_sources(j->d), bp->name, text->data, text->len);

	if (file < 0) {
		diag_at(j->d, DIAG_TOO_LARGE, (struct span){ 0, 0, 0 }, "the circuit %s of %u qubits and %u layers is too large",
			bp->name, bp->qubits, bp->layers);
		return;
	}
	bp->model.text = source_text(diags_sources(j->d), (uint32_t)file, &bp->model.len);
	struct ast *t = lang_parse(j->d, (uint32_t)file, &lo);
	lang_resolve(t, j->d);
	bp->model.program = compile_tree(t, j->d, &j->words.compile);
	ast_free(t);
}

static bool starts_as_product(const struct bench_programs *j)
{
	return options_choice(&j->cli->options, OPT_BENCH_START) == 1;
}

static int compile_named(struct bench_programs *j, const struct bench_circuit *bc, unsigned n, unsigned layers)
{
	struct bench_program *bp = add_program(j, bc->name);
	struct bench_size size = { n, layers == BENCH_LAYERS_N ? n : layers, j->seed,
		bc->product || starts_as_product(j) };
	buf_auto text = BUF_INIT;
	double began = clock_seconds();

	if (!bp)
		return cli_usage(j->cli, "more than %d circuits", BENCH_CIRCUITS_MAX);
	if (n < bc->min_qubits)
		return cli_usage(j->cli, "the circuit %s needs at least %u qubits", bc->name, bc->min_qubits);
	bp->named = bc;
	bp->start = size.product ? "product" : "zero";
	bp->qubits = n;
	bp->layers = size.layers;
	bc->write(&text, &size);
	compile_text(j, bp, &text);
	bp->compile_seconds = clock_seconds() - began;
	if (diags_errors(j->d))
		return cli_diags_fail(j->cli, j->d, err_exit_status(-ERR_BAD_DATA));
	bp->gates = count_gates(bp->model.program);
	return 0;
}

static int named(struct bench_programs *j, const struct bench_circuit *bc)
{
	struct bench_list n = j->qubits.n ? j->qubits : (struct bench_list){ { QUBITS_PRESET }, 1 };
	struct bench_list layers = j->layers.n ? j->layers : (struct bench_list){ { bc->layers }, 1 };
	int status = 0;

	if (j->words.compile.nconstant)
		return cli_usage(j->cli, "--const is for files; the circuit %s takes --qubits and --layers", bc->name);
	if (j->layers.n && !bc->layers)
		return cli_usage(j->cli, "the circuit %s has no number of layers to set", bc->name);
	for (unsigned k = 0; !status && k < n.n; k++)
		for (unsigned l = 0; !status && l < layers.n; l++)
			status = compile_named(j, bc, (unsigned)n.v[k], (unsigned)layers.v[l]);
	return status;
}

/* A file, with its constant n set where a number of qubits is given (0: as it stands). */
static int compile_file_at(struct bench_programs *j, const char *path, unsigned n)
{
	struct bench_program *bp = add_program(j, path);
	struct const_override constant[OPTIONS_LIST_MAX + 1];
	struct compile_options co = j->words.compile;
	double began = clock_seconds();
	char value[16];
	struct err e;

	if (!bp)
		return cli_usage(j->cli, "more than %d circuits", BENCH_CIRCUITS_MAX);
	for (unsigned k = 0; n && k < co.nconstant; k++)
		if (!strcmp(co.constant[k].name, "n"))
			return cli_usage(j->cli, "--qubits and --const both set n of %s", path);
	if (n) {
		snprintf(value, sizeof value, "%u", n);
		for (unsigned k = 0; k < co.nconstant; k++)
			constant[k] = co.constant[k];
		constant[co.nconstant++] = (struct const_override){ "n", value };
		co.constant = constant;
	}
	if (model_file_open(path, j->d, &j->words.lang, &co, &bp->model, &e))
		return cli_fail(j->cli, &e);
	if (diags_errors(j->d)) {
		int status = cli_diags_fail(j->cli, j->d, err_exit_status(-ERR_BAD_DATA));
		if (n)
			cli_note(j->cli, "--qubits sets the constant n of %s; a file that has none is measured without --qubits", path);
		return status;
	}
	bp->compile_seconds = clock_seconds() - began;
	bp->qubits = program_nwire(bp->model.program);
	bp->gates = count_gates(bp->model.program);
	return 0;
}

static int file(struct bench_programs *j, const char *path)
{
	int status = 0;

	if (j->layers.n)
		return cli_usage(j->cli,
			"--layers is for named circuits; %s defines its own layers", path);
	if (starts_as_product(j))
		return cli_usage(j->cli,
			"--start=product is for named circuits; %s defines its own initial state",
			path);
	if (!j->qubits.n)
		return compile_file_at(j, path, 0);
	for (unsigned k = 0; !status && k < j->qubits.n; k++)
		status = compile_file_at(j, path, (unsigned)j->qubits.v[k]);
	return status;
}

static int circuit(struct bench_programs *j, const char *word)
{
	const struct bench_circuit *bc = bench_circuit_find(word);

	if (!bc && access(word, F_OK)) {
		/* Neither a file nor a name. */
		buf_auto names = BUF_INIT;
		const char *near;

		bench_circuit_names(word, &names, &near);
		return cli_error(j->cli, -ERR_NO_INPUT,
			"there is no file %s, and no circuit of that name, but %s%s%s%s", word,
			names.data, near ? ": did you mean `" : "", near ? near : "",
			near ? "`?" : "");
	}
	return bc ? named(j, bc) : file(j, word);
}

int bench_programs_compile(struct bench_programs *j)
{
	const struct options *o = &j->cli->options;
	bool any = false;
	int status = 0;

	j->program = mem_alloc(BENCH_CIRCUITS_MAX, sizeof *j->program);
	for (unsigned k = 0; !status && k < o->nlist; k++)
		if (o->list[k].id == OPT_CIRCUIT) {
			any = true;
			status = circuit(j, o->list[k].value);
		}
	return any || status ? status : circuit(j, "sel");
}

void bench_programs_release(struct bench_programs *j)
{
	for (unsigned k = 0; k < j->nprogram; k++) {
		model_file_release(&j->program[k].model);
		free(j->program[k].name);
	}
	free(j->program);
	compile_words_release(&j->words);
	diags_free_all(j->d);
}
