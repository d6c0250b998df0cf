// sources: src/project/hosts.c
/* Hosts in the configuration of other tools. */
#include "fuzz.h"

#include "project/hosts.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

void fuzz_hosts(const uint8_t *data, size_t size)
{
	static const char *const keys[] = { "registry", "url", NULL };
	AUTO_FREE char *text = mem_alloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	for (int i = 0; i < 2; i++) {
		__attribute__((cleanup(list_release))) struct list hosts = { 0 };

		hosts_of_text(text, i ? "[r" : NULL, i ? keys : NULL, &hosts);
		for (size_t k = 0; k < hosts.count; k++)
			if (!*hosts.items[k] || strlen(hosts.items[k]) > size + 3 ||
			    strpbrk(hosts.items[k], "/\n"))
				abort();
	}

	__attribute__((cleanup(list_release))) struct list hosts = { 0 };

	hosts_of_part((const char *)data, size, "M = [", "]", "at=", &hosts);
	for (size_t k = 0; k < hosts.count; k++)
		if (!*hosts.items[k] || strpbrk(hosts.items[k], "/\n"))
			abort();
}

FUZZ_TARGET(fuzz_hosts)
