/* SPDX-License-Identifier: Apache-2.0
 * The folders of event files. */
#include "runtime/log/event_folders.h"

#include <string.h>

static const char *const names[EVENT_FOLDERS] = { [EVENTS_TRAIN] = "train", [EVENTS_VALIDATION] = "validation" };
static const char START[] = "start-";

const char *event_folder_name(enum event_folder k) { return names[k]; }

void event_folder_restart(uint32_t restart, struct buf *out)
{
	buf_printf(out, "%s%u/", START, restart + 1);
}

void event_folder_path(bool several, uint32_t restart, enum event_folder k, struct buf *out)
{
	if (several)
		event_folder_restart(restart, out);
	buf_str(out, names[k]);
}

bool event_folder_is(const char *name)
{
	return text_among(name, names, EVENT_FOLDERS) || !strncmp(name, START, strlen(START));
}
