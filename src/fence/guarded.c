/* Changing a project without running anything in it: see fence.h. */
#include "fence/fence.h"

#include "fence/after/sweep.h"
#include "fence/plan/defaults.h"
#include "fence/run/run_record.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

struct fence_guarded {
	struct fence_spec spec;
	struct fence_plan plan;
	struct run_record run;
};

int fence_guard_begin(const char *project, const struct fence_place *place,
		      struct fence_guarded **ret_guarded, struct error *err)
{
	static char *const nothing[] = { (char *)"true", NULL };
	/* Nothing is run: to look through the project any mechanism will do, also none. */
	static const char *const mechanisms[] = { "auto", "none" };
	struct fence_guarded *guarded = mem_zero(sizeof *guarded);
	int result = -1;

	for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms && result < 0; i++) {
		guarded->spec = (struct fence_spec){ .mechanism = mechanisms[i],
						     .project = project,
						     .cwd = project,
						     .place = place,
						     .command = nothing };
		result = fence_plan_make(&guarded->spec, &guarded->plan, err);
	}
	if (result == 0 && run_record_begin(&guarded->plan, &guarded->run, err) == 0) {
		*ret_guarded = guarded;
		return 0;
	}
	if (result == 0)
		fence_plan_release(&guarded->plan);
	free(guarded);
	return -1;
}

int fence_guard_end(struct fence_guarded *guarded, struct fence_found *ret_found, struct error *err)
{
	int result;

	*ret_found = (struct fence_found){ 0 };
	result = run_record_end(&guarded->run, &guarded->plan, ret_found, err);
	fence_plan_release(&guarded->plan);
	free(guarded);
	return result;
}

void fence_found_release(struct fence_found *found)
{
	sweep_found_release(found);
}

const char *fence_executed(const char *path)
{
	const char *why = NULL;

	while (*path && !why) {
		size_t size = strcspn(path, "/");
		AUTO_FREE char *name = strndup(path, size);

		why = name ? defaults_name(name, path[size] == '/').executed : "no memory";
		path += size + (path[size] == '/');
	}
	return why;
}
