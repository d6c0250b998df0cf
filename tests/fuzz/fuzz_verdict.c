// sources: src/fence/watch/verdict.c src/fence/plan/defaults.c src/fence/plan/names.c
/* A process's description of itself from inside the fence, and the paths that it names. */
#include "fence/fence_plan.h"
#include "fuzz.h"

#include "fence/plan/ruleset.h"
#include "fence/watch/verdict.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* For the fuzzer only, which does not link the policy: there are no rules. */
__attribute__((weak)) const struct fence_rule *ruleset_find(const struct fence_plan *plan,
							    const char *path)
{
	(void)plan;
	(void)path;
	return NULL;
}

static void check_path(const char *text)
{
	const struct fence_plan plan = { .home = (char *)"/h", .project = (char *)"/h/p" };
	bool from_cwd;
	const char *rest = verdict_past_proc(text, &from_cwd);
	AUTO_FREE char *clean = path_absolute(rest, "/base");
	const struct verdict verdict = verdict_at(&plan, clean);

	if (strlen(rest) > strlen(text) + 1 || (text[0] == '/' && !from_cwd && rest[0] != '/') ||
	    (from_cwd && rest[0] == '/') || verdict.by || !verdict.name)
		abort();
}

void fuzz_verdict(const uint8_t *data, size_t size)
{
	__attribute__((cleanup(list_release))) struct list list = { 0 };
	AUTO_FREE char *text = mem_alloc(size + 1);
	size_t total = 0;

	memcpy(text, data, size);
	text[size] = '\0';
	check_path(text);
	if (verdict_inner_pid(text) < 0)
		abort();
	verdict_listens(text, 80);
	verdict_socket(text, 80, 443);
	verdict_arguments(text, size, &list);
	for (size_t i = 0; i < list.count; i++)
		total += strlen(list.items[i]) + 1;
	if (total > size + 1)
		abort();
}

FUZZ_TARGET(fuzz_verdict)
