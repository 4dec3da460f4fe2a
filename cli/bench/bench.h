/* SPDX-License-Identifier: Apache-2.0
 * What the files of qcnn bench share: circuits, cases, results.
 *
 * A case is one circuit at one size, batch and number of threads; a result is what was
 * measured of it.  bench_circuits.c writes circuits, bench_programs.c compiles them, bench_measure.c measures,
 * bench_print.c, bench_plot.c and bench_compare.c show. */
#pragma once

#include "cli/command.h"
#include "cli/job/job.h"
#include "cli/job/model_file.h"
#include "cli/machine.h"
#include "runtime/base/source.h"
#include "runtime/exec/evaluator.h"

enum {
	BENCH_NUMBERS_MAX = 256,     /* in one list of numbers */
	BENCH_CASES_MAX = 4096, BENCH_CIRCUITS_MAX = SOURCE_FILES_MAX,
	BENCH_QUBITS_MAX = 4096, BENCH_LAYERS_MAX = 100000, BENCH_BATCH_MAX = 1 << 24, BENCH_THREADS_MAX = 1024,
	BENCH_TEXT_MAX = 32
};

/* ---- lists of numbers: "20,24" "20-28" "20-28+2" ---- */

struct bench_list { uint64_t v[BENCH_NUMBERS_MAX]; unsigned n; };
/* -ERR_USAGE when the text of --name is no such list of numbers from low to high. */
int bench_list_read(const char *name, const char *text, uint64_t low, uint64_t high, struct bench_list *out,
	struct err *e);

/* ---- named circuits ---- */

struct bench_size { unsigned n, layers; uint64_t seed; bool product; /* begin with a product state of random rotations */ };

struct bench_circuit {
	const char *name;
	unsigned min_qubits;
	unsigned layers;             /* when none are given; 0: it has no layers; BENCH_LAYERS_N: as many as qubits */
	bool excitations;            /* samples are cluster excitations: one angle, the rest 0 */
	bool product;                /* begins with a product state whatever is asked for */
	void (*write)(struct buf *out, const struct bench_size *s);
};
enum { BENCH_LAYERS_N = ~0u };
const struct bench_circuit *bench_circuit_find(const char *name);     /* NULL: not a name */
/* "qcnn, sel, ..."; *near: the name that may have been meant, or NULL. */
void bench_circuit_names(const char *name, struct buf *out, const char **near);

/* ---- a case and its result ---- */

struct bench_program {
	char *name;                  /* of the circuit, or the file as given */
	const struct bench_circuit *named;   /* NULL: a file */
	unsigned qubits, layers;     /* layers 0: none */
	const char *start;           /* "zero", "product"; a file: "" */
	uint64_t gates;              /* applies of a call's circuits */
	double compile_seconds;
	struct model_file model;     /* .program */
};

/* What the options name, at every size.  The caller fills all but the programs. */
struct bench_programs {
	struct cli *cli;
	struct diags *d;
	struct compile_words words;
	struct bench_list qubits, layers;    /* n 0: not given */
	uint64_t seed;
	struct bench_program *program; unsigned nprogram;    /* at most BENCH_CIRCUITS_MAX */
};

/* 0, or said and the status. */
int bench_programs_compile(struct bench_programs *j);
void bench_programs_release(struct bench_programs *j);

struct bench_case {
	const struct bench_program *program;
	uint32_t batch;
	bool gradient;
	struct evaluator_options options;
	/* Whose workers compute; NULL: the threads of this process. worker_threads: of each; 0: they differ. */
	struct pool *pool; unsigned nworker; uint32_t worker_threads;
	const struct rank_places *places; /* of options.split ranks; NULL: all on this host */
};

/* A pass over a state that all threads share: a stage, or readouts (back: lambda) behind all. */
struct bench_pass {
	uint32_t circuit, stage;
	bool outputs, back;
	bool fuses_last; /* the backward pass begins in it: both are one pass (plan_fuses_last) */
	double seconds;              /* the least of the calls; 0: there was none */
	double flops, bytes, expected, stream_share, fma_share;    /* of one sample; NAN: no limits */
};

