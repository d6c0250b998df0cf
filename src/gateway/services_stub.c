/* c-ares can look up services ("https") in the system's database, and OpenSSL can look up hosts.
 * Neither is needed here, and in a static program those databases would require a loader, so
 * these stubs find nothing. */
#include <netdb.h>
#include <stddef.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
/* NOLINTBEGIN(readability-non-const-parameter) */
struct servent *getservbyname(const char *name, const char *protocol)
{
	(void)name;
	(void)protocol;
	return NULL;
}

int getservbyport_r(int port, const char *protocol, struct servent *entry, char *memory,
		    size_t size, struct servent **ret_entry)
{
	(void)port;
	(void)protocol;
	(void)entry;
	(void)memory;
	(void)size;
	*ret_entry = NULL;
	return 0;
}

struct hostent *gethostbyname(const char *name)
{
	(void)name;
	return NULL;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret_list)
{
	(void)name;
	(void)service;
	(void)hints;
	(void)ret_list;
	return EAI_FAIL;
}

void freeaddrinfo(struct addrinfo *list)
{
	(void)list;
}

int getnameinfo(const struct sockaddr *address, socklen_t size, char *host, socklen_t host_size,
		char *service, socklen_t service_size, int flags)
{
	(void)address;
	(void)size;
	(void)host;
	(void)host_size;
	(void)service;
	(void)service_size;
	(void)flags;
	return EAI_FAIL;
}
/* NOLINTEND(readability-non-const-parameter) */
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
