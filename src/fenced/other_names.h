/*
 * Files that a run may write although nothing else in the project, and that have another name
 * outside of these paths (a hard link): a change would reach the file under that name as well.
 */
#ifndef FENCED_OTHER_NAMES_H
#define FENCED_OTHER_NAMES_H

#include "fence/fence.h"
#include "util/error.h"

/* Looks at the paths of the project that are `made`. `files`: the folder with the files that the
 * run would change, which is the project, or a draft's own files (draft_files()): an overlay copies
 * the project's before it changes one. Returns 0, or -1 with err set, with ERROR_REFUSED for such a
 * file. */
int other_names_refuse(const char *files, const char *project, const struct fence_paths *paths,
		       struct error *err);

#endif
