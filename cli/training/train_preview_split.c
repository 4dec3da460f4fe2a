/* SPDX-License-Identifier: Apache-2.0
 * What a dry run prints of states that are split over processes. */
#include "cli/training/train_preview_parts.h"

#include "cli/gpu_limits.h"
#include "cli/machine.h"
#include "runtime/base/system/cpus.h"
#include "runtime/exec/statevector/state_memory.h"
#include "runtime/exec/statevector/statevector.h"

/* Of machines like this one, whose limits are measured. */
static int predict(struct preview_split *s, const struct plan *pl, const char *link, struct err *e)
{
	const char *rule;
	int code = limits_measure(pl->target, cpus_threads(&rule), &s->limits, e);

	if (!code)
		code = link_limits(link, true, &s->limits, e);
	for (unsigned gradient = 0; gradient < 2 && !code; gradient++)
		s->takes[gradient] = plan_rank_takes(pl, &s->limits, gradient);
	return code;
}

/* States of a step, as those were that were taken. */
static double states_of_step(const struct preview *p)
{
	const struct optimisation_use *u = &p->optimisations;

	for (unsigned k = 0; k < OPTIMISATIONS_COUNT; k++)
		if (u->row[k].nstate && u->row[k].nbatch == u->nbatch)
			return (double)u->row[k].nstate / (double)u->nbatch;
	return train_batch_size(&p->job->train);
}

int preview_split_check(const struct preview *p, struct err *e)
{
	struct plan_limits any = { 0 };

	if (p->cli->options.given[OPT_LINK] && p->job->train.exec.split > 1
		&& target_has_memory(target_or_best(p->job->train.exec.target)))
		return err_set(e, -ERR_USAGE,
			"the time that GPUs take for split states is not predicted: without --link, the dry run has the exchanges "
			"and their bytes");
	return link_limits(p->cli->options.value[OPT_LINK], p->job->train.exec.split > 1, &any, e);
}

int preview_split(struct preview *p, struct err *e)
{
	const struct train_job *j = &p->job->train;
	struct preview_split *s = &p->split;
	int code = 0;

	if (j->exec.split < 2)
		return 0;
	struct plan *pl = statevector_plan_new(j->program, &j->exec, e);
	if (!pl)
		return -ERR_CONFIG;
	s->nrank = j->exec.split;
	s->library = target_library(target_or_best(j->exec.target));
	s->nstate = states_of_step(p);
	for (unsigned back = 0; back < 2; back++)
		s->bytes[back] = plan_exchanges(pl, back, &s->nexchange[back]).bytes;
	if (p->cli->options.given[OPT_LINK])
		code = predict(s, pl, p->cli->options.value[OPT_LINK], e);
	plan_free(pl);
	return code;
}

/* Seconds of a step, in which each state goes forward and back. */
static double step_seconds(const struct preview_split *s)
{
	return s->nstate * s->takes[1].seconds.all;
}

json_t *preview_split_json(const struct preview_split *s)
{
	json_t *all = json_pack("{s:i, s:i, s:i, s:f, s:f, s:f}", "processes", (int)s->nrank,
		"forward_exchanges", (int)s->nexchange[0], "backward_exchanges",
		(int)s->nexchange[1], "forward_bytes", s->bytes[0], "backward_bytes", s->bytes[1],
		"states_per_step", s->nstate);

	if (s->library)
		json_object_set_new(all, "library", json_string(s->library));
	if (s->limits.exchange_gb_s > 0)
		json_object_set_new(all, "link",
			json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "gb_s",
				s->limits.exchange_gb_s, "message_us", s->limits.message_us,
				"compute_seconds", s->takes[1].seconds.compute, "send_seconds",
				s->takes[1].seconds.exchange, "sums_seconds",
				s->takes[1].seconds.rest, "state_seconds", s->takes[1].seconds.all,
				"messages", s->takes[1].sent.messages, "step_seconds",
				step_seconds(s), "memory_bytes", s->takes[1].memory));
	return all;
}

void preview_split_text(const struct preview_split *s, struct buf *out)
{
	char memory[MEMORY_TEXT_MAX];

	if (!s->nrank)
		return;
	buf_printf(out,
		"split     over %u processes: %u exchange%s forward, in which each sends %.4g bytes of a state, "
		"%u backward, %.4g bytes of two\n",
		s->nrank, s->nexchange[0], s->nexchange[0] == 1 ? "" : "s", s->bytes[0],
		s->nexchange[1], s->bytes[1]);
	if (s->library)
		buf_printf(out,
			"exchange  of GPUs, one for each process: %s; else through memory of the host\n",
			s->library);
	if (s->limits.exchange_gb_s > 0)
		buf_printf(out,
			"link      %.4g GB/s, %.4g us a message, machines like this one: %.4g s a step, of %.4g states that take "
			"%.4g s of computing, %.4g s to send %.4g bytes in %.0f message%s, and %.4g s for matrices and sums; %s a process\n",
			s->limits.exchange_gb_s, s->limits.message_us, step_seconds(s), s->nstate,
			s->takes[1].seconds.compute, s->takes[1].seconds.exchange,
			s->takes[1].sent.bytes, s->takes[1].sent.messages,
			s->takes[1].sent.messages == 1 ? "" : "s", s->takes[1].seconds.rest,
			memory_text(s->takes[1].memory, 0, memory));
}
