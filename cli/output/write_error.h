/* SPDX-License-Identifier: Apache-2.0
 * Errors in writing the files of a run while it trains: only the first is reported, without -v. */
#pragma once

#include "cli/command.h"

struct write_errors { const struct cli *cli; bool reported, lost; };

/* code: 0, or that of *e.  The write is tried again. */
void write_errors_note(struct write_errors *w, int code, const struct err *e);
/* The same where the file was closed, so that what was not written is lost. */
void write_errors_lost(struct write_errors *w, int code, const struct err *e);
