/* SPDX-License-Identifier: Apache-2.0
 * When a wait is spent looking, and when it is slept through. */
#include "runtime/net/protocol/spin.h"

#include "tests/tap.h"

/* A wait of so many seconds from now on, looked at each 10 us; how long it was looked, before a sleep. */
static double wait_for(struct spin *s, double *now, double seconds)
{
	double begin = *now, looked = 0;

	for (; *now - begin < seconds && spin_on(s, *now); *now += 10e-6)
		looked = *now - begin;
	*now = begin + seconds;
	spin_over(s, *now);
	return looked;
}

int main(void)
{
	struct spin s = { .allowed = true }, never = { .allowed = false };
	double now = 1000, looked = 0;

	tap_ok(wait_for(&s, &now, 50e-6) == 0 && wait_for(&s, &now, 50e-6) == 0, "the first two waits are slept through");
	tap_ok(wait_for(&s, &now, 50e-6) > 0, "after two short ones it looks");
	looked = wait_for(&s, &now, 0.01);
	tap_ok(looked > 50e-6 && looked <= SPIN_S, "a long wait is looked at for %.0f us, at most %.0f", looked * 1e6, SPIN_S * 1e6);
	tap_ok(wait_for(&s, &now, 50e-6) == 0, "after it the next is slept through");
	for (int i = 0; i < 10; i++)
		wait_for(&s, &now, 50e-6);
	tap_ok(wait_for(&s, &now, 50e-6) > 0, "after short ones it looks again");
	looked = 0;
	for (int i = 0; i < 20; i++)
		looked = wait_for(&s, &now, i % 2 ? 50e-6 : 0.01);
	tap_ok(looked == 0, "where every other wait is long it never looks");
	for (int i = 0; i < 10; i++)
		looked += wait_for(&never, &now, 50e-6);
	tap_ok(looked == 0, "without a core for it it never looks");
	return tap_done();
}
