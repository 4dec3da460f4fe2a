/* SPDX-License-Identifier: Apache-2.0
 * The engine of tensor contraction: what its files share. Tensors that do not differ between samples are made once for new weights;
 * a worker has those of its unit. */
#pragma once

#include "runtime/exec/tensor/tensor_plan.h"

/* Of one worker. */
struct tensor_worker {
	double *entry;            /* (nsample * lanes) */
	double *gradient_sample;  /* (ngradient_sample * lanes) */
	double *gradient_shared;  /* (ngradient_shared) */
	double *pack;             /* (CONTRACTION_PACK) */
	double *transfer;         /* (nsample_entry * lanes), those of class SAMPLE */
	double *dtransfer;        /* the same of gradients */
	double *dtransfer_shared; /* (ntransfer_entry) of those that are touched */
	bool *touched;            /* (ntransfer) */
	double *value;            /* (lanes, nexpr) */
	cplx *u;                  /* (lanes, nmatrix_entry) */
	uint64_t version;         /* of the weights whose shared matrices are in u */
	double *read;             /* (nterm, lanes) */
	double *dread;
	double *anti_hermitian;        /* (nmatrix_entry) of shared matrices */
	double *anti_hermitian_sample; /* of one sample */
	double *pauli_gradient, *dexpr;
	double *dthreshold; /* (nchannel, NOISE_WORDS_MAX) of shared channels */
	uint32_t first, count;
};

struct tensor {
	const struct program *p;
	struct evaluator_options o;
	const struct contraction *kernels;
	struct tensor_plan *pl;
	struct arena arena;
	unsigned nthread,
		nworker; /* nworker of the threads do units side by side: as many as memory is there for */
	unsigned together; /* threads of one contraction: all, where units are done one after the other */
	bool taken;
	struct tensor_worker *worker;
	/* With these weights. */
	const double *weight;
	uint64_t version;
	double *value, *transfer, *entry;
	double *pack; /* (nthread * CONTRACTION_PACK) */
	cplx *u, *kept;
	bool weighted;
	/* Of a transfer matrix of class SAMPLE: the first of its entries among those of all these. */
	size_t *sample_offset, nsample_entry;
	/* Matrices: of class SAMPLE, those they refer to included; whose reduced transition matrices are summed over units, and
	 * with those that they refer to; the same of samples. */
	bool *need_sample, *transition, *reverse, *transition_sample, *reverse_sample;
	bool *channel; /* (nchannel) shared ones with gradients with respect to their probabilities */
	const char *improper; /* a shared channel that has no probabilities with these weights, or NULL */
	bool direct;          /* some weight gradients are made unit by unit */
	size_t nvector;
	/* Of the finish. */
	double *anti_hermitian, *pauli_gradient, *dexpr;
	struct batch batch;
	bool gradient;
	/* Where units are terms: of each sample (nsample, nreadout), and of terms, for all samples (nterm). */
	double *dreadout, *dread;
};

/* ---- memory (tensor_memory.c) ---- */

/* Sets nworker. -ERR_CONFIG, naming needed and available bytes, where what one worker takes does not fit. */
int tensor_check_memory(struct tensor *t, struct err *e);
/* The engine's lists, which remote ones have too. */
void tensor_take_lists(struct tensor *t);
/* Tensors of the engine and its workers, where there are none yet; checked first. */
int tensor_take_memory(struct tensor *t, struct err *e);
void tensor_free_memory(struct tensor *t);

/* ---- units (tensor_units.c): functions of the engine's table ---- */

void tensor_set_weights(void *state, const double *weight);
int tensor_forward(void *state, unsigned worker, uint32_t unit, double *readout, struct err *e);
int tensor_backward(void *state, unsigned worker, uint32_t unit, const double *dreadout,
	double *gradient, struct fixed *v, struct err *e);
void tensor_finish(void *state, const struct fixed *sum, double *gradient);
void tensor_readout(void *state, unsigned worker, uint32_t sample, double *readout);
void tensor_readout_gradient(void *state, uint32_t sample, const double *dreadout);
int tensor_mix(void *state, struct err *e);
/* With the weights that are set: the tensors that do not differ between samples. */
void tensor_make_shared(struct tensor *t);
/* The error of a noise channel, by its name, that has no probabilities. */
int tensor_refuse_channel(const char *name, struct err *e);
