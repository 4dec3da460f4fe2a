/* SPDX-License-Identifier: Apache-2.0
 * Routes and interfaces of this machine. */
#include "runtime/net/launch/own_address.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool own_address_route(const struct sockaddr *to, socklen_t tolen, struct sockaddr_storage *own)
{
	fd_auto fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof *own;

	return fd >= 0 && !connect(fd, to, tolen) && !getsockname(fd, (struct sockaddr *)own, &len);
}

/* The HostName of a host in ssh's configuration, if there is one; *others: whether ssh goes by a proxy. */
static bool name_of_ssh(const char *host, char *out, size_t size, bool *others)
{
	char line[512], command[HOST_NAME_LONGEST + 32];
	bool found = false;

	snprintf(command, sizeof command, "ssh -G '%s' 2>/dev/null",
		host); /* names of hosts have no quotes */
	FILE *f = popen(command, "re");
	while (f && fgets(line, sizeof line, f))
		if ((!strncmp(line, "proxyjump ", 10) || !strncmp(line, "proxycommand ", 13))
			&& strcmp(strchr(line, ' '), " none\n")) {
			*others = true;
		} else if (!strncmp(line, "hostname ", 9)) {
			snprintf(out, size, "%.*s", (int)strcspn(line + 9, "\n"), line + 9);
			found = true;
		}
	if (f)
		pclose(f);
	return found;
}

/* Host without user@. */
static void bare_name(const char *host, char *out, size_t size)
{
	const char *at = strrchr(host, '@');

	snprintf(out, size, "%s", at ? at + 1 : host);
}

int own_address_resolve(const char *host, enum launcher launcher, struct addrinfo **found, bool *others)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_ADDRCONFIG };
	char name[HOST_NAME_LONGEST + 1], other[HOST_NAME_LONGEST + 1];

	*found = NULL;
	*others = launcher != LAUNCHER_SSH; /* other launchers may have names of their own */
	bare_name(host, name, sizeof name);
	if (launcher == LAUNCHER_SSH && name_of_ssh(host, other, sizeof other, others))
		snprintf(name, sizeof name, "%s", other);
	return getaddrinfo(name, "9", &hints, found);
}

static bool is_number(const struct sockaddr *a, socklen_t len, char out[OWN_ADDRESS_MAX])
{
	return !getnameinfo(a, len, out, OWN_ADDRESS_MAX, NULL, 0, NI_NUMERICHOST);
}

int own_address_to(const char *host, enum launcher launcher, char out[OWN_ADDRESS_MAX], struct err *e)
{
	struct sockaddr_storage own;
	struct addrinfo *found;
	bool others, ok = false;
	int status = own_address_resolve(host, launcher, &found, &others);

	if (status)
		return err_set(e, -ERR_UNREACHABLE,
			"the host name %s is unknown (%s): check it; for a name that only the launcher knows, give the address by "
			"which other hosts reach this machine with --iface",
			host, gai_strerror(status));
	for (struct addrinfo *i = found; i && !ok; i = i->ai_next)
		ok = own_address_route(i->ai_addr, i->ai_addrlen, &own)
			&& is_number((struct sockaddr *)&own, sizeof own, out);
	freeaddrinfo(found);
	return ok ? 0
		  : err_set(e, -ERR_UNREACHABLE,
			  "there is no route to the host %s; give the address by which other hosts reach this machine with "
			  "--iface",
			  host);
}

static bool address_in(const struct ifaddrs *all, const char *iface, char out[OWN_ADDRESS_MAX])
{
	char number[OWN_ADDRESS_MAX];

	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		bool v4 = i->ifa_addr && i->ifa_addr->sa_family == AF_INET;
		bool v6 = i->ifa_addr && i->ifa_addr->sa_family == AF_INET6
			&& !IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr);
		socklen_t len = v4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);

		if ((!v4 && !v6) || !is_number(i->ifa_addr, len, number))
			continue;
		if (!strcmp(i->ifa_name, iface) || !strcmp(number, iface)) {
			memcpy(out, number, sizeof number);
			return true;
		}
	}
	return false;
}

int own_address_of(const char *iface, char out[OWN_ADDRESS_MAX], struct err *e)
{
	struct ifaddrs *all = NULL;
	bool found = !getifaddrs(&all) && address_in(all, iface, out);

	if (all)
		freeifaddrs(all);
	return found
		? 0
		: err_set(e, -ERR_CONFIG, "this machine has no interface or address `%s`", iface);
}
