/* SPDX-License-Identifier: Apache-2.0
 * The run's folder: kept apart from others, files whole, `latest` the newest; metrics lines. */
#include "runtime/log/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/json.h"
#include "runtime/log/metrics.h"
#include "tests/tap.h"

static void is_file(const struct run *r, const char *file, const char *want, const char *what)
{
	struct buf path = BUF_INIT, text = BUF_INIT;

	buf_printf(&path, "%s/%s", run_path(r), file);
	tap_ok(!buf_read_file(&text, path.data, 1 << 20, NULL), "%s is there", file);
	tap_is_str(text.data, want, "%s", what);
	buf_release(&path);
	buf_release(&text);
}

static void is_latest(const char *dir, const struct run *r)
{
	struct buf link = BUF_INIT, want = BUF_INIT;
	char target[4096] = "";

	buf_printf(&link, "%s/latest/run.json", dir);
	buf_printf(&want, "../%s/run.json", strrchr(run_path(r), '/') + 1);
	tap_ok(readlink(link.data, target, sizeof target - 1) > 0, "latest has links");
	tap_is_str(target, want.data, "to the files of the newest run");
	buf_release(&link);
	buf_release(&want);
}

static void test_folder(void)
{
	struct run *r[3];
	struct buf text = BUF_INIT;
	struct err e;

	for (int i = 0; i < 3; i++)
		if (run_open("deep/er/runs", "a b/c", &r[i], &e))
			tap_bail("%s", e.text);
	tap_ok(strstr(run_path(r[0]), "deep/er/runs/a_b_c-2") != NULL, "the name is one component");
	tap_ok(strcmp(run_path(r[0]), run_path(r[1])) && strcmp(run_path(r[1]), run_path(r[2])), "runs are kept apart");
	buf_str(&text, "{}");
	for (int i = 1; i < 3; i++)
		tap_is_int(run_write(r[i], "run.json", &text, 0, &e), 0, "a record is written");
	buf_clear(&text);
	run_finish(r[2]);
	is_latest("deep/er/runs", r[2]);
	run_finish(r[1]);
	is_latest("deep/er/runs", r[1]);
	buf_str(&text, "one");
	tap_is_int(run_write(r[0], "config.yaml", &text, 1, &e), 0, "a file is written");
	is_file(r[0], "config.yaml", "one", "whole");
	tap_is_int(run_append(r[0], "metrics.jsonl", &text, &e), 0, "a line is appended");
	buf_str(&text, " more\n");
	tap_is_int(run_append(r[0], "metrics.jsonl", &text, &e), 0, "and another");
	is_file(r[0], "metrics.jsonl", "one\none more\n", "two lines");
	tap_is_int(run_write(r[0], "metrics.jsonl/file", &text, 0, &e), -ERR_CANT_CREATE, "a file that cannot be made is an error");
	for (int i = 0; i < 3; i++)
		run_close(r[i]);
	run_close(NULL);
	buf_release(&text);
}

static bool is_there(const char *path)
{
	return !access(path, F_OK);
}

/* One process at a time; what was written is cut, and lines without room wait. */
static void test_again(void)
{
	struct run *r, *other;
	struct buf line = BUF_INIT, path = BUF_INIT;
	const char *file, *waiting;
	uint64_t size, lost = 1;
	struct err e = { 0 };

	if (run_open("again", "x", &r, &e))
		tap_bail("%s", e.text);
	tap_is_int(run_reopen(run_path(r), NULL, &other, &e), -ERR_CANT_CREATE, "a second writer is refused: %s", e.text);
	tap_ok(strstr(e.text, "process ") != NULL, "the first is named");
	buf_str(&line, "one\n");
	run_append(r, "lines", &line, &e);
	run_append(r, "lines", &line, &e);
	tap_ok(run_lines(r, 0, &file, &size, &waiting) && size == 8 && !strcmp(file, "lines") && !waiting, "its size is known");
	tap_ok(!run_lines(r, 1, &file, &size, &waiting), "there is no other");
	tap_is_int(run_cut(r, "lines", 4, NULL, &lost, &e), 0, "it is cut");
	is_file(r, "lines", "one\n", "to a line");
	tap_is_int((long long)lost, 0, "nothing was missing");
	tap_is_int(run_cut(r, "lines", 400, "two\n", &lost, &e), 0, "it is not made longer");
	tap_is_int((long long)lost, 396, "and what is missing is counted");
	tap_is_int(run_flush(r, &e), 0, "what waited is written");
	is_file(r, "lines", "one\ntwo\n", "behind the rest");
	tap_is_int(run_sync(r, &e), 0, "all that was written is synced");
	close(run_open_file(r, "/dev/null", O_WRONLY, &e));
	mkfifo("again/pipe", 0666);
	run_written(r, "../pipe");
	tap_is_int(run_sync(r, &e), 0, "a device and a pipe without a writer need no sync: %s", e.text);
	run_write(r, "torn", &(struct buf){ "one\ntw", 6, 6 }, 0, &e);
	tap_is_int(run_cut(r, "torn", 8, NULL, &lost, &e), 0, "a file that lost its end");
	is_file(r, "torn", "one\n", "ends with a whole line");
	tap_is_int((long long)lost, 4, "what it lacks then is counted");
	buf_printf(&path, "%s/full", run_path(r));
	mkdir(path.data, 0777);
	tap_is_int(run_append(r, "full", &line, &e), -ERR_CANT_CREATE, "a line that cannot be written: %s", e.text);
	rmdir(path.data);
	tap_is_int(run_append(r, "full", &line, &e), 0, "later it can");
	is_file(r, "full", "one\none\n", "no line is lost");
	buf_clear(&path);
	buf_str(&path, run_path(r));
	run_close(r);
	tap_is_int(run_reopen(path.data, NULL, &r, &e), 0, "the folder is opened again when the first has closed it");
	tap_is_int(run_discard(r, &e), 0, "and removed");
	tap_ok(!is_there(path.data), "with all that is in it");
	run_close(r);
	buf_release(&line);
	buf_release(&path);
}

