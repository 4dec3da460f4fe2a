/* SPDX-License-Identifier: Apache-2.0
 * The folders of event files below a run's folder: train and validation, of several restarts start-1/train and so on. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/buf.h"

enum event_folder { EVENTS_TRAIN = 0, EVENTS_VALIDATION, EVENT_FOLDERS };

const char *event_folder_name(enum event_folder k);
/* Append "start-3/", of restart 2. */
void event_folder_restart(uint32_t restart, struct buf *out);
/* Append the folder of a restart; several: of several. */
void event_folder_path(bool several, uint32_t restart, enum event_folder k, struct buf *out);
/* Is this the name of one of these folders, or of a restart's? */
bool event_folder_is(const char *name);
