/* SPDX-License-Identifier: Apache-2.0
 * openat and O_NOFOLLOW, one component of a path after the other. */
#include "runtime/base/system/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { NAME_CHECKS = 6 };

static const int folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

static bool is_link(int at, const char *name)
{
	struct stat st;

	return !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode);
}

/* One component: ELOOP for a link, for which Linux says ENOTDIR. */
static int step(int at, const char *name)
{
	int fd = openat(at, name, folder_flags | O_NOFOLLOW), saved = errno;

	if (fd < 0)
		errno = is_link(at, name) ? ELOOP : saved;
	return fd;
}

int folder_open(const char *path, bool follow)
{
	return follow ? open(path, folder_flags) : step(AT_FDCWD, path);
}

/* The folder that holds the last component of `file`, the caller's to close; *base: that component. */
static int open_parent(int folder, const char *file, bool make, const char **base)
{
	char part[NAME_MAX + 1];
	int at = fcntl(folder, F_DUPFD_CLOEXEC, 0), next;

	for (const char *slash; at >= 0 && (slash = strchr(file, '/')); file = slash + 1) {
		size_t len = (size_t)(slash - file);

		if (!len || len > NAME_MAX) {
			errno = len ? ENAMETOOLONG : EINVAL;
			next = -1;
		} else {
			memcpy(part, file, len);
			part[len] = 0;
			next = -1;
			if (!strcmp(part, ".."))
				errno = EINVAL;
			else if (!make || !mkdirat(at, part, 0777) || errno == EEXIST)
				next = step(at, part);
		}
		fd_close(at);
		at = next;
	}
	if (at >= 0 && (!*file || !strcmp(file, ".."))) {
		close(at);
		errno = EINVAL;
		return -1;
	}
	*base = file;
	return at;
}

/* Has the open file one name alone, this one?  Its owner could remove another one between openat() and fstat(): the name
 * still has to lead to the file when the names are counted. 0, or -1 and errno. */
static int check_name(int at, const char *name, const struct stat *opened)
{
	struct stat st;

	/* Several times: a name may also be removed within fstatat(), between lookup and count. */
	for (int k = 0; k < NAME_CHECKS; k++) {
		if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW))
			return -1;
		if (st.st_dev != opened->st_dev || st.st_ino != opened->st_ino || st.st_nlink > 1) {
			errno = EMLINK;
			return -1;
		}
	}
	return 0;
}

/* What may be read or written as a run's file. */
static int check_file(int at, const char *name, int fd, int flags)
{
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	if (S_ISREG(st.st_mode))
		return (flags & O_ACCMODE) == O_RDONLY ? 0 : check_name(at, name, &st);
	errno = S_ISDIR(st.st_mode) ? EISDIR : ENXIO;
	return -1;
}

