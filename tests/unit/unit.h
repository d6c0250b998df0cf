/* Unit tests are sentences: each prints `ok - sentence` or `not ok - sentence`; the program's
 * status says if all held. */
#ifndef UNIT_H
#define UNIT_H

#include <stdbool.h>
#include <stdio.h>

static int unit_failures;

static inline void unit_check(bool held, const char *sentence, const char *file, int line)
{
	if (held) {
		printf("ok - %s\n", sentence);
	} else {
		printf("not ok - %s: %s:%d\n", sentence, file, line);
		unit_failures++;
	}
}

#define CHECK(sentence, condition) unit_check((condition), (sentence), __FILE__, __LINE__)

#endif
