/* SPDX-License-Identifier: Apache-2.0
 * Encodes and decodes all messages between coordinator and worker; no other file does.
 * qcnn-wire(7) describes them for authors of another worker.
 *
 * A frame is a length (4 bytes) and a body, whose first byte is its type.  Numbers are
 * little-endian, real numbers IEEE doubles, texts a length (2 bytes) and UTF-8.  wire_put_*
 * append a body; wire_get_* check every length before it is used and reject trailing
 * bytes: false, and *m must not be used.  Pointers in *m point into the body. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/base/buf.h"
#include "runtime/base/crypto/crypto_session.h"
#include "runtime/base/fixed.h"

enum {
	WIRE_VERSION = 10,
	WIRE_KERNELS_MAX = 256,
	WIRE_HEADER = 4,       /* bytes before a body: its length */
	WIRE_EARLY_MAX = 1024, /* bytes of a body before the sender has proved the key */
	WIRE_BODY_MAX = 1 << 30,
	WIRE_TEXT_MAX = 4096,
	WIRE_ADDRESSES_MAX = 16,
	WIRE_UNITS_MAX = FIXED_TERMS_MAX, /* units of a step */
	WIRE_SECONDS_MAX = 1000000000,    /* that units take to compute */
	WIRE_OPTIONS_MAX = 64,
	WIRE_SETS_MAX = 4, /* data sets of which inputs are kept */
	WIRE_FILES_MAX =
		4, /* files that workers open themselves; their sets are numbered behind the others */
	WIRE_PATH_MAX = 4095,
	WIRE_GROUP_MAX = 1 << 14,    /* bytes of what ranks exchange in one message */
	WIRE_PROFILE_MAX = 16 << 20, /* bytes of a worker's profile */
	WIRE_DIGEST = 32,
	WIRE_JOB_ID = 32
};

enum wire_type {
	WIRE_NONE = 0,
#define WIRE(id, number, from, text) WIRE_##id = number,
#include "runtime/net/protocol/wire.def"
#undef WIRE
};

/* The rank of a profiler, which is not a worker. It proves the key in the same way, with zeros for the id of the job,
 * which it does not know. */
#define WIRE_RANK_PROFILER UINT32_MAX

/* "WORK", or "?" */
const char *wire_name(int type);

/* The transport of a connection: TCP alone; TCP or else the worker's standard input and output; these alone. */
enum transport { TRANSPORT_TCP = 0, TRANSPORT_AUTO, TRANSPORT_STDIO };

/* What the launcher writes to the worker's standard input: addresses of the coordinator, and the key. */
struct wire_boot {
	uint16_t version; /* of the protocol; other fields are set only if it is WIRE_VERSION */
	uint8_t key[CRYPTO_KEY];
	uint32_t rank;
	uint8_t job[WIRE_JOB_ID];        /* unique identifier of the job, part of the proofs */
	uint8_t transport;               /* enum transport */
	uint32_t naddress; char address[WIRE_ADDRESSES_MAX][64];     /* 0 with TRANSPORT_STDIO alone: "192.0.2.1:4711", "[2001:db8::1]:4711" */
};

/* The handshake: see handshake.h for what the proofs cover. */
struct wire_hello { uint16_t version; uint32_t numerical, rank; bool aes; uint8_t public[CRYPTO_PUBLIC], proof[CRYPTO_MAC]; };
struct wire_challenge { bool encrypt, aes; uint8_t public[CRYPTO_PUBLIC], proof[CRYPTO_MAC]; };
struct wire_proof { uint8_t proof[CRYPTO_MAC]; };

/* The worker's machine. */
struct wire_about {
	char kernels[WIRE_KERNELS_MAX]; /* names of its kernel sets, separated by spaces, the best one last */
	uint32_t threads;               /* number it would use as the only worker of its machine */
	uint64_t memory, pid;           /* memory: free bytes */
	uint64_t maths;              /* maths_digest */
	char version[64], host[256], processor[128];
};

/* A data file that the worker opens; texts are borrowed and not terminated. */
struct wire_file {
	uint8_t digest[WIRE_DIGEST];         /* required digest of the file */
	uint32_t nrow, nx;                   /* number of samples; inputs of a sample */
	const char *path, *spec, *through;   /* how it is read, and changed by what was learnt: texts of the room data */
	uint32_t npath, nspec, nthrough;
};

