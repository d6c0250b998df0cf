/* Words for loops and drafts on the command line: an id, the beginning or the end of one, or the
 * name of a loop. */
#ifndef CLI_SHORT_ID_H
#define CLI_SHORT_ID_H

#include "fence/fence_place.h"
#include "util/error.h"
#include "util/list.h"

/*
 * Returns the id that a word stands for, which stays valid as long as the list, or the word itself
 * if it stands for none; the search for it then fails. Returns NULL with err set, which lists
 * the candidates, if it stands for several.
 */
const char *short_id_resolve(const struct fence_place *place, const char *word, struct list *kept,
			     struct error *err);

#endif
