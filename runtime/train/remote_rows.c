/* SPDX-License-Identifier: Apache-2.0
 * Sets below WIRE_SETS_MAX have come by DATA, those from there on are files of the job. */
#include "runtime/train/remote_rows.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/cpus.h"

enum { MEMORY_PART = 4 };            /* of the free memory, for the inputs of files of all workers of a machine */

/* ---- files ---- */

static int open_file(const struct wire_file *f, uint64_t most_bytes, struct dataset_again *out, struct err *e)
{
	char path[WIRE_PATH_MAX + 1];
	struct dataset_claim claim = { .path = path, .spec = f->spec, .nspec = f->nspec, .through = f->through, .nthrough = f->nthrough,
		.nrow = f->nrow, .nx = f->nx };
	struct err why = { 0, "" };

	memcpy(path, f->path, f->npath);
	path[f->npath] = 0;
	memcpy(claim.digest, f->digest, sizeof claim.digest);
	int code = dataset_again_open(&claim, most_bytes, out, &why);
	return code ? err_set(e, code, "%s; cluster.shard: file needs the same data files by the same names on all hosts, "
		"cluster.shard: data sends them", why.text) : 0;
}

int remote_rows_open(struct remote_rows *r, const struct wire_job *job, struct err *e)
{
	uint64_t most = cpus_memory_available() / MEMORY_PART / (job->share ? job->share : 1) / (job->nfile ? job->nfile : 1);
	int code = 0;

	for (uint32_t i = 0; i < job->nfile && !code; i++) {
		if (job->file[i].nx != r->nx)
			return err_set(e, -ERR_PROTOCOL,
				"the coordinator named a file with %u inputs a sample for a model with %u",
				job->file[i].nx, r->nx);
		code = open_file(&job->file[i], most, &r->file[i], e);
		r->nfile += !code;
	}
	return code;
}

void remote_rows_release(struct remote_rows *r)
{
	for (unsigned k = 0; k < WIRE_SETS_MAX; k++) {
		free(r->kept[k].place);
		free(r->kept[k].x);
	}
	for (uint32_t i = 0; i < r->nfile; i++)
		dataset_again_release(&r->file[i]);
	*r = (struct remote_rows){ .nx = 0 };
}

/* ---- rows ---- */

static bool room_for_rows(struct kept *k, size_t n, size_t row)
{
	size_t cap = n + n / 2;

	if (n <= k->cap)
		return true;
	double *x = mem_try(cap, row);
	if (!x)
		return false;
	if (k->n)
		memcpy(x, k->x, k->n * row);
	free(k->x);
	k->x = x;
	k->cap = cap;
	return true;
}

int remote_rows_take(struct remote_rows *r, const struct wire_data *d, struct err *e)
{
	struct kept *k = &r->kept[d->set];
	size_t nx = d->nx;

	if (nx != r->nx || (k->nrow && k->nrow != d->nrow))
		return err_set(e, -ERR_PROTOCOL,
			"the coordinator sent a data set of %u inputs a sample and %u rows, which does not fit the job",
			d->nx, d->nrow);
	if (!k->place)
		k->place = mem_try(d->nrow, sizeof *k->place);
	if (!k->place || !room_for_rows(k, (size_t)k->n + d->n, nx * sizeof(double)))
		return err_set(e, -ERR_CONFIG, "no memory for %u samples of %u numbers; cluster.shard: off keeps none", d->n, d->nx);
	k->nrow = d->nrow;
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t row = wire_row(d->row, i);

		if (k->place[row])
			return err_set(e, -ERR_PROTOCOL, "the coordinator sent sample %u twice", row);
		wire_doubles(d->value + i * nx * sizeof(double), nx, k->x + k->n * nx);
		k->place[row] = ++k->n;
	}
	return 0;
}

static bool has_row(const struct remote_rows *r, uint32_t set, uint32_t row)
{
	if (set >= WIRE_SETS_MAX)
		return set - WIRE_SETS_MAX < r->nfile && row < r->file[set - WIRE_SETS_MAX].data->nrow;
	return row < r->kept[set].nrow && r->kept[set].place[row];
}

bool remote_rows_has(const struct remote_rows *r, const struct wire_work *work)
{
	if (work->nkept && work->nkept != r->nx)
		return false;
	for (uint32_t s = 0; work->nkept && s < work->nsample; s++)
		if (!has_row(r, work->set, wire_row(work->row, s)))
			return false;
	return true;
}

int remote_rows_get(const struct remote_rows *r, uint32_t set, uint32_t row, double *x, struct err *e)
{
	const struct kept *k = &r->kept[set < WIRE_SETS_MAX ? set : 0];

	if (set >= WIRE_SETS_MAX)
		return dataset_rows(r->file[set - WIRE_SETS_MAX].data, &row, 0, 1, x, e);
	memcpy(x, k->x + (size_t)(k->place[row] - 1) * r->nx, r->nx * sizeof *x);
	return 0;
}
