/* SPDX-License-Identifier: Apache-2.0
 * Means and deviations of runs that differ in the seed or the fold alone. */
#include "cli/commands/runs_summary.h"

#include <math.h>
#include <string.h>

#include "cli/commands/runs_compare.h"
#include "cli/commands/runs_summary_figures.h"
#include "cli/job/run_config.h"
#include "cli/job/run_metrics.h"
#include "cli/output/table.h"
#include "runtime/base/arena.h"

/* ---- groups: {"config", "model", "names", "at": [number in the list of runs], "values": {metric: [number]}} ---- */

struct summary {
	const struct run_list *list;
	struct arena arena; /* of names */
	json_t *groups; /* from the text of a configuration and model to its group, the newest first */
	json_t *seen;     /* texts with seed and fold: a repeated training counts once */
	json_t *metrics;  /* names, in the order of their first appearance */
	json_t *matrices; /* those of confusion matrices */
	size_t nrun;
};

/* The configuration, or its digest where this program cannot read it; `fold` is given, as 1 is where it is not. */
static json_t *config_of(const struct run_folder *r)
{
	json_t *v = run_config(r, &(struct config_resolved){ NULL });
	json_t *split = json_object_get(json_object_get(v, "data"), "split");

	if (json_object_get(split, "folds") && !json_object_get(split, "fold"))
		json_object_set_new(split, "fold", json_integer(1));
	return v ? v
		 : json_pack("{s:O?}", "config_sha256", json_object_get(r->record, "config_sha256"));
}

static void text_of(const json_t *config, const char *model, struct buf *out)
{
	buf_clear(out);
	json_write(config, out);
	buf_str(out, model);
}

/* Does this value rank runs, and is it of the last epoch? */
static bool is_result(const char *key, const json_t *v)
{
	return json_is_number(v) && isfinite(json_number_value(v)) && run_metrics_rise(key) >= 0
		&& strncmp(key, "best_", 5);
}

static void add_values(struct summary *s, json_t *group, const struct run_folder *r)
{
	json_t *values = json_object_get(group, "values"), *v;
	const char *key;

	json_array_append_new(json_object_get(group, "names"), json_string(r->name));
	json_array_append_new(json_object_get(group, "at"), json_integer(r - s->list->run));
	json_object_foreach(json_object_get(r->record, "metrics"), key, v) {
		if (path_ends(key, "confusion") && json_is_array(v))
			json_object_set_new(s->matrices, key, json_true());
		if (!is_result(key, v))
			continue;
		json_object_set_new(s->metrics, key, json_true());
		if (!json_object_get(values, key))
			json_object_set_new(values, key, json_array());
		json_array_append(json_object_get(values, key), v);
	}
}

static void add_run(struct summary *s, const struct run_folder *r)
{
	json_auto_t *config = config_of(r);
	buf_auto text = BUF_INIT;
	json_t *group;
	char model[SHA256_HEX + 1];

	runs_model_digest(r, model);
	text_of(config, model, &text);
	if (json_object_get(s->seen, text.data))
		return;
	json_object_set_new(s->seen, text.data, json_true());
	json_object_del(json_object_get(config, "run"), "seed");
	json_object_del(json_object_get(json_object_get(config, "data"), "split"), "fold");
	text_of(config, model, &text);
	group = json_object_get(s->groups, text.data);
	if (!group) {
		group = json_pack("{s:O, s:s, s:[], s:[], s:{}}", "config", config, "model", model,
			"names", "at", "values");
		json_object_set_new(s->groups, text.data, group);
	}
	add_values(s, group, r);
	s->nrun++;
}

/* ---- numbers ---- */

struct statistics {
	size_t n;
	double mean, deviation, low, high;
}; /* deviation: of a sample, NaN for one run */

static struct statistics statistics_of(const json_t *group, const char *metric)
{
	const json_t *values = json_object_get(json_object_get(group, "values"), metric);
	struct statistics s = { .n = json_array_size(values), .low = INFINITY, .high = -INFINITY };
	double sum = 0;

