/* SPDX-License-Identifier: Apache-2.0
 * Files below a folder that others may change: hard links that come and go, access control lists. */
#include "config.h"
#include "runtime/base/system/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
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

static atomic_bool stop;

static void *link_and_unlink(void *ctx)
{
	(void)ctx;
	while (!stop) {
		if (link("victim", "run/file"))
			continue;
		unlink("run/file");
	}
	return NULL;
}

static void test_hard_link(void)
{
	enum { TRIES = 20000 };
	pthread_t attacker;
	int folder, nopened = 0;

	make_file("victim");
	folder = folder_open("run", false);
	pthread_create(&attacker, NULL, link_and_unlink, NULL);
	for (int k = 0; k < TRIES; k++) {
		int fd = folder_file(folder, "file", O_WRONLY);

		if (fd < 0)
			continue;
		nopened++;
		close(fd);
	}
	stop = true;
	pthread_join(attacker, NULL);
	tap_is_int(nopened, 0, "a hard link is not opened for writing while its name comes and goes");
	make_file("run/file");
	tap_ok(folder_file(folder, "file", O_WRONLY) >= 0, "a file with one name is");
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
