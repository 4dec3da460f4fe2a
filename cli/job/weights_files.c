/* SPDX-License-Identifier: Apache-2.0
 * Opening files of weights, and the model that gives them their paths. */
#include "cli/job/weights_files.h"

#include <stdlib.h>
#include <string.h>

#include "cli/job/run_folder.h"
#include "cli/output/values.h"
#include "runtime/base/json.h"
#include "runtime/train/keras/keras.h"
#include "runtime/train/keras/keras_h5.h"

enum { ORDER_SHOWN = 8 };

bool weights_file_is_bin(const char *path)
{
	static const char *const other[] = { ".npz", ".json", ".h5", ".hdf5" };

	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		if (path_ends(path, other[i]))
			return false;
	return true;
}

const char *weights_precision(const struct weights *w)
{
	const char *text = w ? weights_meta(w, "config") : NULL;
	json_auto_t *config = text ? json_read(text, strlen(text), NULL) : NULL;
	const char *word =
		json_string_value(json_object_get(json_object_get(config, "run"), "precision"));

	return !word ? NULL : strcmp(word, "double") ? "single" : "double";
}

int weights_named(struct cli *c, const char **word, struct buf *own)
{
	struct err e;

	return *word && run_file(RUNS_FOLDER, *word, own, word, &e) ? cli_fail(c, &e) : 0;
}

int weights_model_open(struct cli *c, struct named_model *m)
{
	const struct model_wish wish = { .path = c->options.value[OPT_MODEL], .defaults = true };

	return named_model_open(c, &wish, m);
}

/* ---- the weights ---- */

/* Which weights the numbers of a circuit in an .h5 file are taken for, since names are not in it. */
static void say_order(struct cli *c, const char *path, const struct program *p, uint32_t k, const struct keras_array *a)
{
	mem_auto uint32_t *weight = mem_try((size_t)a->count + 1, sizeof *weight);
	buf_auto b = BUF_INIT;
	uint64_t few = a->count <= ORDER_SHOWN ? a->count : ORDER_SHOWN - 1;

	if (weight && keras_order(p, k, a->count, weight)) {
		for (uint64_t i = 0; i < few; i++) {
			buf_str(&b, i ? ", " : "");
			weight_path(p, weight[i], &b);
		}
		if (few < a->count) {
			buf_str(&b, ", ..., ");
			weight_path(p, weight[a->count - 1], &b);
		}
		cli_note(c, "%s: %s: the numbers are taken for %s: symbols sorted as TensorFlow Quantum does", path, a->layer, b.data);
	}
}

void weights_file_say_orders(struct cli *c, const char *path, const struct program *p)
{
	struct keras_arrays file;
	uint32_t k = 0;

	if ((!path_ends(path, ".h5") && !path_ends(path, ".hdf5")) || keras_h5_read(path, p->nweight, &file, NULL))
		return;
	for (uint32_t i = 0; i < file.n; i++)
		if (file.array[i].ndim == 1 && !strstr(file.array[i].name, "bias"))
			say_order(c, path, p, k++, &file.array[i]);
	keras_arrays_release(&file);
}

int weights_file_open(struct cli *c, const char *path, const struct program *p, struct weights_file *f)
{
	struct err e;

	*f = (struct weights_file){ .path = path };
	if (!p) {
		if (!weights_file_is_bin(path))
			return cli_usage(c, "%s has weights without a model; name it with --model",
				path);
		if (weights_open(path, &f->bin, &e))
			return cli_fail(c, &e);
		f->program = f->bin->program;
		f->weight = f->bin->weight;
		return 0;
	}
	f->own = mem_try((size_t)p->nweight + 1, sizeof *f->own);
	int code = f->own ? weights_import(p, path, false, f->own, &e)
			  : err_set(&e, -ERR_CONFIG, "no memory for %u weights", p->nweight);
	if (code)
		return cli_fail(c, &e);
	weights_file_say_orders(c, path, p);
	f->program = p;
	f->weight = f->own;
	return 0;
}

void weights_file_release(struct weights_file *f)
{
	weights_free(f->bin);
	free(f->own);
}

/* Weights that do not fit a model may be those of other constants. */
static void say_constants(struct cli *c, const char *path)
{
	struct weights *w;
	buf_auto b = BUF_INIT;
	const char *name;
	json_t *value;

	if (!weights_file_is_bin(path) || weights_open(path, &w, NULL))
		return;
	const char *text = weights_meta(w, "config");
	json_auto_t *config = text ? json_read(text, strlen(text), NULL) : NULL;
	json_object_foreach(json_object_get(json_object_get(config, "model"), "const"), name, value) {
		buf_printf(&b, " --const %s=", name);
		json_write(value, &b);
	}
	if (b.len)
		cli_note(c, "%s was trained with%s", path, b.data);
	weights_free(w);
}

int weights_of_model(struct cli *c, const struct model_file *m, bool without_head, uint32_t nused,
	double **weight)
{
	const struct options *o = &c->options;
	const struct program *p = m->program;
	struct err e;

	*weight = mem_try((size_t)p->nweight + 1, sizeof **weight);
	if (!*weight)
		return cli_error(c, -ERR_CONFIG, "no memory for %u weights", p->nweight);
	if (o->given[OPT_WEIGHTS]) {
		int code = weights_import(p, o->value[OPT_WEIGHTS], false, *weight, &e);
		if (code == -ERR_BAD_DATA && without_head && p->ndense)
			code = weights_import(p, o->value[OPT_WEIGHTS], true, *weight, &e);
		if (code) {
			int status = cli_fail(c, &e);

			say_constants(c, o->value[OPT_WEIGHTS]);
			return status;
		}
		weights_file_say_orders(c, o->value[OPT_WEIGHTS], p);
	} else if (m->weights) {
		memcpy(*weight, m->weights->weight, p->nweight * sizeof **weight);
	} else {
		program_init_weights(p, options_count(o, OPT_SEED), 0, *weight);
		if (nused)
			cli_note(c, "no --weights: the model's initial weights of seed %s are used",
				o->value[OPT_SEED]);
	}
	return 0;
}
