/* SPDX-License-Identifier: Apache-2.0
 * Files below a folder that others may change: hard links that come and go, access control lists. */
#include "runtime/base/system/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/tap.h"

static void make_file(const char *path)
{
	close(open(path, O_WRONLY | O_CREAT, 0664));
	chmod(path, 0664);
}

/* ---- a second name that is gone before anybody counts it ---- */

/* What the owner of the second name does the first `looks` times that folder.c looks at it. */
enum attack { UNLINK_BEFORE, REPLACE_BEFORE, UNLINK_WITHIN };
static struct { enum attack kind; unsigned looks, nlook; } attacker;

int __real_fstatat(int at, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int at, const char *name, struct stat *st, int flags);

int __wrap_fstatat(int at, const char *name, struct stat *st, int flags)
{
	if (attacker.nlook++ >= attacker.looks)
		return __real_fstatat(at, name, st, flags);
	unlink("run/file");
	if (attacker.kind == REPLACE_BEFORE)
		make_file("run/file");
	/* The name was found before it was removed, and its file's names are counted after that. */
	return attacker.kind == UNLINK_WITHIN ? stat("victim", st) : __real_fstatat(at, name, st, flags);
}

/* errno of opening run/file, a second name of the victim, for writing; 0: it was opened. */
static int open_linked(int folder, enum attack kind, unsigned looks)
{
	int fd, fault;

	unlink("run/file");
	if (link("victim", "run/file"))
		tap_bail("no hard links here");
	attacker.kind = kind;
	attacker.looks = looks;
	attacker.nlook = 0;
	fd = folder_file(folder, "file", O_WRONLY);
	fault = fd < 0 ? errno : 0;
	attacker.looks = 0;
	if (fd >= 0)
		close(fd);
	return fault;
}

static void test_hard_link(void)
{
	int folder, fd;

	make_file("victim");
	folder = folder_open("run", false);
	tap_is_int(open_linked(folder, UNLINK_BEFORE, 0), EMLINK, "a hard link is not opened for writing");
	if (!attacker.nlook) {
		tap_skip("this C library has another name for fstatat()");
	} else {
		tap_is_int(open_linked(folder, UNLINK_BEFORE, 1), ENOENT, "nor where its name is removed before anybody counts");
		tap_is_int(open_linked(folder, REPLACE_BEFORE, 1), EMLINK, "nor where another file has taken the name");
		for (unsigned k = 1; k <= 5; k++)
			tap_is_int(open_linked(folder, UNLINK_WITHIN, k), ENOENT, "nor where that comes between lookup and count, %u times", k);
	}
	unlink("run/file");
	make_file("run/file");
	fd = folder_file(folder, "file", O_WRONLY);
	tap_ok(fd >= 0, "a file with one name is");
	close(fd);
	unlink("run/file");
	close(folder);
}

/* ---- who may write, beside the bits of the mode ---- */

/* Owner and user 65534 read and write, the group reads; the mask lets them. */
static int let_another_write(const char *path)
{
	static const unsigned char list[] = {
		2, 0, 0, 0,
		1, 0, 6, 0, 255, 255, 255, 255,
		2, 0, 6, 0, 254, 255, 0, 0,
		4, 0, 4, 0, 255, 255, 255, 255,
		16, 0, 6, 0, 255, 255, 255, 255,
		32, 0, 4, 0, 255, 255, 255, 255,
	};

	return setxattr(path, "system.posix_acl_access", list, sizeof list, 0);
}

static void test_list(void)
{
	struct buf why = BUF_INIT;
	int folder = folder_open("run", false);

	make_file("run/file");
	if (let_another_write("run/file")) {
		tap_skip("no access control lists here");
	} else {
		tap_ok(!folder_is_own(folder, &why), "a file that a list lets another user write is not one's own alone");
		tap_ok(why.len && !strcmp(why.data, "others may write to file"), "the reason: %s", why.len ? why.data : "");
	}
	chmod("run/file", 0644);
	tap_ok(folder_is_own(folder, &why), "without the bit of the group it is");
	buf_release(&why);
	close(folder);
}

int main(void)
{
	umask(022);
	mkdir("run", 0755);
	test_hard_link();
	test_list();
	return tap_done();
}
