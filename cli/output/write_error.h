/* SPDX-License-Identifier: Apache-2.0
 * Files of a run that cannot be written while it trains: told once, whichever they are and however often. */
#ifndef QCNN_TROUBLE_H
#define QCNN_TROUBLE_H

#include "cli/command.h"

struct trouble { const struct cli *cli; bool told, lost; };

/* code: 0, or that of *e. Later ones are told with -v. */
void trouble_note(struct trouble *t, int code, const struct err *e);
/* The same of what is not tried again: the file is closed. */
void trouble_lost(struct trouble *t, int code, const struct err *e);

#endif