static unsigned mode_of(const struct run *r, const char *file)
{
	struct stat st;

	return fstatat(run_folder(r), file, &st, AT_SYMLINK_NOFOLLOW) ? 0 : st.st_mode & 0777;
}

/* Whoever can open the lock can hold it, and so keep the run's owner from continuing: those who may write there, alone. */
static void test_lock_mode(void)
{
	static const struct { unsigned umask, mode; } row[] = { { 022, 0600 }, { 077, 0600 }, { 002, 0660 }, { 000, 0666 } };
	unsigned before = umask(022);
	struct buf path = BUF_INIT;
	struct run *r;
	struct err e = { 0 };

	for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
		umask(row[k].umask);
		if (run_open("locks", "x", &r, &e))
			tap_bail("%s", e.text);
		tap_is_int(mode_of(r, "checkpoint/lock"), row[k].mode, "umask %03o: mode of the lock", row[k].umask);
		if (fchmodat(run_folder(r), "checkpoint/lock", 0644, 0))
			tap_bail("the mode of a lock");
		buf_clear(&path);
		buf_str(&path, run_path(r));
		run_close(r);
		if (run_reopen(path.data, NULL, &r, &e))
			tap_bail("%s", e.text);
		tap_is_int(mode_of(r, "checkpoint/lock"), row[k].mode, "also of a lock that had another mode");
		run_close(r);
	}
	umask(before);
	buf_release(&path);
}

int __real_flock(int fd, int how);
static bool no_locks;

int __wrap_flock(int fd, int how)
{
	if (!no_locks)
		return __real_flock(fd, how);
	errno = ENOSYS;
	return -1;
}

/* Makes a run, says where, and is killed before it has closed it. */
static _Noreturn void write_forever(int to)
{
	struct run *r;
	struct err e = { 0 };

	if (run_open("unlocked", "x", &r, &e) || write(to, run_path(r), strlen(run_path(r))) < 0)
		_exit(1);
	for (;;)
		pause();
}

static void sign_as(const char *path, const char *who)
{
	struct buf lock = BUF_INIT;
	FILE *f;

	buf_printf(&lock, "%s/checkpoint/lock", path);
	f = fopen(lock.data, "w");
	if (!f)
		tap_bail("cannot write %s", lock.data);
	fprintf(f, "%s\n", who);
	fclose(f);
	buf_release(&lock);
}

/* As on Lustre without -o flock. */
static void test_no_locks(void)
{
	char path[256] = "";
	int ends[2];
	struct run *r = NULL;
	struct err e = { 0 };
	pid_t writer;

	no_locks = true;
	if (pipe(ends))
		tap_bail("no pipe");
	writer = fork();
	if (!writer)
		write_forever(ends[1]);
	if (read(ends[0], path, sizeof path - 1) <= 0)
		tap_bail("the other process has made no run");
	tap_is_int(run_reopen(path, NULL, &r, &e), -ERR_CANT_CREATE,
		"without locks a second writer of this machine is refused: %s", e.text);
	tap_ok(run_is_open(path), "the first is seen");
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	tap_ok(!run_is_open(path), "its end is seen, too");
	tap_is_int(run_reopen(path, NULL, &r, &e), 0, "then the run goes on");
	tap_ok(!run_other_writer(r), "and no other is named");
	run_close(r);
	tap_ok(!run_is_open(path), "a run that is closed is not open");
	sign_as(path, "process 7 on another.host");
	tap_ok(run_is_open(path), "one of another machine may be");
	tap_is_int(run_reopen(path, NULL, &r, &e), 0, "it goes on here");
	tap_is_str(run_other_writer(r), "process 7 on another.host", "and the other writer is named");
	run_close(r);
	tap_is_int(run_reopen(path, NULL, &r, &e), 0, "once more");
	tap_ok(!run_other_writer(r), "it is named once");
	run_close(r);
	no_locks = false;
	close(ends[0]);
	close(ends[1]);
}

