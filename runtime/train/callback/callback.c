/* SPDX-License-Identifier: Apache-2.0
 * The callbacks of callback.def: their rows, and whether they fit a job. */
#include "runtime/train/callback/callback_parts.h"

#include <float.h>
#include <string.h>

#include "runtime/log/event_folders.h"
#include "runtime/train/option/option_table.h"

#define BELOW_ONE (1 - DBL_EPSILON / 2)

static const struct callback_row table[CALLBACK_COUNT] = {
#define CALLBACK(id, text, origin, result, options) [CALLBACK_##id] = { \
	.name = #id, .doc = text, .source = origin, .changes_result = result, \
	.noption = OPTION_COUNT_OF(OPTION_ROWS options), .option = { OPTION_ROWS options } },
#include "runtime/train/callback/callback.def"
#undef CALLBACK
};

TABLE_OF_ROWS(callback_row, callback_rows, callback_find)

static void set_default(struct callback_choice *o, unsigned id)
{
	*o = (struct callback_choice){ .id = (enum callback_id)id };
	for (unsigned k = 0; k < table[id].noption; k++) {
		o->option[k] = table[id].option[k].value;
		o->text[k] = table[id].option[k].kind == VALUE_TEXT ? table[id].option[k].words : NULL;
	}
}

void callback_defaults(struct callback_set *s)
{
	s->n = CALLBACK_COUNT;
	for (unsigned i = 0; i < CALLBACK_COUNT; i++)
		set_default(&s->of[i], i);
}

struct callback_choice *callback_add(struct callback_set *s, enum callback_id id)
{
	struct callback_choice *o = &s->of[id];

	if (o->enabled && s->n == sizeof s->of / sizeof *s->of)
		BUG("more than %d callbacks", CALLBACKS_MAX);
	if (o->enabled)
		o = &s->of[s->n++];
	set_default(o, id);
	o->enabled = true;
	return o;
}

const struct callback_choice *callback_next(const struct train_job *j, enum callback_id id, const struct callback_choice *after)
{
	const struct callback_choice *o = !after ? j->callbacks ? j->callbacks->of : NULL : after + 1;

	for (; o && o < j->callbacks->of + j->callbacks->n; o++)
		if (o->id == id && o->enabled)
			return o;
	return NULL;
}

const char *callback_stop_monitor(const struct train_job *j, unsigned which)
{
	const struct callback_choice *o = callback_next(j, CALLBACK_early_stopping, NULL);

	while (o && which--)
		o = callback_next(j, CALLBACK_early_stopping, o);
	return o ? o->text[STOP_MONITOR] : NULL;
}

/* ---- what can be monitored ---- */

bool callback_monitor(const struct train_job *j, const char *name, struct monitor *m)
{
	const struct measures *s = &j->measures;

	*m = (struct monitor){ .name = name, .metric = -1 };
	if (!strncmp(name, "val_", 4)) {
		m->validation = true;
		name += 4;
	}
	if (!strcmp(name, "loss"))
		return true;
	for (unsigned k = 0; k < s->nmetric; k++)
		if (!strcmp(s->metric[k].row->name, name)) {
			m->metric = (int)k;
			m->rises = s->metric[k].row->rises;
			return !metric_side(s->metric[k].row, j->program->noutput);
		}
	return false;
}

double monitor_value(const struct train_job *j, const struct monitor *m, const struct epoch_record *r)
{
	if (m->validation && !r->has_validation)
		return NAN;
	if (m->metric < 0)
		return m->validation ? r->val_loss : r->loss;
	return (m->validation ? r->val_metric : r->metric)[measures_at(&j->measures, (unsigned)m->metric, j->program->noutput)];
}

void callback_names(const struct train_job *j, struct buf *out)
{
	const struct measures *s = &j->measures;

	for (unsigned validation = 0; validation < 1u + (j->validation.nrow > 0); validation++) {
		const char *prefix = validation ? "val_" : "";

		buf_printf(out, "%s%sloss", validation ? ", " : "", prefix);
		for (unsigned k = 0; k < s->nmetric; k++)
			if (!metric_side(s->metric[k].row, j->program->noutput))
				buf_printf(out, ", %s%s", prefix, s->metric[k].row->name);
	}
}

