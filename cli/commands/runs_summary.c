/* SPDX-License-Identifier: Apache-2.0
 * Means and deviations of runs that differ in the seed or the fold alone. */
#include "cli/commands/runs_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/runs_compare.h"
#include "cli/commands/runs_summary_figures.h"
#include "cli/job/run_config.h"
#include "cli/job/run_metrics.h"
#include "cli/output/table.h"
#include "runtime/base/arena.h"

/* ---- groups ---- */

struct summary {
	struct arena arena;          /* of groups, their runs and their names */
	struct summary_group *group; /* the newest first, until they are sorted */
	size_t n, nrun;
	json_t *known;   /* from the text of a configuration and model to the number of its group */
	json_t *seen;    /* texts with seed and fold: a repeated training counts once */
	json_t *metrics; /* names, in the order of their first appearance */
	json_t *matrices; /* those of confusion matrices */
	json_t *keys;     /* whose values differ between groups */
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

static void note_metrics(struct summary *s, const struct run_folder *r)
{
	const char *key;
	json_t *v;

	json_object_foreach(json_object_get(r->record, "metrics"), key, v) {
		if (path_ends(key, "confusion") && json_is_array(v))
			json_object_set_new(s->matrices, key, json_true());
		/* Does this value rank runs, and is it of the last epoch? */
		if (json_is_number(v) && isfinite(json_number_value(v))
			&& run_metrics_rise(key) >= 0 && strncmp(key, "best_", 5))
			json_object_set_new(s->metrics, key, json_true());
	}
}

static void add_run(struct summary *s, const struct run_folder *r)
{
	json_auto_t *config = config_of(r);
	buf_auto text = BUF_INIT;
	char model[SHA256_HEX + 1];

	runs_model_digest(r, model);
	text_of(config, model, &text);
	if (json_object_get(s->seen, text.data))
		return;
	json_object_set_new(s->seen, text.data, json_true());
	json_object_del(json_object_get(config, "run"), "seed");
	json_object_del(json_object_get(json_object_get(config, "data"), "split"), "fold");
	text_of(config, model, &text);
	const json_t *known = json_object_get(s->known, text.data);
	size_t at = known ? (size_t)json_integer_value(known) : s->n;
	if (!known) {
		json_object_set_new(s->known, text.data, json_integer((json_int_t)at));
		*arena_push(&s->arena, s->group, s->n) =
			(struct summary_group){ .config = json_incref(config),
				.flat = json_pack("{s:s}", "model", model) };
		json_flatten(config, "", s->group[at].flat);
	}
	struct summary_group *g = &s->group[at];
	*arena_push(&s->arena, g->run, g->n) = r;
	note_metrics(s, r);
	s->nrun++;
}

/* ---- numbers ---- */

struct statistics {
	size_t n;
	double mean, deviation, low, high;
}; /* deviation: of a sample, NaN for one run */

static struct statistics statistics_of(const struct summary_group *g, const char *metric)
{
	struct statistics s = { .low = INFINITY, .high = -INFINITY };
	mem_auto double *v = mem_alloc(g->n + 1, sizeof *v);
	double sum = 0;