	for (size_t i = 0; i < s.n; i++) {
		double v = json_number_value(json_array_get(values, i));

		s.mean += v / (double)s.n;
		s.low = fmin(s.low, v);
		s.high = fmax(s.high, v);
	}
	for (size_t i = 0; i < s.n; i++) {
		double d = json_number_value(json_array_get(values, i)) - s.mean;

		sum += d * d;
	}
	s.deviation = s.n > 1 ? sqrt(sum / (double)(s.n - 1)) : NAN;
	return s;
}

/* Does --metric leave this one: that metric, in training, validation and test? */
static bool is_wanted(const struct cli *c, const char *key)
{
	static const char *const part[] = { "", "val_", "test_" };
	const char *metric = c->options.value[OPT_RUNS_METRIC];
	bool wanted = !c->options.given[OPT_RUNS_METRIC];

	for (size_t i = 0; i < sizeof part / sizeof *part; i++)
		wanted |= !strncmp(key, part[i], strlen(part[i]))
			&& !strcmp(key + strlen(part[i]), metric);
	return wanted;
}

/* ---- order ---- */

/* Groups by the mean of a metric, the best first, those without it last; equal ones in their order. */
static json_t *sorted(const struct summary *s, const char *metric)
{
	json_t *all = json_array(), *group;
	const char *key;

	json_object_foreach(s->groups, key, group) {
		double v = metric ? statistics_of(group, metric).mean : 0, w;
		size_t at = json_array_size(all);

		if (metric && run_metrics_rise(metric))
			v = -v;
		for (; metric && at; at--) {
			const json_t *other = json_array_get(all, at - 1);

			w = statistics_of(other, metric).mean * (run_metrics_rise(metric) ? -1 : 1);
			if (!statistics_of(group, metric).n
				|| (statistics_of(other, metric).n && w <= v))
				break;
		}
		json_array_insert(all, at, group);
	}
	return all;
}

/* ---- what differs ---- */

/* The keys whose values differ between groups, with the flat configurations: each group's gets its model, too. */
static json_t *different_keys(const json_t *groups)
{
	json_auto_t *keys = json_object();
	json_t *differ = json_object(), *group, *v;
	const char *key;
	size_t i;

	json_array_foreach(groups, i, group) {
		json_t *flat = json_object();

		json_object_set(flat, "model", json_object_get(group, "model"));
		json_flatten(json_object_get(group, "config"), "", flat);
		json_object_set_new(group, "flat", flat);
		json_object_update_missing(keys, flat);
	}
	json_object_foreach(keys, key, v)
		json_array_foreach(groups, i, group)
			if (!json_equal(v, json_object_get(json_object_get(group, "flat"), key)))
				json_object_set_new(differ, key, json_true());
	return differ;
}

static void add_key_value(const json_t *group, const char *key, struct buf *out)
{
	const json_t *v = json_object_get(json_object_get(group, "flat"), key);

	if (json_is_string(v))
		buf_printf(out, "%.*s",
			!strcmp(key, "model") ? MODEL_DIGEST_SHOWN : (int)strlen(json_string_value(v)),
			json_string_value(v));
	else if (v)
		json_write(v, out);
	else
		buf_char(out, '-');
}

/* ---- as structs, with names ---- */

/* The last part of a key, unless another one ends so, too. */
static const char *short_key(const json_t *keys, const char *key)
{
	const char *dot = strrchr(key, '.'), *other;
	json_t *v;

	json_object_foreach((json_t *)keys, other, v)
		if (dot && strcmp(other, key) && path_ends(other, dot))
			return key;
	return dot ? dot + 1 : key;
}

/* "learning_rate=0.05, batch_size=16" */
static void group_name(const json_t *keys, const json_t *group, struct buf *out)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)keys, key, v) {
		buf_printf(out, "%s%s=", out->len ? ", " : "", short_key(keys, key));
		add_key_value(group, key, out);
	}
}

