/* Constant-time comparison: see consttime.h. */
#include "util/text/consttime.h"

#include <string.h>

bool consttime_equal(const char *given, size_t size, const char *expected)
{
	unsigned char difference = 0;

	if (size != strlen(expected))
		return false;
	for (size_t i = 0; i < size; i++)
		difference |= (unsigned char)(given[i] ^ expected[i]);
	return difference == 0;
}