int folder_file_mode(int folder, const char *file, int flags, mode_t mode)
{
	const char *base;
	fd_auto at = open_parent(folder, file, false, &base);
	int fd = -1;

	/* O_NONBLOCK: a pipe that was put there must not stop us; of a regular file it changes nothing. */
	if (at >= 0)
		fd = openat(at, base, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
	if (fd >= 0 && check_file(at, base, fd, flags)) {
		fd_close(fd);
		fd = -1;
	}
	return fd;
}

int folder_file(int folder, const char *file, int flags)
{
	return folder_file_mode(folder, file, flags, 0666);
}

int folder_sub(int folder, const char *file)
{
	const char *base;
	fd_auto at = open_parent(folder, file, false, &base);

	return at < 0 ? -1 : step(at, base);
}

int folder_parents(int folder, const char *file)
{
	const char *base;
	fd_auto at = open_parent(folder, file, true, &base);

	return at < 0 ? -1 : 0;
}

int folder_stat(int folder, const char *file, struct stat *st)
{
	const char *base;
	fd_auto at = open_parent(folder, file, false, &base);

	return at < 0 ? -1 : fstatat(at, base, st, AT_SYMLINK_NOFOLLOW);
}

int folder_unlink(int folder, const char *file)
{
	const char *base;
	fd_auto at = open_parent(folder, file, false, &base);

	return at < 0 ? -1 : unlinkat(at, base, 0);
}

int folder_sync(int folder, const char *file)
{
	const char *base;
	fd_auto at = open_parent(folder, file, false, &base);

	return at >= 0 && (!fsync(at) || errno == EINVAL || errno == EROFS) ? 0 : -1;
}

const char *folder_reason(int errnum)
{
	switch (errnum) {
	case ELOOP: return "a symbolic link is in its path, and links are not followed in the folder of a run";
	case ENXIO: return "it is not a regular file";
	case EMLINK: return "the file has further hard links, and would change there, too";
	default: return strerror(errnum);
	}
}

int folder_read(struct buf *b, int folder, const char *shown, const char *file, size_t max_bytes, struct err *e)
{
	buf_auto path = BUF_INIT;
	fd_auto fd = folder_file(folder, file, O_RDONLY);

	buf_printf(&path, "%s/%s", shown, file);
	if (fd < 0)
		return err_set(e, -ERR_NO_INPUT, "cannot read %s: %s", path.data,
			folder_reason(errno));
	return buf_read_fd(b, fd, path.data, max_bytes, e);
}

int folder_read_in(struct buf *b, const char *path, const char *file, size_t max_bytes, struct err *e)
{
	fd_auto folder = folder_open(path, true);

	if (folder < 0)
		return err_set(e, -ERR_NO_INPUT, "cannot read the folder %s: %s", path, strerror(errno));
	return folder_read(b, folder, path, file, max_bytes, e);
}

int folder_replace(int folder, const char *shown, const char *file, int (*put)(const void *what, int fd), const void *what,
	int sync, struct err *e)
{
	buf_auto path = BUF_INIT;
	const char *base;
	fd_auto at = open_parent(folder, file, false, &base);

	buf_printf(&path, "%s/%s", shown, file);
	if (at < 0)
		return err_set(e, -ERR_CANT_CREATE, "cannot create %s: %s", path.data,
			folder_reason(errno));
	return file_replace_at(at, base, path.data, put, what, sync, e);
}

/* ---- all of a folder ---- */

struct walk { folder_visit_fn visit; void *ctx; struct buf path; unsigned depth; };

static int walk_entry(struct walk *w, int at, const char *name);

/* Takes fd. */
static int walk_folder(struct walk *w, int fd)
{
	DIR *d = fdopendir(fd);
	int code = 0;

	if (!d) {
		fd_close(fd);
		return -1;
	}
	if (++w->depth > FOLDER_DEPTH_MAX) {
		errno = ENAMETOOLONG;
		code = -1;
	}
	for (struct dirent *f; !code && (errno = 0, f = readdir(d)); )
		if (strcmp(f->d_name, ".") && strcmp(f->d_name, ".."))
			code = walk_entry(w, dirfd(d), f->d_name);
	if (!code && errno)
		code = -1;
	w->depth--;
	fd = errno;
	closedir(d);
	errno = fd;
	return code;
}

static int walk_entry(struct walk *w, int at, const char *name)
{
	size_t before = w->path.len;
	struct stat st;
	int fd, code = 0;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -1;
	buf_printf(&w->path, "%s%s", before ? "/" : "", name);
	if (S_ISDIR(st.st_mode)) {
		fd = step(at, name);
		code = fd < 0 ? -1 : walk_folder(w, fd);
	}
	if (!code)
		code = w->visit(w->ctx, at, name, w->path.data, &st);
	w->path.len = before;
	w->path.data[before] = 0;
	return code;
}

int folder_walk(int folder, folder_visit_fn visit, void *ctx)
{
	struct walk w = { visit, ctx, BUF_INIT, 0 };
	int fd = openat(folder, ".", folder_flags), code = fd < 0 ? -1 : walk_folder(&w, fd);

	buf_release(&w.path);
	return code;
}

static int remove_one(void *ctx, int at, const char *name, const char *path, const struct stat *st)
{
	(void)ctx;
	(void)path;
	return unlinkat(at, name, S_ISDIR(st->st_mode) ? AT_REMOVEDIR : 0);
}

int folder_remove(int at, const char *path, struct err *e)
{
	fd_auto fd = step(at, path);

	if (fd >= 0 && !folder_walk(fd, remove_one, NULL) && !unlinkat(at, path, AT_REMOVEDIR))
		return 0;
	return err_set(e, -ERR_IO, "cannot remove %s: %s", path, strerror(errno));
}

/* ---- whose it is ---- */

/* A group of the user's name that nobody else is a member of, as useradd makes it. */
static bool is_private_group(gid_t group)
{
	const struct passwd *user = getpwuid(geteuid());
	char name[256] = "";

	if (!user || user->pw_gid != group || strlen(user->pw_name) >= sizeof name)
		return false;
	strcpy(name, user->pw_name);
	const struct group *g = getgrgid(group);
	if (!g || strcmp(g->gr_name, name))
		return false;
	for (char **member = g->gr_mem; *member; member++)
		if (strcmp(*member, name))
			return false;
	return true;
}

/* Does an access control list say more than the mode?  Its mask stands where the bits of the group were. */
static bool has_list(int at, const char *name)
{
	fd_auto fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 || fgetxattr(fd, "system.posix_acl_access", NULL, 0) > 0;
}

static void not_own(struct buf *why, const char *path, const struct stat *st)
{
	const struct passwd *user = getpwuid(st->st_uid);

	buf_printf(why, "%s belongs to %s", path, user ? user->pw_name : "user ");
	if (!user)
		buf_printf(why, "%lu", (unsigned long)st->st_uid);
}

/* 0: it is the user's own. */
static int check_own(void *why, int at, const char *name, const char *path, const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		buf_printf(why, "%s is a symbolic link", path);
	else if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
		buf_printf(why, "%s is neither a file nor a folder", path);
	else if (st->st_uid != geteuid())
		not_own(why, path, st);
	else if ((st->st_mode & S_IWOTH) || ((st->st_mode & S_IWGRP) && (!is_private_group(st->st_gid) || has_list(at, name))))
		buf_printf(why, "others may write to %s", path);
	else
		return 0;
	return 1;
}

bool folder_is_own(int folder, struct buf *why)
{
	struct stat st;

	buf_clear(why);
	if (!fstat(folder, &st)) {
		if (check_own(why, folder, ".", "the folder", &st))
			return false;
		if (!folder_walk(folder, check_own, why))
			return true;
	}
	if (!why->len)
		buf_printf(why, "it cannot be read: %s", strerror(errno));
	return false;
}
