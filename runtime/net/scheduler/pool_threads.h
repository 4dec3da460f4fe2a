/* SPDX-License-Identifier: Apache-2.0
 * The pool of one process: a ledger of unit ids behind one mutex. */
#pragma once

#include "runtime/base/pool.h"

/* A pool of nworker threads, numbered from 0; free with its ops. */
struct pool *pool_threads_new(unsigned nworker);