/* The program and settings to compute with; train/remote.h makes it. */
struct wire_job {
	char device[32], kernels[32];        /* names of the backend and of its kernel set */
	uint8_t precision, gradient, method; /* as the evaluator's enums */
	uint8_t again; /* 1: compute constant gates at the start of a circuit again for new weights; 0: once */
	uint8_t forward;  /* 1: plan for outputs alone; 0: as for a gradient */
	uint32_t share;   /* workers on its machine, which share the threads and the devices */
	uint32_t place;   /* its number among them, from 0 */
	uint32_t threads; /* number of threads; 0: its share */
	uint32_t nlabel;             /* labels of a sample */
	uint32_t optimisations;      /* of single samples, as bits: see exec/exact_optimisation.h */
	uint32_t split;              /* number of parts that plans split a state into; 0: 1 */
	uint32_t shots;              /* number to estimate readouts from; 0: exact readouts */
	uint32_t trajectories; /* of a sample of a program with noise channels; 0: the default, all bits: no noise */
	uint32_t nrank; /* processes of this worker's group, which hold its states together; 0: it is alone */
	const char *places; /* (nplaces) where it starts the others: a text of cli/hosts/worker_groups.h */
	uint32_t nplaces;
	char loss[64]; uint32_t noption; double option[WIRE_OPTIONS_MAX];
	const uint8_t *program;
	uint64_t nprogram;
	uint32_t nfile; struct wire_file file[WIRE_FILES_MAX];
};
struct wire_ready { uint32_t width, nvector, nout, nthread; uint8_t digest[WIRE_DIGEST]; };

/* Units of a step: unit first + k is included if bit k of the map is 1. */
struct wire_units { uint32_t first, nbit; const uint8_t *bit; };

struct wire_weights { uint64_t version; uint32_t n; const uint8_t *value; };
/* Rows of a data set, which never change: later WORK refers to them instead of sending them again. */
struct wire_data {
	uint32_t set, nrow;          /* number of the set; rows of the whole set */
	uint32_t nx, n;              /* inputs of a row; rows in this message */
	const uint8_t *row, *value;  /* (n) their numbers, ascending; (n, nx) doubles */
};
struct wire_work {
	uint64_t step, weights; /* weights: version of the weights to use */
	bool gradient;
	uint64_t draw_key;
	uint32_t draw_first; /* of shots and trajectories: see evaluator_draws */
	struct wire_units units;
	uint32_t nsample,
		nin; /* nin: values of a sample, inputs and, with a gradient, scale, weight and labels */
	uint32_t nkept,
		set; /* the first nkept of them are a row of the set, which the worker keeps; 0: none */
	const uint8_t *row;          /* (nsample) u32, where nkept is not 0 */
	const uint8_t *value;        /* (nsample, nin - nkept) doubles */
};
struct wire_result {
	uint64_t step;
	double seconds; /* compute time */
	struct wire_units units;
	uint32_t nsample, nout, n;   /* (nsample, nout) doubles, then n entries of two integers */
	const uint8_t *value, *vector;
};
struct wire_failed { uint64_t step; struct wire_units units; int32_t code; char text[1024]; };
struct wire_heartbeat {
	uint64_t nunit;
};                                                   /* units computed so far */
struct wire_bye { int32_t code; char text[1024]; };  /* enum err_code; 0: the work is done */

/* Begin to record, or (level 0) stop and answer. */
struct wire_profile {
	uint8_t level; /* enum profile_level */
	uint8_t label; /* highest 8 bits of the numbers of messages in this profile: see peer.h */
	uint32_t capture;  /* number of the profile, repeated in the answer */
	uint64_t bytes;    /* memory for events */
	uint32_t text_max; /* largest answer in bytes, at most WIRE_PROFILE_MAX */
};
/* Bytes at .. at + n of a profile as JSON with `total` bytes; total 0: no profile. */
struct wire_profiled {
	uint32_t capture, total, at, n;
	const uint8_t *text;
};
/* Times by the clocks of profiles. The coordinator's request has only the first. */
struct wire_clock {
	int64_t sent;               /* by the coordinator */
	int64_t received, answered; /* by the worker; both 0 in the request */
};
/* The next part of a text: see profile_server.h. */
struct wire_attach {
	const uint8_t *text;
	uint32_t n;
};
/* n bytes, 1 to WIRE_GROUP_MAX, that ranks of one version of the program understand: see net/worker_process.h. */
struct wire_group {
	const uint8_t *bytes;
	uint32_t n;
};

