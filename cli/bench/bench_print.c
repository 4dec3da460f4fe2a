/* SPDX-License-Identifier: Apache-2.0
 * Results of qcnn bench: a table for people, markdown, CSV and JSON. */
#include "cli/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- for programs: one row a number ---- */

enum field_kind { FIELD_NONE = 0, FIELD_TEXT, FIELD_COUNT, FIELD_REAL, FIELD_FLAG };

/* Keys with units; those of a group are an object in JSON, and columns with its name before them in CSV. */
static const struct field {
	const char *group, *key;
	enum field_kind kind;
	size_t at;
} fields[] = {
#define FIELD(group, key, kind, member) { group, key, FIELD_##kind, offsetof(struct bench_result, member) }
	FIELD(NULL, "circuit", TEXT, circuit),
	FIELD(NULL, "qubits", COUNT, qubits),
	FIELD(NULL, "layers", COUNT, layers),
	FIELD(NULL, "start", TEXT, start),
	FIELD(NULL, "gates", COUNT, gates),
	FIELD(NULL, "weights", COUNT, weights),
	FIELD(NULL, "batch", COUNT, batch),
	FIELD(NULL, "gradient", FLAG, gradient),
	FIELD(NULL, "precision", TEXT, precision),
	FIELD(NULL, "threads", COUNT, threads),
	FIELD(NULL, "workers", COUNT, workers),
	FIELD(NULL, "device", TEXT, device),
	FIELD(NULL, "isa", TEXT, isa),
	FIELD(NULL, "method", TEXT, method),
	FIELD(NULL, "shape", TEXT, shape),
	FIELD(NULL, "unit_bytes", REAL, unit_bytes),
	FIELD(NULL, "optimizations", TEXT, optimisations),
	FIELD(NULL, "shortcuts", TEXT, optimisations) /* former name */,
	FIELD("seconds", "min", REAL, min),
	FIELD("seconds", "median", REAL, median),
	FIELD("seconds", "mean", REAL, mean),
	FIELD("seconds", "low", REAL, low),
	FIELD("seconds", "high", REAL, high),
	FIELD("seconds", "max", REAL, max),
	FIELD("seconds", "deviation", REAL, deviation),
	FIELD("seconds", "runs", COUNT, runs),
	FIELD(NULL, "reliable", FLAG, reliable),
	FIELD(NULL, "doubt", TEXT, doubt),
	FIELD(NULL, "measured", COUNT, measured),
#define PHASE_CALL(id, name) FIELD("parts_seconds", name, REAL, parts[PHASE_##id]),
#define PHASE_RUN(id, name)
#define PROFILE_PHASE(id, name, of, text) PHASE_##of(id, name)
#include "runtime/base/profile/phases.def"
	FIELD("parts_seconds", "wait", REAL, parts[PHASE_WAIT]),
	/* Former names: */
	FIELD("parts_seconds", "states", REAL, passes_seconds),
	FIELD("parts_seconds", "slopes", REAL, parts[PHASE_LOSSES]) /* former name */,
	FIELD("parts_seconds", "sums", REAL, parts[PHASE_SUMS]),
	FIELD("parts_seconds", "waiting", REAL, parts[PHASE_WAIT]),
#undef PROFILE_PHASE
#undef PHASE_RUN
#undef PHASE_CALL
	FIELD(NULL, "compile_seconds", REAL, compile_seconds),
	FIELD(NULL, "allocate_seconds", REAL, allocate_seconds),
	FIELD(NULL, "first_seconds", REAL, first_seconds),
	FIELD(NULL, "passes", COUNT, passes),
	FIELD(NULL, "bytes", REAL, bytes),
	FIELD(NULL, "flops_nominal", REAL, flops_nominal),
	FIELD(NULL, "flops_executed", REAL, flops_executed),
	FIELD(NULL, "gates_s", REAL, gates_s),
	FIELD(NULL, "gb_s", REAL, gb_s),
	FIELD(NULL, "gflop_s", REAL, gflop_s),
	FIELD(NULL, "gflop_s_nominal", REAL, nominal_gflop_s),
	FIELD(NULL, "limit", TEXT, limit),
	FIELD(NULL, "limit_seconds", REAL, limit_seconds),
	FIELD(NULL, "share_of_limit", REAL, share_of_limit),
	FIELD(NULL, "floor_seconds", REAL, floor_seconds),
	FIELD(NULL, "share_of_floor", REAL, share_of_floor),
	FIELD(NULL, "start_steps", COUNT, start_steps),
	FIELD(NULL, "seed", COUNT, seed),
#undef FIELD
};
enum { FIELDS = sizeof fields / sizeof *fields };

