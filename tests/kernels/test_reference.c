/* SPDX-License-Identifier: Apache-2.0
 * Outputs and derivatives of models against values that other people's simulators
 * computed: on every backend, precision and instruction set of this machine.
 *
 * The values lie in $QCNN_SHARED/reference (default: ../shared beside the sources); the
 * smallest file is copied here, so that one comparison always runs. */
#include <jansson.h>
#include <math.h>
#include <unistd.h>
#include "runtime/exec/evaluator.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "runtime/train/model.h"
#include "tests/compile_file.h"
#include "tests/kernels/targets.h"
#include "tests/tap.h"

/* ---- where a model runs, and how close it must come ---- */

struct place_to_run {
	const struct target *target;
	enum precision precision;
	double value, dreadout;
};

/* Every target that runs here, in each of its precisions. */
enum { PLACES_MAX = 32 };
static struct place_to_run places[PLACES_MAX];
static unsigned nplace;

static void find_places(void)
{
	const struct target *t;

	for (unsigned k = 0; (t = target_here(k)); k++) {
		if (nplace + 2 > PLACES_MAX)
			tap_bail("too many targets");
		places[nplace++] = (struct place_to_run){ t, PRECISION_DOUBLE, 1e-12, 1e-10 };
		if (target_can(t, TARGET_SINGLE))
			places[nplace++] = (struct place_to_run){ t, PRECISION_SINGLE, 2e-6, 5e-5 };
	}
}

static char model_dir[4096], reference_dir[4096], own_dir[4096];

static json_t *open_json(const char *dir, const char *name)
{
	char path[8300];
	json_error_t fault;
	snprintf(path, sizeof path, "%s/%s", dir, name);
	json_t *j = json_load_file(path, 0, &fault);
	if (j == NULL && access(path, R_OK) == 0)
		tap_ok(false, "%s is JSON: %s", name, fault.text);
	return j;
}

/* Numbers of nested arrays, in order, from v + *n on. */
static void flatten(const json_t *j, double *v, size_t *n)
{
	if (json_is_array(j)) {
		for (size_t k = 0; k < json_array_size(j); k++)
			flatten(json_array_get(j, k), v, n);
		return;
	}
	v[(*n)++] = json_number_value(j);
}

static double *numbers(const json_t *j, size_t *n)
{
	double *v = calloc(1 << 17, sizeof *v);
	*n = 0;
	flatten(j, v, n);
	return v;
}

static struct program *compile(const char *name, unsigned nconst, const struct const_override *constant)
{
	char path[8300];
	struct source_set *s = source_set_new();
	struct diags *d = diags_new(s);
	struct buf text = BUF_INIT;
	struct err e = { 0 };
	snprintf(path, sizeof path, "%s/%s", model_dir, name);
	struct program *p = compile_file(path, d, &(struct compile_options){ .constant = constant, .nconstant = nconst }, &e);
	if (p == NULL) {
		diags_print(d, DIAG_HUMAN, false, &text);
		tap_note("%s %s", text.data ? text.data : "", e.text);
	}
	tap_ok(p != NULL, "%s compiles", name);
	buf_release(&text);
	diags_free(d);
	source_set_free(s);
	return p;
}

/* ---- outputs and jacobian, one sample at a time ---- */

struct unit_gradient {
	uint32_t output;
	uint32_t noutput;
};

static int unit_gradient(void *ctx, uint32_t sample, const double *readout, double *dreadout,
	double *head)
{
	struct unit_gradient *u = ctx;
	(void)sample, (void)readout, (void)head;
	if (dreadout)
		for (uint32_t k = 0; k < u->noutput; k++)
			dreadout[k] = k == u->output;
	return 0;
}

/* Gradients of the mean squared error over the whole batch, through the head. */
struct mse { const struct program *p; const double *weight, *label; uint32_t nsample; double *prediction; double loss; };

static int mse_gradient(void *ctx, uint32_t sample, const double *readout, double *dreadout,
	double *head)
{
	struct mse *m = ctx;
	double tape[4096], out;
	model_head(m->p, m->weight, readout, &out, tape);
	m->prediction[sample] = out;
	double d = out - m->label[sample], g = 2 * d / m->nsample;
	if (dreadout)
		model_head_backward(m->p, m->weight, tape, &g, dreadout, head);
	return 0;
}

static double worst(const double *a, const double *b, size_t n)
{
	double w = 0;
	for (size_t k = 0; k < n; k++)
		w = tap_worst(w, fabs(a[k] - b[k]));
	return w;
}

