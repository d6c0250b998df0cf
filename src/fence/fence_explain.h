/*
 * Explains a plan in words: what holds for a path, a host or a system call, why, and which setting
 * would change it.
 */
#ifndef FENCE_FENCE_EXPLAIN_H
#define FENCE_FENCE_EXPLAIN_H

#include "fence/fence_plan.h"

#include <stdbool.h>
#include <stddef.h>

struct fence_explanation {
	const char *about;   /* "path", "host" or "syscall" */
	char *subject;       /* as it was understood */
	const char *verdict; /* path: writable, readable, hidden, private, absent; else: allowed,
				refused, conditional */
	char *rule;
	char *origin;
	char *note;             /* the consequence; may be NULL */
	const char *change_key; /* the setting that would change it; NULL: nothing can */
	char *change_value;
	bool guessed; /* taken for a host by its name alone; a missing file may be meant */
	bool instead; /* nothing can change it; the note says why, or what to set instead */
};

/* Answers a question: "~/.ssh/id_rsa", "src/x.c", "https://example.org", "mount". A prefix "path:",
 * "host:" or "syscall:" says what is meant. Relative paths start at `base`. For a host, only `about`
 * and `subject` are set: the outlet decides which hosts can be reached. */
void fence_explain(const struct fence_plan *plan, const char *question, const char *base,
		   struct fence_explanation *ret_explanation);
void fence_explanation_release(struct fence_explanation *explanation);

/* A rule as a person would name it, and its origin. The caller frees *ret_rule. */
void fence_rule_describe(const struct fence_plan *plan, const struct fence_rule *rule,
			 char **ret_rule, const char **ret_origin);

/* The setting that would allow something that was denied. */
struct fence_offer {
	const char *key; /* "write" or "read"; NULL: nothing is offered */
	char *path;
	char *risk; /* of the setting, in words; or why nothing is offered */
};

/* kind and target: of a struct fence_denial. */
void fence_offer(const struct fence_plan *plan, const char *kind, const char *target,
		 struct fence_offer *ret_offer);
void fence_offer_release(struct fence_offer *offer);

/* Would this plan allow it? */
bool fence_plan_allows(const struct fence_plan *plan, const char *kind, const char *target);

/* The names of the system calls that are always refused, from index 0 on; NULL: no more. */
const char *fence_refused_call(size_t index);

#endif
