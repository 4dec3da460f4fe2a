/* SPDX-License-Identifier: Apache-2.0
 * Signals that end a training after its current step: INT, TERM, HUP, USR1, USR2, XCPU. */
#ifndef QCNN_STOP_H
#define QCNN_STOP_H

/* While nothing has been done that could be gone on with: they end the process with the status of ERR_STOPPED
 * and this line on stderr. */
void stop_at_once(const char *line);
/* From now on they are noted. A second INT ends the process at once; the others may come again and again,
 * as XCPU and a closed terminal's HUP do. HUP and the like stay ignored where they were (nohup). */
void stop_catch(void);
/* Name of the one that came, "TERM"; NULL: none. */
const char *stop_asked(void);

#endif
