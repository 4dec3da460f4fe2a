/* SPDX-License-Identifier: Apache-2.0
 * Sockets, addresses, and the state of each connection until its rank is known and has proved the key. */
#include "runtime/net/comm/tcp_join.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/system/clock.h"

enum { INCOMING_MAX = 64, JOINING_MAX = GROUP_RANKS_MAX + INCOMING_MAX };
static const double PENDING_S = 2; /* for a connection that has to prove the key */
static const char prefix[] = "tcp:";

/* A connection whose other side is not known yet. */
struct joining {
	enum {
		JOIN_CONNECTS,
		JOIN_HELLO,
		JOIN_CHALLENGE,
		JOIN_PROOF,
		JOIN_WELCOME
	} state; /* what is awaited */
	struct peer peer;
	struct handshake *h;
	unsigned rank; /* once it is known */
	double until;
};

struct join {
	const struct group_opening *g;
	struct tcp_link *link;
	struct joining at[JOINING_MAX];
	unsigned n, nrefused;
	bool ready;               /* all are links */
	struct group_fault abort; /* what another rank says */
	struct err unlike; /* the first with other options: all learn of it when all have come */
};

/* ---- addresses ---- */

/* Host and port, "192.0.2.1:4711" or "[2001:db8::1]:4711". */
static struct addrinfo *resolve(const char *host, const char *port, int flags)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | flags },
			*found;

	return getaddrinfo(host, port, &hints, &found) ? NULL : found;
}

static struct addrinfo *resolve_address(const char *address)
{
	char host[GROUP_ADDRESS_MAX];
	const char *at = address + strlen(prefix), *colon;

	if (strncmp(address, prefix, strlen(prefix)) || strlen(address) >= sizeof host
		|| !(colon = strrchr(at, ':')))
		return NULL;
	bool brackets = *at == '[' && colon - at > 2;
	snprintf(host, sizeof host, "%.*s", (int)(colon - at - 2 * brackets), at + brackets);
	return resolve(host, colon + 1, 0);
}

static bool say_address(int fd, char address[GROUP_ADDRESS_MAX])
{
	struct sockaddr_storage a;
	socklen_t len = sizeof a;
	char host[INET6_ADDRSTRLEN + 32], port[16];

	if (getsockname(fd, (struct sockaddr *)&a, &len)
		|| getnameinfo((struct sockaddr *)&a, len, host, sizeof host, port, sizeof port,
			NI_NUMERICHOST | NI_NUMERICSERV))
		return false;
	snprintf(address, GROUP_ADDRESS_MAX, a.ss_family == AF_INET6 ? "%s[%s]:%s" : "%s%s:%s",
		prefix, host, port);
	return true;
}

int tcp_offer(struct group_offer *o, char address[GROUP_ADDRESS_MAX], struct err *e)
{
	const char *host = o->options.bind ? o->options.bind : "127.0.0.1";
	struct addrinfo *found = resolve(host, "0", AI_PASSIVE);
	int code = 0;

	if (!found)
		return err_set(e, -ERR_CONFIG, "\"%s\" is no numeric address", host);
	o->listener = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (o->listener < 0 || bind(o->listener, found->ai_addr, found->ai_addrlen)
		|| listen(o->listener, GROUP_RANKS_MAX) || !say_address(o->listener, address))
		code = err_set(e, -ERR_CONFIG, "cannot listen on %s: %s", host, strerror(errno));
	freeaddrinfo(found);
	return code;
}

/* ---- connections ---- */

static void joining_end(struct join *j, unsigned i)
{
	struct joining *at = &j->at[i];

	if (at->peer.fd >= 0)
		peer_close(&at->peer);
	crypto_secret_free(at->h, sizeof *at->h);
	*at = j->at[--j->n];
}

