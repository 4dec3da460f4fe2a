/* SPDX-License-Identifier: Apache-2.0
 * Small work stays on one thread: how that is decided. */
#include "runtime/exec/statevector/cpu/cpu_fork.h"
#include "tests/tap.h"

/* What waking threads takes is set here, not measured. */
static struct cpu_fork known(double seconds) { return (struct cpu_fork){ .seconds = seconds, .nmeasured = 1 }; }

int main(void)
{
	struct cpu_fork f = known(5e-6);

	tap_ok(!cpu_fork_pays(&f, 2, 9e-6), "9 us of work on two threads save less than 5 us");
	tap_ok(cpu_fork_pays(&f, 2, 11e-6), "11 us save more");
	tap_ok(cpu_fork_pays(&f, 4, 7e-6), "on four threads 7 us are enough");
	tap_ok(f.nmeasured == 1, "nothing was measured for so little");
	f = known(20e-3);
	tap_ok(!cpu_fork_pays(&f, 2, 1e-3), "on a busy machine, where a thread waits for 20 ms, a millisecond is small work");
	tap_ok(cpu_fork_pays(&f, 2, 0.3), "a third of a second is not");

	f = (struct cpu_fork){ 0 };
	tap_ok(!cpu_fork_pays(&f, 2, 20e-6) && f.nmeasured == 0, "a first small call measures nothing and stays alone");
	unsigned calls = 1;
	while (f.nmeasured == 0 && calls < 1000) {
		cpu_fork_pays(&f, 2, 20e-6);
		calls++;
	}
	tap_ok(calls == 100, "after calls that could have saved a millisecond it is measured: call %u", calls);
	tap_ok(f.seconds > 0 && f.saving == 0, "an empty region: %.3g us", 1e6 * f.seconds);
	f = known(1e-3);
	for (calls = 0; f.nmeasured == 1 && calls < 100000; calls++)
		cpu_fork_pays(&f, 2, 100e-6);
	tap_ok(calls >= 1000 && calls <= 1001, "and again after calls that could have saved fifty times as much: %u", calls);
	tap_ok(f.seconds > 0.75e-3, "a quarter of the average is new: %.3g us", 1e6 * f.seconds);
	return tap_done();
}
