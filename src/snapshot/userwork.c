/* Work on the user's own repository: see userwork.h. */
#include "snapshot/userwork.h"

#include <string.h>

static int apply(const struct userwork *work, struct json *json, struct error *err)
{
	return work->apply.branch ? apply_branch(&work->apply, json, err)
				  : error_set(err, "ringfence-snapshot apply needs a branch");
}

static int patch(const struct userwork *work, struct json *json, struct error *err)
{
	return work->apply.branch ? apply_patch(&work->apply, json, err)
				  : error_set(err, "ringfence-snapshot patch needs a branch");
}

static int finish(const struct userwork *work, struct json *json, struct error *err)
{
	return apply_finish(work->apply.project, json, err);
}

static int add(const struct userwork *work, struct json *json, struct error *err)
{
	return work->worktree.folder ? worktree_add(&work->worktree, json, err)
				     : error_set(err, "ringfence-snapshot worktree needs a folder");
}

static int seal(const struct userwork *work, struct json *json, struct error *err)
{
	return worktree_seal(&work->worktree, json, err);
}

static int unseal(const struct userwork *work, struct json *json, struct error *err)
{
	return worktree_unseal(&work->worktree, json, err);
}

static int forget(const struct userwork *work, struct json *json, struct error *err)
{
	return worktree_remove(&work->worktree, json, err);
}

static const struct {
	const char *name;
	int (*run)(const struct userwork *work, struct json *json, struct error *err);
} works[] = {
	{ "apply", apply }, { "patch", patch },   { "finish", finish }, { "worktree", add },
	{ "seal", seal },   { "unseal", unseal }, { "forget", forget },
};

bool userwork_is(const char *name)
{
	for (size_t i = 0; i < sizeof works / sizeof *works; i++)
		if (strcmp(works[i].name, name) == 0)
			return true;
	return false;
}

int userwork_run(const char *name, const char *project, const char *loop, struct userwork *work,
		 struct json *json, struct error *err)
{
	work->apply.project = work->worktree.project = project;
	work->worktree.loop = loop;
	for (size_t i = 0; i < sizeof works / sizeof *works; i++)
		if (strcmp(works[i].name, name) == 0)
			return works[i].run(work, json, err);
	return error_set(err, "ringfence-snapshot cannot '%s'", name);
}
