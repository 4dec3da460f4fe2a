/* SPDX-License-Identifier: Apache-2.0
 * From a program to steps on index bits: swaps become relabellings, vectors are
 * prepared first, and every step knows whether the gradient needs its reduced transition matrix. */
#include "runtime/exec/statevector/plan/plan.h"

#include <stdlib.h>

#include "runtime/exec/statevector/backend.h"
#include "runtime/exec/statevector/plan/plan_build.h"
#include "runtime/exec/statevector/plan/plan_stage.h"
#include "runtime/program/matrix_place.h"

/* ---- the table of matrices ---- */

static uint32_t add_matrix(struct plan_build *b, const struct matrix *m)
{
	mem_reserve(b->def, b->ndef, b->cap);
	mem_reserve(b->trainable, b->ndef, b->trainable_cap);
	b->def[b->ndef] = m;
	b->trainable[b->ndef] = matrix_has(m, b->trainable, b->expr_trainable);
	return b->ndef++;
}

static void rehash(struct plan_build *b)
{
	uint32_t first = b->pl->program->nmatrix;

	free(b->bucket);
	b->nbucket = b->nbucket ? 2 * b->nbucket : 64;
	b->bucket = mem_alloc(b->nbucket, sizeof *b->bucket);
	for (uint32_t m = first; m < b->ndef; m++) {
		uint32_t at = matrix_hash(b->def[m]->ntarget, b->def[m]->nitem, b->def[m]->item);

		while (b->bucket[at %= b->nbucket])
			at++;
		b->bucket[at] = m + 1;
	}
}

static struct matrix *product(struct plan_build *b, unsigned ntarget, uint32_t nitem, const struct item *item)
{
	struct arena *a = &b->pl->arena;
	struct matrix *m = arena_alloc(a, 1, sizeof *m);

	m->ntarget = (uint8_t)ntarget;
	m->nitem = nitem;
	m->item = arena_copy(a, item, nitem, sizeof *item);
	matrix_derive(b->pl->program, b->def, m);
	return m;
}

uint32_t plan_matrix(struct plan_build *b, unsigned ntarget, uint32_t nitem, const struct item *item)
{
	uint32_t at, m;

	if (nitem == 1 && item->gate == GATE_NONE && !item->adjoint && item_is_whole(item, ntarget))
		return item->ref;
	if (2 * (b->ndef - b->pl->program->nmatrix) >= b->nbucket)
		rehash(b);
	at = matrix_hash(ntarget, nitem, item);
	for (; (m = b->bucket[at %= b->nbucket]) != 0; at++)
		if (matrix_same(b->def[m - 1], ntarget, nitem, item))
			return m - 1;
	m = add_matrix(b, product(b, ntarget, nitem, item));
	b->bucket[at] = m + 1;
	return m;
}

/* ---- a circuit's steps ---- */

/* Which bit carries each wire at this point of the circuit. */
static uint8_t *identity_map(struct arena *a, uint32_t nwire)
{
	uint8_t *bit = arena_alloc(a, nwire, 1);

	for (uint32_t w = 0; w < nwire; w++)
		bit[w] = (uint8_t)w;
	return bit;
}

static void relabel(uint8_t *bit, const struct apply *a)
{
	uint8_t first = bit[a->wire[0]];

	bit[a->wire[0]] = bit[a->wire[1]];
	bit[a->wire[1]] = first;
}

static void unitary_step(struct plan_build *b, const struct apply *a, const uint8_t *bit_of_wire,
	struct plan_step *s)
{
	uint8_t *bit = arena_alloc(&b->pl->arena, a->nwire, 1);

	*s = (struct plan_step){ .op = STEP_UNITARY,
		.matrix = a->matrix,
		.adjoint = a->adjoint,
		.transition = b->trainable[a->matrix],
		.ncontrol = (uint8_t)a->ncontrol,
		.ntarget = (uint8_t)(a->nwire - a->ncontrol),
		.bit = bit };
	for (unsigned k = 0; k < s->ntarget; k++)
		bit[k] = bit_of_wire[a->wire[a->ncontrol + k]];
	for (unsigned k = 0; k < a->ncontrol; k++)
		bit[s->ntarget + k] = bit_of_wire[a->wire[k]];
	s->control_mask = bits_spread(UINT64_MAX, bit + s->ntarget, a->ncontrol);
	s->control_value = bits_spread(a->control_ones, bit + s->ntarget, a->ncontrol);
}

