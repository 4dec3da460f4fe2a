/* SPDX-License-Identifier: Apache-2.0
 * Runs whose configuration differs in the target and the method alone are found by the digests that ours has with each; the record of
 * one that is named says its own. */
#include "cli/training/resume_target.h"

#include <string.h>
#include <unistd.h>

#include "cli/job/record.h"
#include "cli/job/run_config.h"
#include "cli/training/backup.h"
#include "runtime/base/numerical_version.h"
#include "runtime/base/system/folder.h"

enum { TARGETS_MAX = 16, DIGESTS_MAX = 2 * TARGETS_MAX };

/* What a run computes with. */
struct means {
	const struct target *target; /* NULL: there is no run */
	enum method method;
};

enum resume_answer resume_target_answer(const struct target *run, const struct target *now,
	bool possible, bool given)
{
	if (run == now)
		return RESUME_SAME;
	if (given)
		return RESUME_NEW;
	return possible ? RESUME_TAKE : RESUME_REFUSE;
}

/* Could the run be continued?  Not one that ended before its first checkpoint, and without a name (any) neither one of
 * somebody else nor one of another numerical version. */
static bool may_resume(const struct run_folder *f, bool any)
{
	int folder = folder_open(f->path, !any);
	buf_auto why = BUF_INIT;
	bool found = false;
	struct stat st;

	for (unsigned slot = 0; folder >= 0 && !found && slot < BACKUP_FILES; slot++)
		found = !folder_stat(folder, backup_file[slot], &st);
	if (found && any)
		found = run_number(f, NULL, "numerical_version") == NUMERICAL_VERSION
			&& folder_is_own(folder, &why);
	if (folder >= 0)
		close(folder);
	return found;
}

/* The digest of the configuration with each target that --device=auto may choose, and each method that run.method leaves. */
struct digests {
	struct means means[DIGESTS_MAX];
	char text[DIGESTS_MAX][SHA256_HEX + 1];
	unsigned n;
};

static struct means means_with(const char *theirs, const struct digests *d)
{
	for (unsigned k = 0; k < d->n; k++)
		if (!strcmp(theirs, d->text[k]))
			return d->means[k];
	return (struct means){ NULL, METHOD_AUTO };
}

/* With what the configuration is that of the run. */
static struct means means_of_run(const struct run_folder *f, const struct digests *d)
{
	const char *theirs = json_string_value(json_object_get(f->record, "config_sha256"));
	char now[SHA256_HEX + 1];

	if (!theirs || !strcmp(run_state(f), "finished") || !may_resume(f, true))
		return (struct means){ NULL, METHOD_AUTO };
	struct means m = means_with(theirs, d);
	if (m.target)
		return m;
	run_config_digest(f, now);
	return means_with(now, d);
}

static bool leaves_method(const struct job *j)
{
	return !strcmp(config_text(j->config, KEY_RUN_METHOD), method_name(METHOD_AUTO));
}

/* With each target that --device=auto may choose. */
static void add_digests(struct job *j, struct digests *d)
{
	const struct target *t;
	const char *device;

	for (unsigned i = 0; (device = device_name(i)); i++)
		for (unsigned k = 0; d->n < DIGESTS_MAX && (t = target_of(device, k)); k++) {
			if (!target_is_automatic(t))
				continue;
			j->train.exec.target = t;
			d->means[d->n] = (struct means){ t, j->train.exec.method };
			record_digest(j, d->text[d->n++]);
		}
}

static void digests_make(struct job *j, struct digests *d)
{
	const struct evaluator_options now = j->train.exec;

	d->n = 0;
	add_digests(j, d);
	for (unsigned m = METHOD_AUTO + 1; m < METHOD_COUNT && leaves_method(j); m++) {
		j->train.exec.method = (enum method)m;
		if (j->train.exec.method != now.method)
			add_digests(j, d);
	}
	j->train.exec = now;
}

/* Those of a run that was named, as its record has them: its configuration may be that of a shorter training. None: others, or
 * there is nothing to go on from. */
static struct means means_recorded(const struct run_folder *f, struct job *j)
{
	const json_t *machine = json_object_get(f->record, "machine");
	const char *device = json_string_value(json_object_get(machine, "device")),
		   *isa = json_string_value(json_object_get(machine, "isa")), *name;
	const struct target *now = j->train.exec.target, *found = NULL, *t;

	for (unsigned i = 0; device && isa && may_resume(f, false) && (name = device_name(i)); i++)
		for (unsigned k = 0; !found && (t = target_of(name, k)); k++) {
			j->train.exec.target = t;
			if (target_is_automatic(t)
				&& !strcmp(device, execution_device(&j->train.exec))
				&& !strcmp(isa, execution_isa(&j->train.exec)))
				found = t;
		}
	j->train.exec.target = now;
	return (struct means){ found,
		leaves_method(j) ? method_find(run_config_method(machine)) : j->train.exec.method };
}