/* What both sides of a connection know of the group, so that no proof is good for another rank or size. */
static bool joining_begin(struct join *j, int fd, int state, unsigned connected_to, unsigned rank)
{
	const struct group_options *o = &j->g->offer->options;
	struct joining *at = &j->at[j->n++];
	char what[64];
	int n = snprintf(what, sizeof what, "qcnn group to rank %u of %u", connected_to, j->g->size);

	*at = (struct joining){ .state = state, .rank = rank, .until = clock_seconds() + PENDING_S };
	peer_init(&at->peer, fd);
	at->h = crypto_secret_new(sizeof *at->h);
	if (!at->h)
		return false;
	memcpy(at->h->key, o->key, sizeof at->h->key);
	crypto_mac(o->key, what, (size_t)n, at->h->job);
	at->h->rank = j->g->rank;
	at->h->numerical = (uint32_t)j->g->nbyte_chunk;
	at->h->encrypt = o->encrypt;
	at->h->aes = crypto_has_aes();
	return true;
}

_Static_assert((int)CRYPTO_MAC == (int)WIRE_JOB_ID, "a proof names the group");

static int no_memory(struct err *e)
{
	return err_set(e, -ERR_CONFIG, "no memory for a connection");
}

static int not_joined(unsigned rank, const char *why, struct err *e)
{
	return err_set(e, -ERR_UNREACHABLE, "rank %u has not joined the group: %s", rank, why);
}

static int connect_to(struct join *j, unsigned rank, struct err *e)
{
	struct addrinfo *a = resolve_address(j->g->address[rank]);
	int fd, code = 0;

	if (!a)
		return err_set(e, -ERR_PROTOCOL, "\"%s\" is no address for tcp", j->g->address[rank]);
	fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		code = err_set(e, -ERR_CONFIG, "cannot make a socket: %s", strerror(errno));
	else if (connect(fd, a->ai_addr, a->ai_addrlen) && errno != EINPROGRESS) {
		code = not_joined(rank, strerror(errno), e);
		close(fd);
	} else if (!joining_begin(j, fd, JOIN_CONNECTS, rank, rank))
		code = no_memory(e);
	freeaddrinfo(a);
	return code;
}

