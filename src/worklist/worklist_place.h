/*
 * Places of values in the text of valid JSON, so that one value can be replaced without touching
 * another byte. Internal to this folder.
 */
#ifndef WORKLIST_WORKLIST_PLACE_H
#define WORKLIST_WORKLIST_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct worklist_place {
	size_t at, size;
};

/* Returns the place of the whole value. The text ends in NUL. */
struct worklist_place worklist_place_whole(const char *text);

/* Finds the value of an object's member; if there are several, the last one, as jansson does.
 * Returns false if there is none. */
bool worklist_place_member(const char *text, const struct worklist_place *object, const char *key,
			   struct worklist_place *ret_value);

/* The entries of an array, one after another. */
struct worklist_place_walk {
	const char *text, *at;
	const char *counted; /* the lines up to here are counted */
	size_t line;
};

struct worklist_place_walk worklist_place_begin(const char *text,
						const struct worklist_place *array);

/* Finds the next entry, and its line, from 1. Returns false at the end. */
bool worklist_place_next(struct worklist_place_walk *walk, struct worklist_place *ret_value,
			 size_t *ret_line);

#endif
