/* Git directories among ordinary files: whoever uses git in one obeys it, though it is not called .git. */
#ifndef SNAPSHOT_APPLY_BARE_H
#define SNAPSHOT_APPLY_BARE_H

#include <git2.h>
#include <stdbool.h>

struct bare {
	git_repository *repository;
	git_oid tree; /* that is to come */
	int work;     /* the work tree that it comes into */
	char *folder; /* that was asked for last, and the answer */
	bool answer;
};

/* Does a path of the tree lie in one, by what comes and by what is there already? */
bool bare_holds(struct bare *bare, const char *path);
void bare_release(struct bare *bare);

#endif