/* The run's folder is moved while it is written: what ends with the run ends there, not in what took its name. */
static void test_moved(void)
{
	struct run *r;
	struct buf path = BUF_INIT;
	struct err e = { 0 };

	if (run_open("moved", "x", &r, &e))
		tap_bail("%s", e.text);
	tap_ok(!rename(run_path(r), "moved/elsewhere"), "a run's folder is moved");
	buf_printf(&path, "%s/checkpoint", run_path(r));
	mkdir(run_path(r), 0777);
	mkdir(path.data, 0777);
	run_finish(r);
	tap_ok(!is_there("moved/elsewhere/checkpoint"), "when the run ends, its checkpoints are removed where they are now");
	tap_ok(is_there(path.data), "and those of a folder that has its name since are not");
	run_close(r);
	buf_release(&path);
}

/* What is not our link stays; where there is no folder, there is an error. */
static void test_obstacles(void)
{
	struct run *r;
	struct buf text = BUF_INIT;
	struct err e = { 0 };
	struct stat st;

	mkdir("other", 0777);
	mkdir("other/latest", 0777);
	tap_is_int(run_open("other", "x", &r, &e), 0, "a folder called latest does not stop a run");
	tap_ok(!lstat("other/latest", &st) && S_ISDIR(st.st_mode), "and is left alone");
	run_write(r, "run.json", &(struct buf){ "{}", 2, 2 }, 0, &e);
	tap_is_int(run_point_latest(r, &e), -ERR_CANT_CREATE, "which is an error to report: %s", e.text);
	tap_ok(!lstat("other/latest", &st) && S_ISDIR(st.st_mode), "also at its end");
	rmdir("other/latest");
	buf_str(&text, "notes");
	buf_write_file(&text, "other/latest", 0, NULL);
	tap_is_int(run_point_latest(r, &e), -ERR_CANT_CREATE, "a file called latest is not replaced");
	tap_ok(!lstat("other/latest", &st) && S_ISREG(st.st_mode), "and stays");
	buf_clear(&text);
	run_finish(r);
	run_close(r);
	buf_str(&text, "file");
	buf_write_file(&text, "plain", 0, NULL);
	tap_is_int(run_open("", "x", &r, &e), -ERR_CANT_CREATE, "no folder is an error");
	tap_is_str(e.text, "the folder for runs has no name; `.` is the current one", "with its words");
	tap_is_int(run_open("plain/runs", "x", &r, &e), -ERR_CANT_CREATE, "a file in the way is an error");
	tap_ok(strstr(e.text, "plain") != NULL, "that names it: %s", e.text);
	buf_release(&text);
}

static struct metrics_value number(const char *name, enum metrics_part part, double v)
{
	struct metrics_value out = { .part = part, .given = true, .number = v };

	snprintf(out.name, sizeof out.name, "%s", name);
	return out;
}

static void test_metrics(void)
{
	struct metrics_line m = { .n = 9, .value = { number("start", METRICS_PLACE, 3), number("step", METRICS_PLACE, 4294967297),
		number("loss", METRICS_TRAINING, 1.0 / 3), number("odd \"name\"", METRICS_TRAINING, 0.1 + 0.2),
		number("confusion", METRICS_TRAINING, NAN), number("val_loss", METRICS_VALIDATION, 0.25),
		number("learning_rate", METRICS_RATE, NAN), number("seconds", METRICS_TIME, 0.5), number("samples_per_second", METRICS_TIME, 224) } };
	struct buf line = BUF_INIT;

	m.value[4].side = 2;
	m.value[4].entry = (const double[]){ 1, 2, 3, 4 };
	metrics_format(&m, &line);
	tap_is_str(line.data, "{\"start\": 3, \"step\": 4294967297, \"loss\": 0.3333333333333333, \"odd \\\"name\\\"\": 0.30000000000000004, "
		"\"confusion\": [[1, 2], [3, 4]], \"val_loss\": 0.25, \"learning_rate\": null, \"seconds\": 0.5, \"samples_per_second\": 224}",
		"a line of JSON");
	tap_ok(metrics_find(&m, "val_loss") && !metrics_find(&m, "confusion") && !metrics_find(&m, "val"), "numbers are found by their names");
	m.value[5].given = false;
	buf_clear(&line);
	metrics_format(&m, &line);
	tap_ok(!strstr(line.data, "val_loss") && !metrics_find(&m, "val_loss"), "a value that is not given is left out");
	buf_clear(&line);
	metrics_csv_header(&m, &line);
	tap_is_str(line.data, "start,step,loss,odd \"name\",confusion_0_0,confusion_0_1,confusion_1_0,confusion_1_1,val_loss,learning_rate,seconds,"
		"samples_per_second", "the names of a CSV file");
	buf_clear(&line);
	metrics_csv(&m, &line);
	tap_is_str(line.data, "3,4294967297,0.3333333333333333,0.30000000000000004,1,2,3,4,,nan,0.5,224", "a line of it, with a gap");
	buf_release(&line);
}

int main(void)
{
	test_folder();
	test_again();
	test_lock_mode();
	test_no_locks();
	test_moved();
	test_obstacles();
	test_metrics();
	return tap_done();
}
