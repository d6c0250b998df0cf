/* Finds the place of a run: see fence_place.h. */
#include "fence/fence_place.h"

#include "fence/plan/identity.h"
#include "fence/plan/place.h"
#include "fence/watch/scope.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <stdlib.h>
#include <unistd.h>

int fence_place_find(const char *project, struct fence_place *ret_place, struct error *err)
{
	struct fence_place place = { 0 };
	AUTO_FREE char *base = getcwd(NULL, 0);
	AUTO_FREE char *given = NULL;

	if (!base && !(project && (project[0] == '/' || project[0] == '~')))
		return error_sys(
			err,
			"find the current directory (was it deleted? cd to another one, or use --project)");
	given = path_absolute(project && project[0] != '~' ? project : ".", base ? base : "/");
	if (identity_assume(given, &place.identity, &place.broker, err) < 0)
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
	scope_broker_free(place->broker);
	*place = (struct fence_place){ 0 };
}
