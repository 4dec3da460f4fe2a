/* SPDX-License-Identifier: Apache-2.0
 * A profile as tables: made once, printed as text, JSON, CSV and HTML. */
#pragma once

#include "runtime/base/profile/profile.h"

enum cell_kind {
	CELL_TEXT = 0,
	CELL_SECONDS, /* as a duration in text */
	CELL_SHARE,   /* 0 .. 1, in text as a percentage */
	CELL_NUMBER,  /* three digits in text */
	CELL_COUNT,
	CELL_BYTES
};

struct profile_column {
	const char *key, *heading; /* key: in JSON and CSV, with its unit */
	enum cell_kind kind;
	bool bar; /* a share that is drawn, too */
};

struct profile_cell {
	const char *text; /* of CELL_TEXT; NULL: nothing */
	double number;    /* NAN: nothing */
};

struct profile_section {
	const char *key, *title;
	unsigned ncolumn;
	const struct profile_column *column;
	uint32_t nrow;
	struct profile_cell *cell; /* (nrow, ncolumn) row-major */
	struct arena *arena;       /* of the cells */
	uint32_t shown;            /* rows that people see */
	const char *note;          /* a sentence below the table, or why there is none; or NULL */
};

enum { PROFILE_SECTIONS_MAX = 11 };
struct profile_sections {
	struct arena arena;
	unsigned n;
	struct profile_section section[PROFILE_SECTIONS_MAX];
};

/* p is borrowed and outlives s. */
void profile_sections_make(const struct profile *p, struct profile_sections *s);
void profile_sections_release(struct profile_sections *s);
#define profile_sections_auto \
	__attribute__((cleanup(profile_sections_release))) struct profile_sections

/* A cell for people, appended; long texts are cut, control characters made visible. */
void profile_cell_text(enum cell_kind kind, const struct profile_cell *cell, struct buf *out);

/* States that passes went over, forward or backward: as many as samples, but for a basis of a batch (batch rank) or repeated
 * evaluations (parameter shift). */
double profile_states(const struct profile *p, unsigned back);
/* Seconds of the wall time of item k, forward or backward: of the threads of all processes, over their number. */
double profile_item_seconds(const struct profile *p, uint32_t k, unsigned back);
/* What the machines that computed can do at best, all together: GFLOP/s in the profile's precision, GB/s. 0: not measured. */
double profile_fma_limit(const struct profile *p);
double profile_stream_limit(const struct profile *p);
/* Seconds of a phase of the coordinator's wall time. */
double profile_phase_seconds(const struct profile *p, enum profile_phase phase);
