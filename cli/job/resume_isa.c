/* SPDX-License-Identifier: Apache-2.0
 * Runs of the same configuration but for the instruction set are known by the digests that it has with each. */
#include "config.h"
#include "cli/job/resume_isa.h"

#include <string.h>
#include <unistd.h>

#include "cli/job/backup.h"
#include "cli/job/record.h"
#include "cli/job/run_config.h"
#include "runtime/base/numerical_version.h"
#include "runtime/base/system/folder.h"

enum isa_answer resume_isa_answer(enum isa run, enum isa now, enum isa best, bool given)
{
	if (run == now)
		return ISA_ANSWER_NONE;
	if (given)
		return ISA_ANSWER_NEW;
	return run <= best ? ISA_ANSWER_TAKE : ISA_ANSWER_REFUSE;
}

/* Could the run be continued?  Not one that ended before its first checkpoint, and without a name (any) neither one of
 * somebody else nor one of another numerical version. */
static bool may_resume(const struct run_folder *f, bool any)
{
	int folder = folder_open(f->path, !any);
	struct buf why = BUF_INIT;
	char file[BACKUP_FILE_MAX];
	bool found = false;
	struct stat st;

	for (unsigned slot = 0; folder >= 0 && !found && slot < BACKUP_SLOTS; slot++) {
		backup_file(slot, file);
		found = !folder_stat(folder, file, &st);
	}
	if (found && any)
		found = run_numerical_version(f) == NUMERICAL_VERSION && folder_is_own(folder, &why);
	if (folder >= 0)
		close(folder);
	buf_release(&why);
	return found;
}

static enum isa isa_with(const char *theirs, char digest[ISA_COUNT][SHA256_HEX + 1])
{
	for (int i = ISA_BASELINE; i < ISA_COUNT; i++)
		if (!strcmp(theirs, digest[i]))
			return (enum isa)i;
	return ISA_NONE;
}

/* The set with which the configuration is that of the run; ISA_NONE: with none. */
static enum isa isa_of(const struct run_folder *f, bool any, char digest[ISA_COUNT][SHA256_HEX + 1])
{
	const char *theirs = json_string_value(json_object_get(f->record, "config_sha256"));
	char now[SHA256_HEX + 1];
	enum isa isa;

	if (!theirs || !strcmp(run_state(f), "finished") || !may_resume(f, any))
		return ISA_NONE;
	isa = isa_with(theirs, digest);
	if (isa)
		return isa;
	run_config_digest(f, now);
	return isa_with(now, digest);
}

static void digests(struct job *j, char digest[ISA_COUNT][SHA256_HEX + 1])
{
	const enum isa now = j->train.exec.isa;

	for (int i = ISA_BASELINE; i < ISA_COUNT; i++) {
		j->train.exec.isa = (enum isa)i;
		record_digest(j, digest[i]);
	}
	j->train.exec.isa = now;
}

/* The newest of the same configuration; one with our own set first where that was asked for. NULL: none. */
static const struct run_folder *find(const struct run_list *l, struct job *j, bool given, bool any, enum isa *isa)
{
	char digest[ISA_COUNT][SHA256_HEX + 1];
	const struct run_folder *found = NULL;

	digests(j, digest);
	for (size_t i = 0; i < l->n; i++) {
		enum isa theirs = isa_of(&l->run[i], any, digest);

		if (!theirs || (found && !(given && theirs == j->train.exec.isa)))
			continue;
		found = &l->run[i];
		*isa = theirs;
		if (!given || theirs == j->train.exec.isa)
			break;
	}
	return found;
}

static int act(struct cli *c, struct job *j, const struct run_folder *f, enum isa isa, bool given, bool *taken)
{
	const char *theirs = isa_name(isa);
	struct err e;

	switch (resume_isa_answer(isa, j->train.exec.isa, isa_best(), given)) {
	case ISA_ANSWER_NONE:
		return 0;
	case ISA_ANSWER_TAKE:
		cli_note(c, "%s was begun with %s, which computes here too, in place of %s, so that it ends with the same bits", f->path, theirs,
			isa_name(j->train.exec.isa));
		j->train.exec.isa = isa;
		*taken = true;
		return 0;
	case ISA_ANSWER_NEW:
		cli_note(c, "%s, which has not ended, differs from this training in run.isa alone: it was begun with %s; --set run.isa=%s goes on with it",
			f->path, theirs, theirs);
		return 0;
	case ISA_ANSWER_REFUSE:
		break;
	}
	err_set(&e, -ERR_CONFIG, "%s was begun with %s, which cannot run here, so that it cannot end here with the same bits; go on with it on a "
		"machine that has %s, or begin anew with --fresh", f->path, theirs, theirs);
	return cli_fail(c, &e);
}

int resume_isa(struct cli *c, struct job *j, bool *taken)
{
	const char *word = c->options.value[OPT_RESUME], *dir = config_text(j->config, KEY_LOG_DIR);
	const bool given = strcmp(config_text(j->config, KEY_RUN_ISA), "auto") != 0, any = !strcmp(word, "auto");
	struct run_list l = { NULL, 0, 0 };
	const struct run_folder *f;
	enum isa isa = ISA_NONE;
	int status = 0;

	*taken = false;
	if (c->options.given[OPT_FRESH] || !j->train.exec.isa || (given && !any))
		return 0;
	/* What cannot be listed or found is told when the run is opened. */
	if (any)
		run_list_unfinished(dir, &l, NULL);
	else
		run_list_find(dir, word, &l, NULL);
	f = find(&l, j, given, any, &isa);
	if (f)
		status = act(c, j, f, isa, given, taken);
	run_list_release(&l);
	return status;
}
