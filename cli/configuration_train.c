/* SPDX-License-Identifier: Apache-2.0
 * What a configuration says about training, in the structs of runtime/train. */
#include "config.h"
#include "cli/configuration_tree.h"

#include <string.h>

struct table_row config_row(enum key_type t, const struct ynode *v, double *option, double (*list)[VALUE_LIST_MAX])
{
	const struct ynode *given;
	struct table_row row = schema_chosen(t, v, &given);
	unsigned nlist = 0;

	for (unsigned i = 0; i < row.noption; i++) {
		const struct train_option *o = &row.option[i];
		const struct yentry *entry = given ? ynode_find(given, o->name) : NULL;
		const struct ynode *value = entry && entry->value->kind != YNODE_NULL ? entry->value : NULL;

		option[i] = !value ? o->value : o->kind == VALUE_BOOL ? value->b : o->kind == VALUE_LIST ? value->n : value->f;
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
