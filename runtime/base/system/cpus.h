/* SPDX-License-Identifier: Apache-2.0
 * What this machine offers: instruction sets, cores, memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Kernel sets; of those that a machine runs, the last is the best. */
enum isa { ISA_NONE = 0, ISA_BASELINE, ISA_AVX2, ISA_AVX512, ISA_NEON, ISA_COUNT };
/* What kernels compute in. */
enum precision { PRECISION_NONE = 0, PRECISION_SINGLE, PRECISION_DOUBLE };

enum isa isa_best(void);                     /* best that processor and OS support and that was built */
const char *
isa_obstacle(enum isa i); /* why it cannot run, before its name: "this machine has no"; NULL: it can */

/* Threads to use when none are asked for: OMP_NUM_THREADS, else the processors of OpenMP's places (OMP_PLACES,
 * OMP_PROC_BIND) or of the affinity mask, at most the cgroup quota rounded up; never more than OMP_THREAD_LIMIT.
 * *rule names which one set it. */
unsigned cpus_threads(const char **rule);
unsigned cpus_thread_limit(void);            /* OMP_THREAD_LIMIT, else more than there can be */
/* Memory that can still be taken, bytes: the smaller of MemAvailable and what
 * the cgroup leaves, and no more than half of what addresses reach. */
uint64_t cpus_memory_available(void);
enum { MEMORY_TEXT_MAX = 32 };
/* 2^exponent * factor bytes: "32.0 GiB", or "2^103 bytes" where no unit is usual. */
const char *memory_text(double factor, unsigned exponent, char text[MEMORY_TEXT_MAX]);
/* Memory of the machine; the tightest cgroup limit, 0 when there is none. */
uint64_t cpus_memory_total(void);
uint64_t cpus_memory_limit(void);
/* That this process has held at most since it began, or since the last cpus_memory_forget; 0: unknown. */
uint64_t cpus_memory_resident(void);
void cpus_memory_forget(void);
/* Bytes of the data cache of that level (1, 2, 3) that the first processor uses, and how many
 * processors share it (may be NULL); 0 when unknown. */
uint64_t cpus_cache(unsigned level, unsigned *shared_by);
unsigned cpus_online(void);                  /* processors that run, whoever may use them */
unsigned cpus_numa_nodes(void);              /* at least 1 */
const char *cpus_model(void);                /* "Intel(R) Xeon(R) Processor" or "unknown" */
