/* SPDX-License-Identifier: Apache-2.0
 * What a configuration says about training, in the structs of runtime/train. */
#include "cli/config/configuration_tree.h"

#include <string.h>

/* A bit for each word of a list, or of one. */
static double words_of(const char *words, const struct ynode *v)
{
	unsigned bits = 0;

	for (uint32_t i = 0; v->kind == YNODE_LIST && i < v->n; i++)
		bits |= 1u << option_word(words, v->entry[i].value->text);
	return v->kind == YNODE_LIST ? bits : 1u << option_word(words, v->text);
}

/* A checked value as its option holds it. */
static double option_value(const struct train_option *o, const struct ynode *v)
{
	switch (o->kind) {
	case VALUE_BOOL: return v->b;
	case VALUE_LIST: return v->n;
	case VALUE_WORD: return option_word(o->words, v->text);
	case VALUE_WORDS: return words_of(o->words, v);
	case VALUE_TEXT:
	case VALUE_COMMAND: return 1;
	case VALUE_COUNT: return v->kind == YNODE_TEXT ? VALUE_UNSET : v->f;
	case VALUE_REAL: break;
	}
	return v->f;
}

struct table_row config_row(enum key_type t, const struct ynode *v, double *option, double (*list)[VALUE_LIST_MAX])
{
	const struct ynode *given;
	struct table_row row = schema_chosen(t, v, &given);
	unsigned nlist = 0;

	for (unsigned i = 0; i < row.noption; i++) {
		const struct train_option *o = &row.option[i];
		const struct yentry *entry = given ? ynode_find(given, o->name) : NULL;
		const struct ynode *value = entry && entry->value->kind != YNODE_NULL ? entry->value : NULL;

		option[i] = value ? option_value(o, value) : o->value;
		for (uint32_t k = 0; o->kind == VALUE_LIST && value && k < value->n; k++)
			list[nlist][k] = value->entry[k].value->f;
		nlist += o->kind == VALUE_LIST;
	}
	return row;
}

const char *config_generator(const struct config *c, double *option)
{
	return config_row(TYPE_GENERATOR, c->value[KEY_DATA_GENERATE], option, NULL).name;
}

const struct optimizer_row *config_optimizer(const struct config *c, double *option)
{
	return optimizer_find(config_row(TYPE_OPTIMIZER, c->value[KEY_TRAIN_OPTIMIZER], option, NULL).name);
}

void config_schedule(const struct config *c, struct schedule *out)
{
	memset(out, 0, sizeof *out);
	out->row = schedule_find(config_row(TYPE_SCHEDULE, c->value[KEY_TRAIN_SCHEDULE], out->option, out->list).name);
}

static void add_penalties(const struct ynode *v, struct measures *out)
{
	const struct yentry *weights = ynode_find(v, "weights");

	for (uint32_t i = 0; i < v->n; i++)
		if (&v->entry[i] != weights)
			out->penalty[out->npenalty++] = (struct penalty){ regularizer_find(v->entry[i].key),
				v->entry[i].value->f, weights ? weights->value->text : NULL };
}

void config_measures(const struct config *c, struct measures *out)
{
	const struct ynode *metrics = config_node(c, KEY_TRAIN_METRICS), *regularizers = config_node(c, KEY_TRAIN_REGULARIZERS);

	memset(out, 0, sizeof *out);
	out->loss.row = loss_find(config_row(TYPE_LOSS, c->value[KEY_TRAIN_LOSS], out->loss.option, NULL).name);
	for (uint32_t i = 0; metrics && i < metrics->n; i++) {
		struct metric_choice *m = &out->metric[out->nmetric++];

		m->row = metric_find(config_row(TYPE_METRICS, metrics->entry[i].value, m->option, NULL).name);
	}
	for (uint32_t i = 0; regularizers && i < regularizers->n; i++)
		add_penalties(regularizers->entry[i].value, out);
}

