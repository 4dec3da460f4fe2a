/* SPDX-License-Identifier: Apache-2.0
 * What an option that a command does not have may have been meant to be. */
#ifndef QCNN_OPTIONS_UNKNOWN_H
#define QCNN_OPTIONS_UNKNOWN_H

#include "cli/options.h"

/* Fills e with a sentence that names the option `dashes``word` (len bytes, without its value) and, where one is likely,
 * what was meant: an option of this command or of another, or a key that its --set takes. value: what was given for
 * it, NULL for nothing. next: the word behind it, NULL for none; a number there is its value. Returns -ERR_USAGE. */
int options_unknown(enum command_bit command, const char *dashes, const char *word, size_t len, const char *value,
	const char *next, struct err *e);

#endif