	for (size_t i = 0; i < g->n; i++) {
		v[s.n] = run_number(g->run[i], "metrics", metric);
		s.n += isfinite(v[s.n]) != 0;
	}
	for (size_t i = 0; i < s.n; i++) {
		s.mean += v[i] / (double)s.n;
		s.low = fmin(s.low, v[i]);
		s.high = fmax(s.high, v[i]);
	}
	for (size_t i = 0; i < s.n; i++)
		sum += (v[i] - s.mean) * (v[i] - s.mean);
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
static void sort_groups(struct summary *s, const char *metric)
{
	for (size_t i = 0; i < s->n; i++) {
		struct statistics of = statistics_of(&s->group[i], metric);
		s->group[i].rank =
			(struct ranked){ of.n ? run_metrics_rise(metric) ? -of.mean : of.mean : NAN,
				i };
	}
	qsort(s->group, s->n, sizeof *s->group, by_rank);
}

/* ---- what differs ---- */

/* The keys whose values differ between groups. */
static json_t *different_keys(const struct summary *s)
{
	json_auto_t *keys = json_object();
	json_t *differ = json_object(), *v;
	const char *key;

	for (size_t i = 0; i < s->n; i++)
		json_object_update_missing(keys, s->group[i].flat);
	json_object_foreach(keys, key, v)
		for (size_t i = 0; i < s->n; i++)
			if (!json_equal(v, json_object_get(s->group[i].flat, key)))
				json_object_set_new(differ, key, json_true());
	return differ;
}

static void add_key_value(const struct summary_group *g, const char *key, struct buf *out)
{
	const json_t *v = json_object_get(g->flat, key);

	if (json_is_string(v))
		buf_printf(out, "%.*s",
			!strcmp(key, "model") ? MODEL_DIGEST_SHOWN : (int)strlen(json_string_value(v)),
			json_string_value(v));
	else if (v)
		json_write(v, out);
	else
		buf_char(out, '-');
}

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

/* "learning_rate=0.05, batch_size=16": by the keys that differ, but for the key over (or NULL), whose value is another word. */
static void name_groups(struct summary *s, const char *over)
{
	const char *key;
	json_t *v;

	if (over)
		json_object_del(s->keys, over);
	for (struct summary_group *g = s->group; g < s->group + s->n; g++) {
		buf_auto name = BUF_INIT, value = BUF_INIT;
		json_object_foreach(s->keys, key, v) {
			buf_printf(&name, "%s%s=", name.len ? ", " : "", short_key(s->keys, key));
			add_key_value(g, key, &name);
		}
		if (over)
			add_key_value(g, over, &value);
		g->name = arena_strndup(&s->arena, name.data, name.len);
		g->over = over ? arena_strndup(&s->arena, value.data, value.len) : NULL;
	}
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

static void print_text(struct cli *c, const struct summary *s)
{
	struct table t = { 0 };
	const char *key;
	json_t *v;

	table_add(&t, "runs");
	json_object_foreach(s->metrics, key, v)
		if (is_wanted(c, key))
			table_add(&t, key);
	json_object_foreach(s->keys, key, v)
		table_add(&t, key);
	t.ncolumn = (unsigned)t.n;
	for (const struct summary_group *g = s->group; g < s->group + s->n; g++) {
		table_add_number(&t, (double)g->n, "%.0f");
		json_object_foreach(s->metrics, key, v)
			if (is_wanted(c, key))
				add_statistics(&t, statistics_of(g, key));
		json_object_foreach(s->keys, key, v) {
			buf_auto text = BUF_INIT;
			add_key_value(g, key, &text);
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

static void print_json(struct cli *c, const struct summary *s)
{
	json_t *groups = json_array(), *v;
	json_auto_t *all = json_pack("{s:i, s:o}", "schema", 1, "groups", groups);
	const char *key;

	for (const struct summary_group *g = s->group; g < s->group + s->n; g++) {
		json_t *names = json_array(), *metrics = json_object();
		for (size_t i = 0; i < g->n; i++)
			json_array_append_new(names, json_string(g->run[i]->name));
		json_object_foreach(s->metrics, key, v)
			if (is_wanted(c, key) && statistics_of(g, key).n)
				json_object_set_new(metrics, key,
					statistics_json(statistics_of(g, key)));
		json_array_append_new(groups,
			json_pack("{s:o, s:o, s:o, s:O, s:O}", "runs", names, "metrics", metrics,
				"confusion", matrices_json(c, s, g), "model",
				json_object_get(g->flat, "model"), "config", g->config));
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
static int check_over(struct cli *c, const struct summary *s)
{
	const char *over = c->options.value[OPT_RUNS_OVER], *key;
	buf_auto b = BUF_INIT;
	json_t *v;

	if (!over || json_object_get(s->keys, over))
		return 0;
	json_object_foreach(s->keys, key, v)
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

static int print(struct cli *c, struct summary *s)
{
	const char *over = c->options.value[OPT_RUNS_OVER],
		   *metric = c->options.value[OPT_RUNS_METRIC];

	name_groups(s, over);
	if (c->options.given[OPT_SVG] && s->nrun)
		return over ? summary_svg_over(c, s->group, s->n, over, metric)
			    : summary_svg(c, s->group, s->n, metric);
	if (c->options.given[OPT_JSON]) {
		print_json(c, s);
	} else if (s->nrun) {
		if (count_wanted(c, s->metrics))
			print_text(c, s);
		/* Without --metric of one part, with --metric=confusion of each. */
		for (size_t i = 0; i < s->n && is_wanted(c, "confusion"); i++)
			summary_confusion_text(&s->group[i], c->options.given[OPT_RUNS_METRIC],
				&c->out);
	} else {
		cli_note(c, "no run has finished");
	}
	return 0;
}

int runs_summary(struct cli *c, struct run_list *l)
{
	struct summary s = { .known = json_object(),
		.seen = json_object(),
		.metrics = json_object(),
		.matrices = json_object() };
	int status = 0;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(run_state(&l->run[i]), "finished")) {
			run_metrics_complete(&l->run[i]);
			add_run(&s, &l->run[i]);
		}
	if (s.nrun)
		status = check_words(c, &s);
	if (!status && s.nrun && c->options.value[OPT_RUNS_SORT])
		sort_groups(&s, c->options.value[OPT_RUNS_SORT]);
	s.keys = different_keys(&s);
	if (!status && s.nrun)
		status = check_over(c, &s);
	if (!status)
		status = print(c, &s);
	for (size_t i = 0; i < s.n; i++) {
		json_decref(s.group[i].config);
		json_decref(s.group[i].flat);
	}
	json_decref(s.known);
	json_decref(s.seen);
	json_decref(s.metrics);
	json_decref(s.matrices);
	json_decref(s.keys);
	arena_release(&s.arena);
	return status;
}
