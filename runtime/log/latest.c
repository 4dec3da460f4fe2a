/* SPDX-License-Identifier: Apache-2.0
 * The folder `latest`: made under a temporary name, then exchanged with the previous one. */
#include "config.h"
#include "runtime/log/latest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char record_file[] = "run.json";

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Call f(name) for each entry of a folder until it returns false; false: one did, or the folder cannot be read. */
static bool each_entry(const char *path, bool (*f)(void *ctx, const char *name), void *ctx)
{
	DIR *d = opendir(path);
	bool all = d != NULL;

	for (struct dirent *entry; all && (entry = readdir(d)); )
		all = is_dots(entry->d_name) || f(ctx, entry->d_name);
	if (d)
		closedir(d);
	return all;
}

/* ---- the run that it names ---- */

char *latest_run(const char *path)
{
	struct buf file = BUF_INIT;
	char *real, *slash;

	buf_printf(&file, "%s/%s", path, record_file);
	real = realpath(file.data, NULL);
	slash = real ? strrchr(real, '/') : NULL;
	if (slash)
		slash[slash == real] = 0;
	buf_release(&file);
	return real;
}

/* ---- recognising and removing ---- */

struct entries { const char *path; size_t nlink; };

/* A link into a folder beside this one. */
static bool is_own_link(void *ctx, const char *name)
{
	struct entries *all = ctx;
	struct buf path = BUF_INIT;
	char target[4] = "";

	buf_printf(&path, "%s/%s", all->path, name);
	all->nlink += readlink(path.data, target, 3) == 3 && !strcmp(target, "../");
	buf_release(&path);
	return target[0] != 0;
}

bool latest_is(const char *path)
{
	struct entries all = { path, 0 };
	struct stat st;

	if (lstat(path, &st))
		return false;
	if (S_ISLNK(st.st_mode))
		return true;
	return S_ISDIR(st.st_mode) && each_entry(path, is_own_link, &all) && all.nlink > 0;
}

static bool unlink_entry(void *ctx, const char *name)
{
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/%s", (const char *)ctx, name);
	unlink(path.data);
	buf_release(&path);
	return true;
}

/* The links, not what they lead to. */
static void remove_links(const char *path)
{
	if (!unlink(path) || errno == ENOENT)
		return;
	each_entry(path, unlink_entry, (void *)path);
	rmdir(path);
}

bool latest_remove_dangling(const char *dir)
{
	struct buf path = BUF_INIT;
	char *run = NULL;
	bool gone;

	buf_printf(&path, "%s/latest", dir);
	gone = latest_is(path.data) && !(run = latest_run(path.data));
	if (gone)
		remove_links(path.data);
	buf_release(&path);
	free(run);
	return gone;
}

/* ---- making ---- */

/* Event files, and the folders that runtime/log and cli/train_log.c write them into. */
static bool has_events(const char *name)
{
	return strstr(name, "tfevents") || !strcmp(name, "train") || !strcmp(name, "validation") || !strncmp(name, "start-", 6);
}

struct linking { const char *to, *name; };

static bool link_entry(void *ctx, const char *file)
{
	const struct linking *l = ctx;
	struct buf target = BUF_INIT, path = BUF_INIT;
	bool made = true;

	if (!has_events(file) && strcmp(file, "checkpoint") && !buf_is_temporary(file)) {
		buf_printf(&target, "../%s/%s", l->name, file);
		buf_printf(&path, "%s/%s", l->to, file);
		made = !symlink(target.data, path.data);
	}
	buf_release(&target);
	buf_release(&path);
	return made;
}

static bool exchange(const char *a, const char *b)
{
#ifdef RENAME_EXCHANGE
	return !renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
#else
	(void)a;
	(void)b;
	return false;
#endif
}

/* `made` takes the name `latest`. */
static int take_name(const char *made, const char *latest, struct err *e)
{
	struct stat st;

	if (lstat(latest, &st) && errno == ENOENT && !rename(made, latest))
		return 0;
	if (!latest_is(latest))
		return err_set(e, -ERR_CANT_CREATE, "%s was not made by qcnn: it is left as it is, and does not lead to the newest run", latest);
	if (!exchange(made, latest)) {       /* this file system cannot: for a moment there is none */
		remove_links(latest);
		rename(made, latest);
	}
	return 0;
}

int latest_point(const char *dir, const char *name, struct err *e)
{
	struct buf run = BUF_INIT, made = BUF_INIT, latest = BUF_INIT;
	int code = 0;

	buf_printf(&run, "%s/%s", dir, name);
	buf_printf(&made, "%s/.latest-%s", dir, name);
	buf_printf(&latest, "%s/latest", dir);
	remove_links(made.data);
	if (!mkdir(made.data, 0777) && each_entry(run.data, link_entry, &(struct linking){ made.data, name }))
		code = take_name(made.data, latest.data, e);
	remove_links(made.data);
	buf_release(&run);
	buf_release(&made);
	buf_release(&latest);
	return code;
}
