/* The folders of batches: see batch_folder.h. */
#include "batch/batch_folder.h"

#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

#define BATCHES "/batches/"

char *batch_folder_batches(const char *state, struct error *err)
{
	char *batches = path_join(state, "batches");

	if (state_folder_make(batches, 0700) == 0)
		return batches;
	error_sys(err, "make '%s'", batches);
	free(batches);
	return NULL;
}

static size_t length_of_state(const char *folder)
{
	size_t size = strlen(folder) - strlen(path_name(folder));

	return size > strlen(BATCHES) ? size - strlen(BATCHES) : 0;
}

bool batch_folder_is(const char *folder)
{
	return strncmp(folder + length_of_state(folder), BATCHES, strlen(BATCHES)) == 0;
}

char *batch_folder_state(const char *folder)
{
	return strndup(folder, length_of_state(folder));
}
