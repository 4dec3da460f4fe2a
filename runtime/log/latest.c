/* SPDX-License-Identifier: Apache-2.0
 * The folder `latest`: made under a temporary name, then exchanged with the previous one. */
#include "runtime/log/latest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/log/event_folders.h"

static const char record_file[] = "run.json";

static bool is_dots(const char *name) { return !strcmp(name, ".") || !strcmp(name, ".."); }

/* Call f for each entry of the folder `path`, which is relative to the folder `at`, until it returns false; `folder` is
 * the open folder.  False: one did, or the folder cannot be read, or it is a symbolic link, which somebody else may have
 * put there. */
static bool each_entry(int at, const char *path, bool (*f)(void *ctx, int folder, const char *name), void *ctx)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	bool all = d != NULL;

	for (struct dirent *entry; all && (entry = readdir(d)); )
		all = is_dots(entry->d_name) || f(ctx, dirfd(d), entry->d_name);
	if (d)
		closedir(d);
	else
		fd_close(fd);
	return all;
}

/* ---- the run that it names ---- */

char *latest_run(const char *path)
{
	buf_auto file = BUF_INIT;

	buf_printf(&file, "%s/%s", path, record_file);
	char *real = realpath(file.data, NULL);
	char *slash = real ? strrchr(real, '/') : NULL;
	if (slash)
		slash[slash == real] = 0;
	return real;
}

/* ---- recognising and removing ---- */

/* A link into a folder beside this one. */
static bool is_own_link(void *ctx, int folder, const char *name)
{
	size_t *nlink = ctx;
	char target[4] = "";

	*nlink += readlinkat(folder, name, target, 3) == 3 && !strcmp(target, "../");
	return target[0] != 0;
}

static bool is_latest(int at, const char *path)
{
	size_t nlink = 0;
	struct stat st;

	if (fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	if (S_ISLNK(st.st_mode))
		return true;
	return S_ISDIR(st.st_mode) && each_entry(at, path, is_own_link, &nlink) && nlink > 0;
}

bool latest_is(const char *path) { return is_latest(AT_FDCWD, path); }

/* May anybody put an entry into this folder that only its owner can remove? */
static bool is_shared(const struct stat *folder)
{
	return folder->st_mode & S_ISVTX && folder->st_mode & (S_IWGRP | S_IWOTH);
}

int latest_check(const char *path, struct err *e)
{
	char *entry = mem_strdup(path), *slash;
	size_t len = strlen(entry);
	struct stat st, folder;

	while (len > 1 && entry[len - 1] == '/')
		entry[--len] = 0;
	slash = strrchr(entry, '/');
	bool planted = !lstat(entry, &st)
		&& (S_ISLNK(st.st_mode) || !strcmp(slash ? slash + 1 : entry, "latest"))
		&& st.st_uid != geteuid();
	if (slash)
		slash[slash == entry] = 0;
	planted = planted && !stat(slash ? entry : ".", &folder) && is_shared(&folder) && st.st_uid != folder.st_uid;
	free(entry);
	return planted ? err_set(e, -ERR_USAGE, "%s belongs to user %lu, in a folder that others may write to, and may lead anywhere: name the "
		"run itself", path, (unsigned long)st.st_uid) : 0;
}

static bool unlink_link(void *ctx, int folder, const char *name)
{
	struct stat st;

	(void)ctx;
	if (!fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
		unlinkat(folder, name, 0);
	return true;
}

/* The links, not what they lead to. */
static void remove_links(int at, const char *path)
{
	if (!unlinkat(at, path, 0) || errno == ENOENT)
		return;
	each_entry(at, path, unlink_link, NULL);
	unlinkat(at, path, AT_REMOVEDIR);
}

bool latest_remove_dangling(const char *dir)
{
	buf_auto path = BUF_INIT;
	mem_auto char *run = NULL;

	buf_printf(&path, "%s/latest", dir);
	bool gone = latest_is(path.data) && !(run = latest_run(path.data));
	if (gone)
		remove_links(AT_FDCWD, path.data);
	return gone;
}

/* ---- making ---- */

struct linking { int to; const char *name; };

static bool link_entry(void *ctx, int folder, const char *file)
{
	const struct linking *l = ctx;
	buf_auto target = BUF_INIT;
	bool made = true;

	(void)folder;
	if (!strstr(file, "tfevents") && !event_folder_is(file) && strcmp(file, "checkpoint")
		&& !buf_is_temporary(file)) {
		buf_printf(&target, "../%s/%s", l->name, file);
		made = !symlinkat(target.data, l->to, file);
	}
	return made;
}

/* The folder `path` of links to the files of the run `name`. */
static bool make_links(int at, const char *path, const char *name)
{
	fd_auto to = mkdirat(at, path, 0777)
		? -1
		: openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return to >= 0 && each_entry(at, name, link_entry, &(struct linking){ to, name });
}

/* `made` takes the name `latest`. */
static int take_name(int at, const char *made, const char *dir, struct err *e)
{
	static const char latest[] = "latest";
	struct stat st;

	if (fstatat(at, latest, &st, AT_SYMLINK_NOFOLLOW) && errno == ENOENT && !renameat(at, made, at, latest))
		return 0;
	if (!is_latest(at, latest))
		return err_set(e, -ERR_CANT_CREATE,
			"%s/%s was not made by qcnn: it is not changed, and does not link to the newest run",
			dir, latest);
	if (!renameat2(at, made, at, latest, RENAME_EXCHANGE))
		return 0;
	remove_links(at, latest);            /* this file system cannot exchange: for a moment there is none */
	if (renameat(at, made, at, latest))
		return err_set(e, -ERR_CANT_CREATE,
			"%s/%s cannot be replaced (%s): it does not link to the newest run", dir,
			latest, strerror(errno));
	return 0;
}

int latest_point(const char *dir, const char *name, struct err *e)
{
	buf_auto made = BUF_INIT;
	fd_auto at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int code = 0;

	if (at < 0)
		return 0;
	buf_printf(&made, ".latest-%s", name);
	remove_links(at, made.data);
	if (make_links(at, made.data, name))
		code = take_name(at, made.data, dir, e);
	remove_links(at, made.data);
	return code;
}
