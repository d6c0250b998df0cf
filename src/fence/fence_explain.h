/*
 * Explains a plan in words: the verdict on a path, a host or a system call, the reason, and the
 * setting that would change it.
 */
#ifndef FENCE_FENCE_EXPLAIN_H
#define FENCE_FENCE_EXPLAIN_H

#include "fence/fence_plan.h"

#include <stdbool.h>
#include <stddef.h>

struct fence_explanation {
	const char *about;   /* "path", "host" or "syscall" */
	char *subject;       /* the question as interpreted, e.g. the real path */
	const char *verdict; /* path: writable, readable, hidden, private, absent; otherwise:
				allowed, refused, conditional */
	char *rule;
	char *origin;
	char *note;             /* the consequence, or NULL */
	const char *change_key; /* the setting that would change the verdict, or NULL */
	char *change_value;
	char *change_also; /* a value that the same setting needs besides, or NULL */
	bool guessed; /* assumed to be a host from its name; the user may mean a missing file */
	bool instead; /* no setting changes it; the note gives the reason or an alternative */
};

/* Answers a question: "~/.ssh/id_rsa", "src/x.c", "https://example.org", "mount". A prefix of
 * "path:", "host:" or "syscall:" removes the ambiguity. Paths are relative to `base`. For a host,
 * only `about` and `subject` are set: the outlet decides which hosts can be reached. */
void fence_explain(const struct fence_plan *plan, const char *question, const char *base,
		   struct fence_explanation *ret_explanation);
void fence_explanation_release(struct fence_explanation *explanation);

/* Returns the rule's name as shown to users, and its origin. The caller frees *ret_rule. */
void fence_rule_describe(const struct fence_plan *plan, const struct fence_rule *rule,
			 char **ret_rule, const char **ret_origin);

/* The setting that would allow a denied operation. */
struct fence_offer {
	const char *key; /* "write" or "read", or NULL if nothing is offered */
	char *path;
	char *risk; /* the risk of the setting, or the reason why nothing is offered */
};

/* kind and named are the kind and target of a struct fence_denial. */
void fence_offer(const struct fence_plan *plan, const char *kind, const char *named,
		 struct fence_offer *ret_offer);
void fence_offer_release(struct fence_offer *offer);

/* Returns whether this plan allows the operation; kind and target as in fence_offer(). */
bool fence_plan_allows(const struct fence_plan *plan, const char *kind, const char *target);

/* Returns the name of the index-th system call that is always refused, or NULL past the end. */
const char *fence_refused_call(size_t index);

#endif