static struct evaluator *open_evaluator(const struct program *p, const struct place_to_run *at)
{
	struct evaluator *ev = NULL;
	struct err e = { 0 };
	struct evaluator_options o = { .target = at->target,
		.precision = at->precision,
		.nthread = 2,
		.gradient = GRADIENT_ADJOINT };
	if (evaluator_new(p, &o, &ev, &e) != 0)
		tap_ok(false, "an evaluator on %s: %s", at->target->kernels, e.text);
	return ev;
}

/* out (nsample, nreadout), jac (nsample, nreadout, nweight_circuit) of the circuit alone. */
static int circuit_values(struct evaluator *ev, const struct program *p, const double *weight,
	const double *input, uint32_t nsample, double *out, double *jac, struct err *e)
{
	struct pool *pool = pool_threads_new(2);
	double *gradient = calloc(p->nweight, sizeof *gradient);
	int r = evaluator_weights(ev, weight, e);
	for (uint32_t s = 0; r == 0 && s < nsample; s++)
		for (uint32_t o = 0; r == 0 && o < p->nreadout; o++) {
			struct unit_gradient u = { o, p->nreadout };
			struct batch b = { .nsample = 1, .input = input ? input + (size_t)s * p->ninput : NULL };
			evaluator_prepare(ev, &b, true, unit_gradient, &u,
				out + (size_t)s * p->nreadout);
			r = evaluator_run(ev, pool, gradient, e);
			memcpy(jac + ((size_t)s * p->nreadout + o) * p->nweight_circuit, gradient,
				p->nweight_circuit * sizeof *jac);
		}
	pool->ops->free(pool);
	free(gradient);
	return r;
}

static const char *place_name(const struct place_to_run *at)
{
	static char text[64];
	snprintf(text, sizeof text, "%s %s", at->target->kernels,
		at->precision == PRECISION_DOUBLE ? "double" : "single");
	return text;
}

/* One model, one weight vector, all places: values and derivatives. want_jac may sum over
 * outputs (sum true). */
static void check_circuit(const char *what, const struct program *p, const double *weight, const double *input,
	uint32_t nsample, const double *want, const double *want_jac, bool sum)
{
	size_t no = (size_t)nsample * p->nreadout, nj = no * p->nweight_circuit;
	double *out = calloc(no + 1, sizeof *out), *jac = calloc(nj + 1, sizeof *jac);
	for (unsigned k = 0; k < nplace; k++) {
		struct err e = { 0 };
		struct evaluator *ev = open_evaluator(p, &places[k]);
		if (ev == NULL)
			continue;
		if (circuit_values(ev, p, weight, input, nsample, out, jac, &e) != 0) {
			tap_ok(false, "%s on %s: %s", what, place_name(&places[k]), e.text);
			evaluator_free(ev);
			continue;
		}
		size_t n = nj;
		if (sum) {
			for (uint32_t o = 1; o < p->nreadout; o++)
				for (uint32_t w = 0; w < p->nweight_circuit; w++)
					jac[w] += jac[(size_t)o * p->nweight_circuit + w];
			n = p->nweight_circuit;
		}
		double v = worst(out, want, no), d = want_jac ? worst(jac, want_jac, n) : 0;
		if (!tap_ok(v <= places[k].value && d <= places[k].dreadout,
			    "%s on %s: values within %.0e, derivatives within %.0e", what,
			    place_name(&places[k]), places[k].value, places[k].dreadout))
			tap_note("values differ by %.2g, derivatives by %.2g", v, d);
		evaluator_free(ev);
	}
	free(out);
	free(jac);
}

/* ---- the cluster models ---- */

/* Sample s: angle theta[s] on one qubit. */
static double *cluster_rows(const json_t *j, unsigned n, uint32_t *nsample)
{
	const json_t *q = json_object_get(j, "sample_qubit"), *t = json_object_get(j, "sample_theta");
	double *x = calloc(json_array_size(q) * n, sizeof *x);
	*nsample = (uint32_t)json_array_size(q);
	for (uint32_t s = 0; s < *nsample; s++)
		x[s * n + json_integer_value(json_array_get(q, s))] = json_number_value(json_array_get(t, s));
	return x;
}

static void check_size(const char *dir, const char *file)
{
	json_t *j = open_json(dir, file);
	if (j == NULL)
		return;
	char n_text[16];
	unsigned n = (unsigned)json_integer_value(json_object_get(j, "qubits"));
	uint32_t nsample;
	size_t len;
	snprintf(n_text, sizeof n_text, "%u", n);
	struct program *p = compile("cluster_a.qcnn", 1, &(struct const_override){ "n", n_text });
	double *x = cluster_rows(j, n, &nsample);
	double *w = numbers(json_object_get(j, "weight_values"), &len);
	double *y = numbers(json_object_get(j, "expectations"), &len), *g = numbers(json_object_get(j, "gradients"), &len);
	if (p && tap_is_int(len, (long long)nsample * p->nweight, "%s: as many derivatives", file))
		check_circuit(file, p, w, x, nsample, y, g, false);
	free(x), free(w), free(y), free(g);
	program_free(p);
	json_decref(j);
}

