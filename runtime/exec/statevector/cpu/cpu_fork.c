/* SPDX-License-Identifier: Apache-2.0
 * Is work large enough to be worth waking the other threads?
 *
 * That takes some microseconds on an idle machine and many milliseconds on a busy one, where a thread
 * waits until it is scheduled.  It is measured as an empty region, first when calls could have saved
 * FORK_TRIAL seconds in all, then each time when they could have saved fifty times what it takes, so that
 * measuring costs little and the answer follows the machine. */
#include "runtime/base/system/clock.h"
#include "runtime/exec/statevector/cpu/cpu_fork.h"

static const double FORK_SURE = 0.1;         /* seconds saved: worth it on any machine */
static const double FORK_TRIAL = 1e-3;
enum { FORK_SHARE = 50, FORK_MEMORY = 4 /* measurements that are averaged */ };

static double measure(unsigned nthread)
{
	double began = clock_seconds();
	#pragma omp parallel num_threads((int)nthread)
	{
		#pragma omp barrier
	}
	return clock_seconds() - began;
}

static void learn(struct cpu_fork *f, unsigned nthread)
{
	if (f->nmeasured == 0)
		measure(nthread);            /* makes the threads */
	double seconds = measure(nthread);
	f->seconds = f->nmeasured == 0 ? seconds : f->seconds + (seconds - f->seconds) / FORK_MEMORY;
	f->nmeasured++;
	f->saving = 0;
}

bool cpu_fork_pays(struct cpu_fork *f, unsigned nthread, double work_seconds)
{
	double gain = work_seconds * (1 - 1.0 / nthread);
	if (gain >= FORK_SURE)
		return true;
	f->saving += gain;
	if (f->saving >= FORK_TRIAL && f->saving >= FORK_SHARE * f->seconds)
		learn(f, nthread);
	return f->nmeasured > 0 && gain > f->seconds;
}