static void prepare_step(struct plan_build *b, struct plan_circuit *c, const struct apply *a,
	const uint8_t *bit_of_wire, struct plan_step *s)
{
	uint8_t *bit = arena_alloc(&b->pl->arena, a->nwire, 1);

	for (unsigned k = 0; k < a->nwire; k++)
		bit[k] = bit_of_wire[a->wire[k]];
	*s = (struct plan_step){ .op = STEP_PREPARE, .matrix = c->nprepare, .ntarget = (uint8_t)a->nwire, .bit = bit };
	c->prepare[c->nprepare++] = a;
}

static bool is_prepare(const struct apply *a)
{
	return a->op == APPLY_AMPLITUDES || a->op == APPLY_STATE;
}

static void count_applies(const struct circuit_code *code, uint32_t *nprepare, uint32_t *nunitary)
{
	*nprepare = *nunitary = 0;
	for (uint32_t i = 0; i < code->napply; i++) {
		*nprepare += is_prepare(&code->apply[i]);
		*nunitary += code->apply[i].op == APPLY_UNITARY;
	}
}

/* Vectors land on wires that nothing has touched, so they can all be prepared first. */
static void make_steps(struct plan_build *b, struct plan_circuit *c)
{
	const struct circuit_code *code = c->code;
	struct arena *a = &b->pl->arena;
	uint8_t *bit_of_wire = identity_map(a, code->nwire);
	uint32_t nprepare, nunitary, at;

	count_applies(code, &nprepare, &nunitary);
	c->prepare = arena_alloc(a, nprepare, sizeof *c->prepare);
	c->step = arena_alloc(a, (size_t)nprepare + nunitary, sizeof *c->step);
	struct plan_step *prepare = c->step;
	at = nprepare;
	for (uint32_t i = 0; i < code->napply; i++) {
		const struct apply *ap = &code->apply[i];

		if (ap->op == APPLY_SWAP)
			relabel(bit_of_wire, ap);
		else if (is_prepare(ap))
			prepare_step(b, c, ap, bit_of_wire, prepare), prepare++->apply = i;
		else if (ap->op == APPLY_UNITARY)
			unitary_step(b, ap, bit_of_wire, &c->step[at]), c->step[at++].apply = i;
	}
	c->nstep = at;
	c->bit_of_wire = bit_of_wire;
}

/* A parameter-shift plan: every step that is differentiated has a matrix of its own. */
static void own_matrices(struct plan_build *b, struct plan_circuit *c)
{
	for (uint32_t k = 0; k < c->nstep; k++) {
		struct plan_step *s = &c->step[k];
		struct item whole = { .nwire = s->ntarget, .ref = s->matrix };

		if (!s->transition)
			continue;
		for (unsigned w = 0; w < s->ntarget; w++)
			whole.wire[w] = (uint8_t)w;
		struct matrix *m = product(b, s->ntarget, 1, &whole);
		m->cls = VALUE_SAMPLE;
		s->matrix = add_matrix(b, m);
	}
}

static void make_outputs(struct plan *pl, struct plan_circuit *c)
{
	mem_auto uint32_t *bit = mem_alloc((size_t)c->nbit + 1, sizeof *bit);

	for (uint32_t w = 0; w < c->nbit; w++)
		bit[w] = c->bit_of_wire[w];
	c->noutput = c->code->noutput;
	c->output = arena_alloc(&pl->arena, c->noutput, sizeof *c->output);
	for (uint32_t i = 0; i < c->noutput; i++) {
		c->output[i] = output_mapped(&pl->arena, &c->code->output[i], bit);
		c->nterm += c->output[i].nterm;
	}
}

static void make_circuit(struct plan_build *b, struct plan_circuit *c)
{
	c->nbit = c->code->nwire;
	c->nreadout = c->code->nreadout;
	make_steps(b, c);
	if (b->o->own_matrices) {
		own_matrices(b, c);
	} else if (!b->o->no_fuse) {
		plan_split(b, c);
		plan_fuse(b, c);
	}
	make_outputs(b->pl, c);
	if (b->o->heisenberg_tail && !b->o->own_matrices && !b->o->no_fuse
		&& target_can(b->pl->target, TARGET_HEISENBERG_TAIL))
		plan_tail(b, c);
}

static void make_circuits(struct plan_build *b)
{
	const struct program *p = b->pl->program;
	struct plan *pl = b->pl;
	uint32_t readout = 0;

	pl->ncircuit = p->ncircuit;
	pl->circuit = arena_alloc(&pl->arena, pl->ncircuit, sizeof *pl->circuit);
	for (uint32_t i = 0; i < pl->ncircuit; i++) {
		struct plan_circuit *c = &pl->circuit[i];

		c->code = &p->circuit[i];
		c->first_readout = readout;
		readout += c->code->nreadout;
		make_circuit(b, c);
	}
}

