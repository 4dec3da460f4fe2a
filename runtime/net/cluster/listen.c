/* SPDX-License-Identifier: Apache-2.0
 * Listens on the addresses by which the hosts reach this machine, and on no other. */
#include "runtime/net/cluster/cluster_state.h"
#include "runtime/net/launch/own_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096 };

static socklen_t length_of(const struct sockaddr *a)
{
	return a->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

static void set_port(struct sockaddr_storage *a, uint16_t port)
{
	if (a->ss_family == AF_INET)
		((struct sockaddr_in *)a)->sin_port = port;
	else
		((struct sockaddr_in6 *)a)->sin6_port = port;
}

static bool listens_already(const struct coordinator *c, const struct sockaddr *a)
{
	for (unsigned i = 0; i < c->listeners.n; i++) {
		struct sockaddr_storage own;
		socklen_t len = sizeof own;

		if (!getsockname(c->listeners.at[i].fd, (struct sockaddr *)&own, &len)
			&& sockaddr_same((struct sockaddr *)&own, a))
			return true;
	}
	return false;
}

/* The address of a socket as text, for a worker: without the name that an interface has here. */
static void address_text(const struct sockaddr_storage *a, char *out, size_t size)
{
	char host[INET6_ADDRSTRLEN + 16] = "", port[8] = "";

	getnameinfo((const struct sockaddr *)a, length_of((const struct sockaddr *)a), host,
		sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
	host[strcspn(host, "%")] = 0;
	snprintf(out, size, a->ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* Listen on an address; port 0: any port. */
static int listen_on(struct coordinator *c, const struct sockaddr *a, uint16_t port, struct err *e)
{
	struct sockaddr_storage own = { 0 };
	socklen_t len = sizeof own;
	int fd, yes = 1;

	if (listens_already(c, a))
		return 0;
	if (c->listeners.n == LISTENERS_MAX)
		return err_set(e, -ERR_CONFIG, "the hosts reach this machine by more than %d addresses", LISTENERS_MAX);
	memcpy(&own, a, length_of(a));
	set_port(&own, htons(port));
	fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && port)                 /* it may be that of a job which has just ended */
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (fd < 0 || bind(fd, (struct sockaddr *)&own, length_of(a)) || listen(fd, BACKLOG)
			|| getsockname(fd, (struct sockaddr *)&own, &len)) {
		char text[64];

		address_text(&own, text, sizeof text);
		fd_close(fd);
		return err_set(e, -ERR_CONFIG, "cannot listen on %s: %s", text, strerror(errno));
	}
	c->listeners.at[c->listeners.n].fd = fd;
	address_text(&own, c->listeners.at[c->listeners.n].address, sizeof c->listeners.at[0].address);
	c->listeners.n++;
	return 0;
}

static int listen_loopback(struct coordinator *c, struct err *e)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return listen_on(c, (struct sockaddr *)&a, 0, e);
}

/* The port at which external workers look for rank 0, or else that of the options; 0: any. */
static uint16_t port_for(const struct coordinator *c)
{
	return c->o.external && *c->o.external->host ? c->o.external->port : c->o.port;
}

static int listen_for(struct coordinator *c, const char *host, enum launcher launcher, struct err *e)
{
	struct addrinfo *found;
	struct sockaddr_storage own;
	bool others;
	int code, status = own_address_resolve(host, launcher, &found, &others);

	if (status && others && c->o.transport == TRANSPORT_AUTO)
		return 0;                    /* no address is known for it; the stdio tunnel remains */
	if (status)
		return err_set(e, -ERR_UNREACHABLE,
			"the host name %s is unknown (%s): check "
			"it; for a name that only ssh knows, give the address to listen on with --iface",
			host, gai_strerror(status));
	code = -ERR_UNREACHABLE;
	for (struct addrinfo *i = found; i && code == -ERR_UNREACHABLE; i = i->ai_next)
		if (own_address_route(i->ai_addr, i->ai_addrlen, &own))
			code = listen_on(c, (struct sockaddr *)&own, port_for(c), e);
	freeaddrinfo(found);
	if (code == -ERR_UNREACHABLE)
		err_set(e, code,
			"there is no route to the host %s; give the address to listen on with --iface",
			host);
	return code;
}

/* All addresses of the requested interface, or the requested address. */
static int listen_iface(struct coordinator *c, struct err *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST }, *found = NULL;
	struct ifaddrs *all = NULL;
	int code = 0, n = 0;

	if (!getaddrinfo(c->o.iface, NULL, &hints, &found)) {
		code = listen_on(c, found->ai_addr, port_for(c), e);
		freeaddrinfo(found);
		return code;
	}
	if (getifaddrs(&all))
		all = NULL;
	for (struct ifaddrs *i = all; i && !code; i = i->ifa_next) {
		bool usable = i->ifa_addr && (i->ifa_addr->sa_family == AF_INET || (i->ifa_addr->sa_family == AF_INET6
			&& !IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr)));

		if (usable && !strcmp(i->ifa_name, c->o.iface)) {
			code = listen_on(c, i->ifa_addr, port_for(c), e);
			n++;
		}
	}
	if (all)
		freeifaddrs(all);
	if (!code && !n)
		code = err_set(e, -ERR_CONFIG, "this machine has no interface or address `%s`", c->o.iface);
	return code;
}