/* In the arena. over: a key that their names go without, or NULL. */
static struct summary_group *groups_of(struct summary *s, json_t *groups, const char *over)
{
	struct summary_group *all = arena_alloc(&s->arena, json_array_size(groups), sizeof *all);
	json_auto_t *keys = different_keys(groups);
	json_t *group, *at;
	size_t i, k;

	if (over)
		json_object_del(keys, over);
	json_array_foreach(groups, i, group) {
		const json_t *numbers = json_object_get(group, "at");
		buf_auto name = BUF_INIT, value = BUF_INIT;

		group_name(keys, group, &name);
		if (over)
			add_key_value(group, over, &value);
		all[i] = (struct summary_group){ .name = arena_strndup(&s->arena, name.data, name.len),
			.over = over ? arena_strndup(&s->arena, value.data, value.len) : NULL,
			.config = json_object_get(group, "config"),
			.n = json_array_size(numbers) };
		all[i].run = arena_alloc(&s->arena, all[i].n, sizeof *all[i].run);
		json_array_foreach(numbers, k, at)
			all[i].run[k] = &s->list->run[json_integer_value(at)];
	}
	return all;
}

/* ---- text ---- */

/* Both to the second digit of the deviation. */
static void add_statistics(struct table *t, struct statistics s)
{
	bool rounded = s.n > 1 && s.deviation > 1e-9 && s.deviation < 1e9;
	int decimals = rounded ? 1 - (int)floor(log10(s.deviation)) : 0;
	buf_auto b = BUF_INIT;

	decimals = decimals > 0 ? decimals : 0;
	if (rounded)
		buf_printf(&b, "%.*f \u00b1 %.*f", decimals, s.mean, decimals, s.deviation);
	else if (s.n)
		buf_printf(&b, s.n > 1 ? "%.4g \u00b1 %.2g" : "%.4g", s.mean, s.deviation);
	table_add(t, b.len ? b.data : "");
}

static void print_text(struct cli *c, const struct summary *s, json_t *groups)
{
	json_auto_t *keys = different_keys(groups);
	struct table t = { 0 };
	json_t *group, *v;
	const char *key;
	size_t i;

	table_add(&t, "runs");
	json_object_foreach(s->metrics, key, v)
		if (is_wanted(c, key))
			table_add(&t, key);
	json_object_foreach(keys, key, v)
		table_add(&t, key);
	t.ncolumn = (unsigned)t.n;
	json_array_foreach(groups, i, group) {
		table_add_number(&t, (double)json_array_size(json_object_get(group, "names")), "%.0f");
		json_object_foreach(s->metrics, key, v)
			if (is_wanted(c, key))
				add_statistics(&t, statistics_of(group, key));
		json_object_foreach(keys, key, v) {
			buf_auto text = BUF_INIT;

			add_key_value(group, key, &text);
			table_add(&t, text.len ? text.data : "-");
		}
	}
	table_print(&t, &c->out);
}

/* ---- JSON ---- */

static json_t *statistics_json(struct statistics s)
{
	return json_pack("{s:I, s:f, s:o, s:f, s:f}", "runs", (json_int_t)s.n, "mean", s.mean,
		"deviation", s.n > 1 ? json_real(s.deviation) : json_null(), "min", s.low, "max",
		s.high);
}

static json_t *matrices_json(const struct cli *c, const struct summary *s,
	const struct summary_group *g)
{
	json_t *all = json_object(), *v;
	const char *key;

	json_object_foreach(s->matrices, key, v) {
		json_t *sum = is_wanted(c, key) ? summary_confusion(g, key) : NULL;

		if (sum)
			json_object_set_new(all, key, sum);
	}
	return all;
}