/* ---- checks ---- */

static int check_monitor(const struct train_job *j, enum callback_id id, const char *name, struct err *e)
{
	struct monitor m;
	buf_auto names = BUF_INIT;
	int code = 0;

	callback_names(j, &names);
	if (!callback_monitor(j, name, &m))
		code = err_set(e, -ERR_CONFIG, "train.callbacks.%s monitors %s, which is not measured; there are %s",
			table[id].name, name, names.data);
	else if (m.validation && !j->validation.nrow)
		code = err_set(e, -ERR_CONFIG,
			"train.callbacks.%s monitors %s, but there are no validation data; monitor one of %s, or give data.validation or data.split",
			table[id].name, name, names.data);
	return code;
}

/* As a/b for a/./c/../b; what leads out of the folder stays. */
static void plain_path(const char *path, struct buf *out)
{
	for (size_t n; n = strcspn(path, "/"), *path; path += n + (path[n] == '/')) {
		const char *slash = out->len ? strrchr(out->data, '/') : NULL,
			   *last = slash ? slash + 1 : out->data;

		if (n == 2 && !memcmp(path, "..", 2) && out->len && strcmp(last, "..")) {
			out->len = slash ? (size_t)(slash - out->data) : 0;
			out->data[out->len] = 0;
		} else if (n && !(n == 1 && *path == '.')) {
			buf_printf(out, "%s%.*s", out->len ? "/" : "", (int)n, path);
		}
	}
	buf_str(out, "");
}

/* Does the plain path, relative to the run's folder, lead to what the run itself writes there? */
static bool is_of_run(const char *path)
{
	static const char *const file[] = { "config.yaml", "model.qcnn", "weights.bin",
		"metrics.jsonl", "history.csv", "run.json", "report.html", "command.log",
		"state.bin" };
	const char *const folder[] = { "checkpoint", event_folder_name(EVENTS_TRAIN),
		event_folder_name(EVENTS_VALIDATION) };

	size_t n = strcspn(path, "/");
	if (text_among(path, file, sizeof file / sizeof *file))
		return true;
	for (size_t i = 0; path[n] && i < sizeof folder / sizeof *folder; i++)
		if (strlen(folder[i]) == n && !strncmp(path, folder[i], n))
			return true;
	return false;
}

static int check_path(const struct train_job *j, enum callback_id id, const char *template, struct err *e)
{
	struct epoch_record r = { .restart = j->restarts - 1, .epoch = j->epochs };
	buf_auto path = BUF_INIT, plain = BUF_INIT;
	int code = callback_path(j, template, &r, 1, &path, e);

	if (code)
		err_prefix(e, "train.callbacks.%s.path", table[id].name);
	plain_path(template, &plain);
	if (!code && *template != '/' && is_of_run(plain.data))
		code = err_set(e, -ERR_CONFIG,
			"train.callbacks.%s.path: %s is what the run itself writes in its folder; give another name",
			table[id].name, template);
	return code;
}

static int check_saving(const struct train_job *j, const struct callback_choice *o, struct err *e)
{
	int code = check_path(j, CALLBACK_checkpoint, o->text[SAVE_PATH], e);
	struct monitor m;

	if (code || o->option[SAVE_BEST_ONLY] == 0)
		return code;
	code = check_monitor(j, CALLBACK_checkpoint, o->text[SAVE_MONITOR], e);
	if (!code && value_given(o->option[SAVE_FREQ]) && callback_monitor(j, o->text[SAVE_MONITOR], &m) && m.validation)
		code = err_set(e, -ERR_CONFIG, "train.callbacks.checkpoint monitors %s, which is known at the ends of epochs alone; set save_freq to epoch, or monitor to %s",
			m.name, m.name + strlen("val_"));
	return code;
}

