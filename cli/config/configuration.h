/* SPDX-License-Identifier: Apache-2.0
 * A configuration: its file, what --set changed, and the defaults for the rest.
 *
 * Faults are diagnostics Q05xx, several per run; a config with errors may only be freed. */
#pragma once

#include "cli/config/schema.h"
#include "runtime/base/json.h"
#include "runtime/data/transform/transform.h"

struct config;

/* One --set or --const: `path=value`; const_name: path is a constant of the model. */
struct config_change { const char *text; bool is_const; };

/* Read a file and apply changes in order.  NULL and *e when it cannot be read; else look at
 * diags_errors. */
struct config *config_open(const char *path, const struct config_change *change, unsigned nchange,
	struct diags *d, struct err *e);
/* The same from a text that is source `file` of d's sources already. */
struct config *config_read(uint32_t file, const struct config_change *change, unsigned nchange, struct diags *d);
/* Its paths are relative to this folder, and not to its own. The file is a run's config.yaml, whose remarks say where each
 * value came from: they are printed in the place of the file's name. */
void config_of_run(struct config *c, const char *folder);
void config_free(struct config *c);

/* Values, by the row's type; never called for another one.  A key that is left out (null)
 * gives NULL, 0 or false. */
bool config_has(const struct config *c, enum key_id k);
bool config_bool(const struct config *c, enum key_id k);
int64_t config_int(const struct config *c, enum key_id k);       /* AUTO_INT: 0 for auto; FREQUENCY: 1 for batch, 0 for epoch */
const char *config_text(const struct config *c, enum key_id k);  /* TEXT, PATH, CHOICE */
const struct ynode *config_node(const struct config *c, enum key_id k);
/* A path as the config means it: relative to the config's folder. In c's arena. */
const char *config_path(const struct config *c, const char *path);
/* Put the place and the path of a key before the text of *e, which its value has caused. */
void config_blame(const struct config *c, enum key_id k, struct err *e);
const char *config_folder(const struct config *c);   /* "." or as in the path given */
struct span config_span(const struct config *c, enum key_id k);  /* of the value; file 0: default */

/* The row that a value of type t (METRICS: one entry) names, with its options, defaults filled
 * in: option[row.noption], and list[] (may be NULL where the table has none). */
struct table_row config_row(enum key_type t, const struct ynode *v, double *option, double (*list)[VALUE_LIST_MAX]);
/* data.generate, which must be given, with its options[GENERATOR_OPTIONS_MAX]: its name. */
const char *config_generator(const struct config *c, double *option);
const struct optimizer_row *config_optimizer(const struct config *c, double *option);
void config_schedule(const struct config *c, struct schedule *out);
void config_measures(const struct config *c, struct measures *out);
unsigned config_constraints(const struct config *c, struct constraint *out);     /* how many */
void config_callbacks(const struct config *c, struct callback_set *out);        /* texts in c's arena */
/* run.noise: probabilities behind gates on one qubit and on two; false: no noise. */
bool config_noise(const struct config *c, double *one, double *two);
struct class_weights config_class_weights(const struct config *c);      /* in c's arena */
/* The steps of data.transform; pca without a number of components makes ninput. How many steps. */
unsigned config_transforms(const struct config *c, uint32_t ninput, struct transform_wish *wish);
/* The first and the last of a RANGE; false: the key is not given. */
bool config_range(const struct config *c, enum key_id id, uint64_t *first, uint64_t *last);
/* The epochs of train.validation_freq, in c's arena; 0 and nothing where it is a number. */
unsigned config_validation_epochs(const struct config *c, const uint32_t **epoch);
/* Parts of the samples, in order of train, validation, test. */
struct config_split {
	double fraction[3];
	bool counts; /* data.split counts samples, so that the numbers count, not the fractions */
	uint32_t number[3]; /* SPLIT_REST for what is left */
	unsigned nfold,
		fold; /* of a cross-validation, and the one for validation, from 0; nfold 0: other parts */
};
struct config_split config_split(const struct config *c);

/* Everything resolved, as YAML that reads back, with where each value came from as comments. */
void config_print(const struct config *c, struct buf *out);
/* What became of words that leave a choice (run.device, run.isa, run.method); NULL: as the configuration has it. */
struct config_resolved {
	const char *device, *isa, *method;
};
/* As a JSON tree; only scope, unless SCOPE_NONE. */
json_t *config_json(const struct config *c, enum key_scope scope, const struct config_resolved *r);