static void put_value(const struct field *f, const struct bench_result *r, bool csv, struct buf *out)
{
	const char *p = (const char *)r + f->at;

	switch (f->kind) {
	case FIELD_NONE: break;
	case FIELD_TEXT:
		csv ? buf_csv_str(out, *(const char *const *)p)
		    : buf_json_str(out, *(const char *const *)p);
		break;
	case FIELD_COUNT: buf_printf(out, "%llu", (unsigned long long)*(const uint64_t *)p); break;
	case FIELD_FLAG: buf_str(out, *(const bool *)p ? "true" : "false"); break;
	case FIELD_REAL:
		if (!csv || isfinite(*(const double *)p))
			buf_json_f64(out, *(const double *)p);
		break;
	}
}

static void json_result(const struct bench_result *r, struct buf *out)
{
	const char *group = NULL;

	buf_char(out, '{');
	for (unsigned k = 0; k < FIELDS; k++) {
		const struct field *f = &fields[k];

		if (group && f->group != group)
			buf_char(out, '}');
		if (f->group && f->group != group)
			buf_json(out, ", %s: {", f->group);
		group = f->group;
		buf_json(out, ", %s: ", f->key);
		put_value(f, r, false, out);
	}
	buf_str(out, ", \"each_pass\": ");
	bench_passes_json(r, out);
	buf_char(out, '}');
}

void bench_json(const struct bench_report *r, struct buf *out)
{
	const struct plan_limits *l = r->nlimit ? &r->limits[r->nlimit - 1] : NULL;

	buf_printf(out, "{\"schema\": 1, \"version\": \"%s\", \"machine\": ", PACKAGE_VERSION);
	machine_json(&(struct machine_asked){ 0 }, out);
	buf_str(out, ", \"limits\": ");
	if (l) {
		buf_json(out,
			"{\"threads\": %u, \"stream_gb_s\": %g, \"fma_gflop_s\": %g, \"by_threads\": ",
			l->nthread, l->stream_gb_s,
			r->n && !strcmp(r->result->precision, "double") ? l->double_gflop_s
									: l->single_gflop_s);
		machine_limits_json(r->limits, r->nlimit, out);
		buf_char(out, '}');
	} else {
		buf_str(out, "null");
	}
	buf_str(out, ", \"results\": [");
	for (unsigned k = 0; k < r->n; k++) {
		buf_str(out, k ? ",\n" : "\n");
		json_result(&r->result[k], out);
	}
	buf_str(out, "]}\n");
}

void bench_csv(const struct bench_report *r, struct buf *out)
{
	for (unsigned k = 0; k < FIELDS; k++)
		buf_printf(out, "%s%s%s%s", k ? "," : "", fields[k].group ? fields[k].group : "", fields[k].group ? "_" : "",
			fields[k].key);
	buf_char(out, '\n');
	for (unsigned i = 0; i < r->n; i++) {
		for (unsigned k = 0; k < FIELDS; k++) {
			buf_str(out, k ? "," : "");
			put_value(&fields[k], &r->result[i], true, out);
		}
		buf_char(out, '\n');
	}
}

/* ---- for people ---- */

enum { COLUMNS = 13, CELL_MAX = 80, NAME_MAX_SHOWN = 40 };

