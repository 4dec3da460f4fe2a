/* SPDX-License-Identifier: Apache-2.0
 * The configuration that a run or a checkpoint was made with, as this program reads it: keys that its own program did
 * not know yet have their defaults, so that a key that is new changes no training from before. */
#pragma once

#include "cli/config/configuration.h"
#include "cli/job/run_folder.h"
#include "runtime/base/crypto/crypto.h"

/* The keys of results of a run's config.yaml, as config_json has them. NULL where it cannot be read. */
json_t *run_config(const struct run_folder *f, const struct config_resolved *r);
/* The method of a record's machine, or of the section run of a recorded configuration: programs that record none knew state
 * vectors alone. */
const char *run_config_method(const json_t *words);
/* The digest of that configuration with the device, instruction set and method that the run computed with: where it equals
 * record_digest() the training is the same, whatever program began it. "" where it cannot be read. */
void run_config_digest(const struct run_folder *f, char hex[SHA256_HEX + 1]);
/* The configuration in a checkpoint's metadata, completed; a text that cannot be read stays as it is. */
void run_config_complete(const char *text, struct buf *out);

/* A NUMERICAL_VERSION as the metadata of weights have it; text NULL: 0. */
int numerical_version_of(const char *text);