/* All weights of a file with heads: the circuit's, then kernels and biases. */
static double *with_head(const json_t *circuit, const json_t *head, size_t *n)
{
	static const char *const key[] = { "dense_0/kernel", "dense_0/bias", "dense_1/kernel", "dense_1/bias" };
	double *w = numbers(circuit, n);
	for (unsigned k = 0; head && k < 4; k++)
		flatten(json_object_get(head, key[k]), w, n);
	return w;
}

static void check_loss(const char *what, const struct program *p, const double *weight, const double *x,
	uint32_t nsample, const double *label, const json_t *v)
{
	size_t n, ng;
	const json_t *mg = json_object_get(v, "mse_gradient");
	double *want_g = json_is_array(mg) ? numbers(mg, &ng) : with_head(json_object_get(mg, "circuit"), mg, &ng);
	double *want_p = numbers(json_object_get(v, json_object_get(v, "prediction") ? "prediction" : "expectations"), &n);
	double want_loss = json_number_value(json_object_get(v, "mse"));
	for (unsigned k = 0; k < nplace; k++) {
		struct evaluator *ev = open_evaluator(p, &places[k]);
		double prediction[256], gradient[1024], loss = 0;
		double *readout = calloc((size_t)nsample * p->nreadout, sizeof *readout);
		struct mse m = { .p = p, .weight = weight, .label = label, .nsample = nsample, .prediction = prediction };
		struct batch b = { .nsample = nsample, .input = x };
		struct err e = { 0 };
		struct pool *pool = pool_threads_new(2);
		if (ev && evaluator_weights(ev, weight, &e) == 0) {
			evaluator_prepare(ev, &b, true, mse_gradient, &m, readout);
			int r = evaluator_run(ev, pool, gradient, &e);
			for (uint32_t s = 0; s < nsample; s++)
				loss += (prediction[s] - label[s]) * (prediction[s] - label[s]) / nsample;
			double dv = tap_worst(worst(prediction, want_p, nsample), fabs(loss - want_loss)), dg = worst(gradient, want_g, p->nweight);
			tap_ok(r == 0 && dv <= places[k].value && dg <= places[k].dreadout,
				"%s on %s: predictions and loss within %.0e (%.1g), its gradient within %.0e (%.1g) %s",
				what, place_name(&places[k]), places[k].value, dv,
				places[k].dreadout, dg, e.text);
		}
		evaluator_free(ev);
		pool->ops->free(pool);
		free(readout);
	}
	free(want_g), free(want_p);
}

static void check_state(const struct program *p, const double *weight, const double *x, const json_t *state)
{
	size_t n;
	double *re = numbers(json_object_get(state, "re"), &n), *im = numbers(json_object_get(state, "im"), &n);
	cplx *psi = calloc(n, sizeof *psi);
	for (unsigned k = 0; k < nplace; k++) {
		struct evaluator *ev = open_evaluator(p, &places[k]);
		struct err e = { 0 };
		double w = 0;
		if (ev == NULL)
			continue;
		int r = evaluator_weights(ev, weight, &e);
		if (r == 0)
			r = evaluator_state(ev, 0, x, psi, &e);
		for (size_t i = 0; i < n; i++)
			w = tap_worst(w, cabs(psi[i] - cplx_of(re[i], im[i])));
		tap_ok(r == 0 && w <= places[k].value, "a state on %s within %.0e (%.1g) %s", place_name(&places[k]), places[k].value, w, e.text);
		evaluator_free(ev);
	}
	free(re), free(im), free(psi);
}

