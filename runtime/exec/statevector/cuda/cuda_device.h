/* SPDX-License-Identifier: Apache-2.0
 * The part of the CUDA runtime that the backend uses, as plain C functions: no other file of the host includes a header of CUDA.
 *
 * A stream keeps its first failure, with the name of the call that failed; what is asked of it afterwards does nothing, but for
 * cuda_wait. Work is done in the order in which it was asked for, and only cuda_wait waits for it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/exec/target.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cuda_stream;

/* Libraries that are loaded at run time: the first of those that there are whose functions `find` finds, which returns its version, or
 * 0. Returns that; 0: *old, which is false before, says whether there is one. */
enum cuda_library { CUDA_NCCL, CUDA_CUPTI };
unsigned cuda_load(enum cuda_library l, unsigned (*find)(void *handle), bool *old);

/* Why no GPU can be used, as a phrase; NULL: one can. */
const char *cuda_device_obstacle(void);
/* Numbers of the devices that can be used, in order; wanted: bit k for number k, 0 for all. Returns how many. */
enum { CUDA_DEVICES_MAX = 64 };
unsigned cuda_device_list(uint64_t wanted, unsigned *number);
bool cuda_device_about(unsigned device, struct device_about *out);
/* Bytes of memory that the device has left; 0 where it cannot be asked. */
uint64_t cuda_device_memory(unsigned device);

/* The stream is there even where it could not be made: it has failed then. */
struct cuda_stream *cuda_stream_new(unsigned device);
/* Its device becomes the one of the thread, as it does wherever the stream is asked for anything. False: it has failed. */
bool cuda_stream_enter(struct cuda_stream *s);
void cuda_stream_free(struct cuda_stream *s);
/* The call that failed first, and why (or NULL); NULL: none has. */
const char *cuda_stream_failure(const struct cuda_stream *s, const char **why);
/* Of the kernels that launch.h has, before they are launched. */
void cuda_stream_failed(struct cuda_stream *s, const char *call, int error);

/* NULL where there is none; free takes NULL. */
void *cuda_malloc(struct cuda_stream *s, size_t nbyte);
void cuda_free(void *p);
/* Memory of the host that copies use directly: they may read it until the stream has been waited for. */
void *cuda_host_malloc(struct cuda_stream *s, size_t nbyte);
void cuda_host_free(void *p);
void cuda_upload(struct cuda_stream *s, void *device, const void *host, size_t nbyte);
void cuda_download(struct cuda_stream *s, void *host, const void *device, size_t nbyte);
void cuda_clear(struct cuda_stream *s, void *device, size_t nbyte);
/* From the memory of another stream's device, or of the same one; what is there must be there already. */
void cuda_copy(struct cuda_stream *s, void *to, const struct cuda_stream *owner, const void *from,
	size_t nbyte);
/* A function of the host between what was asked for before and after, on a thread of the runtime: it asks for nothing itself, and is
 * not called once the device has failed. */
void cuda_call_host(struct cuda_stream *s, void (*fn)(void *arg), void *arg);
/* Rows of nbyte bytes, whose beginnings are as many bytes apart: between host, as cuda_host_malloc gives it, and device, or inside
 * the device. */
struct cuda_rows {
	void *first;
	size_t apart;
};
void cuda_copy_rows(struct cuda_stream *s, struct cuda_rows to, struct cuda_rows from, size_t nbyte,
	size_t nrow);
void cuda_wait(struct cuda_stream *s);
/* Its cudaStream_t, for calls of other libraries, once it has been entered; NULL: it has failed. */
void *cuda_stream_handle(struct cuda_stream *s);

/* What a stream is asked for between begin and end, as one launch of a CUDA graph where the same was asked for before: `shape`, not
 * 0, says so. It is all the same but for the arguments of kernels; memory of the host is that of cuda_host_malloc. There are graphs of
 * the last CUDA_SHAPES shapes of each kind: what comes for the first time is asked for call by call. Between begin and end the
 * thread neither waits nor allocates. */
enum { CUDA_SHAPES = 2, CUDA_GRAPH_KINDS = 2 };
void cuda_graph_begin(struct cuda_stream *s, unsigned kind, uint64_t shape);
void cuda_graph_end(struct cuda_stream *s);
/* Those that are there are made again when they are launched next: after CUPTI has begun to record. */
void cuda_graphs_renew(struct cuda_stream *s);

/* What the stream was asked for since this was asked before: kernels, bytes between host and device; kernels, copies and clears, how
 * many of them are copies, and when it was asked for the first (CLOCK_MONOTONIC, in nanoseconds). */
struct cuda_counts {
	uint64_t launches, copied, asked, copies;
	int64_t first;
};
struct cuda_counts cuda_stream_counts(struct cuda_stream *s);
/* Around what the calling thread asks for: a range of NVTX, which NVIDIA's profilers show; number: its payload. A graph has none:
 * its launches are not made one by one. */
void cuda_range_begin(const struct cuda_stream *s, const char *name, uint32_t number);
void cuda_range_end(const struct cuda_stream *s);

/* Moments of the stream's work, by number; a failure is no failure of the stream. */
enum { CUDA_MOMENTS_MAX = 1024, CUDA_MOMENT_BATCH = CUDA_MOMENTS_MAX /* two, of exchanges */ };
void cuda_moment(struct cuda_stream *s, unsigned k);
/* Whether the stream has come to it, or has failed. */
bool cuda_moment_passed(struct cuda_stream *s, unsigned k);
/* Nanoseconds from moment j to moment k, once the stream has been waited for; negative: unknown. */
int64_t cuda_moments_apart(struct cuda_stream *s, unsigned j, unsigned k);

#ifdef __cplusplus
}
#endif