/* The newest of the same configuration; one with our own set first where that was asked for. NULL: none. */
static const struct run_folder *find(const struct run_list *l, struct job *j, bool given,
	struct means *means)
{
	struct digests d;
	const struct run_folder *found = NULL;

	digests_make(j, &d);
	for (size_t i = 0; i < l->n; i++) {
		struct means theirs = means_of_run(&l->run[i], &d);

		if (!theirs.target || (found && !(given && theirs.target == j->train.exec.target)))
			continue;
		found = &l->run[i];
		*means = theirs;
		if (!given || theirs.target == j->train.exec.target)
			break;
	}
	return found;
}

/* Is our target in place of theirs no choice of ours? */
static bool is_given(const struct job *j, const struct target *theirs)
{
	bool same = !strcmp(theirs->device, j->train.exec.target->device);

	return strcmp(config_text(j->config, same ? KEY_RUN_ISA : KEY_RUN_DEVICE), "auto") != 0;
}

/* The run is ours, with these targets: its method, where auto has chosen another one by now. */
static int take_method(struct cli *c, struct job *j, const struct run_folder *f, enum method theirs)
{
	const struct execution_words w = execution_of_config(j->config, j->train.program);
	struct evaluator_options o = j->train.exec;
	enum method ours = o.method;
	struct err e;

	if (theirs == ours || theirs == METHOD_AUTO)
		return 0;
	o.method = theirs;
	o.split = w.split;
	if (execution_method(&w, j->train.program, train_batch_size(&j->train), &o, &e)) {
		err_set(&e, -ERR_CONFIG,
			"%s was begun with the method %s, which is not possible here, so that it cannot end here with the same bits; begin a new run "
			"with --fresh",
			f->path, method_name(theirs));
		return cli_fail(c, &e);
	}
	cli_note(c,
		"%s was begun with the method %s, which computes here too, in place of %s, so that it ends with the same bits",
		f->path, method_name(theirs), method_name(ours));
	j->train.exec = o;
	return 0;
}

static int act(struct cli *c, struct job *j, const struct run_folder *f, const struct target *t,
	bool any, bool *taken)
{
	bool device = strcmp(t->device, j->train.exec.target->device) != 0;
	const char *theirs = t->kernels;
	struct err e;

	switch (resume_target_answer(t, j->train.exec.target, !target_obstacle(t), is_given(j, t))) {
	case RESUME_SAME: return 0;
	case RESUME_TAKE:
		cli_note(c,
			"%s was begun with %s, which computes here too, in place of %s, so that it ends with the same bits",
			f->path, theirs, j->train.exec.target->kernels);
		j->train.exec.target = t;
		if (*j->device_reason || device)
			snprintf(j->device_reason, sizeof j->device_reason,
				"the run was begun with it");
		*taken = true;
		return 0;
	case RESUME_NEW:
		if (any) /* of a named run, the difference is reported when it is opened */
			cli_note(c,
				"%s, which has not ended, differs from this training in run.%s alone: it was begun with %s; --set run.%s=%s goes on with it",
				f->path, device ? "device" : "isa", theirs,
				device ? "device" : "isa", device ? t->device : theirs);
		return 0;
	case RESUME_REFUSE: break;
	}
	if (device)
		err_set(&e, -ERR_CONFIG,
			"%s was begun with the device %s, which cannot be used here (%s), so that it cannot end here with the same bits; "
			"go on with it on a machine that has one, or here, to other last digits, with --resume=%s --device=cpu, or begin a new run with --fresh",
			f->path, t->device, target_obstacle(t), f->name);
	else
		err_set(&e, -ERR_CONFIG,
			"%s was begun with %s, which cannot run here, so that it cannot end here with the same bits; go on with it on a "
			"machine that has %s, or begin a new run with --fresh",
			f->path, theirs, theirs);
	return cli_fail(c, &e);
}

int resume_target(struct cli *c, struct job *j, bool *taken)
{
	const char *word = c->options.value[OPT_RESUME], *dir = config_text(j->config, KEY_LOG_DIR);
	const bool any = !strcmp(word, "auto"),
		   given = strcmp(config_text(j->config, KEY_RUN_ISA), "auto") != 0
		|| strcmp(config_text(j->config, KEY_RUN_DEVICE), "auto") != 0;
	run_list_auto l = { NULL, 0, 0 };
	struct means means = { NULL, METHOD_AUTO };
	int status = 0;

	*taken = false;
	if (c->options.given[OPT_FRESH] || !target_is_automatic(j->train.exec.target))
		return 0;
	/* What cannot be listed or found is reported when the run is opened. */
	if (any)
		run_list_read(dir, true, &l, NULL);
	else
		run_list_find(dir, word, &l, NULL);
	const struct run_folder *f = any ? find(&l, j, given, &means) : l.run;
	if (f && !any)
		means = means_recorded(f, j);
	if (f && means.target)
		status = act(c, j, f, means.target, any, taken);
	/* A run that is named keeps its method on another device, too. */
	if (f && means.target && !status && (!any || j->train.exec.target == means.target))
		status = take_method(c, j, f, means.method);
	return status;
}
