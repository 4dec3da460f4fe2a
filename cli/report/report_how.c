/* SPDX-License-Identifier: Apache-2.0
 * How a run was made: its commands, its machine, its configuration. */
#include "cli/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/order.h"
#include "runtime/base/system/cpus.h"
#include "runtime/exec/engine.h"
#include "runtime/exec/statevector/split/split.h"

static void row(const char *name, const char *value, struct buf *out)
{
	buf_xml_in(out, "<tr><th>", name, "");
	buf_xml_in(out, "</th><td>", value, "</td></tr>\n");
}

/* A word as a shell takes it, for HTML. */
static void shell_word(const char *word, struct buf *out)
{
	buf_auto b = BUF_INIT;

	buf_shell_word(&b, word);
	buf_xml_str(out, b.data);
}

/* --resume=RUN: that run exists. */
static bool names_run(char *const *word, int i)
{
	static const char resume[] = "--resume";

	return (i && !strcmp(word[i - 1], resume)) || !strcmp(word[i], resume)
		|| !strncmp(word[i], "--resume=", sizeof resume);
}

static void again(const struct train_report *p, struct buf *out)
{
	const char *folder = p->job->word_folder;
	mem_auto char *here = folder ? mem_strdup(folder) : getcwd(NULL, 0);
	char *const *word = job_words(p->cli, p->job);
	buf_auto path = BUF_INIT;

	buf_str(out, "<p>To run it again, to the same bits:</p>\n<pre>");
	if (here) {
		buf_str(out, "cd ");
		shell_word(here, out);
		buf_char(out, '\n');
	}
	for (int i = 0; word[i]; i++) {
		if (names_run(word, i))
			continue;
		buf_str(out, i ? " " : "");
		shell_word(word[i], out);
	}
	buf_str(out, "</pre>\n<p>To use the weights:</p>\n<pre>");
	shell_word(p->cli->argv[0], out);
	buf_str(out, p->npart > 1 ? " infer " : " infer --split=train ");
	buf_printf(&path, "%s/weights.bin", p->folder);
	shell_word(path.data, out);
	buf_str(out, "</pre>\n");
}

static double median_of(const struct train_report *p, const char *column)
{
	const double *v = history_column(&p->history, column);
	size_t n = p->history.nrow;

	if (!v || !n)
		return NAN;
	mem_auto double *copy = mem_alloc(n, sizeof *copy);
	memcpy(copy, v, n * sizeof *copy);
	qsort(copy, n, sizeof *copy, order_doubles);
	return copy[n / 2];
}

/* Three digits that count: "891 000", "45.2". */
static void thousands(double v, struct buf *out)
{
	char digits[32];

	if (v < 1000 || v >= 1e15 || !isfinite(v)) {
		buf_printf(out, "%.3g", v);
		return;
	}
	int n = snprintf(digits, sizeof digits, "%.0f",
		round(v / pow(10, floor(log10(v)) - 2)) * pow(10, floor(log10(v)) - 2));
	for (int i = 0; i < n; i++)
		buf_printf(out, "%s%c", i && (n - i) % 3 == 0 ? "\u00a0" : "", digits[i]);
}

static void machine(const struct train_report *p, struct buf *out)
{
	const struct train_job *j = &p->job->train;
	const struct evaluator_options *x = &j->exec;
	buf_auto b = BUF_INIT;
	char host[256] = "";

	gethostname(host, sizeof host - 1);
	buf_str(out, "<table>\n");
	row("machine", host, out);
	row("processor", cpus_model(), out);
	buf_printf(&b, "%s, %s, %s, %u thread%s", execution_device(x), execution_isa(x),
		x->precision == PRECISION_DOUBLE || x->method == METHOD_TENSOR ? "double precision"
									       : "single precision",
		x->nthread, x->nthread == 1 ? "" : "s");
	row("computed with", b.data, out);
	if (*p->job->device_reason)
		row("device chosen as", p->job->device_reason, out);
	if (x->rank && *x->rank->way)
		row("GPUs exchanged by", x->rank->way, out);
	buf_clear(&b);
	row("method", method_name(x->method), out);
	engine_reasons(&(struct engine_problem){ .program = j->program,
			       .options = x,
			       .nsample = train_batch_size(j) },
		"<tr><th>engine</th><td>", "</td></tr>\n", out);
	optimisation_use_text(&p->job->optimisations, &b);
	row("exact optimisations",
		b.len ? b.data : "none that reduced the number of operations by 5 % or more", out);
	report_seconds(median_of(p, "seconds"), &b);
	row("an epoch takes (median)", b.data, out);
	buf_clear(&b);
	thousands(median_of(p, "samples_per_second"), &b);
	row("samples a second (median)", b.data, out);
	buf_clear(&b);
	buf_printf(&b, "qcnn %s", PACKAGE_VERSION);
	row("program", b.data, out);
	row("folder", p->folder, out);
	buf_str(out, "</table>\n");
}

void report_how(const struct train_report *p, struct buf *out)
{
	buf_auto config = BUF_INIT;

	report_section("How it was run", out);
	again(p, out);
	machine(p, out);
	config_print(p->job->config, &config);
	buf_str(out, "<details><summary>The configuration, resolved</summary><pre>");
	report_lines(config.data, config.len, out);
	buf_str(out, "</pre></details>\n");
	report_section_end(out);
}
