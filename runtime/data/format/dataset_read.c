/* SPDX-License-Identifier: Apache-2.0
 * Which reader a file's name calls for. */
#include "runtime/data/format/dataset_read.h"

#include <string.h>
#include <sys/stat.h>

#include "runtime/base/arena.h"
#include "runtime/base/input_files.h"
#include "runtime/data/format/dataset_spec.h"
#include "runtime/data/format/reader.h"

static int read_format(const char *path, const struct read_options *o, struct diags *d, struct dataset **out, struct err *e)
{
	static const struct {
		const char *ending;
		int (*read)(const char *, const struct read_options *, struct diags *, struct dataset **,
			struct err *);
	} format[] = {
		{ ".csv", dataset_read_csv },
		{ ".npz", dataset_read_arrays },
		{ ".npy", dataset_read_arrays },
	};
	uint64_t nx = 0;

	for (unsigned i = 0; i < o->nwant; i++)
		nx += o->want[i].count;
	if (nx > DATASET_COLUMNS_MAX)
		return err_set(e, -ERR_BAD_DATA, "the model's inputs have %llu numbers, more than %d",
			(unsigned long long)nx, DATASET_COLUMNS_MAX);
	for (size_t i = 0; i < sizeof format / sizeof *format; i++)
		if (path_ends(path, format[i].ending))
			return format[i].read(path, o, d, out, e);
	if (input_is_stdin(path))
		return dataset_read_csv(path, o, d, out, e);
	if (strstr(path_base(path), "idx")) /* such as train-images-idx3-ubyte */
		return dataset_read_idx(path, o, d, out, e);
	return err_set(e, -ERR_BAD_DATA, "%s: data files end in .csv, .npz or .npy, or have idx in their names", path);
}

int dataset_read(const char *path, const struct read_options *o, struct diags *d,
	struct dataset **out, struct err *e)
{
	struct buf spec = BUF_INIT;

	*out = NULL;
	int code = read_format(path, o, d, out, e);
	if (!code && *out) {
		dataset_spec_format(o, &spec);
		(*out)->spec = mem_strdup(spec.data);
		buf_release(&spec);
	}
	return code;
}

uint64_t dataset_memory(const char *path)
{
	/* Bytes for each of the file: its own, and doubles made of the smallest numbers that are usual in it. */
	static const struct { const char *ending; unsigned times; } row[] = {
		{ ".csv", 5 }, { ".npz", 9 }, { ".npy", 5 }, { ".gz", 60 }, { "", 9 },
	};
	size_t i = 0;
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	while (!path_ends(path, row[i].ending))
		i++;
	if (!i && st.st_size > CSV_BYTES_MAX)
		return UINT64_MAX;               /* too long to be read at once */
	return (uint64_t)st.st_size * row[i].times;
}
