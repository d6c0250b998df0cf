/*
 * c-ares can look up services ("https") in the system's database. Nobody asks it to, and in a static program that
 * database would need a loader: there are no services here.
 */
#include <netdb.h>
#include <stddef.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,readability-non-const-parameter) */
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
/* NOLINTEND(readability-inconsistent-declaration-parameter-name,readability-non-const-parameter) */
