/* SPDX-License-Identifier: Apache-2.0
 * Signals that end a training after its current step: INT, TERM, HUP, USR1, USR2, XCPU. */
#pragma once

/* At the start: in a container, where this is process 1, signals end it as they end any other process. */
void stop_process_1(void);
/* Before there is a state to save: signals end the process with the status of ERR_STOPPED and print this line on
 * stderr. */
void stop_at_once(const char *line);
/* A folder that such a signal removes, if it is empty. */
void stop_removes(const char *folder);
/* From now on, record signals. A second INT ends the process at once; the others may be repeated, as XCPU and HUP of a
 * closed terminal are. Signals that were ignored at the start remain ignored (nohup). */
void stop_catch(void);
/* Name of the recorded signal, "TERM"; NULL: none. */
const char *stop_asked(void);
