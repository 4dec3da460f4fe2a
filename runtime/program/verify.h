/* SPDX-License-Identifier: Apache-2.0
 * The verifier's two halves and what they share: nothing executes that has not
 * passed both. */
#pragma once

#include "runtime/program/program.h"

struct verifier {
	const struct program *p;
	struct err *e;
	char where[160];                 /* "circuit 0: apply 12: ", before every message */
};

/* Fills e with the place and the text; returns -ERR_BAD_DATA. */
int verify_fail(struct verifier *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void verify_at(struct verifier *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Names and paths: at most PROGRAM_PATH_MAX bytes, no control characters. */
int verify_text(struct verifier *v, const char *what, const char *text);
int verify_count(struct verifier *v, const char *what, uint64_t n, uint64_t max);

/* Circuits and readouts. */
int verify_circuits(struct verifier *v);
