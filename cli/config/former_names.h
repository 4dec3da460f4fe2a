/* SPDX-License-Identifier: Apache-2.0
 * Former names of options, keys and values: the rows of former_names.def. */
#pragma once

#include <stddef.h>

enum former_kind { FORMER_OPTION = 1, FORMER_KEY, FORMER_VALUE };

/* The name now of what name[0..len) was called before; NULL: nothing was. */
const char *former_now(enum former_kind kind, const char *name, size_t len);
/* The former name of what is called this now, or the name itself. */
const char *former_name(enum former_kind kind, const char *now);