static void print_json(struct cli *c, const struct summary *s, const json_t *groups,
	const struct summary_group *g)
{
	json_auto_t *all = json_pack("{s:i, s:[]}", "schema", 1, "groups");
	json_t *group, *v;
	const char *key;
	size_t i;

	json_array_foreach(groups, i, group) {
		json_t *metrics = json_object();

		json_object_foreach(s->metrics, key, v)
			if (is_wanted(c, key) && statistics_of(group, key).n)
				json_object_set_new(metrics, key,
					statistics_json(statistics_of(group, key)));
		json_array_append_new(json_object_get(all, "groups"),
			json_pack("{s:O, s:o, s:o, s:O, s:O}", "runs",
				json_object_get(group, "names"), "metrics", metrics, "confusion",
				matrices_json(c, s, &g[i]), "model", json_object_get(group, "model"),
				"config", json_object_get(group, "config")));
	}
	json_print(all, &c->out);
	buf_char(&c->out, '\n');
}

/* ---- all ---- */

/* How many of these names does --metric leave? */
static unsigned count_wanted(const struct cli *c, const json_t *names)
{
	unsigned wanted = 0;
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)names, key, v)
		wanted += is_wanted(c, key);
	return wanted;
}

/* Do the configurations differ in the key of --over? */
static int check_over(struct cli *c, json_t *groups)
{
	const char *over = c->options.value[OPT_RUNS_OVER], *key;
	json_auto_t *keys = over ? different_keys(groups) : NULL;
	buf_auto b = BUF_INIT;
	json_t *v;

	if (!over || json_object_get(keys, over))
		return 0;
	json_object_foreach(keys, key, v)
		buf_printf(&b, "%s%s", b.len ? ", " : "; they differ in ", key);
	return cli_usage(c, "the configurations do not differ in `%s`%s", over, b.len ? b.data : "");
}

static int check_words(struct cli *c, const struct summary *s)
{
	const char *sort = c->options.value[OPT_RUNS_SORT];

	if (sort && !json_object_get(s->metrics, sort))
		return cli_usage(c, "none of the runs has `%s`", sort);
	return count_wanted(c, s->metrics) + count_wanted(c, s->matrices)
		? 0
		: cli_usage(c, "none of the runs has `%s`", c->options.value[OPT_RUNS_METRIC]);
}

static int print(struct cli *c, struct summary *s, json_t *groups)
{
	const char *over = c->options.value[OPT_RUNS_OVER],
		   *metric = c->options.value[OPT_RUNS_METRIC];
	size_t n = json_array_size(groups);
	struct summary_group *g = groups_of(s, groups, over);
	int status = 0;

	if (c->options.given[OPT_SVG] && s->nrun && over) {
		status = summary_svg_over(c, g, n, over, metric);
	} else if (c->options.given[OPT_SVG] && s->nrun) {
		status = summary_svg(c, g, n, metric);
	} else if (c->options.given[OPT_JSON]) {
		print_json(c, s, groups, g);
	} else if (s->nrun) {
		if (count_wanted(c, s->metrics))
			print_text(c, s, groups);
		/* Without --metric of one part, with --metric=confusion of each. */
		for (size_t i = 0; i < n && is_wanted(c, "confusion"); i++)
			summary_confusion_text(&g[i], c->options.given[OPT_RUNS_METRIC], &c->out);
	} else {
		cli_note(c, "no run has finished");
	}
	return status;
}

int runs_summary(struct cli *c, struct run_list *l)
{
	struct summary s = { .list = l,
		.groups = json_object(),
		.seen = json_object(),
		.metrics = json_object(),
		.matrices = json_object() };
	json_t *groups = NULL;
	int status = 0;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(run_state(&l->run[i]), "finished")) {
			run_metrics_complete(&l->run[i]);
			add_run(&s, &l->run[i]);
		}
	if (s.nrun)
		status = check_words(c, &s);
	if (!status) {
		groups = sorted(&s, c->options.value[OPT_RUNS_SORT]);
		status = s.nrun ? check_over(c, groups) : 0;
	}
	if (!status)
		status = print(c, &s, groups);
	json_decref(groups);
	json_decref(s.groups);
	json_decref(s.seen);
	json_decref(s.metrics);
	json_decref(s.matrices);
	arena_release(&s.arena);
	return status;
}
