/*
 * The doctor: what works on this machine, and how to mend what does not.
 *
 * Each check is a function that says one thing: its state, what was found, and the remedy. The fence
 * itself is tried for real, on an empty folder, with all canaries; nothing else is started but git.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum doctor_state { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor_check {
	const char *name;
	enum doctor_state state;
	char *detail;
	char *remedy; /* NULL: none is needed */
};

struct doctor_findings {
	struct doctor_check *checks;
	size_t count;
	bool ok; /* nothing failed */
};

/* "ok", "warn" or "fail". */
const char *doctor_state_name(enum doctor_state state);

void doctor_examine(struct doctor_findings *ret_findings);
void doctor_release(struct doctor_findings *findings);

#endif
