/* SPDX-License-Identifier: Apache-2.0
 * The part of CUPTI's interface that the backend uses, which is loaded at run time: that of CUDA 12.0 or later.
 *
 * What is declared here is compared with cupti.h where configure has found it (cuda_cupti.c), and with the emulated CUPTI of the
 * tests. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef CUPTI_API_VERSION
typedef CUptiResult cupti_result;
typedef CUpti_ActivityKind cupti_kind;
typedef CUpti_Activity cupti_activity;
typedef CUcontext cupti_context;
typedef CUstream cupti_stream;
#else
typedef unsigned cupti_result, cupti_kind;
typedef struct cupti_times cupti_activity;
typedef void *cupti_context, *cupti_stream;
#endif

#define CUPTI_OK 0u
#define CUPTI_NO_MORE 12u
#define CUPTI_COPY 1u
#define CUPTI_CLEAR 2u
#define CUPTI_KERNEL 10u
#define CUPTI_TO_DEVICE 1u
#define CUPTI_TO_HOST 2u
#define CUPTI_FORCED 1u /* records that are not complete are given, too */

enum { CUPTI_VERSION_LEAST = 18 }; /* CUDA 12.0 */

/* The beginning of the records of these kinds, since CUDA 11. Times of 0 are unknown. */
struct cupti_times {
	uint32_t kind;
	uint8_t copy_kind, unused[11];
	uint64_t start, end;
	uint32_t place[5]; /* device, context, stream; of a kernel, from place[2] on */
};

typedef void cupti_request_fn(uint8_t **buffer, size_t *nbyte, size_t *nrecord);
typedef void cupti_complete_fn(cupti_context c, uint32_t stream, uint8_t *buffer, size_t nbyte,
	size_t valid);
typedef uint64_t cupti_clock_fn(void);

#define CUPTI_FUNCTIONS(F) \
	F(cupti_result, cuptiGetVersion, (uint32_t * version)) \
	F(cupti_result, cuptiGetResultString, (cupti_result r, const char **text)) \
	F(cupti_result, cuptiGetStreamIdEx, \
		(cupti_context c, cupti_stream s, uint8_t per_thread, uint32_t * number)) \
	F(cupti_result, cuptiActivityRegisterCallbacks, \
		(cupti_request_fn * request, cupti_complete_fn * complete)) \
	F(cupti_result, cuptiActivityRegisterTimestampCallback, (cupti_clock_fn * clock)) \
	F(cupti_result, cuptiActivityEnable, (cupti_kind kind)) \
	F(cupti_result, cuptiActivityDisable, (cupti_kind kind)) \
	F(cupti_result, cuptiActivityFlushAll, (uint32_t flag)) \
	F(cupti_result, cuptiActivityGetNextRecord, \
		(uint8_t * buffer, size_t valid, cupti_activity * *record))

struct cupti_library {
#define CUPTI_MEMBER(result, name, args) result(*name) args;
	CUPTI_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
};
