/* Paths that the user changed in a project while a loop worked on a draft, in words. */
#ifndef CLI_VIEW_EDITED_TEXT_H
#define CLI_VIEW_EDITED_TEXT_H

#include <jansson.h>

/* Returns the first paths of a list, and how many more there are. The caller frees it. */
char *edited_text_paths(const json_t *paths, size_t count);

/* Returns a sentence about `edited` of a loop's state, or NULL if there is nothing to say. The
 * caller frees it. */
char *edited_text_sentence(const char *edited);

#endif
