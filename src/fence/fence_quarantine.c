/* Sweeps around a change: see fence_quarantine.h. */
#include "fence/fence_quarantine.h"

#include "fence/after/sweep.h"
#include "fence/fence_plan.h"
#include "fence/plan/home.h"
#include "fence/plan/names.h"
#include "fence/run/run_record.h"
#include "util/env.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct fence_quarantine {
	struct fence_spec spec;
	struct fence_plan plan;
	struct run_record run;
};

/* The record is on disk before anything is restored. */
static int begin_record(struct fence_quarantine *quarantine, struct error *err)
{
	struct fence_found nothing = { 0 };
	struct error ignored;

	if (run_record_begin(&quarantine->plan, &quarantine->run, err) < 0)
		return -1;
	if (run_record_sync(&quarantine->run, err) == 0)
		return 0;
	run_record_end(&quarantine->run, &quarantine->plan, &nothing, &quarantine->plan.notices,
		       &ignored);
	fence_found_release(&nothing);
	return -1;
}

int fence_quarantine_begin(const char *project, const struct fence_place *place,
			   struct fence_quarantine **ret_quarantine, struct error *err)
{
	static char *const nothing[] = { (char *)"true", NULL };
	/* Nothing runs, so any mechanism can scan the project, even none. */
	static const char *const mechanisms[] = { "auto", "none" };
	struct fence_quarantine *quarantine = mem_zero(sizeof *quarantine);
	int result = -1;

	for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms && result < 0; i++) {
		quarantine->spec = (struct fence_spec){ .mechanism = mechanisms[i],
							.project = project,
							.cwd = project,
							.place = place,
							.command = nothing };
		result = fence_plan_make(&quarantine->spec, &quarantine->plan, err);
	}
	if (result == 0 && begin_record(quarantine, err) == 0) {
		*ret_quarantine = quarantine;
		return 0;
	}
	if (result == 0)
		fence_plan_release(&quarantine->plan);
	free(quarantine);
	return -1;
}

int fence_quarantine_end(struct fence_quarantine *quarantine, struct fence_found *ret_found,
			 struct error *err)
{
	int result;

	*ret_found = (struct fence_found){ 0 };
	result = run_record_end(&quarantine->run, &quarantine->plan, ret_found,
				&quarantine->plan.notices, err);
	fence_plan_release(&quarantine->plan);
	free(quarantine);
	return result;
}

char *fence_quarantine_reason(const char *path, bool *ret_ci)
{
	static const char *const reasons[] = {
		[NAMES_ALONE] = FENCE_QUARANTINE_UNASKED,
		[NAMES_START] = "run or obeyed when its tool starts",
		[NAMES_CI] = "run or obeyed after a push",
	};
	const struct names_found above = names_above("", path);
	const struct names_found last = names_find("", path, DT_LNK);

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (above.by[i] || last.by[i]) {
			if (ret_ci)
				*ret_ci = i == NAMES_CI;
			return mem_format("%s (%s)", reasons[i],
					  above.by[i] ? above.by[i] : last.by[i]);
		}
	return NULL;
}

static void add_linked(void *context, const char *path, bool secret)
{
	(void)secret;
	list_add(context, path);
}

void fence_quarantine_home(struct list *ret_paths)
{
	AUTO_FREE char *home = realpath(env_home(), NULL);
	struct home names;

	*ret_paths = (struct list){ 0 };
	if (!home)
		return;
	home_read(home, &names);
	free(home_search(home, &names, add_linked, ret_paths));
}

/* Git directories have no files of the project. */
static enum dirwalk_verdict visit_entry(void *context, const struct dirwalk_entry *entry)
{
	AUTO_FREE char *reason = entry->type == DT_LNK ? fence_quarantine_reason(entry->path, NULL)
						       : NULL;

	if (reason)
		list_add(context, entry->path);
	return strcmp(entry->name, ".git") == 0 ? DIRWALK_PAST : DIRWALK_ON;
}

int fence_quarantine_symlinks(const char *project, struct list *ret_paths, struct error *err)
{
	struct list paths = { 0 };
	const struct dirwalk walk = { .visit = visit_entry,
				      .context = &paths,
				      .deepest = DIRWALK_DEPTH };
	AUTO_FD root = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return error_sys(err, "open '%s'", project);
	if (dirwalk_tree(&walk, root, NULL, err) < 0) {
		list_release(&paths);
		return -1;
	}
	*ret_paths = paths;
	return 0;
}
