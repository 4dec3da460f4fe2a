/* SPDX-License-Identifier: Apache-2.0
 * Prints the last lines of a training: its numbers, why it ended, and where the weights are. */
#include "cli/training/train_summary.h"

#include "cli/job/train_callbacks.h"
#include "runtime/exec/statevector/split/split.h"

/* Matrices are not shown. */
static void say_numbers(struct buf *b, const struct train_job *j, const char *what, double loss,
	const double *metric)
{
	const struct measures *m = &j->measures;
	uint32_t noutput = j->program->noutput;

	buf_printf(b, "%s: loss %.*g", what, loss_digits(m->loss.row), loss);
	for (unsigned k = 0; k < m->nmetric; k++)
		if (!metric_side(m->metric[k].row, noutput))
			buf_printf(b, ", %s %.6g", m->metric[k].row->name,
				metric[measures_at(m, k, noutput)]);
}

/* Before any other reason. */
static bool search_ended(const struct train_job *j, const struct train_result *r)
{
	return optimizer_takes_all(j->optimizer) && r->last.epoch < j->epochs && !(r->end[r->winner].stopped > 0)
		&& !(j->max_steps && r->step >= j->max_steps);
}

void train_summary(const struct cli *c, const struct job *j, const struct train_words *w, const struct train_result *r)
{
	buf_auto b = BUF_INIT, word = BUF_INIT;
	const char *weights = c->options.value[OPT_WEIGHTS_OUT];

	say_numbers(&b, &j->train, "training", r->last.loss, r->last.metric);
	if (r->last.has_validation) {
		buf_str(&b, "; ");
		say_numbers(&b, &j->train, "validation", r->last.val_loss, r->last.val_metric);
	}
	if (j->test.done) {
		buf_str(&b, "; ");
		say_numbers(&b, &j->train, "test", j->test.loss, j->test.metric);
	}
	cli_note(c, "%s", b.data);
	buf_clear(&b);
	train_callbacks_ending(&j->train, r, &b);
	if (b.len)
		cli_note(c, "%s", b.data);
	buf_clear(&b);
	optimisation_use_text(&j->optimisations, &b);
	if (b.len)
		cli_note(c, "exact optimisations: %s", b.data);
	if (j->train.exec.rank && *j->train.exec.rank->way)
		cli_note(c, "GPUs exchanged by %s", j->train.exec.rank->way);
	if (j->train.restarts > 1 && !w->shows_progress)
		cli_note(c, "restart %u of %u was the best", r->winner + 1, j->train.restarts);
	buf_clear(&b);
	if (!weights)
		buf_printf(&b, "%s/weights.bin", w->folder);
	if (!weights)
		weights = b.data;
	if (search_ended(&j->train, r))
		cli_note(c, "%s ended the search after %llu evaluations, by its tolerances", j->train.optimizer->name,
			(unsigned long long)r->step);
	cli_note(c, "the weights are in %s", weights);
	buf_shell_word(&word, weights);
	/* by default on the part that was held out */
	cli_note(c, "to evaluate them: qcnn infer %s%s",
		j->samples.part[PART_TEST].nrow || j->samples.part[PART_VALIDATION].nrow
			? ""
			: "--split=train ",
		word.data);
	if (w->reported)
		cli_note(c, "the report is in %s/report.html", w->folder);
}
