/* SPDX-License-Identifier: Apache-2.0
 * A tree of devices and inodes. */
#include "runtime/base/input_files.h"

#include <dirent.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/arena.h"
#include "runtime/base/buf.h"
#include "runtime/base/diag.h"
#include "runtime/base/order.h"

struct input {
	dev_t device;
	ino_t inode;
	char *path;
};

static struct {
	void *tree;
	bool stdin_taken;
	pthread_mutex_t lock;
} inputs = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool input_is_stdin(const char *path) { return !strcmp(path, INPUT_STDIN); }

const char *input_name(const char *path)
{
	return input_is_stdin(path) ? "(standard input)" : path;
}

/* ---- files that do not exist ---- */

static void add_hint(struct err *e, const char *text, const char *word)
{
	char old[ERR_TEXT_MAX];
	buf_auto b = BUF_INIT;

	memcpy(old, e->text, sizeof old);
	buf_printf(&b, text, word);
	err_set(e, e->code, "%s; %s", old, b.data);
}

enum { NAMES_MAX = 1000 };

/* The name in the folder that is nearest to `base`, "" where there is none. Endings that are equal do not count: a.qcnn is
 * not like b.qcnn. */
static void nearest_name(DIR *d, const char *base, struct buf *out)
{
	const char *dot = strrchr(base, '.'), *ending = dot && dot > base ? dot : "", *near,
		   *same[NAMES_MAX], *other[NAMES_MAX];
	size_t nsame = 0, nother = 0, len = strlen(ending), n;
	arena_auto a = { 0 };

	for (struct dirent *f; nsame < NAMES_MAX && nother < NAMES_MAX && (f = readdir(d)); )
		if (*f->d_name == '.')
			continue;
		else if ((n = strlen(f->d_name)) > len && !strcmp(f->d_name + n - len, ending))
			same[nsame++] = arena_strndup(&a, f->d_name, n - len);
		else
			other[nother++] = arena_strdup(&a, f->d_name);
	if ((near = diag_nearest(arena_strndup(&a, base, strlen(base) - len), same, nsame)))
		buf_printf(out, "%s%s", near, ending);
	else if ((near = diag_nearest(base, other, nother)))
		buf_str(out, near);
}

/* The file in the folder of `path` whose name is nearest, "" where there is none. */
static void nearest_file(const char *path, struct buf *out)
{
	const char *base = path_base(path);
	buf_auto folder = BUF_INIT, name = BUF_INIT;

	path_folder(path, &folder);
	DIR *d = opendir(folder.data);
	if (d)
		nearest_name(d, base, &name);
	if (name.len)
		buf_printf(out, "%.*s%s", (int)(base - path), path, name.data);
	if (d)
		closedir(d);
}

void input_hint(const char *path, struct err *e)
{
	buf_auto near = BUF_INIT;

	if (strstr(path, "://")) {
		add_hint(e, "files are not read from the network; download it first: curl -O %s", path);
		return;
	}
	if (path[0] == '~' || strstr(path, "/~/")) {
		add_hint(e, "only shells expand `~`, at the beginning of a word; write the whole path%s", "");
		return;
	}
	nearest_file(path, &near);
	if (near.len)
		add_hint(e, "did you mean %s?", near.data);
}

/* ---- the tree ---- */

static int by_inode(const void *a, const void *b)
{
	const struct input *x = a, *y = b;

	int order = ORDER(x->device, y->device);

	return order ? order : ORDER(x->inode, y->inode);
}

void inputs_note(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	struct input *new = mem_alloc(1, sizeof *new);
	*new = (struct input){ st.st_dev, st.st_ino, mem_strdup(input_name(path)) };
	pthread_mutex_lock(&inputs.lock);
	struct input **kept = tsearch(new, &inputs.tree, by_inode);
	if (!kept || *kept != new) {
		free(new->path);
		free(new);
	}
	pthread_mutex_unlock(&inputs.lock);
}

int inputs_check(const char *path, struct err *e)
{
	struct stat st;
	int code = 0;

	if (stat(path, &st))
		return 0;
	pthread_mutex_lock(&inputs.lock);
	struct input *const *same =
		tfind(&(struct input){ st.st_dev, st.st_ino, NULL }, &inputs.tree, by_inode);
	if (same && !strcmp((*same)->path, path))
		code = err_set(e, -ERR_USAGE, "the output %s is also an input, which would be lost; name another file for the output", path);
	else if (same)
		code = err_set(e, -ERR_USAGE,
			"the output %s is the same file as the input %s, which would be lost; name another file for the output",
			path, (*same)->path);
	pthread_mutex_unlock(&inputs.lock);
	return code;
}

int inputs_take_stdin(struct err *e)
{
	pthread_mutex_lock(&inputs.lock);
	bool taken = inputs.stdin_taken;
	inputs.stdin_taken = true;
	pthread_mutex_unlock(&inputs.lock);
	return taken ? err_set(e, -ERR_USAGE, "`-` is given for two inputs, but the standard input can be read only once; "
		"give one of them as a file") : 0;
}
