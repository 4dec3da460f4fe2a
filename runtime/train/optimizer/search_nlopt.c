/* SPDX-License-Identifier: Apache-2.0
 * Searches by NLopt, which is loaded at run time (it stays behind this file).
 *
 * NLopt calls a function that returns losses, while a step of training computes one: so NLopt runs in a thread of its
 * own, which sleeps in that function until the next step has the loss.  NLopt is deterministic: given the losses of the
 * record again, it calls for the same weights, which is how a search continues after a resume. */
#include "runtime/train/optimizer/search.h"

#if QCNN_NLOPT

#include <dlfcn.h>
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/system/threads.h"

#define NAMES(NAME) \
	NAME(nlopt_create) NAME(nlopt_destroy) NAME(nlopt_set_min_objective) NAME(nlopt_set_ftol_rel) NAME(nlopt_set_xtol_abs1) \
	NAME(nlopt_set_initial_step1) NAME(nlopt_set_vector_storage) NAME(nlopt_optimize) NAME(nlopt_force_stop)

static struct {
	bool loaded;
#define MEMBER(name) __typeof__(name) *name;
	NAMES(MEMBER)
#undef MEMBER
} lib;

static bool find(void *handle, const char *name, void *out)
{
	void *p = dlsym(handle, name);

	memcpy(out, &p, sizeof p);
	return p;
}

static int load(struct err *e)
{
	void *handle;
	bool all = true;

	if (lib.loaded)
		return 0;
	handle = dlopen(QCNN_NLOPT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return err_set(e, -ERR_CONFIG, "the optimizer needs the library NLopt, which cannot be loaded: %s", dlerror());
#define FIND(name) all = find(handle, #name, &lib.name) && all;
	NAMES(FIND)
#undef FIND
	if (!all)
		return err_set(e, -ERR_CONFIG, "the optimizer needs the library NLopt; %s is not the one that qcnn was built with", QCNN_NLOPT_LIBRARY);
	lib.loaded = true;
	return 0;
}

/* ---- questions and answers ---- */

enum turn { TURN_NLOPT = 0, TURN_ASKED, TURN_ENDED, TURN_CANCELLED };

struct session {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum turn turn;
	nlopt_opt opt;
	unsigned n;                  /* weights that may move */
	double *x, *gradient;        /* (n): weights that NLopt calls for, their gradient; x is also its initial point */
	double loss;
	nlopt_result result;
	double best;                 /* the lowest loss so far */
};

static void pass_turn(struct session *s, enum turn to)
{
	s->turn = to;
	pthread_cond_broadcast(&s->changed);
}

/* In NLopt's thread. */
static double objective(unsigned n, const double *x, double *gradient, void *ctx)
{
	struct session *s = ctx;
	double loss = HUGE_VAL;

	mutex_auto held = mutex_hold(&s->lock);
	if (s->turn != TURN_CANCELLED) {
		memcpy(s->x, x, n * sizeof *x);
		pass_turn(s, TURN_ASKED);
	}
	while (s->turn == TURN_ASKED)
		pthread_cond_wait(&s->changed, &s->lock);
	if (s->turn == TURN_CANCELLED)
		lib.nlopt_force_stop(s->opt);
	else
		loss = s->loss;
	if (gradient)
		memcpy(gradient, s->gradient, n * sizeof *gradient);
	return loss;
}

static void *optimise(void *ctx)
{
	struct session *s = ctx;
	double *x = malloc(s->n * sizeof *x), loss;

	if (x)
		memcpy(x, s->x, s->n * sizeof *x);
	s->result = x ? lib.nlopt_optimize(s->opt, x, &loss) : NLOPT_OUT_OF_MEMORY;
	free(x);
	mutex_auto held = mutex_hold(&s->lock);
	pass_turn(s, TURN_ENDED);
	return NULL;
}

/* True: NLopt asks for the loss at s->x; false: it has ended. */
static bool asks(struct session *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->turn == TURN_NLOPT)
		pthread_cond_wait(&s->changed, &s->lock);
	enum turn turn = s->turn;
	pthread_mutex_unlock(&s->lock);
	return turn == TURN_ASKED;
}

