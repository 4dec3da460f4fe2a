/* SPDX-License-Identifier: Apache-2.0
 * A coordinator whose workers the test plays itself, with the frames that a launcher would give to them. */
#ifndef TESTS_PLAYED_H
#define TESTS_PLAYED_H

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/numerical_version.h"
#include "runtime/base/system/clock.h"
#include "runtime/net/cluster/coordinator.h"
#include "runtime/net/protocol/peer.h"
#include "tests/tap.h"

enum { NWORKER = 2, PATIENCE_S = 60 };

static struct wire_boot boot[NWORKER];
static struct peer peer[NWORKER];
static struct handshake hand[NWORKER];
static uint32_t numerical = NUMERICAL_VERSION;       /* of the workers that follow, and their program */
static const char *program_version = PACKAGE_VERSION;
static pthread_mutex_t told = PTHREAD_MUTEX_INITIALIZER;
static struct buf notes = BUF_INIT;

/* For struct coordinator_options. */
static void say(void *ctx, const char *worker, const char *line)
{
	(void)ctx;
	pthread_mutex_lock(&told);
	buf_printf(&notes, "%s%s%s\n", worker ? worker : "", worker ? ": " : "", line);
	pthread_mutex_unlock(&told);
}

/* The first frame of worker `rank`, which play_agent keeps. */
static void read_boot(unsigned rank)
{
	char path[64];
	struct buf b = BUF_INIT;
	double until = clock_seconds() + PATIENCE_S;

	snprintf(path, sizeof path, "boot.%u", rank);
	do {
		buf_clear(&b);
		usleep(10000);
	} while (clock_seconds() < until && (buf_read_file(&b, path, 4096, NULL) || b.len < WIRE_HEADER
		|| !wire_get_boot((uint8_t *)b.data + WIRE_HEADER, b.len - WIRE_HEADER, &boot[rank])));
	buf_release(&b);
}

static int connect_there(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	const char *colon = strchr(boot[0].address[0], ':');
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons((uint16_t)atoi(colon + 1));
	if (connect(fd, (struct sockaddr *)&a, sizeof a))
		tap_bail("cannot connect");
	return fd;
}

static void put(unsigned k, const struct buf *b)
{
	peer_put(&peer[k], b);
	peer_flush(&peer[k], NULL);
}

/* Worker k, with so much memory, connects and is let in. */
static void become_worker(unsigned k, uint64_t memory)
{
	struct buf b = BUF_INIT;
	struct wire_about about = { .kernels = "ref baseline", .threads = 1, .memory = memory, .host = "here", .processor = "any" };
	double until = clock_seconds() + PATIENCE_S;
	const uint8_t *body;
	size_t len;

	if (k)
		strcpy(about.kernels, "ref baseline avx2");
	snprintf(about.version, sizeof about.version, "%s", program_version);
	hand[k].rank = k;
	hand[k].numerical = numerical;
	memcpy(hand[k].key, boot[k].key, sizeof hand[k].key);
	memcpy(hand[k].job, boot[k].job, sizeof hand[k].job);
	peer_init(&peer[k], connect_there());
	handshake_hello(&hand[k], &b);
	put(k, &b);
	while (clock_seconds() < until && peer_next(&peer[k], &body, &len, NULL) == 0) {
		struct pollfd f = { .fd = peer[k].fd, .events = POLLIN };

		poll(&f, 1, 100);
		peer_fill(&peer[k], NULL);
	}
	buf_clear(&b);
	tap_ok(handshake_answer(&hand[k], body, len, &b), "worker %u is let in", k);
	put(k, &b);
	peer_trust(&peer[k], &hand[k]);
	buf_clear(&b);
	wire_put_about(&b, &about);
	put(k, &b);
	buf_release(&b);
}

/* An agent for LAUNCHER_EXEC: it keeps the first frame, and waits for the control pipe. */
static void play_agent(void)
{
	FILE *f = fopen("agent", "w");

	fputs("#!/bin/sh\nmkdir lock0 2>/dev/null && n=0 || n=1\nexec cat >boot.$n\n", f);
	fclose(f);
	chmod("agent", 0755);
}

#endif
