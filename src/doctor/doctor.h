/*
 * The doctor reports what works on this machine, and how to fix the rest.
 *
 * Each check is a function that reports a state, a finding and a remedy. A real fence runs on an
 * empty folder with all canaries; the only other program that is started is git.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum doctor_state { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL, DOCTOR_NOT_CHECKED };

struct doctor_check {
	const char *name;
	enum doctor_state state;
	char *detail;
	char *remedy; /* or NULL */
};

struct doctor_findings {
	struct doctor_check *checks;
	size_t count;
	bool ok; /* no check failed */
};

/* "ok", "warn", "fail" or "skip". */
const char *doctor_state_name(enum doctor_state state);

void doctor_examine(struct doctor_findings *ret_findings);
void doctor_release(struct doctor_findings *findings);

#endif