unsigned config_constraints(const struct config *c, struct constraint *out)
{
	const struct ynode *v = config_node(c, KEY_TRAIN_CONSTRAINTS);
	unsigned n = 0;

	for (uint32_t i = 0; v && i < v->n; i++) {
		struct ynode one = *v->entry[i].value;
		uint32_t nentry = one.kind == YNODE_MAP ? one.n : 1;
		const struct yentry *weights = one.kind == YNODE_MAP ? ynode_find(&one, "weights") : NULL, *entry = one.entry;

		one.n = 1;
		for (uint32_t k = 0; k < nentry; k++) {
			if (weights && &entry[k] == weights)
				continue;
			one.entry = one.kind == YNODE_MAP ? (struct yentry *)&entry[k] : NULL;
			out[n].row = constraint_find(config_row(TYPE_CONSTRAINTS, &one, out[n].option, NULL).name);
			out[n++].pattern = weights ? weights->value->text : NULL;
		}
	}
	return n;
}

/* A list as it stands, or a text for the shell. */
static const char *const *command_of(struct arena *a, const struct ynode *v)
{
	const char **word = arena_alloc(a, (v->kind == YNODE_LIST ? v->n : 3) + 1, sizeof *word);

	if (v->kind != YNODE_LIST) {
		word[0] = "/bin/sh";
		word[1] = "-c";
		word[2] = v->text;
	}
	for (uint32_t i = 0; v->kind == YNODE_LIST && i < v->n; i++)
		word[i] = v->entry[i].value->text;
	return word;
}

struct ynode config_callback(const struct config *c, uint32_t i)
{
	const struct ynode *v = c->value[KEY_TRAIN_CALLBACKS];

	return v->kind == YNODE_LIST ? *v->entry[i].value : (struct ynode){ .kind = YNODE_MAP, .n = 1, .entry = &v->entry[i] };
}

void config_callbacks(const struct config *c, struct callback_set *out)
{
	const struct ynode *v = c->value[KEY_TRAIN_CALLBACKS], *given;
	const struct callback_row *rows;

	callback_defaults(out);
	callback_rows(&rows);
	for (uint32_t i = 0; i < v->n; i++) {
		const struct ynode one = config_callback(c, i);
		double option[TRAIN_OPTIONS_MAX];
		const struct table_row row = config_row(TYPE_CALLBACKS, &one, option, NULL);
		struct callback_choice *o = callback_add(out, (enum callback_id)(callback_find(row.name) - rows));

		memcpy(o->option, option, row.noption * sizeof *option);
		schema_chosen(TYPE_CALLBACKS, &one, &given);
		for (unsigned k = 0; k < row.noption; k++) {
			const struct yentry *entry = given ? ynode_find(given, row.option[k].name) : NULL;

			if (row.option[k].kind == VALUE_TEXT && entry)
				o->text[k] = entry->value->text;
			else if (row.option[k].kind == VALUE_COMMAND && entry)
				o->command = command_of((struct arena *)&c->arena, entry->value);
		}
	}
}

bool config_noise(const struct config *c, double *one, double *two)
{
	const struct ynode *v = config_node(c, KEY_RUN_NOISE);
	const struct yentry *first = v ? ynode_find(v, "one_qubit") : NULL;
	const struct yentry *second = v ? ynode_find(v, "two_qubit") : NULL;

	*one = first ? first->value->f : 0;
	*two = second ? second->value->f : 0;
	return *one > 0 || *two > 0;
}

struct class_weights config_class_weights(const struct config *c)
{
	struct arena *arena = (struct arena *)&c->arena;
	const struct ynode *v = config_node(c, KEY_TRAIN_CLASS_WEIGHT);
	double *label, *weight;

	if (!v)
		return (struct class_weights){ 0, NULL, NULL };
	label = arena_alloc(arena, v->n, sizeof *label);
	weight = arena_alloc(arena, v->n, sizeof *weight);
	for (uint32_t i = 0; i < v->n; i++) {
		struct ynode key = { .kind = YNODE_NONE };

		yaml_resolve(&key, v->entry[i].key);
		label[i] = key.f;
		weight[i] = v->entry[i].value->f;
	}
	return (struct class_weights){ v->n, label, weight };
}
