/* SPDX-License-Identifier: Apache-2.0
 * Members of a profile's structs as JSON: one table for each struct, by which profile_json.c writes and
 * profile_json_read.c reads. Tables of what a struct contains come before its own. */
#pragma once

#include "runtime/base/profile/profile.h"

enum {
	PROFILE_SCHEMA = 1,
	PROFILE_EVENT_NUMBERS = 5,
};

enum field_type {
	FIELD_TEXT,  /* const char *, or null */
	FIELD_NAME,  /* const char *, not null */
	FIELD_U8,    /* uint8_t, by name */
	FIELD_LEVEL, /* int, by name */
	FIELD_BOOL,
	FIELD_U32,
	FIELD_PLACE, /* uint32_t, UINT32_MAX is null */
	FIELD_U64,
	FIELD_SPAN,    /* int64_t, not negative */
	FIELD_TIME,    /* int64_t */
	FIELD_REAL,    /* double, finite, not negative */
	FIELD_PAIR,    /* two such */
	FIELD_PHASES,  /* uint64_t[PHASE_COUNT], by name */
	FIELD_DROPPED, /* uint64_t of a thread, and its events that are left out */
	FIELD_EVENTS,  /* all of a thread */
	FIELD_ITEM_NS, /* const uint64_t *, profile_process.nitem numbers */
	FIELD_OBJECT,  /* a struct with fields of its own */
	FIELD_ROWS,    /* a pointer to such structs, and uint32_t how many */
};
struct field {
	const char *key;
	enum field_type type;
	size_t offset;
	uint32_t max; /* of FIELD_U32, FIELD_PLACE and FIELD_ROWS; 0: any. Of names: how many */
	const char *const *names; /* of FIELD_U8 and FIELD_LEVEL */
	/* Of FIELD_OBJECT and FIELD_ROWS; of the latter, where the number of rows is, and the size of one. */
	const struct field *fields;
	size_t nfield, count, size;
};
#define MEMBER(of, name, form) .key = #name, .type = FIELD_##form, .offset = offsetof(of, name)
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NAMED(array) .max = COUNT(array), .names = (array)
#define ROWS(of, name, rows, n, table) \
	.key = name, .type = FIELD_ROWS, .offset = offsetof(of, rows), .fields = (table), \
	.nfield = COUNT(table), .count = offsetof(of, n), .size = sizeof *((of *)NULL)->rows

static const char *const item_names[] = { "step", "transfer", "start", "readouts" };
static const char *const kind_names[] = { "phase", "step", "forward", "backward", "send", "receive",
	"copy", "exchange" };
_Static_assert(COUNT(item_names) == ITEM_KINDS, "a name for each kind of item");
_Static_assert(COUNT(kind_names) == EVENT_KINDS, "a name for each kind of event");