/* Listen on the first address of a name that is one of this machine. */
static int listen_name(struct coordinator *c, const char *name, bool loopback, struct err *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG }, *found = NULL;
	int code = -ERR_UNREACHABLE, status = getaddrinfo(name, NULL, &hints, &found);

	if (status)
		return err_set(e, code, "%s: %s", name, gai_strerror(status));
	for (struct addrinfo *i = found; i && code; i = i->ai_next)
		if (loopback || !is_loopback(i->ai_addr))
			code = listen_on(c, i->ai_addr, port_for(c), e);
	freeaddrinfo(found);
	return code;
}

/* No address was given: listen on that of this machine's name, else on that of its default route. */
static int listen_here(struct coordinator *c, struct err *e)
{
	struct sockaddr_in far = { .sin_family = AF_INET, .sin_port = htons(9) };
	char name[HOST_NAME_LONGEST + 1] = "";
	struct sockaddr_storage own;

	gethostname(name, sizeof name - 1);
	if (!listen_name(c, name, false, e))
		return 0;
	inet_pton(AF_INET, "192.0.2.1", &far.sin_addr);      /* any address of another network */
	if (own_address_route((struct sockaddr *)&far, sizeof far, &own)
		&& !is_loopback((struct sockaddr *)&own))
		return listen_on(c, (struct sockaddr *)&own, port_for(c), e);
	return err_set(e, -ERR_CONFIG,
		"this machine, %s, has no address that other hosts can reach; give the address to listen on with --iface",
		name);
}

static int listen_for_external(struct coordinator *c, struct err *e)
{
	const struct external_workers *g = c->o.external;
	struct err why;

	if (!*g->host)
		return g->on_this_host ? listen_loopback(c, e) : listen_here(c, e);
	if (!listen_name(c, g->host, true, &why))
		return 0;
	return err_set(e, -ERR_CONFIG,
		"rank 0 cannot listen at %s, port %u, to which the others connect: %s; give another address with --iface",
		g->host, g->port, why.text);
}

int listeners_open(struct coordinator *c, struct err *e)
{
	const struct hosts *h = c->o.hosts;
	bool alone = c->o.transport == TRANSPORT_STDIO;  /* only external workers connect */
	int code = 0, unknown = 0;
	struct err why;

	if (c->o.iface && (!alone || c->o.external))
		code = listen_iface(c, e);
	else if (c->o.external)
		code = listen_for_external(c, e);
	for (size_t i = 0; i < h->n && !code && !alone; i++) {
		if (host_is_local(&h->host[i]))
			code = listen_loopback(c, &why);
		else if (!c->o.iface)
			code = listen_for(c, h->host[i].name, c->o.launcher, &why);
		if (code && e)
			*e = why;
		if (code == -ERR_UNREACHABLE && c->o.least && !c->o.external) {
			unknown = code; /* its launcher will say so, or it comes by the address of another host */
			code = 0;
		}
	}
	return !code && !c->listeners.n ? unknown : code;
}
