/* SPDX-License-Identifier: Apache-2.0
 * Parses the limits of GPUs, processors and links that options give. */
#include "cli/gpu_limits.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct limit_key {
	const char *key;
	size_t at;
};

static const struct limit_key gpu_keys[] = {
	{ "memory", offsetof(struct plan_limits, stream_gb_s) },
	{ "single", offsetof(struct plan_limits, single_gflop_s) },
	{ "double", offsetof(struct plan_limits, double_gflop_s) },
	{ "units", offsetof(struct plan_limits, units) },
	{ "convert", offsetof(struct plan_limits, convert_g_s) },
	{ "link", offsetof(struct plan_limits, link_gb_s) },
	{ "launch", offsetof(struct plan_limits, launch_us) },
	{ "copy", offsetof(struct plan_limits, copy_us) },
	{ "wait", offsetof(struct plan_limits, wait_us) },
	{ NULL, 0 },
};

static const struct limit_key machine_keys[] = {
	{ "stream", offsetof(struct plan_limits, stream_gb_s) },
	{ "write", offsetof(struct plan_limits, write_gb_s) },
	{ "l2", offsetof(struct plan_limits, l2_gb_s) },
	{ "single", offsetof(struct plan_limits, single_gflop_s) },
	{ "double", offsetof(struct plan_limits, double_gflop_s) },
	{ NULL, 0 },
};

/* limit: as the first of gpu_keys. */
static const struct gpu {
	const char *name, *text;
	double limit[6];
} gpus[] = {
#define GPU(name, text, ...) { name, text, { __VA_ARGS__ } },
#include "cli/gpus.def"
#undef GPU
};

static double *limit_at(struct plan_limits *l, const struct limit_key *key)
{
	return (double *)((char *)l + key->at);
}

/* The limits of a GPU by its name, which stands before others. */
static int name_gpu(const char *word, size_t len, bool first, struct plan_limits *l, struct err *e)
{
	buf_auto names = BUF_INIT;

	for (size_t k = 0; k < sizeof gpus / sizeof *gpus; k++) {
		if (first && strlen(gpus[k].name) == len && !strncmp(gpus[k].name, word, len)) {
			l->name = gpus[k].text;
			for (size_t i = 0; i < sizeof gpus->limit / sizeof *gpus->limit; i++)
				*limit_at(l, &gpu_keys[i]) = gpus[k].limit[i];
			return 0;
		}
		buf_printf(&names, "%s%s", k ? ", " : "", gpus[k].name);
	}
	return err_set(e, -ERR_USAGE,
		"no GPU is named %.*s here: there are %s; for others, give their limits", (int)len,
		word, names.data);
}

static int set_limit(const struct limit_key *key, const char *names, const char *word, size_t len,
	struct plan_limits *l, struct err *e)
{
	for (; key->key; key++) {
		size_t nkey = strlen(key->key);
		char *end;

		if (len <= nkey || strncmp(word, key->key, nkey) || word[nkey] != '=')
			continue;
		double x = strtod(word + nkey + 1, &end);
		if (end != word + len || end == word + nkey + 1 || !(x > 0) || !isfinite(x))
			return err_set(e, -ERR_USAGE, "%.*s: %s is a number greater than 0",
				(int)len, word, key->key);
		*limit_at(l, key) = x;
		return 0;
	}
	return err_set(e, -ERR_USAGE, "%.*s: limits are %s, each followed by = and a number",
		(int)len, word, names);
}

/* Limits with commas between; of a GPU, its name may be first. */
static int read_limits(const char *text, const struct limit_key *keys, const char *names,
	struct plan_limits *l, struct err *e)
{
	int code = 0;

	for (const char *word = text; !code; word++) {
		size_t len = strcspn(word, ",");

		if (keys == gpu_keys && !memchr(word, '=', len))
			code = name_gpu(word, len, word == text, l, e);
		else
			code = set_limit(keys, names, word, len, l, e);
		word += len;
		if (!*word)
			break;
	}
	return code;
}

int machine_limits(const char *text, struct plan_limits *l, struct err *e)
{
	return read_limits(text, machine_keys, "stream, write, l2, single and double", l, e);
}

int gpu_limits(const char *text, struct plan_limits *l, struct err *e)
{
	return read_limits(text, gpu_keys,
		"memory, single, double, units, convert, link, launch, copy and wait", l, e);
}

int link_limits(const char *text, bool is_split, struct plan_limits *l, struct err *e)
{
	char *end;

	if (!text)
		return 0;
	if (!is_split)
		return err_set(e, -ERR_USAGE,
			"--link is for states that are split: set run.split (train), or give --ranks (compile)");
	l->exchange_gb_s = strtod(text, &end);
	if (end != text && *end == ',') {
		const char *us = end + 1;

		l->message_us = strtod(us, &end);
		if (end == us)
			end = (char *)text;
	}
	if (end == text || *end || !(l->exchange_gb_s > 0) || !isfinite(l->exchange_gb_s)
		|| !(l->message_us >= 0) || !isfinite(l->message_us))
		return err_set(e, -ERR_USAGE,
			"--link=%s: give GB/s, greater than 0, and after a comma microseconds a message, if any",
			text);
	return 0;
}
