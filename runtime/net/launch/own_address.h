/* SPDX-License-Identifier: Apache-2.0
 * By which of its addresses this machine is reached. */
#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include "runtime/base/err.h"
#include "runtime/net/launch/launch.h"

enum { OWN_ADDRESS_MAX = 80 };

/* The address on the route to another one, from the routing table; no packet is sent. */
bool own_address_route(const struct sockaddr *to, socklen_t tolen, struct sockaddr_storage *own);
/* The addresses of a host, named as `launcher` takes it: a code of getaddrinfo; freeaddrinfo(*found). *others: the name may be one
 * that only the launcher knows. */
int own_address_resolve(const char *host, enum launcher launcher, struct addrinfo **found,
	bool *others);

/* That on the route to a host, as a number. -ERR_UNREACHABLE. */
int own_address_to(const char *host, enum launcher launcher, char out[OWN_ADDRESS_MAX], struct err *e);
/* The first address of an interface, or an address of this machine as a number. -ERR_CONFIG. */
int own_address_of(const char *iface, char out[OWN_ADDRESS_MAX], struct err *e);
