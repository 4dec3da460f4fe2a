/* SPDX-License-Identifier: Apache-2.0
 * Supervises a worker on another host: prints there how its process died, and ends a stopped worker when its job ends. */
#pragma once

/* Becomes two processes: the worker, to which this returns, and its guard, which ends when it does (128 + the
 * signal that it died of, else its status), or ends it 2 s after the end of the standard input.
 * Nothing of that where a coordinator of this machine is the parent, which sees the same itself: then the worker
 * alone, which ends with it. */
void guard_begin(void);
