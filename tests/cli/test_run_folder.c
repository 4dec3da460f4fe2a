/* SPDX-License-Identifier: Apache-2.0
 * Removing a run whose folder has become a symbolic link since it was found. */
#include "cli/job/run_folder.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

static void make_run(const char *folder, const char *record)
{
	mkdir(folder, 0777);
	close(open(record, O_WRONLY | O_CREAT, 0666));
}

int main(void)
{
	char name[] = "a", path[] = "runs/a";
	struct run_folder run = { .name = name, .path = path };
	struct err e = { 0 };

	mkdir("runs", 0777);
	make_run("kept", "kept/run.json");
	tap_ok(!symlink("../kept", "runs/a"), "the link can be made");
	tap_is_int(run_remove(&run, &e), -ERR_IO, "a link in place of the run: the run is not removed");
	tap_ok(strstr(e.text, "symbolic link") != NULL, "the reason is named: %s", e.text);
	tap_ok(!access("kept/run.json", F_OK), "what the link leads to stays");
	tap_ok(!unlink("runs/a"), "the link stays, too");
	make_run("runs/a", "runs/a/run.json");
	tap_is_int(run_remove(&run, &e), 0, "a folder is removed");
	tap_ok(access("runs/a", F_OK), "with all in it");
	return tap_done();
}