/* s->gradient is filled where NLopt takes one. */
static void answer_nlopt(struct session *s, double loss)
{
	mutex_auto held = mutex_hold(&s->lock);
	s->loss = loss;
	pass_turn(s, TURN_NLOPT);
}

static void release(struct session *s)
{
	lib.nlopt_destroy(s->opt);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s->x);
	free(s);
}

void session_free_nlopt(void *session)
{
	struct session *s = session;

	pthread_mutex_lock(&s->lock);
	if (s->turn != TURN_ENDED)
		pass_turn(s, TURN_CANCELLED);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	release(s);
}

/* ---- weights that may move ---- */

static unsigned count_free(const struct update *u)
{
	unsigned n = 0;

	for (size_t i = 0; i < u->n; i++)
		n += update_moves(u, i);
	return n;
}

static void gather(const struct update *u, const double *all, double *out)
{
	for (size_t i = 0; i < u->n; i++)
		if (update_moves(u, i))
			*out++ = all[i];
}

static void scatter(const struct update *u, const double *in, double *all)
{
	for (size_t i = 0; i < u->n; i++)
		all[i] = update_moves(u, i) ? *in++ : u->weight[i];
}

/* ---- beginning, and going on ---- */

enum { NLOPT_INITIAL_STEP, NLOPT_XTOL_ABS, NLOPT_FTOL_REL, NLOPT_LBFGS_STORAGE = NLOPT_INITIAL_STEP };

static bool set_up(struct session *s, const struct update *u, nlopt_algorithm algorithm)
{
	double first = u->opt[NLOPT_INITIAL_STEP];

	s->opt = lib.nlopt_create(algorithm, s->n);
	if (!s->opt || lib.nlopt_set_min_objective(s->opt, objective, s) < 0 || lib.nlopt_set_xtol_abs1(s->opt, u->opt[NLOPT_XTOL_ABS]) < 0
		|| lib.nlopt_set_ftol_rel(s->opt, u->opt[NLOPT_FTOL_REL]) < 0)
		return false;
	if (algorithm == NLOPT_LD_LBFGS)
		return lib.nlopt_set_vector_storage(s->opt, (unsigned)first) >= 0;
	return lib.nlopt_set_initial_step1(s->opt, first) >= 0;
}

static int begin(const struct update *u, struct probe *p, nlopt_algorithm algorithm, struct err *e)
{
	struct session *s = mem_try(1, sizeof *s);
	unsigned n = count_free(u);

	if (!s)
		return err_set(e, -ERR_CONFIG, "no memory for a search by NLopt");
	s->n = n;
	s->x = mem_try(2 * (size_t)n + 1, sizeof *s->x);
	s->best = HUGE_VAL;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	if (!s->x || !set_up(s, u, algorithm)) {
		release(s);
		return err_set(e, -ERR_CONFIG, "NLopt has no memory for %u weights", n);
	}
	s->gradient = s->x + n;
	gather(u, u->slot[0], s->x);
	if (pthread_create(&s->thread, NULL, optimise, s)) {
		release(s);
		return err_set(e, -ERR_CONFIG, "cannot start a thread for the search by NLopt");
	}
	p->session = s;
	return 0;
}

/* Gives NLopt the losses of the record; *best: the step of the lowest loss, 0 without any. */
static int replay(struct session *s, const struct search_record *r, bool with_gradient, uint64_t *best, struct err *e)
{
	const size_t each = 1 + (with_gradient ? s->n : 0);

	*best = 0;
	for (size_t at = 0; at < r->n; at += each) {
		if (r->n - at < each || !isfinite(r->value[at]) || !asks(s))
			return err_set(e, -ERR_BAD_DATA,
				"the saved evaluations do not fit the search");
		if (with_gradient)
			memcpy(s->gradient, r->value + at + 1, s->n * sizeof *s->gradient);
		if (r->value[at] < s->best) {
			s->best = r->value[at];
			*best = at / each + 1;
		}
		answer_nlopt(s, r->value[at]);
	}
	return 0;
}

