/* SPDX-License-Identifier: Apache-2.0
 * Each file is made in memory by its writer, and put in place whole. */
#include "cli/profile/profile_files.h"

#include <string.h>

#include "cli/profile/profile_page.h"
#include "runtime/log/trace.h"

/* Into a run's folder, below `below`; run NULL: below a folder of that name. */
static int put(struct run *run, const char *below, const char *file, const struct buf *content,
	struct err *e)
{
	buf_auto path = BUF_INIT;

	buf_printf(&path, "%s/%s", below, file);
	return run_write(run, path.data, content, 0, e);
}

static void write_roofline(const struct profile *p, struct buf *out)
{
	profile_sections_auto s;

	profile_sections_make(p, &s);
	for (unsigned k = 0; k < s.n; k++)
		if (!strcmp(s.section[k].key, "stages"))
			profile_roofline(p, &s.section[k], true, out);
}

/* A file of which nothing is made is not written. */
static const struct {
	const char *file;
	void (*write)(const struct profile *p, struct buf *out);
} writers[] = {
	{ "profile.json", profile_write_json },
	{ "profile.html", profile_page_html },
	{ "roofline.svg", write_roofline },
	{ "stacks.folded", trace_folded },
};

/* A host's name as a file's. */
static void host_name(const char *host, struct buf *out)
{
	for (; *host; host++)
		buf_char(out,
			(*host >= 'a' && *host <= 'z') || (*host >= 'A' && *host <= 'Z')
					|| (*host >= '0' && *host <= '9') || *host == '-'
					|| *host == '.'
				? *host
				: '_');
}

/* A file for each process, where TensorBoard's profile plugin looks. */
static int write_xplanes(const struct profile *p, struct run *run, const char *below,
	const char *name, struct err *e)
{
	int code = 0;

	for (uint32_t k = 0; k < p->nprocess && !code; k++) {
		buf_auto file = BUF_INIT, b = BUF_INIT;

		buf_printf(&file, "plugins/profile/%s/", name);
		host_name(p->process[k].host ? p->process[k].host : "host", &file);
		buf_printf(&file, "-%u.xplane.pb", p->process[k].rank);
		trace_xplane(p, k, &b);
		code = put(run, below, file.data, &b, e);
	}
	return code;
}

static int write_all(const struct profile *p, struct run *run, const char *below, struct err *e)
{
	buf_auto b = BUF_INIT;
	int code = trace_chrome(p, &b, e);

	if (!code)
		code = put(run, below, "trace.json.gz", &b, e);
	for (size_t k = 0; k < sizeof writers / sizeof *writers && !code; k++) {
		buf_clear(&b);
		writers[k].write(p, &b);
		if (b.len)
			code = put(run, below, writers[k].file, &b, e);
	}
	return code;
}

int profile_write_files(struct cli *c, const struct profile *p, const char *folder)
{
	struct err e;
	int code = write_all(p, NULL, folder, &e);

	if (!code)
		code = write_xplanes(p, NULL, folder, "profile", &e);
	return code ? cli_fail(c, &e) : 0;
}

int profile_write_run(const struct profile *p, struct run *run, const char *name, struct err *e)
{
	buf_auto below = BUF_INIT;

	buf_printf(&below, "profile/%s", name);
	int code = write_all(p, run, below.data, e);
	/* Beside the event files of the training. */
	return code ? code : write_xplanes(p, run, "train", name, e);
}
