/* SPDX-License-Identifier: Apache-2.0
 * Outputs, derivatives, states and shots of a model, sample by sample. */
#include "cli/output/run_values.h"

#include <complex.h>
#include <string.h>

#include "runtime/exec/shots.h"
#include "runtime/train/model.h"

static const double *row_of(const struct run_values *r, uint32_t s)
{
	return r->x ? r->x + (size_t)s * r->nx : NULL;
}

static struct values *result(struct run_values *r, const char *name, unsigned ndim, const uint64_t *dim, bool is_complex,
	struct err *e)
{
	struct values *v = &r->v[r->nv];

	if (values_new(v, name, ndim, dim, is_complex, e))
		return NULL;
	r->nv++;
	return v;
}

static int emit_readouts(struct run_values *r, bool head, struct err *e)
{
	const struct program *p = r->program;
	struct batch b = { .nsample = r->nsample, .input = row_of(r, 0) };
	uint64_t dim[2] = { r->nsample, p->nreadout };
	struct values *readout = result(r, head ? "outputs" : "readouts", 2, dim, false, e), *output;

	if (!readout)
		return e->code;
	evaluator_draws(r->ev, r->key, 0);
	evaluator_prepare(r->ev, &b, false, NULL, NULL, readout->array.value);
	int code = evaluator_run(r->ev, r->pool, NULL, e);
	readout->index[0] = "sample";
	readout->column = head ? "output" : "readout";
	if (code || !head || !p->ndense)
		return code;
	dim[1] = p->noutput;
	output = result(r, "outputs", 2, dim, false, e);
	mem_auto double *memory = mem_try(model_memory(p) + 1, sizeof *memory);
	if (!output || !memory)
		code = output ? err_set(e, -ERR_CONFIG, "no memory for the head") : e->code;
	for (uint32_t s = 0; !code && s < r->nsample; s++)
		model_head(p, r->weight, readout->array.value + (size_t)s * p->nreadout,
			output->array.value + (size_t)s * p->noutput, memory);
	if (!code) {
		output->index[0] = "sample";
		output->column = "output";
		values_release(readout);
		r->v[0] = *output;
		r->nv = 1;
	}
	return code;
}

/* One output's derivative: its gradient through the head is a unit vector. */
struct unit_gradient {
	const struct program *program;
	const double *weight;
	uint32_t output;
	bool head;                   /* outputs behind the head, not readouts */
	double *memory, *value, *output_gradient;
};

static int unit_gradient(void *ctx, uint32_t sample, const double *readout, double *gradient, double *head)
{
	struct unit_gradient *u = ctx;
	const struct program *p = u->program;

	(void)sample;
	if (!u->head || !p->ndense) {
		if (gradient)
			memset(gradient, 0, p->nreadout * sizeof *gradient);
		if (gradient)
			gradient[u->output] = 1;
		return 0;
	}
	model_head(p, u->weight, readout, u->value, u->memory);
	memset(u->output_gradient, 0, p->noutput * sizeof *u->output_gradient);
	u->output_gradient[u->output] = 1;
	if (gradient)
		model_head_backward(p, u->weight, u->memory, u->output_gradient, gradient, head);
	return 0;
}

static int derive_all(struct run_values *r, struct unit_gradient *u, uint64_t nout, uint64_t nkeep, double *readout,
	double *gradient, double *out, struct err *e)
{
	for (uint32_t s = 0; s < r->nsample; s++)
		for (u->output = 0; u->output < nout; u->output++) {
			struct batch b = { .nsample = 1, .input = row_of(r, s) };

			evaluator_draws(r->ev, r->key, s);
			evaluator_prepare(r->ev, &b, true, unit_gradient, u, readout);
			int code = evaluator_run(r->ev, r->pool, gradient, e);
			if (code)
				return code;
			memcpy(out + (s * nout + u->output) * nkeep, gradient, nkeep * sizeof *out);
		}
	return 0;
}

static int emit_jacobian(struct run_values *r, bool head, struct err *e)
{
	const struct program *p = r->program;
	uint64_t nout = head ? p->noutput : p->nreadout, nkeep = head ? p->nweight : p->nweight_circuit;
	uint64_t dim[3] = { r->nsample, nout, nkeep };
	size_t memory = model_memory(p);
	struct values *v = result(r, head ? "jacobian" : "readout_jacobian", 3, dim, false, e);
	mem_auto double *scratch =
		mem_try(memory + 2 * (size_t)p->noutput + p->nreadout + p->nweight + 1,
			sizeof *scratch);
	struct unit_gradient u = { .program = p, .weight = r->weight, .head = head, .memory = scratch };

	if (!v || !scratch)
		return v ? err_set(e, -ERR_CONFIG, "no memory for derivatives") : e->code;
	u.value = scratch + memory;
	u.output_gradient = u.value + p->noutput;
	v->index[0] = "sample";
	v->index[1] = head ? "output" : "readout";
	v->paths = p;
	return derive_all(r, &u, nout, nkeep, u.output_gradient + p->noutput,
		u.output_gradient + p->noutput + p->nreadout, v->array.value, e);
}

