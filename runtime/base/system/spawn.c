/* SPDX-License-Identifier: Apache-2.0
 * Signals and process group of a child. */
#include "runtime/base/system/spawn.h"

#include <signal.h>

int spawn_attributes(posix_spawnattr_t *how)
{
	sigset_t none, usual;
	int failed = posix_spawnattr_init(how);

	if (failed)
		return failed;
	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGXFSZ);
	failed = posix_spawnattr_setflags(how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	if (!failed)
		failed = posix_spawnattr_setpgroup(how, 0);
	if (!failed)
		failed = posix_spawnattr_setsigdefault(how, &usual);
	if (!failed)
		failed = posix_spawnattr_setsigmask(how, &none);
	if (failed)
		posix_spawnattr_destroy(how);
	return failed;
}
