/* SPDX-License-Identifier: Apache-2.0
 * Reads what batch systems put into the environment. */
#include "runtime/net/launch/allocation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 9, NAMES_MAX = 16 * HOSTS_MAX /* with those that a list repeats */ };

/* What a list of Slurm's expands to. */
struct names {
	struct hosts *hosts;
	uint32_t n;
};

static int none_of(const char *list, struct err *e)
{
	return err_set(e, -ERR_CONFIG, "`%.80s` is not a list of hosts in Slurm's format", list);
}

/* A host once, however often it is named. */
static int add_once(struct hosts *h, const char *name, size_t len, struct err *e)
{
	for (size_t i = 0; i < h->n; i++)
		if (strlen(h->host[i].name) == len && !memcmp(h->host[i].name, name, len))
			return 0;
	return hosts_add(h, name, len, 1, e);
}

static int expand(const char *done, size_t ndone, const char *rest, size_t nrest, struct names *to,
	struct err *e);

/* Of one of the numbers in brackets, "7" or "01-03": with it the host's name goes on. */
static int expand_range(const char *done, size_t ndone, const char *range, size_t nrange,
	const char *rest, size_t nrest, struct names *to, struct err *e)
{
	const char *dash = memchr(range, '-', nrange);
	size_t width = dash ? (size_t)(dash - range) : nrange, nlast = dash ? nrange - width - 1 : width;
	char name[HOST_NAME_LONGEST + DIGITS_MAX + 1];
	int code = 0;

	if (!width || width > DIGITS_MAX || !nlast || nlast > DIGITS_MAX || ndone > HOST_NAME_LONGEST
			|| strspn(range, "0123456789") < width || (dash && strspn(dash + 1, "0123456789") < nlast))
		return none_of(range, e);
	unsigned long first = strtoul(range, NULL, 10);
	unsigned long last = dash ? strtoul(dash + 1, NULL, 10) : first;
	if (last < first || last - first >= HOSTS_MAX)
		return none_of(range, e);
	for (unsigned long k = first; !code && k <= last; k++) {
		int n = snprintf(name, sizeof name, "%.*s%0*lu", (int)ndone, done, (int)width, k);

		code = expand(name, (size_t)n, rest, nrest, to, e);
	}
	return code;
}

/* What is known of a name, and what follows: text, and brackets. */
static int expand(const char *done, size_t ndone, const char *rest, size_t nrest, struct names *to,
	struct err *e)
{
	const char *open = memchr(rest, '[', nrest), *close = memchr(rest, ']', nrest);
	char name[2 * HOST_NAME_LONGEST + 1];
	size_t before = open ? (size_t)(open - rest) : nrest;
	int n, code = 0;

	if (ndone + before > HOST_NAME_LONGEST || !open != !close || (open && close < open))
		return none_of(rest, e);
	n = snprintf(name, sizeof name, "%.*s%.*s", (int)ndone, done, (int)before, rest);
	if (!open && to->n++ == NAMES_MAX)
		return err_set(e, -ERR_CONFIG, "the list names hosts more than %d times", NAMES_MAX);
	if (!open)
		return add_once(to->hosts, name, (size_t)n, e);
	for (const char *p = open + 1; !code; ) {
		size_t len = strcspn(p, ",]");

		code = expand_range(name, (size_t)n, p, len, close + 1,
			nrest - (size_t)(close + 1 - rest), to, e);
		p += len;
		if (*p++ == ']')
			break;
	}
	return code;
}

int allocation_expand(const char *list, struct hosts *h, struct err *e)
{
	struct names to = { h, 0 };
	int code = 0;

	for (const char *p = list; !code; ) {
		size_t len = 0;
		int depth = 0;

		for (; p[len] && (depth || p[len] != ','); len++)
			depth += (p[len] == '[') - (p[len] == ']');
		code = len ? expand("", 0, p, len, &to, e) : none_of(list, e);
		p += len;
		if (!*p++)
			break;
	}
	return code;
}

/* "a 4 b 4": hosts, and processors that are not looked at. */
static int expand_pairs(const char *text, struct hosts *h, struct err *e)
{
	int code = 0;
	bool is_host = true;

	while (!code && *(text += strspn(text, " "))) {
		size_t len = strcspn(text, " ");

		if (is_host)
			code = add_once(h, text, len, e);
		is_host = !is_host;
		text += len;
	}
	return code;
}

static int expand_file(const char *path, struct hosts *h, struct err *e)
{
	struct hosts all = { NULL, 0, 0 };
	int code = hosts_add_file(&all, path, e);

	for (size_t i = 0; !code && i < all.n; i++)
		code = add_once(h, all.host[i].name, strlen(all.host[i].name), e);
	hosts_release(&all);
	return code;
}

int allocation_find(struct allocation *a, struct err *e)
{
	const char *slurm = getenv("SLURM_JOB_NODELIST"), *pbs = getenv("PBS_NODEFILE"), *lsf = getenv("LSB_MCPU_HOSTS");
	int code = 0;

	*a = (struct allocation){ .launcher = LAUNCHER_SSH };
	if (slurm) {
		a->system = "Slurm";
		a->why = "SLURM_JOB_NODELIST";
		a->launcher = LAUNCHER_SRUN;
		code = allocation_expand(slurm, &a->hosts, e);
		if (code)
			err_prefix(e, "SLURM_JOB_NODELIST");
	} else if (pbs) {
		a->system = "PBS";
		a->why = "PBS_NODEFILE";
		code = expand_file(pbs, &a->hosts, e);
	} else if (lsf) {
		a->system = "LSF";
		a->why = "LSB_MCPU_HOSTS";
		a->launcher = LAUNCHER_EXEC;
		a->agent = "blaunch";
		code = expand_pairs(lsf, &a->hosts, e);
		if (code)
			err_prefix(e, "LSB_MCPU_HOSTS");
	}
	if (code == -ERR_USAGE) { /* the command line is not at fault */
		code = -ERR_CONFIG;
		if (e)
			e->code = code;
	}
	if (code || a->hosts.n == 1)
		hosts_release(&a->hosts);
	return code;
}
