/* Where a run takes place, and whose it is: see fence.h. */
#include "fence/plan/policy.h"

#include "fence/plan/identity.h"
#include "fence/run/run_record.h"
#include "util/mem.h"
#include "util/path.h"

#include <stdlib.h>
#include <unistd.h>

char *place_spelled(const char *home, const char *text, const char *base)
{
	if (text[0] == '~' && (text[1] == '/' || text[1] == '\0') && home[0]) {
		AUTO_FREE char *joined = path_join(home, text[1] ? text + 2 : ".");

		return path_absolute(joined, base);
	}
	return path_absolute(text, base);
}

char *place_resolve(const char *option, const char *path, struct error *err)
{
	char *real = realpath(path, NULL);

	if (!real)
		error_sys(err, "%s '%s'", option, path);
	return real;
}

int fence_place_find(const char *project, struct fence_place *ret_place, struct error *err)
{
	struct fence_place place = { 0 };
	AUTO_FREE char *base = getcwd(NULL, 0);
	AUTO_FREE char *given = NULL;

	if (!base && !(project && (project[0] == '/' || project[0] == '~')))
		return error_sys(
			err,
			"the current directory (was it deleted? cd to another one, or give --project)");
	given = path_absolute(project && project[0] != '~' ? project : ".", base ? base : "/");
	if (identity_assume(given, &place.identity, err) < 0)
		return -1;
	if (project) {
		free(given);
		given = place_spelled(place.identity.home, project, base ? base : "/");
	}

	const struct state_folder_owner owner = { place.identity.home, place.identity.caller,
						  place.identity.switched };

	place.project = place_resolve("--project", given, err);
	if (!place.project || state_folder_find(&owner, &place.state, err) < 0) {
		fence_place_release(&place);
		return -1;
	}
	*ret_place = place;
	return 0;
}

void fence_place_release(struct fence_place *place)
{
	identity_release(&place->identity);
	free(place->project);
	free(place->state);
	*place = (struct fence_place){ 0 };
}
