/* Ringfence's state folder: see state_folder.h. */
#include "util/file/state_folder.h"

#include "util/env.h"
#include "util/file/ownership.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int state_folder_make(const char *path, mode_t mode)
{
	AUTO_FREE char *copy = mem_dup(path);

	for (char *at = copy + 1;; at++) {
		at += strcspn(at, "/");

		char kept = *at;

		*at = '\0';
		if (mkdir(copy, mode) < 0 ? errno != EEXIST : chmod(copy, mode) < 0)
			return -1;
		*at = kept;
		if (!kept)
			return 0;
	}
}

/* Refuses a folder whose contents somebody else could have written. */
static int refuse(const char *path, const struct error *why, struct error *err)
{
	return error_with(err, ERROR_REFUSED,
			  "others could change your state in '%s': %s (or set RINGFENCE_STATE_DIR "
			  "to a folder of your own)",
			  path, why->text);
}

int state_folder_find(const struct state_folder_owner *owner, char **ret_state, struct error *err)
{
	const char *own = env_get("RINGFENCE_STATE_DIR");
	const char *xdg = env_get("XDG_STATE_HOME");
	AUTO_FREE char *path = NULL;
	struct error why;

	if (own && own[0] == '/')
		path = path_absolute(own, "/");
	else if (own && own[0])
		return error_set(err, "RINGFENCE_STATE_DIR '%s' is not an absolute path", own);
	else if (xdg && xdg[0] == '/' && !owner->foreign && owner->home[0])
		path = path_join(xdg, "ringfence");
	else if (owner->home[0])
		path = path_join(owner->home, ".local/state/ringfence");
	else
		return error_set(
			err,
			"uid %u has no home folder to keep state in; set %sRINGFENCE_STATE_DIR",
			owner->uid, !owner->foreign ? "HOME or " : "");
	if (ownership_check(path, owner->uid, &why) < 0)
		return refuse(path, &why, err);
	state_folder_make(path,
			  0700); /* lets realpath() resolve symlinks; failures surface on first
				  * use */
	if (ownership_check_entries(path, owner->uid, &why) < 0)
		return refuse(path, &why, err);
	*ret_state = realpath(path, NULL);
	if (!*ret_state) {
		*ret_state = path;
		path = NULL;
	}
	return 0;
}