/* Made of x and swap, so that amplitudes are moved and nothing is computed?  moves: of the matrices before it. */
static bool only_moves(const struct matrix *m, const bool *moves)
{
	for (uint32_t i = 0; i < m->nitem; i++) {
		const struct item *it = &m->item[i];

		if (it->gate == GATE_NONE ? !moves[it->ref]
				: it->gate != GATE_SWAP && (it->gate != GATE_PAULI || it->word & 0xaa))   /* 0xaa: y or z among its letters */
			return false;
	}
	return true;
}

/* What the table of matrices holds so far. */
static void close_set(struct plan_build *b)
{
	struct plan *pl = b->pl;

	matrix_set_of(&pl->set, pl->program,
		arena_copy(&pl->arena, b->def, b->ndef, sizeof *b->def), b->ndef, &pl->arena);
	pl->nmatrix_entry = pl->set.offset[b->ndef];
	pl->moves = arena_alloc(&pl->arena, b->ndef, sizeof *pl->moves);
	for (uint32_t m = 0; m < b->ndef; m++)
		pl->moves[m] = only_moves(b->def[m], pl->moves);
	pl->transition = arena_alloc(&pl->arena, b->ndef, sizeof *pl->transition);
	for (uint32_t i = 0; i < pl->ncircuit; i++)
		for (uint32_t k = 0; k < pl->circuit[i].nstep; k++)
			if (pl->circuit[i].step[k].transition)
				pl->transition[pl->circuit[i].step[k].matrix] = true;
}

/* Segments end where their last stages do, or with the segment before. */
static void end_segments(struct plan_circuit *c)
{
	uint32_t end = c->nstage ? c->stage[0].first : c->nstep;

	for (uint32_t n = 0, k = 0; n < c->nsegment; n++) {
		for (; k < c->nstage && c->stage[k].segment == n; k++)
			end = c->stage[k].first + c->stage[k].count;
		c->segment[n].end = end;
	}
}

/* The kept starts, stages where a state is not all near, and the backward pass. */
static int make_stages(struct plan_build *b, struct err *e)
{
	struct plan *pl = b->pl;

	pl->nontemporal_bytes = b->o->random % 2 ? 0 : PLAN_NONTEMPORAL_BYTES;
	for (uint32_t i = 0; i < pl->ncircuit; i++) {
		struct plan_circuit *c = &pl->circuit[i];
		struct plan_cut cut = { 0 };

		if (plan_stored_bits(pl, c->nbit) > 63)
			return err_set(e, -ERR_CONFIG, "a state vector of %u qubits does not fit any machine", c->nbit);
		plan_start(pl, c);
		plan_segments(pl, c);
		if (!target_can(pl->target, TARGET_STAGES) || pl->shape == SHAPE_BATCHED)
			continue;
		if (!b->o->random)
			cut = plan_try(b, c);
		plan_cut(pl, c, &cut, b->o->random);
	}
	if (pl->shape == SHAPE_SHARED) {
		for (uint32_t i = 0; i < pl->ncircuit; i++)
			plan_pairs(b, &pl->circuit[i]);
		for (uint32_t i = 0; i < pl->ncircuit; i++)
			end_segments(&pl->circuit[i]);
		close_set(b);
	}
	for (uint32_t i = 0; i < pl->ncircuit; i++) {
		plan_tail_last(&pl->circuit[i]);
		plan_backward_pass(pl, &pl->circuit[i]);
		plan_place(pl, &pl->circuit[i], b->o->random);
		plan_products(pl, &pl->circuit[i]);
	}
	return 0;
}

/* ---- the whole ---- */

static enum shape shape_of(const struct target *t, const struct plan_options *o, uint32_t nwire)
{
	if (!target_can(t, TARGET_STAGES))
		return SHAPE_PER_THREAD;
	if (o->shape != SHAPE_AUTO)
		return o->shape;
	if (nwire <= PLAN_SAMPLES_WIRES_MAX && target_can(t, TARGET_BATCHED))
		return SHAPE_BATCHED;
	return nwire <= PLAN_STATE_WIRES_MAX ? SHAPE_PER_THREAD : SHAPE_SHARED;
}

enum { UNIT_BITS_MAX = 10 };

/* Samples in a unit: lanes, or as many as the target wants to be busy. */
static uint32_t width_of(const struct plan *pl)
{
	unsigned nbit = plan_stored_bits(pl, program_nwire(pl->program)), all = pl->target->unit_bits;

	if (pl->shape == SHAPE_BATCHED)
		return plan_lanes(pl);
	if (all <= nbit || pl->nrank_bit)
		return 1;
	return UINT32_C(1) << (all - nbit < UNIT_BITS_MAX ? all - nbit : UNIT_BITS_MAX);
}

