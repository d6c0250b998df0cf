/* Plans need a ringfence-init beside their program. */
#ifndef UNIT_INIT_H
#define UNIT_INIT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Puts a program of that name beside the test's, where it stays: other tests may be using it. */
static inline void unit_init(void)
{
	char path[4096 + sizeof "/ringfence-init"];
	ssize_t n = readlink("/proc/self/exe", path, 4096);

	path[n > 0 ? n : 0] = '\0';
	snprintf(strrchr(path, '/'), sizeof "/ringfence-init", "/ringfence-init");
	if (symlink("/bin/true", path) < 0 && errno != EEXIST)
		abort();
}

#endif
