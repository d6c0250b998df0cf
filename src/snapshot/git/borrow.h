/*
 * The user's repository, from which a private git directory borrows: where its parts are, what of its configuration is
 * passed on, and whether all of it is something that can be read here.
 *
 * It is read as data. Of the configuration only values are taken that run nothing and reach nothing: how text is
 * compared, what branches follow, and the user's name.
 */
#ifndef SNAPSHOT_GIT_BORROW_H
#define SNAPSHOT_GIT_BORROW_H

#include "util/buffer.h"
#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>

enum { BORROW_LENDERS = 16 };

struct borrow {
	char *git;            /* with HEAD and the index; NULL: the project has no repository */
	char *common;         /* with refs, objects and the configuration; often the same */
	bool is_file;         /* the project's .git is a file that names it */
	struct list lenders;  /* folders of objects; the first one is the repository's own */
	bool modules;         /* it has git directories of submodules */
	struct buffer config; /* for the private one */
	char why[512]; /* not empty: it cannot be done with this repository, because of this */
};

/* Looks at the project's repository. Returns 0, or -1 with err set. The caller releases in both cases. */
int borrow_find(const char *project, struct borrow *ret_borrow, struct error *err);

/* Completes the configuration with who the user is; one who has not said so is called by their login. */
void borrow_sign(struct borrow *borrow);
void borrow_release(struct borrow *borrow);

#endif
