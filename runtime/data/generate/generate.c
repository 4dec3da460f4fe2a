/* SPDX-License-Identifier: Apache-2.0
 * The table of generators: sizes are checked here, once for all. */
#include "runtime/data/generate/generate.h"

#include <string.h>

/* Defaults of the options, in the rows' order. */
#define OPTION(name, value, least, most, kind, doc) value
#define OPTION_VALUES(...) __VA_ARGS__
#define GENERATOR(function, name, input, meaning, options) \
	static const double function##_preset[GENERATOR_OPTIONS_MAX] = { OPTION_VALUES options };
#include "runtime/data/generate/generators.def"
#undef GENERATOR

static const struct generator table[] = {
#define GENERATOR(function, name, input, meaning, options) { name, GENERATOR_##input, generate_##function, function##_preset },
#include "runtime/data/generate/generators.def"
#undef GENERATOR
};

enum { GENERATORS = sizeof table / sizeof *table };

static const char *const name_of[GENERATORS] = {
#define GENERATOR(function, name, input, meaning, options) name,
#include "runtime/data/generate/generators.def"
#undef GENERATOR
};

static const struct generator *find(const char *name)
{
	for (size_t i = 0; i < GENERATORS; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

enum generator_input generator_input(const char *name)
{
	const struct generator *g = find(name);

	return g ? g->input : GENERATOR_NUMBERS;
}

int generate_nothing(const struct generate_options *o, struct dataset **out, struct err *e)
{
	return dataset_new(1, 0, 1, o->name, out, e);
}

int dataset_generate(const struct generate_options *o, struct dataset **out, struct err *e)
{
	const struct generator *g = find(o->name);
	struct generate_options whole = *o;
	const char *near = diag_nearest(o->name, name_of, GENERATORS);
	struct dataset *d;

	if (!g)
		return err_set(e, -ERR_CONFIG, "no generator `%s`%s%s%s", o->name,
			near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
	if (!o->rounds || (!o->nqubit && g->input != GENERATOR_NOTHING))
		return err_set(e, -ERR_CONFIG, "generator %s needs at least one round and one qubit", o->name);
	if (!whole.option)
		whole.option = g->option;
	int code = g->generate(&whole, &d, e);
	if (code)
		return code;
	dataset_digest_arrays(d);
	*out = d;
	return 0;
}
