/*
 * Derives from the denials of a run the smallest set of rules that would have allowed them, as far
 * as that is safe. The rules are verified with a plan before they are suggested.
 */
#ifndef SETTINGS_SUGGEST_H
#define SETTINGS_SUGGEST_H

#include "config/config.h"
#include "fence/fence_spec.h"

#include <jansson.h>

struct suggest_item {
	const char *key; /* "write", "read" or "allow" */
	char *path;      /* a path or a host */
	char *risk;
	size_t allows; /* number of denials */
};

struct suggest_withheld {
	char *kind;
	char *target;
	char *why;
};

struct suggest_list {
	struct suggest_item *items;
	size_t count;
	struct suggest_withheld *withheld;
	size_t withheld_count;
};

/* Makes suggestions for the denials of a report. `spec` is the current one; the verification adds
 * the rules to it. Returns 0, or -1 with err set. */
int suggest(json_t *report, struct fence_spec *spec, struct suggest_list *ret_suggestions,
	    struct error *err);
void suggest_list_release(struct suggest_list *suggestions);

/* Whether no diff can extend the user's file: it has a list on one line, or no final newline. */
bool suggest_by_hand(const struct suggest_list *suggestions, const struct config *config,
		     const char *text);

/* Appends the suggestions as a unified diff of the user's file; `text` is empty if the file does
 * not exist. `config` has the line of each value. */
void suggest_diff(const struct suggest_list *suggestions, const struct config *config,
		  const char *home, const char *shown, const char *text, struct buffer *out);

#endif