static const struct field limits_fields[] = {
	{ MEMBER(struct profile_limits, stream_gb_s, REAL) },
	{ MEMBER(struct profile_limits, write_gb_s, REAL) },
	{ MEMBER(struct profile_limits, l2_gb_s, REAL) },
	{ MEMBER(struct profile_limits, single_gflop_s, REAL) },
	{ MEMBER(struct profile_limits, double_gflop_s, REAL) },
};
static const struct field layer_fields[] = {
	{ MEMBER(struct profile_layer, path, NAME) },
	{ MEMBER(struct profile_layer, line, U32) },
};
static const struct field stage_fields[] = {
	{ MEMBER(struct profile_stage, circuit, U32), .max = UINT16_MAX },
	{ MEMBER(struct profile_stage, stage, PLACE), .max = UINT16_MAX },
	{ MEMBER(struct profile_stage, flops, PAIR) },
	{ MEMBER(struct profile_stage, bytes, PAIR) },
	{ MEMBER(struct profile_stage, expected_ns, PAIR) },
	{ MEMBER(struct profile_stage, fused, BOOL) },
};
static const struct field item_fields[] = {
	{ MEMBER(struct profile_item, kind, U8), NAMED(item_names) },
	{ MEMBER(struct profile_item, circuit, U32), .max = UINT16_MAX },
	{ MEMBER(struct profile_item, stage, PLACE), .max = UINT16_MAX },
	{ MEMBER(struct profile_item, step, PLACE) },
	{ MEMBER(struct profile_item, matrix, TEXT) },
	{ MEMBER(struct profile_item, family, TEXT) },
	{ MEMBER(struct profile_item, layer, PLACE) },
	{ MEMBER(struct profile_item, line, U32) },
	{ MEMBER(struct profile_item, flops, PAIR) },
	{ MEMBER(struct profile_item, bytes, PAIR) },
};
static const struct field option_fields[] = {
	{ MEMBER(struct profile_option, name, NAME) },
	{ MEMBER(struct profile_option, gain, REAL) },
};
static const struct field advice_fields[] = {
	{ MEMBER(struct profile_advice, code, NAME) },
	{ MEMBER(struct profile_advice, text, NAME) },
	{ MEMBER(struct profile_advice, gain, REAL) },
};
static const struct field counter_fields[] = {
	{ MEMBER(struct profile_counter, name, NAME) },
	{ MEMBER(struct profile_counter, value, REAL) },
};
static const struct field memory_fields[] = {
	{ MEMBER(struct profile_memory, name, NAME) },
	{ MEMBER(struct profile_memory, bytes, U64) },
};
static const struct field exchange_fields[] = {
	{ MEMBER(struct profile_exchange, circuit, U32), .max = UINT16_MAX },
	{ MEMBER(struct profile_exchange, segment, U32), .max = UINT16_MAX },
	{ MEMBER(struct profile_exchange, backward, BOOL) },
	{ MEMBER(struct profile_exchange, count, U64) },
	{ MEMBER(struct profile_exchange, bytes, U64) },
	{ MEMBER(struct profile_exchange, ns, U64) },
	{ MEMBER(struct profile_exchange, wait_ns, U64) },
};
static const struct field thread_fields[] = {
	{ MEMBER(struct profile_thread, name, NAME) },
	{ MEMBER(struct profile_thread, device, TEXT) },
	{ MEMBER(struct profile_thread, dropped, DROPPED) },
	{ MEMBER(struct profile_thread, copy_ns, U64) },
	{ MEMBER(struct profile_thread, copied_bytes, U64) },
	{ MEMBER(struct profile_thread, launches, U64) },
	{ MEMBER(struct profile_thread, timing, TEXT) },
	{ MEMBER(struct profile_thread, timing_note, TEXT) },
	{ MEMBER(struct profile_thread, ns, PHASES) },
	{ MEMBER(struct profile_thread, count, PHASES) },
	{ .key = "events", .type = FIELD_EVENTS },
};
static const struct field process_fields[] = {
	{ MEMBER(struct profile_process, host, NAME) },
	{ MEMBER(struct profile_process, role, NAME) },
	{ MEMBER(struct profile_process, rank, U32), .max = UINT16_MAX },
	{ MEMBER(struct profile_process, pid, U32) },
	{ MEMBER(struct profile_process, offset, TIME) },
	{ MEMBER(struct profile_process, uncertainty, SPAN) },
	{ MEMBER(struct profile_process, begin, TIME) },
	{ MEMBER(struct profile_process, end, TIME) },
	{ MEMBER(struct profile_process, lost, BOOL) },
	{ MEMBER(struct profile_process, busy_ns, U64) },
	{ MEMBER(struct profile_process, units, U64) },
	{ MEMBER(struct profile_process, forward_states, U64) },
	{ MEMBER(struct profile_process, backward_states, U64) },
	{ MEMBER(struct profile_process, bytes_sent, U64) },
	{ MEMBER(struct profile_process, bytes_received, U64) },
	{ MEMBER(struct profile_process, messages, U64) },
	{ MEMBER(struct profile_process, moved_events, U64) },
	{ MEMBER(struct profile_process, no_counters, TEXT) },
	{ MEMBER(struct profile_process, wall_ns, PHASES) },
	{ ROWS(struct profile_process, "counters", counter, ncounter, counter_fields) },
	{ ROWS(struct profile_process, "memory", memory, nmemory, memory_fields) },
	{ ROWS(struct profile_process, "exchanges", exchange, nexchange, exchange_fields) },
	{ .key = "forward_ns",
		.type = FIELD_ITEM_NS,
		.offset = offsetof(struct profile_process, item_ns[0]) },
	{ .key = "backward_ns",
		.type = FIELD_ITEM_NS,
		.offset = offsetof(struct profile_process, item_ns[1]) },
	{ ROWS(struct profile_process, "threads", thread, nthread, thread_fields),
		.max = UINT16_MAX + 1 },
};
static const struct field profile_fields[] = {
	{ MEMBER(struct profile, version, TEXT) },
	{ MEMBER(struct profile, command, TEXT) },
	{ MEMBER(struct profile, model, TEXT) },
	{ MEMBER(struct profile, engine, TEXT) },
	{ MEMBER(struct profile, target, TEXT) },
	{ MEMBER(struct profile, precision, TEXT) },
	{ MEMBER(struct profile, shape, TEXT) },
	{ MEMBER(struct profile, level, LEVEL), NAMED(profile_level_names) },
	{ MEMBER(struct profile, began, REAL) },
	{ MEMBER(struct profile, startup_seconds, REAL) },
	{ MEMBER(struct profile, ns, SPAN) },
	{ MEMBER(struct profile, steps, U64) },
	{ MEMBER(struct profile, samples, U64) },
	{ .key = "threads", .type = FIELD_U32, .offset = offsetof(struct profile, nthread) },
	{ MEMBER(struct profile, batch_size, U32) },
	{ MEMBER(struct profile, width, U32) },
	{ .key = "processors", .type = FIELD_U32, .offset = offsetof(struct profile, nprocessor) },
	{ MEMBER(struct profile, gradient, BOOL) },
	{ MEMBER(struct profile, streaming, BOOL) },
	{ MEMBER(struct profile, histograms, BOOL) },
	{ MEMBER(struct profile, limits, OBJECT), .fields = limits_fields,
		.nfield = COUNT(limits_fields) },
	{ ROWS(struct profile, "switched_off", switched_off, nswitched_off, option_fields) },
	{ ROWS(struct profile, "advice", advice, nadvice, advice_fields) },
	{ ROWS(struct profile, "layers", layer, nlayer, layer_fields) },
	{ ROWS(struct profile, "stages", stage, nstage, stage_fields) },
	{ ROWS(struct profile, "items", item, nitem, item_fields) },
};
/* Behind the names of kinds and phases, which events refer to by number. */
static const struct field processes_field = {
	ROWS(struct profile, "processes", process, nprocess, process_fields), .max = UINT16_MAX + 1
};
