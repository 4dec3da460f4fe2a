/* SPDX-License-Identifier: Apache-2.0
 * qcnn itself, but for one fault at a chosen call to the file system: every call that opens, writes, syncs, renames,
 * cuts or removes is counted, and FAULT="WHAT N [COUNT]" says what happens at the N-th.
 *
 * kill: the process is killed before the call. tear: it is killed when half of what is to be written has been.
 * full, quota: that call and the COUNT - 1 after it (0: all) find no room. broken, readonly: these calls fail, also those that
 * take no room. TERM, INT, ...: the signal comes before the call.
 * FAULT_CALLS=FILE gets the number of calls when the process ends, FAULT_READS=FILE how often a file was opened to be
 * read or was read (no faults come there), FAULT_MET=FILE the number of the last call at which the fault came. Nothing is really synced: a fault is no power cut. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int __real_open(const char *path, int flags, ...);
FILE *__real_fopen(const char *path, const char *mode);
size_t __real_fread(void *p, size_t size, size_t n, FILE *f);
char *__real_fgets(char *p, int n, FILE *f);
ssize_t __real_read(int fd, void *p, size_t n);
ssize_t __real_pread(int fd, void *p, size_t n, off_t at);
ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __real_pwrite(int fd, const void *p, size_t n, off_t at);
int __real_rename(const char *from, const char *to);
int __real_openat(int at, const char *path, int flags, ...);
int __real_renameat(int at, const char *from, int to_at, const char *to);
int __real_renameat2(int at, const char *from, int to_at, const char *to, unsigned flags);
int __real_symlinkat(const char *to, int at, const char *path);
int __real_mkdirat(int at, const char *path, mode_t mode);
int __real_unlinkat(int at, const char *path, int flags);
int __real_symlink(const char *to, const char *path);
int __real_mkdir(const char *path, mode_t mode);
int __real_truncate(const char *path, off_t n);
int __real_ftruncate(int fd, off_t n);
int __real_unlink(const char *path);
int __real_remove(const char *path);

static const struct { const char *name; int number; } signals[] = { { "kill", SIGKILL }, { "INT", SIGINT }, { "TERM", SIGTERM },
	{ "HUP", SIGHUP }, { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 }, { "XCPU", SIGXCPU } };

static const struct { const char *name; int error; int all; } failures[] = { { "full", ENOSPC, 0 }, { "quota", EDQUOT, 0 },
	{ "broken", EIO, 1 }, { "readonly", EROFS, 1 } };

static struct { char what[9]; unsigned long at, count; int signal, error, all; } fault;
static atomic_ulong calls, reads;

static void tell(const char *variable, unsigned long n)
{
	const char *path = getenv(variable);
	FILE *f = path ? __real_fopen(path, "w") : NULL;

	if (f) {
		fprintf(f, "%lu\n", n);
		fclose(f);
	}
}

static void tell_calls(void)
{
	tell("FAULT_CALLS", atomic_load(&calls));
	tell("FAULT_READS", atomic_load(&reads));
}

__attribute__((constructor)) static void read_fault(void)
{
	const char *text = getenv("FAULT");

	atexit(tell_calls);
	if (!text)
		return;
	if (sscanf(text, "%8s %lu %lu", fault.what, &fault.at, &fault.count) < 2)
		abort();
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (!strcmp(fault.what, signals[i].name))
			fault.signal = signals[i].number;
	if (fault.signal && fault.signal != SIGKILL)
		signal(fault.signal, SIG_DFL);       /* under nohup HUP would be ignored */
	for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
		if (!strcmp(fault.what, failures[i].name)) {
			fault.error = failures[i].error;
			fault.all = failures[i].all;
		}
	if (!fault.signal && !fault.error && strcmp(fault.what, "tear"))
		abort();
}

/* Counts the call; does it fail?  *tear: the process dies in it. */
static int meets(int takes_room, int *tear)
{
	unsigned long n = atomic_fetch_add(&calls, 1) + 1;

	if (!fault.at || n < fault.at)
		return 0;
	if (fault.signal && n == fault.at) {
		tell("FAULT_MET", n);
		kill(getpid(), fault.signal);
	}
	if (!strcmp(fault.what, "tear") && n == fault.at) {
		tell("FAULT_MET", n);
		*tear = 1;
		return 0;
	}
	if (!fault.error || !(takes_room || fault.all) || (fault.count && n >= fault.at + fault.count))
		return 0;
	tell("FAULT_MET", n);
	errno = fault.error;
	return 1;
}