void bench_seconds_text(double seconds, char text[BENCH_TEXT_MAX])
{
	static const struct { double unit; const char *name; } row[] = {
		{ 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" }, { 1e-9, "ns" },
	};
	unsigned k = 0;

	while (k < 3 && seconds < row[k].unit)
		k++;
	seconds /= row[k].unit;
	snprintf(text, BENCH_TEXT_MAX, "%.*f %s", seconds < 10 ? 2 : seconds < 100 ? 1 : 0, seconds, row[k].name);
}

static void rate_text(double x, char cell[CELL_MAX])
{
	static const char *const unit[] = { "", " k", " M", " G", " T", " P", " E" };
	unsigned k = 0;

	for (; x >= 999.5 && k < 6; k++)
		x /= 1000;
	snprintf(cell, CELL_MAX, x >= 100 && x < 999.5 ? "%.0f%s" : "%.3g%s", x, unit[k]);
}

static const char *const heads[COLUMNS] = {
	"circuit", "qubits", "layers", "batch", "threads", "median", "spread", "a sample", "gates/s", "GB/s", "GFLOP/s",
	"passes", "of limit",
};

static void put_count(uint64_t n, const char *what, struct buf *out)
{
	buf_printf(out, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

/* As in the table's first column. */
static void put_name(const struct bench_result *r, struct buf *out)
{
	size_t len = strlen(r->circuit);

	/* The end of a path tells more than its beginning. */
	buf_printf(out, "%s%s%s%s%s%s", len > NAME_MAX_SHOWN ? "..." : "",
		r->circuit + (len > NAME_MAX_SHOWN ? len - NAME_MAX_SHOWN + 3 : 0),
		!strcmp(r->start, "product") ? " product" : "", r->gradient ? " gradient" : "",
		!strcmp(r->method, "tensor") ? " tensor" : "",
		!strcmp(r->precision, "double") ? " double" : "");
}

/* The spread: the middle 90 % of the calls, relative to the median. */
static void cells_of(const struct bench_result *r, char cell[COLUMNS][CELL_MAX])
{
	buf_auto name = BUF_INIT;

	put_name(r, &name);
	snprintf(cell[0], CELL_MAX, "%s", name.data);
	snprintf(cell[1], CELL_MAX, "%llu", (unsigned long long)r->qubits);
	r->layers ? snprintf(cell[2], CELL_MAX, "%llu", (unsigned long long)r->layers) : snprintf(cell[2], CELL_MAX, "-");
	snprintf(cell[3], CELL_MAX, "%llu", (unsigned long long)r->batch);
	if (r->workers)
		snprintf(cell[4], CELL_MAX, "%llu x %llu", (unsigned long long)r->workers, (unsigned long long)r->threads);
	else
		snprintf(cell[4], CELL_MAX, "%llu", (unsigned long long)r->threads);
	bench_seconds_text(r->median, cell[5]);
	snprintf(cell[6], CELL_MAX, "%s-%.0f+%.0f %%", r->reliable ? "" : "busy ", 100 * (1 - r->low / r->median),
		100 * (r->high / r->median - 1));
	bench_seconds_text(r->median / (double)r->batch, cell[7]);
	rate_text(r->gates_s, cell[8]);
	isfinite(r->gb_s) ? snprintf(cell[9], CELL_MAX, "%.1f", r->gb_s)
			  : snprintf(cell[9], CELL_MAX, "-");
	snprintf(cell[10], CELL_MAX, r->gflop_s < 1e6 ? "%.1f" : "%.3g", r->gflop_s);
	r->passes ? snprintf(cell[11], CELL_MAX, "%llu", (unsigned long long)r->passes)
		  : snprintf(cell[11], CELL_MAX, "-");
	if (isfinite(r->share_of_limit))
		snprintf(cell[12], CELL_MAX, "%.0f %% %s", 100 * r->share_of_limit, r->limit);
	else
		snprintf(cell[12], CELL_MAX, "-");
}

struct row {
	char cell[COLUMNS][CELL_MAX];
};

/* (1 + r->n), the first are heads; the caller's to free. */
static struct row *rows_of(const struct bench_report *r, size_t width[COLUMNS])
{
	struct row *row = mem_alloc(1 + (size_t)r->n, sizeof *row);

	for (unsigned c = 0; c < COLUMNS; c++) {
		snprintf(row->cell[c], CELL_MAX, "%s", heads[c]);
		width[c] = strlen(heads[c]);
	}
	for (unsigned k = 1; k <= r->n; k++) {
		cells_of(&r->result[k - 1], row[k].cell);
		for (unsigned c = 0; c < COLUMNS; c++)
			if (strlen(row[k].cell[c]) > width[c])
				width[c] = strlen(row[k].cell[c]);
	}
	return row;
}

/* First column to the left, numbers to the right. */
static void put_row(struct buf *out, const struct row *row, const size_t width[COLUMNS],
	const char *edge, const char *between)
{
	buf_str(out, edge);
	for (unsigned c = 0; c < COLUMNS; c++)
		buf_printf(out, "%s%*s", c ? between : "", c ? (int)width[c] : -(int)width[c],
			row->cell[c]);
	buf_printf(out, "%s\n", *edge ? " |" : "");
}

/* A line for each result that is not reliable. */
static void put_doubts(const struct bench_report *r, struct buf *out)
{
	for (unsigned k = 0; k < r->n; k++) {
		const struct bench_result *x = &r->result[k];

		if (x->reliable)
			continue;
		buf_str(out, "the machine is busy: not reliable: ");
		bench_case_text(x, out);
		buf_printf(out, ": %s, measured ", x->doubt);
		put_count(x->measured, "time", out);
		buf_char(out, '\n');
	}
}

void bench_markdown(const struct bench_report *r, struct buf *out)
{
	size_t width[COLUMNS];
	mem_auto struct row *row = rows_of(r, width);

	put_row(out, row, width, "| ", " | ");
	for (unsigned c = 0; c < COLUMNS; c++) {
		buf_str(out, "|");
		buf_pad(out, '-', width[c] + 1);
		buf_char(out, c ? ':' : '-');
	}
	buf_str(out, "|\n");
	for (unsigned k = 1; k <= r->n; k++)
		put_row(out, &row[k], width, "| ", " | ");
	for (unsigned k = 0; k < r->n; k++)
		if (!r->result[k].reliable) {
			buf_char(out, '\n');
			put_doubts(r, out);
			break;
		}
}

static void put_part(const char *name, double seconds, double all, const char *before, struct buf *out)
{
	char text[BENCH_TEXT_MAX];

	bench_seconds_text(fmax(seconds, 0), text);
	buf_printf(out, "%s%s %s (%.1f %%)", before, name, text, 100 * fmax(seconds, 0) / all);
}

static void put_parts(const struct bench_result *r, struct buf *out)
{
	const char *before = ": ";
	double all = r->parts[PHASE_WAIT];
	char text[BENCH_TEXT_MAX];

	if (isnan(all))
		return;
	for (unsigned p = 0; p < PHASE_COUNT; p++)
		if (profile_phase_is_of_call(p))
			all += r->parts[p];
	bench_seconds_text(all, text);
	buf_printf(out, "  parts of %s", text);
	for (unsigned p = 0; p < PHASE_COUNT; p++)
		if (profile_phase_is_of_call(p)) {
			put_part(profile_phase_name(p), r->parts[p], all, before, out);
			before = ", ";
		}
	put_part("wait", r->parts[PHASE_WAIT], all, before, out);
	buf_char(out, '\n');
}

void bench_case_text(const struct bench_result *r, struct buf *out)
{
	put_name(r, out);
	buf_str(out, " on ");
	put_count(r->qubits, "qubit", out);
	if (r->layers) {
		buf_str(out, ", ");
		put_count(r->layers, "layer", out);
	}
	buf_printf(out, ", batch %llu, ", (unsigned long long)r->batch);
	if (r->workers) {
		put_count(r->workers, "worker", out);
		buf_str(out, " of ");
	}
	if (r->threads)
		put_count(r->threads, "thread", out);
	else
		buf_str(out, "different threads");
}

/* What the table has no column for. */
static void put_details(const struct bench_result *r, struct buf *out)
{
	char text[BENCH_TEXT_MAX], rate[CELL_MAX];

	bench_case_text(r, out);
	bench_seconds_text(r->allocate_seconds, text);
	buf_printf(out, ": planned and allocated in %s", text);
	bench_seconds_text(r->first_seconds, text);
	buf_printf(out, ", first call %s; ", text);
	put_count(r->runs, "run", out);
	if (isfinite(r->flops_nominal)) {
		rate_text(r->flops_nominal, rate);
		buf_printf(out, "; nominal %s%sFLOP", rate, strchr(rate, ' ') ? "" : " ");
		rate_text(r->nominal_gflop_s * 1e9, rate);
		buf_printf(out, ", %s%sFLOP/s", rate, strchr(rate, ' ') ? "" : " ");
	}
	if (isfinite(r->floor_seconds)) {
		bench_seconds_text(r->floor_seconds, text);
		buf_printf(out, "; floor of the plan %s, %.0f %%", text, 100 * r->share_of_floor);
	}
	if (r->start_steps) {
		buf_str(out, "; once a call for all samples: ");
		put_count(r->start_steps, "constant step", out);
		buf_str(out, " at the start");
	}
	buf_printf(out, "%s%s\n", *r->optimisations ? "; optimisations: " : "", r->optimisations);
}

void bench_text(const struct bench_report *r, struct buf *out)
{
	size_t width[COLUMNS];
	mem_auto struct row *row = rows_of(r, width);

	machine_limits_text(r->limits, r->nlimit, out);
	if (r->nlimit)
		buf_char(out, '\n');
	for (unsigned k = 0; k <= r->n; k++)
		put_row(out, &row[k], width, "", "  ");
	buf_str(out, "times: medians; spread: of the middle 90 % of the calls; rates and shares: of the fastest call, like the limits\n");
	put_doubts(r, out);
	buf_char(out, '\n');
	for (unsigned k = 0; k < r->n; k++) {
		put_details(&r->result[k], out);
		put_parts(&r->result[k], out);
		bench_passes_text(&r->result[k], out);
	}
}
