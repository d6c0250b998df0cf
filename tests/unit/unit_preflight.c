/* The preflight of a loop: git as it is, and secrets that the agent can read. Secrets are made of
 * pieces here, so that no scanner finds them. */
#include "unit.h"

#include "preflight/preflight_files.h"
#include "preflight/preflight_git.h"
#include "util/mem.h"

#include <string.h>

static const char secret[] = "API_KEY=r8KdP2mXw5"
			     "TzQ9vLb3NhYc6J\n";

/* ---- git ---- */

static const struct git_case {
	const char *sentence, *answer;
	enum op_start_workspace workspace;
	enum preflight_state state;
	const char *detail, *fix; /* parts of them; NULL: there is no fix */
} git_cases[] = {
	{ "a clean branch passes",
	  "{'repository':true,'branch':'refs/heads/main','changes_examined':true}",
	  OP_START_IN_PLACE, PREFLIGHT_PASS, "branch main, no uncommitted changes", NULL },
	{ "a folder without git passes", "{'repository':false}", OP_START_IN_PLACE, PREFLIGHT_PASS,
	  "not a git repository", NULL },
	{ "a detached HEAD is a warning",
	  "{'repository':true,'branch':null,'changes_examined':true}", OP_START_IN_PLACE,
	  PREFLIGHT_WARN, "HEAD is detached", "git switch -c" },
	{ "a merge in progress is the only thing to say",
	  "{'repository':true,'branch':'refs/heads/main','busy':'a merge is in progress (git merge "
	  "--abort)','changes_examined':true,'changes':3,'changed':['a']}",
	  OP_START_IN_PLACE, PREFLIGHT_WARN, "a merge is in progress (git merge --abort)", NULL },
	{ "uncommitted changes are mixed with those of the agent",
	  "{'repository':true,'branch':'refs/heads/main','changes_examined':true,'changes':5,"
	  "'changed':['a','b']}",
	  OP_START_IN_PLACE, PREFLIGHT_WARN, "uncommitted changes (a, b and 3 more) and those",
	  "git stash, or --workspace draft" },
	{ "uncommitted changes are not in a work tree",
	  "{'repository':true,'branch':'refs/heads/main','changes_examined':true,'changes':1,"
	  "'changed':['a']}",
	  OP_START_WORKTREE, PREFLIGHT_WARN, "are not in the loop's work tree", "git commit" },
	{ "uncommitted changes are in a draft",
	  "{'repository':true,'branch':'refs/heads/main','changes_examined':true,'changes':1,"
	  "'changed':['a']}",
	  OP_START_DRAFT, PREFLIGHT_PASS, "are part of the draft", NULL },
	{ "too many files are not examined, and that is said",
	  "{'repository':true,'branch':'refs/heads/main','changes_examined':false}",
	  OP_START_IN_PLACE, PREFLIGHT_PASS, "too many files", NULL },
};

static json_t *parse(const char *text)
{
	AUTO_FREE char *copy = mem_dup(text);

	for (char *at = copy; *at; at++)
		if (*at == '\'')
			*at = '"';
	return json_loads(copy, 0, NULL);
}

static bool has(const char *text, const char *part)
{
	return part ? text && strstr(text, part) : !text;
}

static void test_git(void)
{
	for (size_t i = 0; i < sizeof git_cases / sizeof *git_cases; i++) {
		const struct git_case *at = &git_cases[i];
		struct preflight_items items = { 0 };
		json_t *answer = parse(at->answer);

		preflight_git_judge(answer, at->workspace, &items);
		CHECK(at->sentence, items.count && strcmp(items.items[0].name, "git") == 0 &&
					    items.items[0].state == at->state &&
					    has(items.items[0].detail, at->detail) &&
					    has(items.items[0].fix, at->fix));
		json_decref(answer);
		preflight_items_release(&items);
	}
}

