/* SPDX-License-Identifier: Apache-2.0
 * Arrays of .npz and .npy files that stay there: their shapes, types and places. */
#pragma once

#include "runtime/data/format/npz.h"
#include "runtime/data/number.h"
#include "runtime/data/format/reader.h"

enum { NPY_START_BYTES = 12 };       /* magic, version, the header's length */

/* An .npy text of `size` bytes at `at`; its numbers begin `head` bytes later. */
struct array_place { int fd; uint64_t at, size; size_t head; struct number type; bool is_fortran; };

/* *a gets everything but its numbers, *p type, head and order; -ERR_BAD_DATA as npy_parse. have: the bytes that are
 * there, of the size that p tells. */
int npy_look(const void *bytes, size_t have, uint64_t size, struct array *a, struct array_place *p, struct err *e);

struct arena;

/* A member of an archive: where its packed bytes begin. */
struct npz_entry {
	const char *name;
	uint64_t at;
	uint32_t packed, size, crc;
	bool is_deflated;
};
int npz_look(const struct data_file *f, struct arena *a, struct npz_entry **entry, unsigned *n,
	struct err *e);
/* A member of an archive in memory, with its numbers. */
int npz_load(const struct data_file *f, const struct npz_entry *m, struct array *out, struct err *e);

/* All arrays of the file, value being NULL, and for each its place (npy_name: of an .npy file, the name of its only
 * array; NULL: an archive). Of a file in memory their numbers, and no places: NULL. */
int array_places_open(const struct data_file *f, const char *npy_name, struct npz *z, struct array_place **place,
	struct err *e);
void array_places_close(struct npz *z, struct array_place *place);
/* Reads the numbers, too. */
int array_place_load(const struct array_place *p, const char *path, struct array *a, struct err *e);