void wire_put_boot(struct buf *b, const struct wire_boot *m);
void wire_put_hello(struct buf *b, const struct wire_hello *m);
void wire_put_challenge(struct buf *b, const struct wire_challenge *m);
void wire_put_proof(struct buf *b, const struct wire_proof *m);
void wire_put_about(struct buf *b, const struct wire_about *m);
void wire_put_job(struct buf *b, const struct wire_job *m);
void wire_put_ready(struct buf *b, const struct wire_ready *m);
void wire_put_weights(struct buf *b, uint64_t version, const double *value, uint32_t n);
/* Without the inputs of the rows: append them with buf_f64s. */
void wire_put_data(struct buf *b, const struct wire_data *m, const uint32_t *row);
/* Without the rows of the samples (if nkept is not 0) and their values: append them with wire_put_row and buf_f64s. */
void wire_put_work(struct buf *b, const struct wire_work *m);
void wire_put_result(struct buf *b, const struct wire_result *m, const double *value, const struct fixed *vector);
void wire_put_failed(struct buf *b, const struct wire_failed *m);
void wire_put_heartbeat(struct buf *b, const struct wire_heartbeat *m);
void wire_put_bye(struct buf *b, const struct wire_bye *m);
void wire_put_row(struct buf *b, uint32_t row);
void wire_put_profile(struct buf *b, const struct wire_profile *m);
void wire_put_profiled(struct buf *b, const struct wire_profiled *m);
void wire_put_clock(struct buf *b, const struct wire_clock *m);
void wire_put_attach(struct buf *b, const struct wire_attach *m);
void wire_put_group(struct buf *b, const struct wire_group *m);

/* p[0..len) is a body, including its type. */
bool wire_get_boot(const uint8_t *p, size_t len, struct wire_boot *m);
bool wire_get_hello(const uint8_t *p, size_t len, struct wire_hello *m);
bool wire_get_challenge(const uint8_t *p, size_t len, struct wire_challenge *m);
bool wire_get_proof(const uint8_t *p, size_t len, struct wire_proof *m);
bool wire_get_about(const uint8_t *p, size_t len, struct wire_about *m);
bool wire_get_job(const uint8_t *p, size_t len, struct wire_job *m);
bool wire_get_ready(const uint8_t *p, size_t len, struct wire_ready *m);
bool wire_get_weights(const uint8_t *p, size_t len, struct wire_weights *m);
bool wire_get_data(const uint8_t *p, size_t len, struct wire_data *m);
bool wire_get_work(const uint8_t *p, size_t len, struct wire_work *m);
bool wire_get_result(const uint8_t *p, size_t len, struct wire_result *m);
bool wire_get_failed(const uint8_t *p, size_t len, struct wire_failed *m);
bool wire_get_heartbeat(const uint8_t *p, size_t len, struct wire_heartbeat *m);
bool wire_get_bye(const uint8_t *p, size_t len, struct wire_bye *m);
bool wire_get_profile(const uint8_t *p, size_t len, struct wire_profile *m);
bool wire_get_profiled(const uint8_t *p, size_t len, struct wire_profiled *m);
bool wire_get_clock(const uint8_t *p, size_t len, struct wire_clock *m);
bool wire_get_attach(const uint8_t *p, size_t len, struct wire_attach *m);
bool wire_get_group(const uint8_t *p, size_t len, struct wire_group *m);
uint32_t wire_row(const uint8_t *row, uint32_t k);
void wire_doubles(const uint8_t *p, size_t n, double *out);
void wire_fixed(const uint8_t *p, size_t n, struct fixed *out);

/* Units as numbers: nid of them in ascending order; id may be NULL to count. */
uint32_t wire_units_list(const struct wire_units *u, uint32_t *id);
/* A map of nid ascending ids; bit[WIRE_MAP_BYTES(nbit)] is the caller's. */
#define WIRE_MAP_BYTES(nbit) (((size_t)(nbit) + 7) / 8)
struct wire_units wire_units_of(const uint32_t *id, uint32_t nid, uint8_t *bit);
