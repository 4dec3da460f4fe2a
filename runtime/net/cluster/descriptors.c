/* SPDX-License-Identifier: Apache-2.0
 * The limit on open files, raised before the first worker is started. */
#include "runtime/net/cluster/cluster_state.h"

#include <sys/resource.h>

enum { EACH_WORKER = 3, OTHERS = 64 };   /* control pipe, standard error, connection; data, logs, checkpoints */

int descriptors_reserve(unsigned nworker, struct err *e)
{
	unsigned long long need = (unsigned long long)EACH_WORKER * nworker + PENDING_CONNECTIONS_MAX + LISTENERS_MAX + OTHERS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= need)
		return 0;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < need)
		return err_set(e, -ERR_CONFIG, "%u worker%s need%s %llu open files here, and the system allows %llu: raise `ulimit -Hn`, or use fewer workers",
			nworker, nworker == 1 ? "" : "s", nworker == 1 ? "s" : "", need, (unsigned long long)limit.rlim_max);
	limit.rlim_cur = need;
	setrlimit(RLIMIT_NOFILE, &limit);
	return 0;
}
