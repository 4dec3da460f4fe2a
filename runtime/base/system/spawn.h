/* SPDX-License-Identifier: Apache-2.0
 * Attributes of the programs that qcnn starts. */
#pragma once

#include <spawn.h>

/* Initialise the attributes of a child: a process group of its own, no signal blocked, and the default action for the signals
 * that qcnn itself ignores (SIGPIPE, SIGXFSZ). Returns 0, or an error number and nothing to destroy. */
int spawn_attributes(posix_spawnattr_t *how);