static int take_connection(struct join *j, struct err *e)
{
	int fd = accept4(j->g->offer->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	unsigned i = 0;

	if (fd < 0)
		return 0;
	if (j->n == JOINING_MAX) { /* the first that says nothing makes room */
		while (j->at[i].state != JOIN_HELLO && i + 1 < j->n)
			i++;
		joining_end(j, i);
	}
	return joining_begin(j, fd, JOIN_HELLO, j->g->rank, 0) ? 0 : no_memory(e);
}

/* ---- messages ---- */

/* It has proved the key: from now on it is a link. */
static int join_rank(struct join *j, unsigned i, struct err *e)
{
	struct joining *at = &j->at[i];
	bool ok = link_open(&j->link[at->rank], &at->peer, j->g->nbyte_chunk);

	joining_end(j, i);
	return ok ? 0 : no_memory(e);
}

static int refuse(struct join *j, unsigned i)
{
	j->nrefused++;
	joining_end(j, i);
	return 0;
}

static void put(struct joining *at, struct buf *b)
{
	peer_put(&at->peer, b);
	peer_flush(&at->peer, NULL); /* what does not go shows in the next read */
}

static int take_hello(struct join *j, unsigned i, const uint8_t *body, size_t len, struct buf *b)
{
	struct joining *at = &j->at[i];
	struct handshake *h = at->h;

	if (!handshake_take_hello(h, body, len) || h->rank <= j->g->rank || h->rank >= j->g->size
		|| j->link[h->rank].peer.fd >= 0 || !handshake_challenge(h, b))
		return refuse(j, i);
	at->rank = h->rank;
	at->state = JOIN_PROOF;
	put(at, b);
	return 0;
}

static void note_unlike(struct join *j, const char *text)
{
	if (*text && !j->unlike.code)
		err_set(&j->unlike, -ERR_PROTOCOL, "%s", text);
}

/* The answer: a byte, then the text of what is unlike, if anything is. */
static int take_proof(struct join *j, unsigned i, const uint8_t *body, size_t len, struct buf *b,
	struct err *e)
{
	struct joining *at = &j->at[i];
	char text[256] = "";

	if (!handshake_proved(at->h, body, len) || j->link[at->rank].peer.fd >= 0)
		return refuse(j, i);
	if (!peer_trust(&at->peer, at->h))
		return no_memory(e);
	if (at->h->numerical != j->g->nbyte_chunk)
		snprintf(text, sizeof text,
			"rank %u joins with other options than rank %u: chunks of %u bytes, not %zu",
			at->rank, j->g->rank, at->h->numerical, j->g->nbyte_chunk);
	note_unlike(j, text);
	buf_u8(b, 0);
	buf_str(b, text);
	put(at, b);
	return join_rank(j, i, e);
}

static int take_challenge(struct join *j, unsigned i, const uint8_t *body, size_t len,
	struct buf *b, struct err *e)
{
	struct joining *at = &j->at[i];
	bool encrypt = j->g->offer->options.encrypt;

	if (!handshake_answer(at->h, body, len, b))
		return err_set(e, -ERR_AUTH, "rank %u does not hold the group's key", at->rank);
	if (at->h->encrypt != encrypt)
		return err_set(e, -ERR_PROTOCOL,
			"rank %u joins with other options than rank %u: encryption %s", j->g->rank,
			at->rank, encrypt ? "on" : "off");
	at->state = JOIN_WELCOME;
	put(at, b);
	if (!peer_trust(&at->peer, at->h))
		return no_memory(e);
	at->peer.body_max = WIRE_EARLY_MAX;
	return 0;
}

static int take_welcome(struct join *j, unsigned i, const uint8_t *body, size_t len, struct err *e)
{
	char text[256];

	snprintf(text, sizeof text, "%.*s", (int)len - 1, (const char *)body + 1);
	note_unlike(j, text);
	return join_rank(j, i, e);
}

static int take_message(struct join *j, unsigned i, const uint8_t *body, size_t len, struct err *e)
{
	buf_auto b = BUF_INIT;
	int code = 0;

	switch (j->at[i].state) {
	case JOIN_CONNECTS: break;
	case JOIN_HELLO: code = take_hello(j, i, body, len, &b); break;
	case JOIN_CHALLENGE: code = take_challenge(j, i, body, len, &b, e); break;
	case JOIN_PROOF: code = take_proof(j, i, body, len, &b, e); break;
	case JOIN_WELCOME: code = take_welcome(j, i, body, len, e); break;
	}
	return code;
}

static int has_connected(struct join *j, unsigned i, struct err *e)
{
	struct joining *at = &j->at[i];
	buf_auto b = BUF_INIT;
	int fault = 0;
	socklen_t len = sizeof fault;

	if (getsockopt(at->peer.fd, SOL_SOCKET, SO_ERROR, &fault, &len) || fault)
		return not_joined(at->rank, strerror(fault), e);
	handshake_hello(at->h, &b);
	at->state = JOIN_CHALLENGE;
	put(at, &b);
	return 0;
}

/* Something has happened on a connection.  At most one message at a time is on its way to us before a link. */
static int take_event(struct join *j, unsigned i, struct err *e)
{
	struct joining *at = &j->at[i];
	bool incoming = at->state == JOIN_HELLO || at->state == JOIN_PROOF;
	const uint8_t *body;
	size_t len;

	if (at->state == JOIN_CONNECTS)
		return has_connected(j, i, e);
	int closed = peer_fill(&at->peer, NULL);
	int n = peer_next(&at->peer, &body, &len, NULL);
	if (n > 0)
		return take_message(j, i, body, len, e);
	if (n == 0 && !closed)
		return 0;
	if (incoming)
		return refuse(j, i);
	return err_set(e, -ERR_AUTH,
		"rank %u has refused rank %u: it has ended, or the group's key is another one",
		at->rank, j->g->rank);
}

/* ---- joining ---- */

/* First each has to be a link, then each has to say that it has all. */
static bool is_missing(const struct join *j, unsigned r)
{
	return r != j->g->rank && (j->link[r].peer.fd < 0 || (j->ready && !j->link[r].ready));
}

static unsigned first_missing(const struct join *j)
{
	unsigned r = 0;

	while (r < j->g->size && !is_missing(j, r))
		r++;
	return r;
}

/* Ranks that are ready may have begun a call, or given up in one: that is found in the next call here.  One that ended is a
 * fault for those that it has not joined, or in a call. */
static int watch_links(struct join *j)
{
	for (unsigned r = 0; r < j->g->size; r++) {
		struct tcp_link *l = &j->link[r];

		if (l->peer.fd >= 0)
			link_fill(l);
		if (l->abort.code && !l->ready) {
			j->abort = l->abort;
			return l->abort.code;
		}
	}
	return 0;
}

static int join_turn(struct join *j, struct err *e)
{
	struct pollfd f[1 + JOINING_MAX + GROUP_RANKS_MAX];
	unsigned n = j->n;
	double left = j->g->until - clock_seconds();

	if (left <= 0)
		return group_opening_late(j->g, first_missing(j), j->nrefused, e);
	f[0] = (struct pollfd){ .fd = j->g->offer->listener, .events = POLLIN };
	for (unsigned i = 0; i < n; i++)
		f[1 + i] = (struct pollfd){ .fd = j->at[i].peer.fd,
			.events = j->at[i].state == JOIN_CONNECTS ? POLLOUT : POLLIN };
	for (unsigned r = 0; r < j->g->size; r++)
		f[1 + n + r] =
			(struct pollfd){ .fd = link_events(&j->link[r]) ? j->link[r].peer.fd : -1,
				.events = POLLIN };
	poll(f, 1 + n + j->g->size, group_opening_ms(j->g, clock_seconds()));
	int code = watch_links(j);
	code = code ? code : group_opening_watch(j->g, e);
	/* From the last on, since one that ends is replaced by the last. */
	for (unsigned i = n; i-- > 0 && !code;) {
		if (f[1 + i].revents)
			code = take_event(j, i, e);
		else if ((j->at[i].state == JOIN_HELLO || j->at[i].state == JOIN_PROOF)
			&& clock_seconds() > j->at[i].until)
			joining_end(j, i);
	}
	return code || !f[0].revents ? code : take_connection(j, e);
}

static int join_all(struct join *j, struct err *e)
{
	int code = 0;

	for (unsigned r = 0; r < j->g->rank && !code; r++)
		code = connect_to(j, r, e);
	while (!code && first_missing(j) < j->g->size)
		code = join_turn(j, e);
	if (!code && j->unlike.code)
		code = err_set(e, j->unlike.code, "%s", j->unlike.text);
	j->ready = !code;
	for (unsigned r = 0; r < j->g->size && !code; r++)
		if (r != j->g->rank)
			link_say_ready(&j->link[r]);
	while (!code && first_missing(j) < j->g->size)
		code = join_turn(j, e);
	return code;
}

int tcp_join(const struct group_opening *g, struct tcp_link *link, struct err *e)
{
	mem_auto struct join *j = mem_alloc(1, sizeof *j);
	struct err why = { 0 };

	*j = (struct join){ .g = g, .link = link };
	for (unsigned r = 0; r < g->size; r++)
		link[r] = (struct tcp_link){ .peer.fd = -1 };
	int code = join_all(j, &why);
	if (code && j->abort.code)
		err_set(&why, code, "rank %u has given up: %s", j->abort.rank, j->abort.text);
	if (code) {
		err_set(e, code, "%s", why.text);
		links_abort(link, g->size, j->abort.code ? j->abort.rank : g->rank,
			j->abort.code ? j->abort.text : why.text);
	}
	while (j->n)
		joining_end(j, j->n - 1);
	for (unsigned r = 0; r < g->size && code; r++)
		link_close(&link[r]);
	return code;
}
