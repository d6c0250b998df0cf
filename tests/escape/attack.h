/*
 * The attack program: one act per name, done with raw system calls, so that nothing between the
 * caller and the kernel softens it. Each act returns 0 if it SUCCEEDED, the errno that stopped it,
 * or ATTACK_MISUSE if it was called wrongly. The tests read its output.
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

/* Each table ends with an entry without a name. */
extern const struct attack attack_files[];
extern const struct attack attack_kernel[];
extern const struct attack attack_process[];
extern const struct attack attack_net[];
extern const struct attack attack_notice[];
extern const struct attack attack_step[];

/* Returns 0 for a result >= 0, else errno. */
static inline int attack_verdict(long result)
{
	return result < 0 ? errno : 0;
}

/* "EPERM" for EPERM, or "?". musl has no strerrorname_np(). */
const char *attack_errno_name(int number);

#endif
