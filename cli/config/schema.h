/* SPDX-License-Identifier: Apache-2.0
 * The keys of a configuration: rows of schema.def, and the checks of their values.
 *
 * Optimisers, losses, metrics and generators bring their own names and options: they are
 * asked for, never listed here. */
#pragma once

#include "cli/config/yaml_read.h"
#include "runtime/train/train.h"

enum key_id {
#define KEY(id, path, type, low, high, choices, preset, scope, unit, example, text) KEY_##id,
#include "cli/config/schema.def"
#undef KEY
	KEY_COUNT
};

enum key_type {
	TYPE_NONE = 0,
	TYPE_BOOL,
	TYPE_INT,
	TYPE_AUTO_INT /* or the word auto */,
	TYPE_FREQUENCY /* or a word */,
	TYPE_TEXT,
	TYPE_PATH,
	TYPE_CHOICE,
	TYPE_WORDS /* one or a list */,
	TYPE_CONSTS /* map name: number */,
	TYPE_SPLIT,
	TYPE_INPUTS,
	TYPE_LABEL_MAP,
	TYPE_CLASS_WEIGHTS,
	TYPE_NOISE /* map of the number of qubits of a gate: probability */,
	TYPE_GENERATOR,
	TYPE_LOSS,
	TYPE_OPTIMIZER,
	TYPE_SCHEDULE,
	TYPE_METRICS,
	TYPE_REGULARIZERS,
	TYPE_CONSTRAINTS,
	TYPE_TRANSFORMS,
	TYPE_INIT,
	TYPE_HOSTS,
	TYPE_LAUNCHER,
	TYPE_EPOCHS /* a number of them, or a list of which */,
	TYPE_RANGE /* list of the first and the last */,
	TYPE_CALLBACKS,
	TYPE_COUNT
};

enum key_scope { SCOPE_NONE = 0, SCOPE_RESULT, SCOPE_EXECUTION };

enum { SCHEMA_NAMES_MAX = 64 };

/* Up to SCHEMA_NAMES_MAX words into name[]; how many. */
typedef size_t (*names_fn)(const char **name);

struct schema_row {
	enum key_id id;
	const char *path;
	enum key_type type;
	double low, high;
	names_fn choices;            /* NULL: words of its table, if the type has one */
	const char *preset;          /* "null": may be left out; NULL: must be given */
	enum key_scope scope;
	const char *unit;            /* of the number; "none": it has none */
	const char *example;         /* a value, as YAML */
	const char *text;
};

extern const struct schema_row schema_rows[KEY_COUNT];
const struct schema_row *schema_find(const char *path);      /* NULL if unknown */
/* Up to SCHEMA_NAMES_MAX words that a value may be or name, into name[]; how many. */
size_t schema_names(const struct schema_row *row, const char **name);
/* Does a key begin with `section.`? */
bool schema_is_section(const char *section);
/* What the values of a type look like, for messages and the manual. */
const char *schema_type_text(enum key_type t);

/* Is each scalar in a value of this type a text, also one that looks like a number? */
bool schema_is_text(enum key_type t);

/* Report what is wrong with value v of row r; true when all is well. */
bool schema_check(struct diags *d, const struct schema_row *r, const struct ynode *v);

/* What the schema knows of a row of the tables of generators, losses, optimisers, schedules and so on. */
struct table_row { const char *name, *doc; unsigned noption; const struct train_option *option; };

/* May a value of this type be one name, with or without options? */
bool schema_has_rows(enum key_type t);
/* Is a value of this type a list, for which its only entry may stand alone? */
bool schema_is_list(enum key_type t);
/* The row of this name in the table of a type; false if unknown. */
bool schema_table_row(enum key_type t, const char *name, struct table_row *out);
/* The row that a checked value of type t (METRICS: of an entry) names, and its options' node
 * (NULL: none). */
struct table_row schema_chosen(enum key_type t, const struct ynode *v, const struct ynode **options);