static void check_cluster(const char *file, const char *model)
{
	json_t *j = open_json(reference_dir, file);
	if (j == NULL)
		return;
	struct program *p = compile(model, 0, NULL);
	uint32_t nsample;
	size_t k, n;
	json_t *v;
	double *x = cluster_rows(j, 8, &nsample), *label = numbers(json_object_get(j, "label"), &n);
	if (p)
		json_array_foreach(json_object_get(j, "vectors"), k, v) {
			double *w = with_head(json_object_get(v, "weights"), json_object_get(v, "head"), &n);
			double *y = numbers(json_object_get(v, "expectations"), &n), *g = numbers(json_object_get(v, "gradients"), &n);
			check_circuit(file, p, w, x, nsample, y, g, false);
			if (p->noutput == 1)
				check_loss(file, p, w, x, nsample, label, v);
			json_t *state = json_object_get(v, "state_of_sample_3");
			if (state) {
				/* the light cone drops what no readout sees, so the state wants a program with all gates */
				char path[8300];
				struct source_set *s = source_set_new();
				struct diags *d = diags_new(s);
				static const char *const without[] = { "cone" };
				snprintf(path, sizeof path, "%s/%s", model_dir, model);
				struct program *all = compile_file(path, d, &(struct compile_options){ .without = without, .nwithout = 1 }, NULL);
				if (tap_ok(all != NULL, "%s compiles without the light cone", model))
					check_state(all, w, x + 3 * 8, state);
				program_free(all);
				diags_free(d);
				source_set_free(s);
			}
			free(w), free(y), free(g);
		}
	free(x), free(label);
	program_free(p);
	json_decref(j);
}

static void check_keras(const char *file, const char *model)
{
	json_t *j = open_json(reference_dir, file), *data = open_json(reference_dir, "tfq/train_a.json");
	struct program *p = j ? compile(model, 0, NULL) : NULL;
	char path[8300];
	FILE *f;
	double x[160][8], y[160];
	snprintf(path, sizeof path, "%s/tfq/cluster_data.csv", reference_dir);
	if (p && data && (f = fopen(path, "r"))) {
		size_t n;
		int got = fscanf(f, "%*[^\n]");
		for (unsigned s = 0; s < 160; s++) {
			for (unsigned c = 0; c < 8; c++)
				got += fscanf(f, "%lf,", &x[s][c]);
			got += fscanf(f, "%lf", &y[s]);
		}
		fclose(f);
		tap_is_int(got, 160 * 9, "cluster_data.csv has 160 rows of 9 numbers");
		const json_t *in = json_object_get(j, "weights_in_declaration_order");
		double *w = json_is_array(in) ? numbers(in, &n) : with_head(json_object_get(in, "circuit"), in, &n);
		double *want = numbers(json_object_get(j, "prediction_double"), &n);
		for (unsigned k = 0; k < nplace; k++) {
			struct evaluator *ev = open_evaluator(p, &places[k]);
			double prediction[256], readout[48 * 8];
			struct mse m = { .p = p, .weight = w, .label = y + 112, .nsample = 48, .prediction = prediction };
			struct batch b = { .nsample = 48, .input = x[112] };
			struct pool *pool = pool_threads_new(2);
			struct err e = { 0 };
			if (ev && evaluator_weights(ev, w, &e) == 0) {
				evaluator_prepare(ev, &b, false, mse_gradient, &m, readout);
				int r = evaluator_run(ev, pool, NULL, &e);
				double d = worst(prediction, want, 48), bar = places[k].value;
				tap_ok(r == 0 && d <= bar, "%s on %s: 48 predictions within %.0e (%.1g)", file, place_name(&places[k]), bar, d);
			}
			evaluator_free(ev);
			pool->ops->free(pool);
		}
		free(w), free(want);
	}
	program_free(p);
	json_decref(j);
	json_decref(data);
}

/* ---- other people's models ---- */

static void check_layers(void)
{
	json_t *j = open_json(reference_dir, "layers/strongly_entangling.json"), *c;
	size_t k;
	json_array_foreach(json_object_get(j, "cases"), k, c) {
		char n_text[16], l_text[16], what[96];
		size_t n;
		snprintf(n_text, sizeof n_text, "%d", (int)json_integer_value(json_object_get(c, "qubits")));
		snprintf(l_text, sizeof l_text, "%d", (int)json_integer_value(json_object_get(c, "layers")));
		snprintf(what, sizeof what, "strongly entangling, n = %s, %s layers", n_text, l_text);
		struct const_override con[] = { { "n", n_text }, { "layers", l_text } };
		struct program *p = compile("strongly_entangling.qcnn", 2, con);
		double *w = numbers(json_object_get(c, "weights"), &n), *y = numbers(json_object_get(c, "expectations"), &n);
		double *g = numbers(json_object_get(c, "gradient_of_sum"), &n);
		if (p)
			check_circuit(what, p, w, NULL, 1, y, g, true);
		free(w), free(y), free(g);
		program_free(p);
	}
	json_decref(j);
}

