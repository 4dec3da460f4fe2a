/* SPDX-License-Identifier: Apache-2.0
 * Looks after a worker of another host: what it dies of is said there, where only its guard can see it, and one
 * that is stopped does not outlive its job. */
#ifndef QCNN_GUARD_H
#define QCNN_GUARD_H

/* Becomes two processes: the worker, to which this returns, and its guard, which ends when it does (128 + the
 * signal that it died of, else its status), or ends it 2 s after the end of the standard input.
 * Nothing of that where a coordinator of this machine is the parent, which sees the same itself: then the worker
 * alone, which ends with it. */
void guard_begin(void);

#endif
