/* SPDX-License-Identifier: Apache-2.0
 * Golden files: each NAME.qcnn of a folder is run once for every NAME.SUFFIX beside
 * it, and the text must be that file's, byte by byte.
 *
 * With QCNN_REWRITE=1 in the environment the files are written instead (an empty
 * NAME.SUFFIX asks for one), to be read over before they are committed. */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "tests/tap.h"

enum { GOLDEN_FILES_MAX = 1000, GOLDEN_BYTES_MAX = 1 << 20 };

/* make: the text for a model, in *out.  ends_bad: diagnostics are what is asked for. */
struct golden_kind { const char *suffix; void (*make)(const char *model, struct buf *out); };

static int golden_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The first line that differs, for a reader of the log. */
static void golden_show(const char *got, const char *want)
{
	const char *g = got, *w = want, *line_g = got, *line_w = want;

	while (*g && *g == *w) {
		if (*g == '\n') {
			line_g = g + 1;
			line_w = w + 1;
		}
		g++;
		w++;
	}
	tap_note("got      | %.*s", (int)strcspn(line_g, "\n"), line_g);
	tap_note("expected | %.*s", (int)strcspn(line_w, "\n"), line_w);
}

static void golden_check(const char *model, const char *path, const struct golden_kind *k)
{
	struct buf got = BUF_INIT, want = BUF_INIT;
	struct err e = { 0 };

	buf_str(&got, "");
	k->make(model, &got);
	if (getenv("QCNN_REWRITE")) {
		tap_ok(!buf_write_file(&got, path, 0, &e), "write %s", path);
	} else if (buf_read_file(&want, path, GOLDEN_BYTES_MAX, &e)) {
		tap_ok(false, "%s: %s", path, e.text);
	} else {
		buf_str(&want, "");
		if (!tap_ok(got.len == want.len && !memcmp(got.data, want.data, got.len), "%s", path))
			golden_show(got.data, want.data);
	}
	buf_release(&got);
	buf_release(&want);
}

/* Every model of the folder (below the source folder), in the order of names. */
static void golden_folder(const char *folder, const struct golden_kind *kinds, size_t nkind)
{
	const char *top = getenv("top_srcdir");
	char *model[GOLDEN_FILES_MAX], path[512];
	struct dirent *entry;
	size_t n = 0, ncheck = 0;
	DIR *d;

	snprintf(path, sizeof path, "%s/%s", top ? top : ".", folder);
	d = chdir(path) ? NULL : opendir(".");
	if (!tap_ok(d != NULL, "folder %s", path))
		return;
	while ((entry = readdir(d)) && n < GOLDEN_FILES_MAX) {
		const char *dot = strrchr(entry->d_name, '.');

		if (dot && (!strcmp(dot, ".qcnn") || !strcmp(dot, ".qasm")))
			model[n++] = mem_strdup(entry->d_name);
	}
	closedir(d);
	qsort(model, n, sizeof *model, golden_compare);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < nkind; k++) {
			snprintf(path, sizeof path, "%.*s%s", (int)(strrchr(model[i], '.') - model[i]), model[i], kinds[k].suffix);
			if (access(path, F_OK))
				continue;
			golden_check(model[i], path, &kinds[k]);
			ncheck++;
		}
		free(model[i]);
	}
	tap_ok(ncheck > 0, "%zu golden files", ncheck);
}

#endif
