/* SPDX-License-Identifier: Apache-2.0
 * What a plan says of shortcuts. */
#include "config.h"
#include "runtime/exec/basis/batch_rank.h"

#include "runtime/exec/exact_optimisation.h"
#include "runtime/exec/light_cones.h"

enum { EXAMPLE_SAMPLES = 1000, LINES_MAX = 2 * SHORTCUTS_COUNT };

/* The largest r is the one where the shortcut is only just taken. */
static const char *rank_line(struct plan *pl, bool gradient)
{
	uint32_t most = rank_worth(pl, EXAMPLE_SAMPLES, gradient, true), example = program_nwire(pl->program) + 1;
	const char *why, *what = gradient ? "with gradient" : "forward";

	if (!rank_possible(pl, gradient, &why))
		return arena_printf(&pl->arena, "batch_rank: not %s: %s", what, why);
	if (!most)
		return arena_printf(&pl->arena, "batch_rank: %s, %d samples cost %.4g flops; no basis is worth it", what,
			EXAMPLE_SAMPLES, rank_cost_off(pl, EXAMPLE_SAMPLES, gradient));
	example = example < most ? example : most;
	return arena_printf(&pl->arena, "batch_rank: %s, %d samples cost %.4g flops, from a basis of %u states %.4g; taken up to %u states, "
		"up to %u where each batch is another one", what, EXAMPLE_SAMPLES, rank_cost_off(pl, EXAMPLE_SAMPLES, gradient), example,
		rank_cost_on(pl, EXAMPLE_SAMPLES, example, gradient, true), most, rank_worth(pl, EXAMPLE_SAMPLES, gradient, false));
}

static const char *cones_line(struct plan *pl, bool gradient)
{
	struct plan_options o = { .precision = pl->precision, .target = pl->target };
	const struct program *cones = cones_of(pl->program, &pl->arena);
	const char *what = gradient ? "with gradient" : "forward";
	double off, on;
	bool worth;

	if (!cones)
		return "light_cone: every output sees all";
	worth = cones_worth(pl->program, cones, &o, gradient, &off, &on);
	return arena_printf(&pl->arena, "light_cone: %s, a sample costs %.4g flops, by %u circuits of at most %u qubits %.4g; %s", what, off,
		cones->ncircuit, program_nwire(cones), on, worth ? "taken" : "not taken");
}

static const char *tail_line(struct plan *pl, bool gradient)
{
	struct plan_options o = { .precision = pl->precision, .target = pl->target };
	uint32_t nqubit = plan_tail_qubits(pl);
	struct plan *plain = nqubit ? plan_new(pl->program, &o, &(struct err){ 0 }) : NULL;
	double off, on, nominal;

	if (!plain)
		return "small_tail: no gates on 3 qubits at the end that are worth it";
	plan_flops(plain, gradient, &off, &nominal);
	plan_flops(pl, gradient, &on, &nominal);
	plan_free(plain);
	return arena_printf(&pl->arena, "small_tail: %s, a sample costs %.4g flops, with the last gates on %u qubit%s as one matrix %.4g; taken",
		gradient ? "with gradient" : "forward", off, nqubit, nqubit == 1 ? "" : "s", on);
}

void plan_shortcuts(struct plan *pl, unsigned allowed)
{
	const char **line = arena_alloc(&pl->arena, LINES_MAX, sizeof *line);

	pl->shortcut = line;
	if (!target_can(pl->target, TARGET_STAGES))
		return;   /* ref takes none */
	if (allowed & SHORTCUT_BATCH_RANK && target_can(pl->target, TARGET_STATE_CACHE)) {
		line[pl->nshortcut++] = rank_line(pl, false);
		if (pl->program->nweight_circuit)
			line[pl->nshortcut++] = rank_line(pl, true);
	}
	if (allowed & SHORTCUT_LIGHT_CONE)
		line[pl->nshortcut++] = cones_line(pl, pl->program->nweight_circuit > 0);
	if (allowed & SHORTCUT_SMALL_TAIL && target_can(pl->target, TARGET_HEISENBERG_TAIL))
		line[pl->nshortcut++] = tail_line(pl, pl->program->nweight_circuit > 0);
}
