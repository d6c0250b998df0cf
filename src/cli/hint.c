/* Commands that are not there: see hint.h. */
#include "cli/hint.h"

#include "util/mem.h"
#include "util/path.h"
#include "util/process.h"

#include <string.h>
#include <unistd.h>

char *hint_hidden(const struct fence_plan *plan, const char *name, char **ret_read)
{
	bool named = strchr(name, '/');
	AUTO_FREE char *path = named ? path_absolute(name, plan->cwd) : process_find(name);
	AUTO_FREE char *question = mem_format("path:%s", path ? path : "");
	struct fence_explanation about;
	bool shown;

	if (!path || access(path, X_OK) < 0)
		return NULL;
	fence_explain(plan, question, plan->cwd, &about);
	shown = strcmp(about.verdict, "readable") == 0 || strcmp(about.verdict, "writable") == 0;
	fence_explanation_release(&about);
	if (shown)
		return NULL;
	/* What PATH names is shown by folder: a folder of PATH that is not there inside is not in the PATH inside. */
	*ret_read = mem_format("%.*s",
			       (int)(named ? strlen(path) : strlen(path) - strlen(name) - 1), path);
	return mem_dup(path);
}
