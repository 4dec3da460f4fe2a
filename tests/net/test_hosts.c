/* SPDX-License-Identifier: Apache-2.0
 * Lists of hosts, files of hosts, what batch systems say, and the command lines that come of them. */
#include "runtime/net/launch/allocation.h"

#include "runtime/base/buf.h"
#include "tests/tap.h"

static void show(const struct hosts *h, struct buf *b)
{
	buf_clear(b);
	buf_str(b, "");
	for (size_t i = 0; i < h->n; i++)
		buf_printf(b, "%s%s:%u", i ? " " : "", h->host[i].name, h->host[i].nworker);
}

/* want NULL: an error that contains `says`. */
static void test(int (*read)(const char *text, struct hosts *h, struct err *e), const char *text, const char *want, const char *says)
{
	struct hosts h = { NULL, 0, 0 };
	struct buf b = BUF_INIT;
	struct err e = { 0, "" };
	int code = read(text, &h, &e);

	show(&h, &b);
	if (want)
		tap_is_str(code ? e.text : b.data, want, "%.60s", text);
	else
		tap_ok(code < 0 && strstr(e.text, says), "%.60s: %.200s", text, code ? e.text : "no error");
	hosts_release(&h);
	buf_release(&b);
}

static int list(const char *text, struct hosts *h, struct err *e) { return hosts_add_list(h, text, e); }
static int nodes(const char *text, struct hosts *h, struct err *e) { return allocation_expand(text, h, e); }

static int file(const char *text, struct hosts *h, struct err *e)
{
	FILE *f = fopen("hosts", "w");

	fputs(text, f);
	fclose(f);
	return hosts_add_file(h, "hosts", e);
}

static void test_lists(void)
{
	char longest[HOST_NAME_LONGEST + 2];

	test(list, "a,b:4,user@c", "a:1 b:4 user@c:1", NULL);
	test(list, "a, b", "a:1 b:1", NULL);
	test(list, "local:2,local", "local:3", NULL);
	test(list, "192.0.2.1:2,[2001:db8::1]:3,::1", "192.0.2.1:2 2001:db8::1:3 ::1:1", NULL);
	test(list, "u@[fe80::1%eth0]:2,[::1]", "u@fe80::1%eth0:2 ::1:1", NULL);
	test(list, "a:1024", "a:1024", NULL);
	test(list, "a:1025", NULL, "1 to 1024 workers");
	test(list, "a:1024,a", NULL, "1 to 1024 workers");
	test(list, "a:0", NULL, "1 to 1024 workers");
	test(list, "a:x", NULL, "a number of workers must follow");
	test(list, "a:", NULL, "a number of workers must follow");
	test(list, "", NULL, "is not a host");
	test(list, "a,,b", NULL, "is not a host");
	test(list, "-oProxyCommand=x", NULL, "is not a host");
	test(list, "a;b", NULL, "is not a host");
	test(list, "a'b", NULL, "is not a host");
	test(list, "@a", NULL, "is not a host");
	test(list, "a@-oProxyCommand", NULL, "is not a host");
	test(list, "[a", NULL, "is not a host");
	test(list, "a[b]", NULL, "is not a host");
	memset(longest, 'a', sizeof longest);
	longest[HOST_NAME_LONGEST + 1] = 0;
	test(list, longest, NULL, "is not a host");
	longest[HOST_NAME_LONGEST] = 0;
	memcpy(longest + HOST_NAME_LONGEST - 2, "bb", 2);
	{
		struct hosts h = { NULL, 0, 0 };

		tap_is_int(hosts_add_list(&h, longest, NULL), 0, "a name of %d characters", HOST_NAME_LONGEST);
		hosts_release(&h);
	}
	test(file, "# ours\na\n  b slots=4  # big\n\nc:2\n", "a:1 b:4 c:2", NULL);
	test(file, "a\r\nb\r\n", "a:1 b:1", NULL);
	test(file, "a\na\na", "a:3", NULL);
	test(file, "\n# nobody\n", NULL, "names no host");
	test(file, "a\nb max=3\n", NULL, "line 2: `max=3` is not understood");
	test(file, "a\nb slots=0\n", NULL, "line 2: a host has 1 to");
}

#define FOUR "[1,1,1,1][1,1,1,1][1,1,1,1]"

