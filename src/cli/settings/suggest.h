/*
 * From what was denied to the smallest set of rules that would have allowed it, as far as that is
 * harmless; proven by planning with them before they are offered.
 */
#ifndef CLI_SETTINGS_SUGGEST_H
#define CLI_SETTINGS_SUGGEST_H

#include "config/config.h"
#include "fence/fence_spec.h"

#include <jansson.h>

struct suggest_item {
	const char *key; /* "write", "read" or "allow" */
	char *path;      /* or a host */
	char *risk;
	size_t allows; /* how many denials */
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

/* Works on the denials of a report. spec: what holds now; it is changed for the proof. Returns 0, or -1 with
 * err set. */
int suggest(json_t *report, struct fence_spec *spec, struct suggest_list *ret_suggestions,
	    struct error *err);
void suggest_list_release(struct suggest_list *suggestions);

/* Is the user's file written so that no diff can extend it: a list in one line, or no newline at its end? */
bool suggest_by_hand(const struct suggest_list *suggestions, const struct config *config,
		     const char *text);

/*
 * The same as a unified diff of the user's file, whose text this is (empty: there is none). `config`
 * knows where in it which value stands.
 */
void suggest_diff(const struct suggest_list *suggestions, const struct config *config,
		  const char *home, const char *shown, const char *text, struct buffer *out);

#endif
