/* SPDX-License-Identifier: Apache-2.0
 * Lists of hosts: `a,b:4,user@c,local:2` on a command line, or one host a line in a file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "runtime/base/err.h"

enum { HOSTS_MAX = 4096, HOST_NAME_LONGEST = 255, HOST_WORKERS_MAX = 1024 };

struct host {
	char name[HOST_NAME_LONGEST + 1];    /* as ssh takes it; "local": this machine */
	unsigned nworker;
};
struct hosts { struct host *host; size_t n, cap; };

bool host_is_local(const struct host *h);
unsigned hosts_workers(const struct hosts *h);
void hosts_release(struct hosts *h);

/* Add the hosts of a list separated by commas; a host that is in *h already gets more workers.
 * -ERR_USAGE names the invalid word. */
int hosts_add_list(struct hosts *h, const char *text, struct err *e);
/* Add the hosts of a file: one per line, optionally followed by `slots=4` or `:4`; # begins a comment.
 * -ERR_NO_INPUT, or -ERR_CONFIG that names the line. */
int hosts_add_file(struct hosts *h, const char *path, struct err *e);
/* Add one host. */
int hosts_add(struct hosts *h, const char *name, size_t len, unsigned nworker, struct err *e);