static void test_nodes(void)
{
	test(nodes, "n1", "n1:1", NULL);
	test(nodes, "n[1-3,7],login", "n1:1 n2:1 n3:1 n7:1 login:1", NULL);
	test(nodes, "n[08-11]-ib", "n08-ib:1 n09-ib:1 n10-ib:1 n11-ib:1", NULL);
	test(nodes, "r[1-2]n[1-2]", "r1n1:1 r1n2:1 r2n1:1 r2n2:1", NULL);
	test(nodes, "a,a", "a:1", NULL);
	test(nodes, "n[1-4097]", NULL, "not a list of hosts");
	test(nodes, "n[1-4096],m", NULL, "more than 4096 hosts");
	test(nodes, "n[3-1]", NULL, "not a list of hosts");
	test(nodes, "n[1-", NULL, "not a list of hosts");
	test(nodes, "n]1[", NULL, "not a list of hosts");
	test(nodes, "n[]", NULL, "not a list of hosts");
	test(nodes, "n[1,]", NULL, "not a list of hosts");
	test(nodes, "n[x]", NULL, "not a list of hosts");
	test(nodes, "n[0-9999999999]", NULL, "not a list of hosts");
	test(nodes, "", NULL, "not a list of hosts");
	test(nodes, "a,", NULL, "not a list of hosts");
	test(nodes, "a b", NULL, "is not a host");
	/* Names that repeat: 4^8 are as many as may be, 4^15 would take minutes. */
	test(nodes, "n[1,1,1,1]" FOUR FOUR "[1,1,1,1]", "n11111111:1", NULL);
	test(nodes, "n[1,1,1,1]" FOUR FOUR "[1,1,1,1],m", NULL, "names hosts more than 65536 times");
	test(nodes, "n" FOUR FOUR FOUR FOUR FOUR, NULL, "names hosts more than 65536 times");
}

static void test_environment(void)
{
	struct allocation a;
	struct buf b = BUF_INIT;
	struct err e = { 0, "" };

	unsetenv("SLURM_JOB_NODELIST");
	unsetenv("PBS_NODEFILE");
	unsetenv("LSB_MCPU_HOSTS");
	tap_ok(!allocation_find(&a, &e) && !a.hosts.n, "no batch system");
	setenv("LSB_MCPU_HOSTS", "a 4 b 2", 1);
	tap_ok(!allocation_find(&a, &e) && a.launcher == LAUNCHER_EXEC && !strcmp(a.agent, "blaunch"), "LSF");
	show(&a.hosts, &b);
	tap_is_str(b.data, "a:1 b:1", "its hosts");
	hosts_release(&a.hosts);
	unsetenv("LSB_MCPU_HOSTS");
	setenv("PBS_NODEFILE", "nodes", 1);
	tap_is_int(allocation_find(&a, &e), -ERR_NO_INPUT, "PBS, whose file is missing");
	{
		FILE *f = fopen("nodes", "w");

		fputs("n1\nn1\nn2\nn2\n", f);
		fclose(f);
	}
	tap_ok(!allocation_find(&a, &e) && a.launcher == LAUNCHER_SSH, "PBS");
	show(&a.hosts, &b);
	tap_is_str(b.data, "n1:1 n2:1", "each of its hosts once");
	hosts_release(&a.hosts);
	setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
	tap_ok(!allocation_find(&a, &e) && a.launcher == LAUNCHER_SRUN && a.hosts.n == 2, "Slurm");
	hosts_release(&a.hosts);
	setenv("SLURM_JOB_NODELIST", "n1", 1);
	tap_ok(!allocation_find(&a, &e) && !a.hosts.n, "of one host nothing is made");
	setenv("SLURM_JOB_NODELIST", "n[", 1);
	tap_ok(allocation_find(&a, &e) == -ERR_CONFIG && strstr(e.text, "SLURM_JOB_NODELIST: "), "a list that is none is named");
	setenv("SLURM_JOB_NODELIST", "n1,-x", 1);
	tap_ok(allocation_find(&a, &e) == -ERR_CONFIG && e.code == -ERR_CONFIG
			&& strstr(e.text, "SLURM_JOB_NODELIST: `-x` is not a host"),
		"a name that is none is no fault of the command line: %s", e.text);
	buf_release(&b);
}

static void test_command(const struct launch_place *p, const char *want)
{
	arena_auto a = { 0 };
	char **argv = launch_argv(p, &a);
	struct buf b = BUF_INIT;

	for (size_t i = 0; argv[i]; i++)
		buf_printf(&b, "%s<%s>", i ? " " : "", argv[i]);
	tap_is_str(b.data, want, "%s", launch_row(p->launcher)->name);
	buf_release(&b);
}

int main(void)
{
	const char *agent;

	test_lists();
	test_nodes();
	test_environment();
	test_command(&(struct launch_place){ LAUNCHER_LOCAL, NULL, "local", "/a b/qcnn", false, false },
		"</a b/qcnn> <worker>");
	test_command(&(struct launch_place){ LAUNCHER_EXEC, "my-agent  -q", "user@h", "/it's/qcnn",
			     false, false },
		"<my-agent> <-q> <user@h> <exec '/it'\\''s/qcnn' worker>");
	tap_ok(launcher_find("exec:a b", &agent) == LAUNCHER_EXEC && !strcmp(agent, "a b"), "exec:a b");
	tap_ok(launcher_find("ssh", &agent) == LAUNCHER_SSH && !agent, "ssh");
	tap_ok(!launcher_find("exec:", &agent) && !launcher_find("exec", &agent) && !launcher_find("rsh", &agent), "others are none");
	return tap_done();
}
