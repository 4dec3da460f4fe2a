/* SPDX-License-Identifier: Apache-2.0
 * What a plan is made for: the properties of one kernel set of a backend on which plans and last digits depend.
 *
 * A target is a constant. Equal targets give equal plans and equal bits; what differs from host to host (caches,
 * measured rates, threads) is no part of it and only predicts seconds. Targets are distinguished by their names:
 * a plan asks for properties, never which instruction set or device it is for. */
#pragma once

#include <stdbool.h>
#include "runtime/base/system/cpus.h"

enum target_capability {
	TARGET_SINGLE = 1, /* computes in single precision too; without it, in double precision alone */
	TARGET_THREADS = 2, /* several workers compute at once */
	TARGET_BATCHED = 4, /* SHAPE_BATCHED: one sample in each lane of a vector */
	TARGET_STAGES =
		8, /* large states are cut into stages, whose blocks are worked on in local memory */
	TARGET_CONSTANT_PREFIX = 16, /* constant steps at the start of a circuit are done once and kept */
	TARGET_HEISENBERG_TAIL = 32, /* the last gates can be absorbed into the observables */
	TARGET_STATELESS = 128, /* no state is allocated, results are 0: nothing is bounded by memory */
	TARGET_FUSED_LAST =
		256, /* the backward pass can begin block by block in the forward pass's last stage */
	TARGET_SPLIT = 512, /* a large state can be split over ranks */
	TARGET_SPLIT_OPTIMISED =
		1024, /* and the Heisenberg tail and the state cache, where there are such, work on parts */
	TARGET_STATE_CACHE =
		64 /* final states are kept side by side, with overlaps between them (backend.h) */
};

struct backend;
struct contraction;

struct target {
	const char *device; /* the backend's name (backends.h): "cpu", "ref" */
	/* The kernel set's name, which no other backend's has: "avx512"; the device's where it has one alone. */
	const char *kernels;
	unsigned version;    /* raised when the set's kernels give other last digits */
	unsigned capabilities; /* of enum target_capability */
	unsigned vector_bytes; /* of a SIMD vector; 0: amplitudes one by one */
	unsigned block_bytes;  /* of one state's block of a stage, at most */
	double usual_gflop_s; /* in single precision, of one core of a usual machine: predicts seconds where nothing was measured */
	const struct backend *backend; /* what it is a target of (statevector/backend.h) */
	const struct contraction *contraction; /* kernels for tensors (contraction.h); NULL: none */
	unsigned unit_bits; /* a unit has samples until it has 2^unit_bits amplitudes; 0: it has one where lanes do not make it more */
	/* GB/s of a device's memory, of a usual one, which has usual_gflop_s altogether; 0: states are in the processor's. */
	double usual_stream_gb_s;
};

static inline bool target_can(const struct target *t, enum target_capability c)
{
	return t->capabilities & c;
}

/* Are its states in memory of its own? */
static inline bool target_has_memory(const struct target *t) { return t->usual_stream_gb_s > 0; }

/* Does it compute large states by the processor's memory and arithmetic, so that their limits say how fast it can be? */
static inline bool target_has_limits(const struct target *t)
{
	return target_can(t, TARGET_STAGES) && !target_can(t, TARGET_STATELESS)
		&& !target_has_memory(t);
}

/* Real numbers of a vector: samples of a unit of SHAPE_BATCHED. 1 without vectors. */
static inline unsigned target_lanes(const struct target *t, enum precision p)
{
	return t->vector_bytes ? t->vector_bytes / (p == PRECISION_DOUBLE ? 8 : 4) : 1;
}

extern const struct target target_ref;  /* the only one of the reference backend */
extern const struct target target_null; /* the only one of the null backend */

/* The target of a device (NULL: the processor) with this kernel set ("auto" or NULL: the best that this machine runs; of a
 * device that has one alone, that); NULL: there is none. */
const struct target *target_find(const char *device, const char *kernels);
/* t, or where it is NULL the best of the processor that runs here. */
const struct target *target_or_best(const struct target *t);
/* The target of the first device that has memory of its own; NULL: this build has none. */
const struct target *target_gpu(void);
/* May --device=auto choose it: the processor, or a device with memory of its own? */
bool target_is_automatic(const struct target *t);
/* Why it cannot run on this machine; NULL: it can. As the beginning of a sentence that the kernels' name ends ("this machine
 * has no"), or for a device that has one target alone, as a phrase ("the driver is missing"). */
const char *target_obstacle(const struct target *t);
/* A device of this machine. */
struct device_about {
	char name[256];
	unsigned capability, units; /* NVIDIA: 90 for compute capability 9.0; multiprocessors */
	unsigned driver;            /* 12040 for CUDA 12.4: what its driver can */
	uint64_t memory, left;      /* bytes */
	uint8_t id[16];             /* no other device has it, on any machine */
};
/* Of number k, usable or not; false: there is none of that number. */
bool target_device(const struct target *t, unsigned k, struct device_about *out);
/* The library by which its devices exchange parts of split states, with its version, or why there is none; NULL: it uses none. */
const char *target_library(const struct target *t);
/* The same of the library by which its devices time each kernel and copy of a profile. */
const char *target_profiler(const struct target *t);
/* Devices of this machine that it can compute on, each by itself; 0: it is the processor's. */
unsigned target_devices(const struct target *t);
/* Name of device number k, the preferred one first, in this build or not; NULL: no more. */
const char *device_name(unsigned k);
/* Number k of the targets of a device (NULL: the processor), from the least to the best, whether they can run here or not; NULL: no more. */
const struct target *target_of(const char *device, unsigned k);
