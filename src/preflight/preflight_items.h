/*
 * The items of a preflight, which examines a loop before it starts: each has a state, a finding,
 * and the command that fixes it.
 */
#ifndef PREFLIGHT_PREFLIGHT_ITEMS_H
#define PREFLIGHT_PREFLIGHT_ITEMS_H

#include <stdbool.h>
#include <stddef.h>

/* FAIL: the loop could only fail. WARN: it can run, but the user should know. */
enum preflight_state { PREFLIGHT_PASS, PREFLIGHT_WARN, PREFLIGHT_FAIL };

struct preflight_item {
	const char *name; /* one word */
	enum preflight_state state;
	char *detail;
	char *fix;  /* a command or an option, or NULL */
	bool known; /* `run` says so anyway */
};

/* A credential that the agent could read. */
struct preflight_secret {
	char *path;   /* relative to the project; in a commit, to the repository */
	char *commit; /* NULL: in the work tree */
	char *what;
	char *shown; /* masked */
	unsigned long line;
};

struct preflight_items {
	struct preflight_item *items;
	size_t count;
	struct preflight_secret *secrets;
	size_t secret_count;
};

/* "pass", "warn" or "fail". */
const char *preflight_state_name(enum preflight_state state);

/* Add an item. `fix` is copied and may be NULL; `detail` is consumed. */
void preflight_items_add(struct preflight_items *items, const char *name,
			 enum preflight_state state, char *detail, const char *fix);

/* Marks the last item as one that `run` reports in its own way. */
void preflight_items_mark_known(struct preflight_items *items);

/* Copies all texts; commit may be NULL. */
void preflight_items_add_secret(struct preflight_items *items,
				const struct preflight_secret *secret);

/* Reports whether an item has this state. */
bool preflight_items_have(const struct preflight_items *items, enum preflight_state state);

void preflight_items_release(struct preflight_items *items);

#endif
