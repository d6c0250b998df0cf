/*
 * The attack program: one act per name, done with raw system calls, so that nothing between the
 * caller and the kernel softens it. Each act returns 0 when it SUCCEEDED, or the errno that
 * stopped it; ATTACK_MISUSE when it was called wrongly. What an act prints is for the tests to
 * read.
 */
#ifndef RINGFENCE_TESTS_ATTACK_H
#define RINGFENCE_TESTS_ATTACK_H

#include <errno.h>

#define ATTACK_MISUSE (-1)

struct attack {
	const char *name;
	const char *args;
	int min_args;
	/* args[] ends with NULL, like argv without the name. */
	int (*act)(int n, char **args);
};

/* Each ends with an entry without a name. */
extern const struct attack attack_files[];
extern const struct attack attack_kernel[];
extern const struct attack attack_process[];
extern const struct attack attack_net[];
extern const struct attack attack_notice[];

/* 0 for a result that is not negative, else errno. */
static inline int attack_verdict(long result)
{
	return result < 0 ? errno : 0;
}

#endif