static int check_wires(const struct program *p, struct err *e)
{
	uint32_t n = program_nwire(p);

	if (n > PLAN_WIRES_MAX)
		return err_set(e, -ERR_CONFIG, "a circuit of %u qubits has 2^%u amplitudes; a state vector holds "
			"at most 2^%d", n, n, PLAN_WIRES_MAX);
	return 0;
}

/* A number of ranks that states can be split over? */
static int check_split(const struct program *p, const struct plan_options *o, struct err *e)
{
	uint32_t n = program_nwire(p), most = n > PLAN_SPLIT_LOCAL_MIN ? n - PLAN_SPLIT_LOCAL_MIN : 0;

	if (o->split < 2)
		return 0;
	if (!target_can(o->target, TARGET_SPLIT))
		return err_set(e, -ERR_CONFIG,
			"states on %s are not split over ranks: set run.split to 1",
			o->target->device);
	if ((o->split & (o->split - 1)) || o->split > PLAN_RANKS_MAX)
		return err_set(e, -ERR_CONFIG,
			"a state is split over a power of two of ranks, such as 2 or 4, not %u",
			o->split);
	if ((unsigned)__builtin_ctz(o->split) > most)
		return err_set(e, -ERR_CONFIG,
			"a state of %u qubit%s is split over at most %u rank%s, not %u: each part keeps %d qubits",
			n, n == 1 ? "" : "s", 1u << most, most ? "s" : "", o->split,
			PLAN_SPLIT_LOCAL_MIN);
	return 0;
}

/* Vectors are loaded, not differentiated. */
static int check_vectors(const struct program *p, const bool *trainable, struct err *e)
{
	for (uint32_t c = 0; c < p->ncircuit; c++)
		for (uint32_t i = 0; i < p->circuit[c].napply; i++) {
			const struct apply *a = &p->circuit[c].apply[i];

			for (uint32_t k = 0; a->op == APPLY_AMPLITUDES && k < a->nexpr; k++)
				if (trainable[a->expr[k]])
					return err_set(e, -ERR_CONFIG, "amplitudes that depend on trained weights have no gradient");
		}
	return 0;
}

void plan_used(const struct plan *pl, bool *used)
{
	for (uint32_t c = 0; c < pl->ncircuit; c++)
		for (uint32_t k = 0; k < pl->circuit[c].nstep; k++)
			if (pl->circuit[c].step[k].op == STEP_UNITARY)
				used[pl->circuit[c].step[k].matrix] = true;
}

uint32_t plan_profile_item(const struct plan *pl, uint32_t c, uint32_t k)
{
	for (uint32_t i = 0; i < c; i++)
		k += pl->circuit[i].nstep + PLAN_OTHER_STAGES + pl->circuit[i].nstage;
	return k;
}

uint32_t plan_profile_items(const struct plan *pl)
{
	return plan_profile_item(pl, pl->ncircuit, 0);
}

struct plan *plan_new(const struct program *p, const struct plan_options *o, struct err *e)
{
	struct plan_build b = { .o = o };

	if (!o->target)
		BUG("a plan for no target");
	if (check_wires(p, e) || check_split(p, o, e))
		return NULL;
	struct plan *pl = mem_alloc(1, sizeof *pl);
	arena_init(&pl->arena);
	pl->options = *o;
	pl->program = p;
	pl->target = o->target;
	pl->precision = !target_can(pl->target, TARGET_SINGLE) ? PRECISION_DOUBLE : o->precision ? o->precision : PRECISION_SINGLE;
	pl->nrank_bit = o->split > 1 ? (unsigned)__builtin_ctz(o->split) : 0;
	pl->shape = pl->nrank_bit ? SHAPE_SHARED : shape_of(pl->target, o, program_nwire(p));
	pl->width = width_of(pl);
	b.pl = pl;
	bool *trainable = arena_alloc(&pl->arena, p->nexpr, sizeof *trainable);
	program_trained(p, trainable);
	b.expr_trainable = pl->expr_trainable = trainable;
	for (uint32_t m = 0; m < p->nmatrix; m++)
		add_matrix(&b, &p->matrix[m]);
	int code = check_vectors(p, b.expr_trainable, e);
	if (!code) {
		make_circuits(&b);
		close_set(&b);
		code = make_stages(&b, e);
	}
	free(b.def);
	free(b.trainable);
	free(b.bucket);
	if (!code && pl->target->backend->work && pl->shape != SHAPE_BATCHED)
		pl->target->backend->work(pl);
	if (!code)
		return pl;
	plan_free(pl);
	return NULL;
}

void plan_free(struct plan *pl)
{
	if (!pl)
		return;
	arena_release(&pl->arena);
	free(pl);
}