static int check_plateau(const struct train_job *j, const struct callback_choice *o, struct err *e)
{
	int code = check_monitor(j, CALLBACK_reduce_lr_on_plateau, o->text[PLATEAU_MONITOR], e);

	if (!code && j->schedule.row && strcmp(j->schedule.row->name, "constant"))
		code = err_set(e, -ERR_CONFIG,
			"train.callbacks.reduce_lr_on_plateau and train.schedule %s both set the learning rate; leave one out",
			j->schedule.row->name);
	if (!code && !optimizer_has_rate(j->optimizer))
		code = err_set(e, -ERR_CONFIG,
			"train.callbacks.reduce_lr_on_plateau changes the learning rate, but the optimizer %s controls its own",
			j->optimizer->name);
	return code;
}

static int check_csv(const struct train_job *j, const struct callback_choice *o, struct err *e)
{
	const char *s = o->text[CSV_SEPARATOR];

	if (!s[0] || s[1] || (unsigned char)s[0] > 0x7e || strchr("\"'\r\n.+-_", s[0]) || (s[0] >= '0' && s[0] <= '9')
		|| (s[0] >= 'A' && s[0] <= 'Z') || (s[0] >= 'a' && s[0] <= 'z'))
		return err_set(e, -ERR_CONFIG, "train.callbacks.csv.separator is \"%s\"; it must be one character that is in no number or name, for example \",\", \";\" or \"\\t\"", s);
	return check_path(j, CALLBACK_csv, o->text[CSV_PATH], e);
}

static int check_stopping(const struct train_job *j, const struct callback_choice *o, struct err *e)
{
	return check_monitor(j, CALLBACK_early_stopping, o->text[STOP_MONITOR], e);
}

static int check_command(const struct train_job *j, const struct callback_choice *o, struct err *e)
{
	if (!((unsigned)o->option[HOOK_ON] & ON_CHECKPOINT) || callback_next(j, CALLBACK_checkpoint, NULL))
		return 0;
	return err_set(e, -ERR_CONFIG,
		"train.callbacks.command is to run at each checkpoint, but train.callbacks.checkpoint is not given");
}

/* The path that a callback writes to, NULL: none. */
static const char *path_of(const struct callback_choice *o)
{
	return !o->enabled ? NULL : o->id == CALLBACK_checkpoint ? o->text[SAVE_PATH] : o->id == CALLBACK_csv ? o->text[CSV_PATH] : NULL;
}

static bool same_path(const char *a, const char *b)
{
	buf_auto x = BUF_INIT, y = BUF_INIT;

	plain_path(a, &x);
	plain_path(b, &y);
	return (*a == '/') == (*b == '/') && !strcmp(x.data, y.data);
}

static int check_paths_differ(const struct callback_set *s, struct err *e)
{
	for (unsigned i = 0; i < s->n; i++)
		for (unsigned k = 0; path_of(&s->of[i]) && k < i; k++)
			if (path_of(&s->of[k]) && same_path(path_of(&s->of[i]), path_of(&s->of[k])))
				return err_set(e, -ERR_CONFIG, "train.callbacks: %s and %s both write to %s; give each a path of its own",
					table[s->of[k].id].name, table[s->of[i].id].name, path_of(&s->of[i]));
	return 0;
}

int callbacks_check(const struct train_job *j, struct err *e)
{
	static int (*const check[CALLBACK_COUNT])(const struct train_job *j, const struct callback_choice *o, struct err *e) = {
		[CALLBACK_early_stopping] = check_stopping, [CALLBACK_checkpoint] = check_saving,
		[CALLBACK_reduce_lr_on_plateau] = check_plateau, [CALLBACK_csv] = check_csv, [CALLBACK_command] = check_command };
	int code = 0;

	for (unsigned i = 0; !code && j->callbacks && i < j->callbacks->n; i++)
		if (j->callbacks->of[i].enabled)
			code = check[j->callbacks->of[i].id](j, &j->callbacks->of[i], e);
	return code || !j->callbacks ? code : check_paths_differ(j->callbacks, e);
}
