/* SPDX-License-Identifier: Apache-2.0
 * Describes data sets so that a worker can read them: whole paths, how they were read, what was learnt from them. */
#include "cli/hosts/cluster_files.h"

#include <stdlib.h>
#include <string.h>

/* NULL: it has none that others could open. */
static char *whole_path(const struct dataset *d)
{
	char *path = d && d->spec && d->nx && dataset_memory(d->source) ? realpath(d->source, NULL) : NULL;

	if (path && strlen(path) > WIRE_PATH_MAX) {
		free(path);
		path = NULL;
	}
	return path;
}

void cluster_files_open(struct cluster_files *out, struct samples *s)
{
	_Static_assert((int)PART_COUNT <= (int)WIRE_FILES_MAX, "the files of a job fit into its message");

	*out = (struct cluster_files){ .through = BUF_INIT };
	if (s && s->through)
		transform_format(s->through, &out->through);
	for (unsigned k = 0; s && k < PART_COUNT; k++) {
		struct dataset *d = s->set[k];
		struct wire_file *f = &out->file[out->n];
		char *path = whole_path(d);

		if (!path)
			continue;
		*f = (struct wire_file){ .nrow = d->nrow, .nx = d->nx, .path = path, .npath = (uint32_t)strlen(path), .spec = d->spec,
			.nspec = (uint32_t)strlen(d->spec), .through = out->through.data, .nthrough = (uint32_t)out->through.len };
		memcpy(f->digest, d->digest, sizeof f->digest);
		d->file = ++out->n;
	}
}

void cluster_files_release(struct cluster_files *f)
{
	for (unsigned k = 0; k < f->n; k++)
		free((char *)f->file[k].path);
	buf_release(&f->through);
}
