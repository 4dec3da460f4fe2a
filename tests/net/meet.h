/* SPDX-License-Identifier: Apache-2.0
 * Forked ranks of a test that tell each other their addresses by pipes. */
#ifndef TESTS_NET_MEET_H
#define TESTS_NET_MEET_H

#include <string.h>
#include <unistd.h>

#include "runtime/net/comm/group.h"
#include "tests/tap.h"

enum { RANKS_MAX = 16 };

struct meeting {
	int to[RANKS_MAX][2];
};

static struct meeting meeting_new(unsigned size)
{
	struct meeting m = { 0 };

	for (unsigned r = 0; r < size; r++)
		if (pipe(m.to[r]))
			tap_bail("a pipe");
	return m;
}

static void meeting_close(const struct meeting *m, unsigned size)
{
	for (unsigned r = 0; r < size; r++) {
		close(m->to[r][0]);
		close(m->to[r][1]);
	}
}

/* By the rank's process. */
static int meet(const struct meeting *m, unsigned rank, unsigned size, const char *transport,
	const struct group_options *o, struct comm **out, struct err *e)
{
	char address[RANKS_MAX][GROUP_ADDRESS_MAX], message[1 + GROUP_ADDRESS_MAX];
	const char *list[RANKS_MAX];
	struct group_offer *offer;

	memset(address, 0, sizeof address);
	if (group_offer(transport, o, &offer, address[rank], e))
		tap_bail("%s", e->text);
	message[0] = (char)rank;
	memcpy(message + 1, address[rank], GROUP_ADDRESS_MAX);
	for (unsigned r = 0; r < size; r++)
		if (write(m->to[r][1], message, sizeof message) != sizeof message)
			tap_bail("a pipe");
	for (unsigned k = 0; k < size; k++) {
		if (read(m->to[rank][0], message, sizeof message) != sizeof message)
			tap_bail("a pipe");
		memcpy(address[(unsigned)message[0]], message + 1, GROUP_ADDRESS_MAX);
	}
	for (unsigned r = 0; r < size; r++)
		list[r] = address[r];
	return group_open(offer, rank, size, list, out, e);
}

#endif
