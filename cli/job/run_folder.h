/* SPDX-License-Identifier: Apache-2.0
 * Runs that lie in a folder: their names, their records, and how to take one away. */
#ifndef QCNN_RUN_FOLDER_H
#define QCNN_RUN_FOLDER_H

#include "runtime/base/json.h"
#include "runtime/log/history.h"

enum { RUNS_MAX = 100000, RUN_RECORD_BYTES_MAX = 16 << 20 };

struct run_folder {
	char *name, *path;           /* "cluster-20261121-093000", "runs/" name */
	json_t *record;              /* run.json */
	bool away;                   /* it was named by a link to another folder */
};
struct run_list { struct run_folder *run; size_t n, cap; };

/* All runs of a folder, the newest first: subfolders with a run.json; links are not followed.
 * No folder: none. */
int run_list_read(const char *dir, struct run_list *l, struct err *e);
/* Those alone that have a folder for checkpoints: no record of another one is read. */
int run_list_unfinished(const char *dir, struct run_list *l, struct err *e);
/* One run: a folder's path, a name in dir (`latest` too), or the beginning of one name only. */
int run_list_find(const char *dir, const char *word, struct run_list *l, struct err *e);
void run_list_release(struct run_list *l);

/* "finished", ...; "cut off" where no process goes on with what the record calls running. */
const char *run_state(const struct run_folder *r);
/* A number of the record, "metrics.loss"; NaN where there is none. */
double run_number(const struct run_folder *r, const char *section, const char *key);
/* Whether two paths lead to one folder. */
bool run_is_same(const struct run_folder *a, const struct run_folder *b);
/* Delete the folder and all in it; `latest` in the folder that contained it then leads to the newest remaining run.
 * -ERR_USAGE for a run that was named by a link to another folder. */
int run_remove(const struct run_folder *r, struct err *e);

/* What a word that names a file of weights or a model means: itself where it is a file (or `-`), or else the weights.bin
 * of a run: of its folder, its name in dir (`latest` too) or the only name there that begins so.  *out is word or
 * own->data.  A word that is neither is itself where it looks like a file; -ERR_NO_INPUT or -ERR_USAGE otherwise. */
int run_file(const char *dir, const char *word, struct buf *own, const char **out, struct err *e);

/* Checkpoints are written to these files of a run's folder in turn, so that one of them is whole. */
enum { BACKUP_SLOTS = 2, BACKUP_FILE_MAX = 32 };
void backup_file(unsigned slot, char file[BACKUP_FILE_MAX]);

#endif
