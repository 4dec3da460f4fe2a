/* SPDX-License-Identifier: Apache-2.0
 * Builds the command line of a worker from its launcher's template. */
#include "runtime/net/launch/launch.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runtime/base/arena.h"

static const struct launch_row rows[LAUNCHER_COUNT] = {
#define LAUNCHER(id, name, line, text) [LAUNCHER_##id] = { name, line, text },
#include "runtime/net/launch/launch.def"
#undef LAUNCHER
};

const struct launch_row *launch_row(enum launcher l) { return &rows[l]; }

enum launcher launcher_find(const char *word, const char **agent)
{
	*agent = NULL;
	if (!strncmp(word, "exec:", 5)) {
		*agent = word + 5;
		return word[5 + strspn(word + 5, " ")] ? LAUNCHER_EXEC : LAUNCHER_NONE;
	}
	for (int l = 1; l < LAUNCHER_COUNT; l++)
		if (l != LAUNCHER_EXEC && !strcmp(word, rows[l].name))
			return (enum launcher)l;
	return LAUNCHER_NONE;
}

/* ---- the command line ---- */

/* Where this program was when it was first asked for: a file that has been replaced since then keeps its name. */
static const char *own_program(void)
{
	static const char gone[] = " (deleted)";
	static char path[4096];
	ssize_t n = *path ? 0 : readlink("/proc/self/exe", path, sizeof path - 1);
	size_t len = strlen(path), tail = sizeof gone - 1;

	if (n > 0 && len > tail && !strcmp(path + len - tail, gone) && access(path, F_OK))
		path[len - tail] = 0;
	return *path ? path : "qcnn";
}

const char *launch_file(const struct launch_place *p)
{
	return p->launcher == LAUNCHER_LOCAL && !p->program && !access(LAUNCH_SELF, X_OK) ? LAUNCH_SELF : NULL;
}

/* Behind what is loaded there are names and lines for debuggers, five times as much. */
long long launch_program_bytes(void)
{
	const ElfW(Phdr) *part = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	unsigned long n = getauxval(AT_PHNUM);
	long long end = 0;

	for (unsigned long i = 0; part && i < n; i++)
		if (part[i].p_type == PT_LOAD && (long long)(part[i].p_offset + part[i].p_filesz) > end)
			end = (long long)(part[i].p_offset + part[i].p_filesz);
	return end;
}

static const char *worker_of(const struct launch_place *p)
{
	return p->follow ? " worker --follow" : " worker";
}

/* The first of the places there that has this version; else this program comes by the standard input, into a file that
 * has no name any more when its first byte comes, so that nothing can leave it behind.  One line, for any login shell. */
static void push_script(const struct launch_place *p, struct buf *b)
{
	struct utsname here;
	long long nbyte = launch_program_bytes();

	uname(&here);
	buf_str(b, "v=\"qcnn " PACKAGE_VERSION "\"; for q in ");
	buf_shell_quoted(b, p->program ? p->program : own_program());
	buf_str(b, p->program ? "" : " qcnn");
	buf_str(b,
		"; do if test \"$(\"$q\" --version 2>/dev/null)\" = \"$v\"; then printf \"\\001QCNN " LAUNCH_BOOT
		"\\n\"; exec \"$q\"");
	buf_printf(b, "%s; fi; done; ", worker_of(p));
	buf_printf(b, "m=$(uname -m); if test \"$m\" != %s; then echo \"push: this host is $m, the program that would be sent is for %s\" >&2; exit 126; fi; ",
		here.machine, here.machine);
	buf_printf(b, "umask 077; d=; for t in \"${TMPDIR:-/tmp}\" /tmp /var/tmp /dev/shm \"$HOME\"; do "
		"k=$(df -Pk \"$t\" 2>/dev/null | awk \"NR == 2 { print \\$4 }\"); test \"${k:-%lld}\" -ge %lld || continue; "
		"d=$(mktemp -d \"$t/qcnn.XXXXXXXX\" 2>/dev/null) || continue; "
		"printf \"#\\041/bin/sh\\n\" >\"$d/qcnn\" && chmod 700 \"$d/qcnn\" && \"$d/qcnn\" && break; rm -rf \"$d\"; d=; done 2>/dev/null; ",
		nbyte / 1024 + 1, nbyte / 1024 + 1);
	buf_printf(b, "if test -z \"$d\"; then echo \"push: no folder with %lld KiB of space where programs may be written and run: "
		"none of ${TMPDIR:-/tmp} /tmp /var/tmp /dev/shm $HOME\" >&2; exit 73; fi; ", nbyte / 1024 + 1);
	buf_printf(b, "exec 3>\"$d/qcnn\" 4<\"$d/qcnn\"; rm -rf \"$d\"; printf \"\\001QCNN " LAUNCH_NEED "\\n\"; head -c %lld >&3; exec 3>&-; "
		"if test $(wc -c </proc/self/fd/4) -ne %lld; then echo \"push: the program did not come whole into $t\" >&2; exit 74; fi; ", nbyte, nbyte);
	buf_str(b,
		"r=$(/proc/self/fd/4 --version 2>&1); if test \"$r\" != \"$v\"; then "
		"n=$(ldd /proc/self/fd/4 2>&1 | grep \"not found\" | tr -s \"\\n\\t\" \"  \"); echo \"push: the program does not run there: ${n:-$r}\" >&2; exit 126; fi; "
		"printf \"\\001QCNN " LAUNCH_BOOT "\\n\"; exec /proc/self/fd/4");
	buf_str(b, worker_of(p));
}