static void test_history(void)
{
	struct preflight_items items = { 0 };
	json_t *answer = parse(
		"{'repository':true,'branch':'refs/heads/main','changes_examined':true,"
		"'commits':7,'history_cut':true,'secrets':[{'commit':'0123456789abcdef','path':"
		"'old.py','line':3,'what':'GitHub token','shown':'ghp_...'},{'commit':'99','path':"
		"'b','line':1,'what':'x','shown':'y'}]}");

	preflight_git_judge(answer, OP_START_DRAFT, &items);
	CHECK("a secret in a commit is a warning with its place",
	      items.count == 2 && items.items[1].state == PREFLIGHT_WARN &&
		      has(items.items[1].detail,
			  "commit 0123456789ab, old.py:3: GitHub token ghp_..., and 1 more (the "
			  "newest 7 commits)"));
	CHECK("all of them are listed",
	      items.secret_count == 2 && strcmp(items.secrets[1].commit, "99") == 0);
	json_decref(answer);
	preflight_items_release(&items);
}

/* ---- files ---- */

static void put(const char *folder, const char *name, const char *text)
{
	AUTO_FREE char *path = mem_format("%s/%s", folder, name);
	FILE *file = fopen(path, "w");

	fputs(text, file);
	fclose(file);
}

static void make(const char *folder, const char *name)
{
	AUTO_FREE char *path = mem_format("%s/%s", folder, name);

	mkdir(path, 0755);
}

/* Examines a folder in which "hidden" is hidden. The caller releases the items. */
static struct preflight_items examine(char *project, uint64_t entries, uint64_t files)
{
	AUTO_FREE char *path = mem_format("%s/hidden", project);
	struct fence_rule rules[] = { { .path = project, .access = WIRE_WRITE },
				      { .path = path, .access = WIRE_HIDE } };
	const struct fence_plan plan = { .project = project, .rules = rules, .rule_count = 2 };
	const struct preflight_budget budget = {
		.entries = entries, .files = files, .bytes = 1 << 20, .ms = 0
	};
	struct preflight_items items = { 0 };

	preflight_files_examine(&plan, &budget, &items);
	return items;
}

static void test_files(void)
{
	char project[UNIT_PATH];
	struct preflight_items items;

	unit_temp(project);
	make(project, "hidden");
	make(project, "node_modules");
	put(project, "hidden/settings.py", secret);
	put(project, "node_modules/settings.py", secret);
	put(project, "a.c", "nothing\n");
	items = examine(project, 1000, 1000);
	CHECK("hidden files and generated folders are not in reach",
	      items.secret_count == 0 && items.items[0].state == PREFLIGHT_PASS &&
		      has(items.items[0].detail, "(1 file)"));
	preflight_items_release(&items);

	put(project, "b.c", secret);
	put(project, "settings.py", secret);
	items = examine(project, 1000, 1000);
	CHECK("files with likely names are read first, and all are found, with time used up",
	      items.secret_count == 2 && strcmp(items.secrets[0].path, "settings.py") == 0 &&
		      strcmp(items.secrets[1].path, "b.c") == 0 && !items.secrets[0].commit);
	CHECK("the finding is a warning, and says how to hide the file",
	      items.items[0].state == PREFLIGHT_WARN &&
		      has(items.items[0].detail,
			  "settings.py:1: high-entropy value API_KEY=..., and 1 more (3 files)") &&
		      has(items.items[0].fix, "--hide settings.py"));
	preflight_items_release(&items);

	items = examine(project, 1000, 1);
	CHECK("the limit of files names itself",
	      items.secret_count == 1 && has(items.items[0].detail, "the limit of files"));
	preflight_items_release(&items);
	items = examine(project, 1, 1000);
	CHECK("the limit of entries names itself",
	      has(items.items[0].detail, "the limit of entries"));
	preflight_items_release(&items);
}

int main(void)
{
	test_git();
	test_history();
	test_files();
	return unit_failures != 0;
}