static int remember(struct search_record *r, double loss, const double *gradient, size_t n, struct err *e)
{
	if (r->cap - r->n < n + 1) {
		size_t cap = 2 * r->cap + n + 64;
		double *value = mem_try(cap, sizeof *value);

		if (!value)
			return err_set(e, -ERR_CONFIG, "no memory for the %zu numbers of the search", cap);
		if (r->n)
			memcpy(value, r->value, r->n * sizeof *value);
		free(r->value);
		r->value = value;
		r->cap = cap;
	}
	r->value[r->n++] = loss;
	if (n)
		memcpy(r->value + r->n, gradient, n * sizeof *gradient);
	r->n += n;
	return 0;
}

static int open_session(const struct update *u, struct probe *p, nlopt_algorithm algorithm, struct err *e)
{
	uint64_t best;

	if (u->step == 1)
		memcpy(u->slot[0], u->weight, u->n * sizeof *u->weight);
	int code = begin(u, p, algorithm, e);
	if (!code)
		code = replay(p->session, p->record, algorithm == NLOPT_LD_LBFGS, &best, e);
	return code || !best ? code : p->ops->again(p, u->weight, best, e);
}

/* ---- a step ---- */

static int ended(struct session *s, const struct search_record *r, struct err *e)
{
	if (s->result == NLOPT_OUT_OF_MEMORY)
		return err_set(e, -ERR_CONFIG, "NLopt has no memory for %u weights", s->n);
	if (!r->n)
		return err_set(e, -ERR_CONFIG,
			"NLopt evaluates no loss for %u trainable weights (its code is %d)", s->n,
			(int)s->result);
	return 0;
}

static int answer(const struct update *u, struct probe *p, bool with_gradient, struct err *e)
{
	struct session *s = p->session;
	double loss;

	scatter(u, s->x, p->moved);
	int code = p->ops->loss(p, p->moved, &loss, with_gradient ? p->gradient : NULL, e);
	if (code)
		return code;
	if (with_gradient)
		gather(u, p->gradient, s->gradient);
	code = remember(p->record, loss, s->gradient, with_gradient ? s->n : 0, e);
	if (code)
		return code;
	if (loss < s->best) {
		s->best = loss;
		memcpy(u->weight, p->moved, u->n * sizeof *u->weight);
		p->ops->keep(p);
	}
	answer_nlopt(s, loss);
	return 0;
}

/* One evaluation.  The weights are the best so far. */
static int search(const struct update *u, struct probe *p, nlopt_algorithm algorithm, struct err *e)
{
	int code = p->session ? 0 : open_session(u, p, algorithm, e);

	if (!code && asks(p->session))
		code = answer(u, p, algorithm == NLOPT_LD_LBFGS, e);
	if (!code && !asks(p->session)) {
		p->over = true;
		code = ended(p->session, p->record, e);
	}
	return code;
}

#define SEARCH_BY(name, algorithm) \
	int search_##name(const struct update *u, struct probe *p, struct err *e) \
	{ \
		return search(u, p, algorithm, e); \
	}
SEARCH_BY(cobyla, NLOPT_LN_COBYLA)
SEARCH_BY(bobyqa, NLOPT_LN_BOBYQA)
SEARCH_BY(nelder_mead, NLOPT_LN_NELDERMEAD)
SEARCH_BY(lbfgs, NLOPT_LD_LBFGS)

int check_nlopt(const struct program *p, struct err *e)
{
	(void)p;
	return load(e);
}

#endif
