/* SPDX-License-Identifier: Apache-2.0
 * Suggestions for an unknown option. */
#pragma once

#include "cli/options.h"

/* Fill e with a message that names the unknown option `dashes``word` (len bytes, without its value) and, if one is
 * likely, a suggestion: an option of this command or of another one, or a key for its --set. value: the value given with
 * =, or NULL. next: the following word, or NULL; a number there counts as the value. Returns -ERR_USAGE. */
int options_unknown(enum command_bit command, const char *dashes, const char *word, size_t len,
	const char *value, const char *next, struct err *e);
