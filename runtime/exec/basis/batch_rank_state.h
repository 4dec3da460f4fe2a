/* SPDX-License-Identifier: Apache-2.0
 * What the files of batch rank share: the batch and its basis. */
#ifndef QCNN_RANK_STATE_H
#define QCNN_RANK_STATE_H

#include <pthread.h>

#include "runtime/exec/basis/batch_rank.h"
#include "runtime/exec/statevector/pauli_observables.h"

struct rank {
	bool possible, on, begun, proved;
	uint32_t r, nsample;
	struct batch whole;          /* the caller's, while on */
	uint32_t *pivot, *row;       /* (r) places in the batch, rows of the caller's data */
	cplx *c;                     /* (nsample, r) */
	struct forms *forms;         /* (ncircuit) */
	uint32_t *first_form, nform; /* of each circuit among all; of all */
	/* Of the batch that was looked at last: */
	double *kept;                /* (nsample, ninput), NULL: not remembered */
	uint32_t nkept;
	bool kept_gradient, kept_on;
	bool keeps;                  /* the encoding depends on inputs alone */
	/* With these weights: */
	cplx *m, *a;                 /* (nform, r, r) */
	double *slope;               /* (nsample, nform) */
	double *value;               /* (nworker, nform) room */
	struct fixed *head;          /* (nworker + 1, nhead): sums of the workers, of all */
	struct fixed *sum;           /* (nworker, nvector) */
	struct err fault;            /* of prepare */
	struct look *look;           /* while a basis is sought */
	uint32_t nbank;              /* states that the backend has room for side by side */
	pthread_mutex_t lock;
};

/* Entries of the head's gradient. */
static inline uint32_t nhead(const struct evaluator *ev)
{
	return ev->p->nweight - ev->p->nweight_circuit;
}

/* Row number in the caller's data of a sample of the whole batch. */
static inline uint32_t whole_row(const struct rank *k, uint32_t sample)
{
	return k->whole.row ? k->whole.row[sample] : sample;
}

/* batch_rank_tasks.c: items 0 .. n-1, in any order, by all workers; the error of the first item that failed. */
typedef int (*part_fn)(struct evaluator *ev, unsigned worker, uint32_t item, struct err *e);
int rank_parts(struct evaluator *ev, uint32_t n, part_fn fn, struct err *e);

/* batch_rank_find.c: the basis of ev->batch, of at most max dimensions: *r, pivot[max], c[(nsample, max)], dense in
 * *r columns.  False where there is none, or a fault that the evaluation itself will meet. */
bool rank_find(struct evaluator *ev, uint32_t max, uint32_t *r, uint32_t *pivot, cplx *c);

/* batch_rank_readouts.c: readouts of a sample of the whole batch from the overlaps; all readouts and slopes; the tables
 * for the backward pass; a few samples evolved by themselves. */
void rank_combine(const struct evaluator *ev, unsigned worker, uint32_t sample, double *readout);
int rank_read(struct evaluator *ev, struct err *e);
int rank_mix(struct evaluator *ev, struct err *e);
/* batch_rank_check.c: the samples whose combinations are the largest, evolved by themselves, must read the same. */
int rank_prove(struct evaluator *ev, struct err *e);

#endif
