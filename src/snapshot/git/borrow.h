/*
 * The user's repository, whose objects a private git directory borrows: where its parts are, which
 * settings are copied, and whether its format is supported.
 *
 * The repository is read as data. Only settings that execute nothing and reach nothing are copied:
 * how text is compared, what branches track, and the user's name.
 */
#ifndef SNAPSHOT_GIT_BORROW_H
#define SNAPSHOT_GIT_BORROW_H

#include "util/buffer.h"
#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>

/* Inside the fence: the lent objects, and our own program. git-lfs looks for content that it lacks
 * beside the alternates of a git directory, which is BORROW_OBJECTS/lfs. */
#define BORROW_OBJECTS "/run/ringfence/objects"
#define BORROW_PROGRAM "/run/ringfence/init"

enum { BORROW_LENDERS = 16 };

struct borrow {
	char *git;            /* holds HEAD and the index; NULL if the project has no repository */
	char *common;         /* holds refs, objects and the configuration; often the same */
	bool is_file;         /* the project's .git is a file that names `git` */
	struct list lenders;  /* object folders; the repository's own is first */
	char *lfs;            /* the store of Git LFS, which need not exist */
	bool modules;         /* it has git directories of submodules */
	struct buffer config; /* for the private git directory */
	char why[512];        /* why this repository is not supported; empty if it is */
};

/*
 * Reads the project's repository. Returns 0, or -1 with err set. The caller releases it in both
 * cases.
 */
int borrow_find(const char *project, struct borrow *ret_borrow, struct error *err);

/* Adds the user's name and email to the configuration, or the login name if they are not set. */
void borrow_add_user(struct borrow *borrow);

/*
 * Adds Git LFS's filter to the configuration: a program of ours, for git inside the fence. git: the
 * private git directory there.
 */
void borrow_add_filter(struct borrow *borrow, const char *git);
void borrow_release(struct borrow *borrow);

#endif
