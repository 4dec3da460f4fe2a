/* SPDX-License-Identifier: Apache-2.0
 * Complex matrices as NumPy's savetxt and other programs print them, for `gate v a = "file";`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/maths.h"
#include "runtime/base/source.h"

struct matrix_text_fault {
	char why[160];
	size_t begin, end; /* of the text */
};

/* u[nrow * ncolumn], rows in order, and where each row is, row[nrow] (bytes begin to end). */
bool matrix_text_read(const char *text, size_t len, uint32_t nrow, uint32_t ncolumn, cplx *u,
	struct span *row, struct matrix_text_fault *fault);