/* For sh: where the path is not given, the same one as here, else what the host finds itself. */
static void worker_script(const struct launch_place *p, struct buf *b)
{
	if (p->push) {
		push_script(p, b);
		return;
	}
	if (!p->program) {
		buf_str(b, "if test -x ");
		buf_shell_quoted(b, own_program());
		buf_str(b, "; then ");
	}
	buf_str(b, "exec ");
	buf_shell_quoted(b, p->program ? p->program : own_program());
	buf_str(b, worker_of(p));
	if (!p->program)
		buf_printf(b, "; else exec qcnn%s; fi", worker_of(p));
}

/* The same for any shell. */
static void remote_command(const struct launch_place *p, struct buf *b)
{
	buf_auto script = BUF_INIT;

	worker_script(p, &script);
	if (p->program && !p->push) {
		buf_str(b, script.data);
	} else {
		buf_str(b, "exec sh -c ");
		buf_shell_quoted(b, script.data);
	}
}

static void fill_in(const struct launch_place *p, const char *name, size_t len, struct buf *b)
{
	if (!strncmp(name, "host", len))
		buf_str(b, p->host);
	else if (!strncmp(name, "program", len))
		buf_str(b, p->program ? p->program : own_program());
	else if (!strncmp(name, "follow", len))
		buf_str(b, p->follow ? "--follow" : "");
	else if (!strncmp(name, "command", len))
		remote_command(p, b);
	else if (!strncmp(name, "script", len))
		worker_script(p, b);
	else
		BUG("no {%.*s} in launch.def", (int)len, name);
}

struct words {
	struct arena *arena;
	char **word;
	size_t n;
};

static void add_words(struct words *w, const char *text, const struct launch_place *p)
{
	while (*text) {
		size_t len = strcspn(text, " ");
		buf_auto b = BUF_INIT;

		if (p && len == 7 && !strncmp(text, "{agent}", 7)) {
			add_words(w, p->agent, NULL);
			len = 0;
			text += 7;
		}
		for (size_t i = 0; i < len; i++) {
			size_t inside = p && text[i] == '{' ? strcspn(text + i, "}") : 0;

			if (inside) {
				fill_in(p, text + i + 1, inside - 1, &b);
				i += inside;
			} else {
				buf_char(&b, text[i]);
			}
		}
		if (b.len)
			*arena_push(w->arena, w->word, w->n) = arena_strndup(w->arena, b.data, b.len);
		text += len;
		text += *text == ' ';
	}
}

char **launch_argv(const struct launch_place *p, struct arena *a)
{
	struct words w = { .arena = a };

	add_words(&w, rows[p->launcher].line, p);
	*arena_push(a, w.word, w.n) = NULL;
	return w.word;
}