static void check_bars(void)
{
	json_t *j = open_json(reference_dir, "siblings/qiskit_bars.json");
	struct program *p = j ? compile("qiskit_bars.qcnn", 0, NULL) : NULL;
	size_t n;
	if (p) {
		double *x = numbers(json_object_get(j, "train_x"), &n), *label = numbers(json_object_get(j, "train_y"), &n);
		double *w = numbers(json_object_get(j, "initial_point_circuit_order"), &n);
		double *y = numbers(json_object_get(j, "initial_train_predictions"), &n);
		check_circuit("bars, the stored start point", p, w, x, 35, y, NULL, false);
		double *r = numbers(json_object_get(j, "random_weights"), &n), *ry = numbers(json_object_get(j, "random_expectations"), &n);
		double *rg = numbers(json_object_get(j, "random_gradients"), &n);
		check_circuit("bars, a random point", p, r, x, 4, ry, rg, false);
		double loss = 0;
		for (unsigned s = 0; s < 35; s++)
			loss += (y[s] - label[s]) * (y[s] - label[s]) / 35;
		tap_close(loss, json_number_value(json_object_get(j, "initial_train_mse")), 1e-12, "bars: the start point's loss");
		free(x), free(label), free(w), free(y), free(r), free(ry), free(rg);
	}
	program_free(p);
	json_decref(j);
}

static void check_few_data(void)
{
	json_t *j = open_json(reference_dir, "siblings/pennylane_few_data.json");
	struct program *p = j ? compile("pennylane_few_data.qcnn", 0, NULL) : NULL;
	size_t n;
	if (p) {
		double *x = numbers(json_object_get(j, "amplitudes"), &n), *w = numbers(json_object_get(j, "weights"), &n);
		double *y = numbers(json_object_get(j, "expectations"), &n), *g = numbers(json_object_get(j, "gradients"), &n);
		check_circuit("few data", p, w, x, 4, y, g, false);
		free(x), free(w), free(y), free(g);
	}
	program_free(p);
	json_decref(j);
}

static void check_hur(void)
{
	json_t *j = open_json(reference_dir, "siblings/hur_ansaetze.json"), *c;
	size_t k, n;
	json_array_foreach(json_object_get(j, "cases"), k, c) {
		static const char *const kind[] = { "U_TTN", "U_5", "U_6", "U_9", "U_13", "U_14", "U_15", "U_SO4", "U_SU4" };
		const json_t *amplitudes = json_object_get(c, "amplitudes");
		char number[16], name[64];
		unsigned at = 0;
		while (at < 8 && strcmp(kind[at], json_string_value(json_object_get(c, "ansatz"))) != 0)
			at++;
		snprintf(number, sizeof number, "%u", at);
		snprintf(name, sizeof name, "%s%s", kind[at], amplitudes ? ", amplitudes" : "");
		struct program *p = amplitudes ? compile("hur_amplitudes.qcnn", 0, NULL)
			: compile("hur.qcnn", 1, &(struct const_override){ "kind", number });
		double *x = numbers(amplitudes ? amplitudes : json_object_get(c, "x"), &n), *w = numbers(json_object_get(c, "weights"), &n);
		double *y = numbers(json_object_get(c, "expectation"), &n), *g = numbers(json_object_get(c, "gradient"), &n);
		if (p && tap_is_int(p->nweight, (long long)n, "%s has as many weights", name))
			check_circuit(name, p, w, x, 1, y, g, false);
		free(x), free(w), free(y), free(g);
		program_free(p);
	}
	json_decref(j);
}

int main(void)
{
	const char *src = getenv("top_srcdir"), *shared = getenv("QCNN_SHARED");
	src = src ? src : ".";
	snprintf(model_dir, sizeof model_dir, "%s/tests/lang/models", src);
	snprintf(own_dir, sizeof own_dir, "%s/tests/kernels", src);
	snprintf(reference_dir, sizeof reference_dir, "%s%s/reference", shared ? shared : src, shared ? "" : "/../shared");
	find_places();
	check_size(own_dir, "model_a_n4.json");
	if (access(reference_dir, R_OK) != 0) {
		tap_skip("the reference values of other simulators are not beside the sources");
		return tap_done();
	}
	check_size(reference_dir, "tfq/model_a_n16.json");
	check_cluster("tfq/model_a_n8.json", "cluster_a.qcnn");
	check_cluster("tfq/model_b_n8.json", "cluster_b.qcnn");
	check_cluster("tfq/model_d_n8.json", "cluster_d.qcnn");
	check_keras("tfq/keras_model_a.json", "cluster_a.qcnn");
	check_keras("tfq/keras_model_b.json", "cluster_b.qcnn");
	check_layers();
	check_bars();
	check_few_data();
	check_hur();
	return tap_done();
}