struct bench_result {
	const char *circuit;
	uint64_t qubits, layers, batch, threads, gates, runs, passes, weights;
	uint64_t start_steps;        /* of the plan, constant at the start: done once a call for all samples */
	uint64_t workers;            /* on other hosts, of `threads` each (0: they differ); 0: this process */
	bool gradient;
	const char *method, *precision, *isa, *device, *shape,
		*limit;              /* limit: what bounds it, "stream" or "fma" */
	const char *start;           /* of bench_program */
	const char *optimisations;   /* names between ", "; "" when none */
	uint64_t seed;
	double min, median, mean, max, deviation;    /* seconds of one call over the whole batch */
	double low, high;            /* ends of the middle 90 % of the calls */
	bool reliable;
	const char *doubt;           /* why it is not reliable, or "" */
	uint64_t measured;           /* times that the case was measured; the most reliable one is kept */
	double compile_seconds, allocate_seconds, first_seconds;
	double bytes, flops_nominal, flops_executed; /* of one call; NAN: no states are held */
	/* Seconds of a call by phase (base/profile/phases.def; PHASE_WAIT: of none); passes: forward, backward, exchange and combine. NAN:
	 * not measured. */
	double parts[PHASE_COUNT], passes_seconds;
	double gates_s, gb_s, gflop_s, nominal_gflop_s, limit_seconds, share_of_limit;   /* by min; NAN: no limits */
	double unit_bytes;           /* states that are worked on at once: of one sample, or of those in the lanes */
	double floor_seconds, share_of_floor;        /* plan_floor, by min; NAN: no limits, or batch rank */
	struct bench_pass *pass; uint32_t npass;     /* NULL: not measured, or no state is shared */
	char optimisation_text[256];
};

/* bench_reliable.c, by increasing weight. */
enum bench_doubt { BENCH_RELIABLE = 0, BENCH_DOUBT_SPREAD, BENCH_DOUBT_SHARE };
enum { BENCH_REPEATS = 2 }; /* further measurements of a case that is not reliable */
/* Sorts seconds[n], n above 0, and sets the statistics of r. */
void bench_statistics(double *seconds, uint64_t n, struct bench_result *r);
enum bench_doubt bench_doubt(const struct bench_result *r);
/* Measure once; doubt: why the measurement before is not reliable. */
typedef int (*bench_once_fn)(void *ctx, enum bench_doubt doubt, struct bench_result *out, struct err *e);
/* Measure until the result is reliable, at most 1 + BENCH_REPEATS times, and keep the most reliable result. */
int bench_repeat(bench_once_fn once, void *ctx, struct bench_result *out, struct err *e);

struct bench_run {
	uint64_t runs /* 0: about a second */, seed;
	bool parts;
	struct cli *cli; /* whose profile the first case is, if it takes one */
};

/* Allocate, warm up, measure.  l: limits for this number of threads, or NULL. */
int bench_measure(const struct bench_case *bc, const struct bench_run *how,
	const struct plan_limits *l, struct bench_result *out, struct err *e);

/* bench_passes.c: after a call, keep the least seconds of each pass; then what a machine should take and its shares of l
 * (or NULL). */
void bench_passes_note(struct bench_result *r, const struct evaluator *ev, bool gradient);
void bench_passes_expect(struct bench_result *r, const struct plan *pl, const struct plan_limits *l);
void bench_passes_json(const struct bench_result *r, struct buf *out);
void bench_passes_text(const struct bench_result *r, struct buf *out);

/* bench_workers.c: the workers that the options name, or that others have started with this process: they are started for
 * the first case, and take the others as well. */
bool bench_has_workers(struct cli *c);
struct bench_workers *bench_workers_new(struct cli *c);
/* Give a case its workers: 0, or said and the status. */
int bench_workers_begin(struct bench_workers *w, struct bench_case *bc);
/* Behind a case: those that were lost are started anew for the next, where this process does that. */
void bench_workers_end(struct bench_workers *w);
/* status: that the command ends with. */
void bench_workers_free(struct bench_workers *w, int status);

struct bench_report {
	struct bench_result *result; unsigned n;
	struct plan_limits limits[BENCH_NUMBERS_MAX];
	unsigned nlimit;
};

void bench_text(const struct bench_report *r, struct buf *out);
void bench_markdown(const struct bench_report *r, struct buf *out);
void bench_csv(const struct bench_report *r, struct buf *out);
void bench_json(const struct bench_report *r, struct buf *out);
/* "sel gradient on 4 qubits, 2 layers, batch 16, 2 threads": what tells cases of one report apart. */
void bench_case_text(const struct bench_result *r, struct buf *out);
/* "12.3 ms" */
void bench_seconds_text(double seconds, char text[BENCH_TEXT_MAX]);

/* An SVG of the results; per_amplitude: nanoseconds per amplitude and apply. */
void bench_plot(const struct bench_report *r, bool per_amplitude, struct buf *out);

/* Is it a file of --json?  Before anything is measured. */
int bench_compare_check(const char *path, struct err *e);
/* Compare with a file of --json: lines for people to out; *slower counts regressions. */
int bench_compare(const struct bench_report *r, const char *path, struct buf *out, unsigned *slower,
	struct err *e);

/* crossover.c: from how many operations of a step on a GPU is faster than the processor, what --device=auto goes by. Measures
 * gradients of a QCNN on 8 qubits for growing batches, with all GPUs and with nthread threads; infinite where the processor is
 * faster for any batch. */
int crossover_measure(struct cli *c, unsigned nthread, double *operations, struct err *e);
