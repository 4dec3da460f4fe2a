/* SPDX-License-Identifier: Apache-2.0
 * Processes cut into groups, and the text by which the first of a group learns where the others are: whole, cut off, and with
 * other bytes in it. */
#include "cli/hosts/worker_groups.h"

#include <stdio.h>
#include <string.h>

#include "tests/tap.h"

static const struct coordinator_options by_ssh = { .launcher = LAUNCHER_SSH, .encrypt = true };

/* The hosts of the workers, and the places of each, in brackets. */
static const char *cut(const char *list, unsigned nrank, const struct coordinator_options *launch)
{
	static char text[2000];
	struct worker_groups g = { 0 };
	struct hosts h = { 0 };
	struct err e;
	size_t n = 0;

	if (hosts_add_list(&h, list, &e))
		tap_bail("%s", e.text);
	if (worker_groups_cut(&h, nrank, launch, launch->agent ? RANK_LINK_NCCL : RANK_LINK_AUTO,
		    &g, &e)) {
		snprintf(text, sizeof text, "%s", e.text);
	} else {
		for (size_t i = 0; i < h.n; i++)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s:%u ", h.host[i].name,
				h.host[i].nworker);
		for (unsigned k = 0; k < g.n; k++)
			n += (size_t)snprintf(text + n, sizeof text - n, "[%s]", g.places[k].data);
	}
	for (char *c = text; *c; c++)
		*c = *c == '\n' ? '/' : *c;
	hosts_release(&h);
	worker_groups_release(&g);
	return text;
}

static void test_cut(void)
{
	const struct coordinator_options agent = { .launcher = LAUNCHER_EXEC,
		.agent = "my agent",
		.program = "/opt/qcnn",
		.iface = "ib0",
		.push = true };

	tap_is_str(cut("local:4", 2, &by_ssh),
		"local:2 [ssh////encrypt/local/][ssh////encrypt/local/]",
		"two groups on this machine");
	tap_is_str(cut("a:3,b", 2, &by_ssh), "a:2 [ssh////encrypt/local/][ssh////encrypt/b/]",
		"a group on a, and one that begins there");
	tap_is_str(cut("a,b,c,d", 2, &by_ssh), "a:1 c:1 [ssh////encrypt/b/][ssh////encrypt/d/]",
		"a group on each two hosts");
	tap_is_str(cut("a,b", 4, &by_ssh), "a:1 [ssh////encrypt/local/b/b/]",
		"fewer processes than ranks stand for several");
	tap_is_str(cut("local,b", 2, &agent), "local:1 [exec:my agent//opt/qcnn/ib0/push/ nccl/b/]",
		"how the others are started");
	tap_is_str(cut("a,local", 2, &by_ssh),
		"a group that begins on a has a process on `local`: give this machine the name by which a reaches "
		"it, or list it first",
		"local behind another host");
}

/* -ERR_PROTOCOL, or another code that says that the text was understood: none of the hosts exists. */
static int start(const char *places, size_t n, uint32_t nrank)
{
	struct evaluator_options o = { .split = 64, .nthread = 1 };
	struct wire_job job = { .share = 1, .nrank = nrank, .places = places, .nplaces = (uint32_t)n };
	struct worker_group g = { 0 };
	struct err e = { 0 };
	int code = worker_group_start(&g, &job, &o, &e);

	worker_group_end(&g);
	return code;
}

static void test_text(void)
{
	static const char whole[] = "ssh\n\n\n\nencrypt\nno.host.invalid\n";
	static const char *const wrong[] = { "", "\n", "carrier\n\n\n\n\na\n", "exec:\n\n\n\n\na\n",
		"ssh\n\n\n\n\n\n", "ssh\n\n\n\n\na\nb\n", "ssh\n\n\n\n\na" };
	char cut_off[sizeof whole], name[400] = "ssh\n\n\n\n\n";
	unsigned nright = 0;

	tap_is_int(start(whole, strlen(whole), 2), -ERR_UNREACHABLE, "a whole text is understood");
	tap_is_int(start(NULL, 0, 0), 0, "no group: nothing is started");
	for (size_t n = 0; n < strlen(whole); n++) {
		memcpy(cut_off, whole, n);
		nright += start(cut_off, n, 2) != -ERR_PROTOCOL;
	}
	tap_is_int(nright, 0, "none that is cut off is");
	memcpy(cut_off, whole, sizeof whole);
	cut_off[6] = 0;
	tap_is_int(start(cut_off, strlen(whole), 2), -ERR_PROTOCOL, "a zero in it");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		tap_is_int(start(wrong[i], strlen(wrong[i]), 2), -ERR_PROTOCOL, "wrong text %zu", i);
	tap_is_int(start(whole, strlen(whole), 1), -ERR_PROTOCOL, "a group of one");
	tap_is_int(start(whole, strlen(whole), 128), -ERR_PROTOCOL, "a group of too many");
	memset(name + strlen(name), 'a', 300);
	strcat(name, "\n");
	tap_is_int(start(name, strlen(name), 2), -ERR_PROTOCOL, "a name that is too long");
}

int main(void)
{
	test_cut();
	test_text();
	return tap_done();
}
