/* SPDX-License-Identifier: Apache-2.0
 * Runs that lie in a folder: their names, their records, and how to take one away. */
#pragma once

#include "runtime/base/json.h"
#include "runtime/log/history.h"

enum {
	RUNS_MAX = 100000,
	RUN_RECORD_BYTES_MAX = 16 << 20,
	RUN_COMMAND_WORDS_MAX = 256 /* as far as they are read */
};

struct run_folder {
	char *name, *path;           /* "cluster-20261121-093000", "runs/" name */
	json_t *record;              /* run.json */
	bool away;                   /* it was named by a link to another folder */
};
struct run_list { struct run_folder *run; size_t n, cap; };

/* All runs of a folder, the newest first: subfolders with a run.json; links are not followed.
 * No folder: none.  unfinished: only the runs with a folder for checkpoints; other records are not read. */
int run_list_read(const char *dir, bool unfinished, struct run_list *l, struct err *e);
/* Find one run by the path of its folder, its name in dir (or `latest`), or an unambiguous prefix of its name. */
int run_list_find(const char *dir, const char *word, struct run_list *l, struct err *e);
void run_list_release(struct run_list *l);
#define run_list_auto __attribute__((cleanup(run_list_release))) struct run_list
/* The path of the newest run of dir that was interrupted or cut off, and is newer than r, if that is not NULL; false: none is. */
bool run_newest_unfinished(const char *dir, const struct run_folder *r, struct buf *path);

/* The state in its record; "cut off" if that is running but no process holds the lock of the run. */
const char *run_state(const struct run_folder *r);
/* A number of the record, such as "metrics.loss"; NaN: there is none. */
double run_number(const struct run_folder *r, const char *section, const char *key);
/* The words of its command behind `train`, which belong to the record, to word[RUN_COMMAND_WORDS_MAX]; returns how many. */
int run_command_words(const struct run_folder *r, char **word);
/* Delete the folder and all in it; `latest` in the folder that contained it then leads to the newest remaining run.
 * -ERR_USAGE for a run that was named by a link to another folder. */
int run_remove(const struct run_folder *r, struct err *e);

/* Find the file of weights or model that `word` names: itself if it is a file or `-`, else the weights.bin of a run that is
 * named as for run_list_find.  *out is word or own->data.  If there is neither and `word` looks like a file name, *out is word;
 * otherwise -ERR_NO_INPUT or -ERR_USAGE. */
int run_file(const char *dir, const char *word, struct buf *own, const char **out, struct err *e);

/* Another text for `word`, which stands for the file or run at `path` or a run in dir: one that stays the same file when
 * `latest` leads to another run, or when other runs have names that begin with the word.  false: the word itself is. */
bool run_lasting_name(const char *dir, const char *word, const char *path, struct buf *out);

/* Checkpoints are written alternately to the first two of these files of a run's folder, so that one of them is always
 * complete.  The last one has the state after the last epoch of a run that has finished, from which more epochs go on. */
enum { BACKUP_SLOTS = 2, BACKUP_END = BACKUP_SLOTS, BACKUP_FILES };
extern const char *const backup_file[BACKUP_FILES];
