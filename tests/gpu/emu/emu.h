/* SPDX-License-Identifier: Apache-2.0
 * What the emulated device and the emulated runtime share.
 *
 * Settings, from the environment:
 *   EMU_SEED=n       the order of blocks, warps, lanes and streams (default 1)
 *   EMU_DEVICES=n    devices (default 1; at most 8)
 *   EMU_FAIL=call:n  the n-th call of that name fails
 *   EMU_COUNT=1      counts sectors and bank conflicts
 *   EMU_REPORT=file  calls, launches, and what was counted by place in the program, in addresses of addr2line and nm
 *   EMU_HOST=letter  the machine, of which the numbers of devices are (default: one without a letter)
 *   EMU_HOST_BYTES=n  the memory of the machine that is left, of which qcnn measures a quarter
 *   EMU_NCCL=fault   there is an NCCL, with that fault: see emu_nccl.cpp
 *   EMU_CUPTI=fault  there is a CUPTI, with that fault: see emu_cupti.cpp
 *   EMU_WITHOUT=file:line  a barrier that is left out, to see that it is missed
 *
 * A finding (a race, a wrong address, threads that wait for ever) is printed to the standard error, and the program then ends with
 * status EMU_STATUS whatever its own was. */
#ifndef EMU_H
#define EMU_H

#include "cuda_runtime.h"

#include <stdio.h>

enum { EMU_STATUS = 97, EMU_DEVICES_MAX = 8 };

/* Shared memory of the block that runs; a block of an sm_90 has at most 227 KiB. */
enum { EMU_SHARED_BYTES = 227 << 10 };
extern "C" unsigned char smem_raw[EMU_SHARED_BYTES];

/* Memory of all devices: device k has the k-th of these parts. */
static const size_t EMU_MEMORY_BYTES = (size_t)4 << 30;
extern unsigned char *emu_memory;
static inline size_t emu_offset(const void *p)
{
	return (size_t)((const unsigned char *)p - emu_memory);
}
static inline bool emu_on_device(const void *p)
{
	return emu_offset(p) < EMU_DEVICES_MAX * EMU_MEMORY_BYTES;
}
static inline int emu_device_of(const void *p) { return (int)(emu_offset(p) / EMU_MEMORY_BYTES); }

/* A random number below n, from the seed. */
unsigned emu_below(unsigned n);
/* Is the fault that the setting names, name:n or the first of that name, this one? */
bool emu_is_fault(const char *setting, const char *name, unsigned long n);

/* emu_runtime.cpp: a stream's work that is tried again, when somebody waits, until it returns true. */
void emu_push(cudaStream_t s, const std::function<bool()> &work);
/* The stream whose work is being done, and its device; is it of a graph that is older than CUPTI? */
cudaStream_t emu_stream_now(int *on);
/* The newest other one of that device; NULL: there is none. */
cudaStream_t emu_stream_beside(void);
bool emu_graph_is_old(void);

/* emu_cupti.cpp: does the work, of which CUPTI has a record while it records this kind (cuda_cupti.h). kernel: or NULL. */
void emu_timed(unsigned kind, unsigned copy_kind, const void *kernel,
	const std::function<void()> &work);
bool emu_cupti_records(void); /* anything */
void emu_cupti_report(FILE *f);

/* emu_device.cpp. Grids and blocks have one dimension, and each block has this many threads. */
enum { EMU_THREADS = 256 };
void emu_open(void); /* takes the memory; before anything else */
void emu_run(int device, const void *kernel, dim3 grid, size_t shared,
	const std::function<void()> &threads_do);
/* Bytes between two allocations, at least, that belong to none. */
enum { EMU_GAP_BYTES = 4096 };
/* n bytes become part of an allocation, nobody's, or have a value. */
enum emu_bytes { EMU_TAKEN, EMU_GIVEN_BACK, EMU_WRITTEN };
void emu_mark(void *p, size_t n, enum emu_bytes what);
/* Are they all part of an allocation, and (read) written? Otherwise it is reported. */
void emu_check(const void *p, size_t n, bool read, const char *who);
void emu_found(const char *what, const void *pc, const void *at);
unsigned long emu_findings(void);
void emu_print_counts(FILE *f);

#endif
