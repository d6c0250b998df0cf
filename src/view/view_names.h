/* Names with counts, of which at most a given number is kept: for lists of which others decide how
 * long they become. */
#ifndef VIEW_VIEW_NAMES_H
#define VIEW_VIEW_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum { VIEW_NAMES_BYTES = 300 }; /* of a name; a longer one loses its end */

struct view_name {
	char *text;
	uint32_t group; /* the same text in another group is another name */
	uint64_t count;
};

struct view_names {
	struct view_name *items;
	size_t count, most;
	uint64_t unlisted; /* counts of names that found no place */
	uint32_t *slots;   /* a hash table: an index plus 1, or 0 */
	size_t slot_count;
	uint64_t seed; /* of the hash, drawn by chance */
};

#define VIEW_NAMES_INIT(maximum) ((struct view_names){ .most = (maximum) })

/* Adds to the count of a name. Returns its index, or SIZE_MAX if it found no place. */
size_t view_names_add(struct view_names *names, uint32_t group, const char *text, uint64_t count);
void view_names_release(struct view_names *names);

/* Returns the indices of the names by count, then by group and text. The caller frees them. */
size_t *view_names_order(const struct view_names *names);

#endif