static int simple(int takes_room)
{
	int tear = 0, full = meets(takes_room, &tear);

	if (tear)
		kill(getpid(), SIGKILL);
	return full;
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode = 0;

	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	}
	if (flags & (O_CREAT | O_WRONLY | O_RDWR) && simple(flags & O_CREAT && access(path, F_OK)))
		return -1;
	reads += (flags & O_ACCMODE) == O_RDONLY;
	return __real_open(path, flags, mode);
}

int __wrap_openat(int at, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode = 0;

	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	}
	if (flags & (O_CREAT | O_WRONLY | O_RDWR) && simple(flags & O_CREAT && faccessat(at, path, F_OK, 0)))
		return -1;
	reads += (flags & O_ACCMODE) == O_RDONLY;
	return __real_openat(at, path, flags, mode);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	reads += mode[0] == 'r';
	return __real_fopen(path, mode);
}

size_t __wrap_fread(void *p, size_t size, size_t n, FILE *f)
{
	reads++;
	return __real_fread(p, size, n, f);
}

char *__wrap_fgets(char *p, int n, FILE *f)
{
	reads++;
	return __real_fgets(p, n, f);
}

ssize_t __wrap_read(int fd, void *p, size_t n)
{
	reads++;
	return __real_read(fd, p, n);
}

ssize_t __wrap_pread(int fd, void *p, size_t n, off_t at)
{
	reads++;
	return __real_pread(fd, p, n, at);
}

/* A full disk takes what still fits. */
static ssize_t put(int fd, const void *p, size_t n, off_t at)
{
	int tear = 0, full = fd > STDERR_FILENO && meets(1, &tear);
	size_t fits = fault.all && full ? 0 : full || tear ? n / 2 : n;
	ssize_t got = 0;

	if (fits || (!n && !full))
		got = at < 0 ? __real_write(fd, p, fits) : __real_pwrite(fd, p, fits, at);
	if (tear)
		kill(getpid(), SIGKILL);
	if (full && got <= 0) {
		errno = fault.error;
		return -1;
	}
	return got;
}

ssize_t __wrap_write(int fd, const void *p, size_t n)
{
	return put(fd, p, n, -1);
}

ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at)
{
	return put(fd, p, n, at);
}

int __wrap_fsync(int fd)
{
	(void)fd;
	return simple(1) ? -1 : 0;
}

int __wrap_rename(const char *from, const char *to)
{
	return simple(1) ? -1 : __real_rename(from, to);
}

int __wrap_symlink(const char *to, const char *path)
{
	return simple(1) ? -1 : __real_symlink(to, path);
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	return simple(1) ? -1 : __real_mkdir(path, mode);
}

int __wrap_truncate(const char *path, off_t n)
{
	return simple(0) ? -1 : __real_truncate(path, n);
}

int __wrap_ftruncate(int fd, off_t n)
{
	return simple(0) ? -1 : __real_ftruncate(fd, n);
}

int __wrap_unlink(const char *path)
{
	return simple(0) ? -1 : __real_unlink(path);
}

int __wrap_remove(const char *path)
{
	return simple(0) ? -1 : __real_remove(path);
}

int __wrap_renameat(int at, const char *from, int to_at, const char *to)
{
	return simple(1) ? -1 : __real_renameat(at, from, to_at, to);
}

int __wrap_renameat2(int at, const char *from, int to_at, const char *to, unsigned flags)
{
	return simple(1) ? -1 : __real_renameat2(at, from, to_at, to, flags);
}

int __wrap_symlinkat(const char *to, int at, const char *path)
{
	return simple(1) ? -1 : __real_symlinkat(to, at, path);
}

int __wrap_mkdirat(int at, const char *path, mode_t mode)
{
	return simple(1) ? -1 : __real_mkdirat(at, path, mode);
}

int __wrap_unlinkat(int at, const char *path, int flags)
{
	return simple(0) ? -1 : __real_unlinkat(at, path, flags);
}
