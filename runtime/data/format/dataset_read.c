/* SPDX-License-Identifier: Apache-2.0
 * Chooses the reader of a data file by its name. */
#include "runtime/data/format/dataset_read.h"

#include <string.h>
#include <sys/stat.h>

#include "runtime/base/arena.h"
#include "runtime/base/input_files.h"
#include "runtime/data/format/dataset_spec.h"
#include "runtime/data/format/reader.h"

/* The formats by the ending of the file's name. times: bytes of memory for each of the file, its own and doubles made of
 * the smallest numbers that are usual in it. */
static const struct format {
	const char *ending;
	int (*read)(const char *, const struct read_options *, struct diags *, struct dataset **,
		struct err *);
	unsigned times;
} formats[] = {
	{ ".csv", dataset_read_csv, 5 },
	{ ".npz", dataset_read_arrays, 9 },
	{ ".npy", dataset_read_arrays, 5 },
};
enum { FORMATS = sizeof formats / sizeof *formats, TIMES_GZ = 60, TIMES_OTHER = 9 };

static const struct format *find_format(const char *path)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (path_ends(path, formats[i].ending))
			return &formats[i];
	return NULL;
}

static int unknown_format(const char *path, struct err *e)
{
	buf_auto endings = BUF_INIT;

	for (size_t i = 0; i < FORMATS; i++)
		buf_printf(&endings, "%s%s",
			!i                        ? ""
				: i + 1 < FORMATS ? ", "
						  : " or ",
			formats[i].ending);
	return err_set(e, -ERR_BAD_DATA,
		"%s: data files end in %s, or have idx in their names; a table with commas, semicolons or tabs is a .csv, and "
		"Python's numpy.savez(\"samples.npz\", x=inputs, y=labels) writes pictures and others",
		path, endings.data);
}

/* Of data that a shell passes as a pipe, `<(command)`, the name says nothing. */
static bool is_csv(const char *path)
{
	struct stat st;

	return input_is_stdin(path) || (!stat(path, &st) && S_ISFIFO(st.st_mode));
}

static int read_format(const char *path, const struct read_options *o, struct diags *d, struct dataset **out, struct err *e)
{
	const struct format *f = find_format(path);
	uint64_t nx = 0;

	for (unsigned i = 0; i < o->nwant; i++)
		nx += o->want[i].count;
	if (nx > DATASET_COLUMNS_MAX)
		return err_set(e, -ERR_BAD_DATA, "the model's inputs have %llu numbers, more than %d",
			(unsigned long long)nx, DATASET_COLUMNS_MAX);
	if (f)
		return f->read(path, o, d, out, e);
	if (strstr(path_base(path), "idx")) /* such as train-images-idx3-ubyte */
		return dataset_read_idx(path, o, d, out, e);
	if (is_csv(path))
		return dataset_read_csv(path, o, d, out, e);
	return unknown_format(path, e);
}

int dataset_read(const char *path, const struct read_options *o, struct diags *d,
	struct dataset **out, struct err *e)
{
	buf_auto spec = BUF_INIT;

	*out = NULL;
	int code = read_format(path, o, d, out, e);
	if (!code && *out) {
		dataset_spec_format(o, &spec);
		(*out)->spec = arena_strdup(&(*out)->memory, spec.data);
	}
	return code;
}

uint64_t dataset_memory(const char *path)
{
	const struct format *f = find_format(path);
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	if (f && f->read == dataset_read_csv && st.st_size > CSV_BYTES_MAX)
		return UINT64_MAX;               /* too long to be read at once */
	return (uint64_t)st.st_size
		* (f                                     ? f->times
				: path_ends(path, ".gz") ? TIMES_GZ
							 : TIMES_OTHER);
}
