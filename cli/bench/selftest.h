/* SPDX-License-Identifier: Apache-2.0
 * Does a device compute what it should?  Fixed circuits on it, beside the reference, and where their last digits are known
 * (selftest.def), beside these. */
#pragma once

#include "cli/command.h"
#include "runtime/exec/evaluator.h"

enum { SELFTEST_ROWS = 18 };

/* Expected digits: NONE is known of; SAME; OTHER; or FOREIGN, as the system's mathematical functions are others. */
enum selftest_bits { SELFTEST_NONE = 0, SELFTEST_SAME, SELFTEST_OTHER, SELFTEST_FOREIGN };

struct selftest_row {
	const char *circuit;
	unsigned nqubit;
	uint32_t nsample;
	enum precision precision;
	double readouts, gradients; /* largest differences from the reference, */
	double most;                /* and what they may be */
	char digest[17];            /* of all results */
	enum selftest_bits bits;
	bool passed;
};

/* A circuit of the self-test: "mixed", or one of bench. The caller's to free. */
struct program *selftest_program(const char *name, unsigned n);
/* row[SELFTEST_ROWS]. A negative code where the device fails, or a program cannot be evaluated. */
int selftest_run(const struct evaluator_options *o, struct selftest_row *row, struct err *e);
/* Do all rows pass, with the digits that are expected? */
bool selftest_text(const struct selftest_row *row, struct buf *out);
bool selftest_json(const struct selftest_row *row, struct buf *out);