/* One trajectory of a sample: its squares, or frequencies among its shots, into p[size], bits of these into *bit, which is moved. */
static int emit_trajectory(struct run_values *r, uint32_t c, uint32_t s, uint32_t t, cplx *psi,
	double *p, double **bit, struct err *e)
{
	const uint32_t nwire = r->program->circuit[c].nwire, n = r->trajectories;
	const struct shot_stream stream = { .key = r->key, .sample = s, .variant = t, .group = c };
	uint64_t size = (uint64_t)1 << nwire, shots = n ? trajectory_shots(r->shots, n, t) : r->shots;
	int code = evaluator_trajectory(r->ev, c, row_of(r, s), s, t, psi, e);

	if (code)
		return code;
	for (uint64_t i = 0; i < size; i++)
		p[i] = creal(psi[i]) * creal(psi[i]) + cimag(psi[i]) * cimag(psi[i]);
	if (bit) {
		shot_bits(p, nwire, shots, &stream, *bit);
		*bit += shots * nwire;
	} else if (r->shots) {
		shot_frequencies(p, size, shots, &stream, (double *)psi);
	}
	return 0;
}

/* The part of a mean that trajectory t has. */
static double part_of(const struct run_values *r, uint32_t t)
{
	return r->shots ? (double)trajectory_shots(r->shots, r->trajectories, t) / r->shots
			: 1.0 / r->trajectories;
}

/* Means over the trajectories of a sample; each uses p[size]. */
static int emit_means(struct run_values *r, uint32_t c, uint32_t s, cplx *psi, double *p,
	double *out, struct err *e)
{
	uint64_t size = (uint64_t)1 << r->program->circuit[c].nwire;
	int code = 0;

	for (uint32_t t = 0; t < r->trajectories && !code; t++) {
		code = emit_trajectory(r, c, s, t, psi, p, NULL, e);
		for (uint64_t i = 0; i < size && !code; i++)
			out[i] += part_of(r, t) * p[i];
	}
	return code;
}

static int emit_sample(struct run_values *r, enum emit what, uint32_t c, uint32_t s, cplx *psi,
	double *p, double *out, struct err *e)
{
	int code = 0;

	if (what == EMIT_STATE)
		return evaluator_state(r->ev, c, row_of(r, s), (cplx *)out, e);
	if (what == EMIT_PROBABILITIES)
		return r->trajectories ? emit_means(r, c, s, psi, p, out, e)
				       : emit_trajectory(r, c, s, 0, psi, out, NULL, e);
	for (uint32_t t = 0; t < (r->trajectories ? r->trajectories : 1) && !code; t++)
		code = emit_trajectory(r, c, s, t, psi, p, &out, e);
	return code;
}

/* Of one circuit its amplitudes, their squares or frequencies among the shots, or the bits of all shots. */
static int emit_circuit(struct run_values *r, enum emit what, uint32_t c, struct err *e)
{
	static const char *const names[] = {
		[EMIT_STATE] = "state", [EMIT_PROBABILITIES] = "probabilities", [EMIT_SAMPLES] = "samples"
	};
	const struct circuit_code *code = &r->program->circuit[c];
	const bool bits = what == EMIT_SAMPLES, state = what == EMIT_STATE;
	uint64_t size = code->nwire < 34 ? (uint64_t)1 << code->nwire : UINT64_MAX;
	uint64_t dim[3] = { r->nsample, bits ? r->shots : size, code->nwire };
	uint64_t each = bits ? dim[1] * dim[2] : state ? 2 * size : size; /* numbers of a sample */
	struct values *v =
		result(r, *code->name ? code->name : names[what], bits ? 3 : 2, dim, state, e);
	mem_auto cplx *psi = v ? mem_try(size, sizeof *psi) : NULL;
	mem_auto double *p = psi && (bits || r->trajectories) ? mem_try(size, sizeof *p) : NULL;
	int status = 0;

	if (!psi || ((bits || r->trajectories) && !p))
		return v ? err_set(e, -ERR_CONFIG, "no memory for a state of %u qubits", code->nwire)
			 : e->code;
	v->index[0] = "sample";
	v->index[1] = bits ? "shot" : "index";
	v->column = bits ? "qubit" : NULL;
	evaluator_draws(r->ev, r->key, 0);
	for (uint32_t s = 0; !status && s < r->nsample; s++)
		status = emit_sample(r, what, c, s, psi, p, v->array.value + s * each, e);
	return status;
}

static int emit_circuits(struct run_values *r, enum emit what, struct err *e)
{
	int code = 0;

	for (uint32_t c = 0; !code && c < r->program->ncircuit; c++)
		code = emit_circuit(r, what, c, e);
	return code;
}

int run_values_emit(struct run_values *r, enum emit what, struct err *e)
{
	switch (what) {
	case EMIT_OUTPUTS: return emit_readouts(r, true, e);
	case EMIT_READOUTS: return emit_readouts(r, false, e);
	case EMIT_JACOBIAN: return emit_jacobian(r, true, e);
	case EMIT_READOUT_JACOBIAN: return emit_jacobian(r, false, e);
	case EMIT_STATE:
	case EMIT_PROBABILITIES:
	case EMIT_SAMPLES: return emit_circuits(r, what, e);
	}
	BUG("no values number %d", (int)what);
}
