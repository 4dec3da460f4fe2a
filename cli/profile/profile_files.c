/* SPDX-License-Identifier: Apache-2.0
 * Each file is made in memory by its writer, and put in place whole. */
#include "config.h"
#include "cli/profile/profile_files.h"

#include <fcntl.h>

#include "runtime/base/system/folder.h"

/* Where files go: into a run's folder, below `below`, or below a folder of that name. */
struct destination {
	struct run *run;
	const char *below;
};

static int put(const struct destination *to, const char *file, const struct buf *content,
	struct err *e)
{
	struct buf path = BUF_INIT;
	int code;

	buf_printf(&path, "%s/%s", to->below, file);
	code = to->run ? run_write(to->run, path.data, content, 0, e) : 0;
	if (!to->run)
		code = run_make_parents(path.data, e);
	if (!to->run && !code)
		code = buf_write_file(content, path.data, 0, e);
	buf_release(&path);
	return code;
}

static const struct {
	const char *file;
	void (*write)(const struct profile *p, struct buf *out);
} writers[] = {
	{ "profile.json", profile_write_json },
};

static int write_all(const struct profile *p, const struct destination *to, struct err *e)
{
	int code = 0;

	for (size_t k = 0; k < sizeof writers / sizeof *writers && !code; k++) {
		struct buf b = BUF_INIT;

		writers[k].write(p, &b);
		code = put(to, writers[k].file, &b, e);
		buf_release(&b);
	}
	return code;
}

int profile_write_files(struct cli *c, const struct profile *p, const char *folder)
{
	struct err e;

	return write_all(p, &(struct destination){ NULL, folder }, &e) ? cli_fail(c, &e) : 0;
}

int profile_write_run(const struct profile *p, struct run *run, const char *name, struct err *e)
{
	struct buf below = BUF_INIT;
	int code;

	buf_printf(&below, "profile/%s", name);
	code = write_all(p, &(struct destination){ run, below.data }, e);
	buf_release(&below);
	return code;
}

void profile_remove_folder(const char *folder)
{
	struct err e;

	(void)folder_remove(AT_FDCWD, folder, &e);
}
