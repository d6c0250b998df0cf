/* Paths that an agent can change, and programs that are run outside the fence. */
#include "unit.h"

#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/taint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct taint usual(void)
{
	struct taint taint;

	taint_init(&taint, "/home/u");
	taint_add(&taint, "/w/project");
	taint_add(&taint, "~/shared");
	return taint;
}

static bool word_passes(const char *word)
{
	struct taint taint = usual();
	struct error err;
	bool passes = taint_check_word(&taint, word, &err) == 0;

	taint_release(&taint);
	return passes;
}

static bool line_passes(const char *line)
{
	struct taint taint = usual();
	struct error err;
	bool passes = taint_check_line(&taint, line, &err) == 0;

	taint_release(&taint);
	return passes;
}

static void words(void)
{
	static const char *const refused[] = {
		"/w/project",          "/w/project/x",         "/w//y/../project/x",
		"--config=/w/project", "-f/w/project/x",       "@/w/project/x",
		"file:///w/project/x", "a=/w/project,b",       "/etc:/w/project:/usr",
		"/w/project:rw",       "w/project/x",          "../w/project/x",
		"~/shared/x",          "--key=$HOME/shared/x", "${HOME}/shared/x",
	};
	static const char *const passed[] = { "x",
					      "",
					      "/",
					      "//",
					      "-",
					      "/w",
					      "/w/projects/x",
					      "op://w/project/key",
					      "https://w/project",
					      "secret/w/project",
					      "shared/x",
					      "--key=~",
					      "$HOME/x" };

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		printf("# %s\n", refused[i]);
		CHECK("a word that names a path in reach is refused", !word_passes(refused[i]));
	}
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
		printf("# %s\n", passed[i]);
		CHECK("other words pass", word_passes(passed[i]));
	}
}

static void lines(void)
{
	CHECK("a line without such words passes", line_passes("pass show key | head -n 1"));
	CHECK("each word counts", !line_passes("true && cat </w/project/key"));
	CHECK("also in quotes, and in a line of a line",
	      !line_passes("sh -c 'cat \"/w/project/key\"'"));
	CHECK("also in a substitution", !line_passes("echo $(/w/project/key)"));
}

static void symlinks(void)
{
	char folder[UNIT_PATH];
	AUTO_FREE char *project = path_join(unit_temp(folder), "project");
	AUTO_FREE char *inside = path_join(project, "link");
	AUTO_FREE char *to_inside = path_join(folder, "to-inside");
	AUTO_FREE char *missing = path_join(to_inside, "missing");
	AUTO_FREE char *through = path_join(folder, "through");
	struct taint taint;

	mkdir(project, 0700);
	symlink("/usr/bin/env", inside);
	symlink("project", to_inside);
	symlink("project/link", through);
	taint_init(&taint, "");
	taint_add(&taint, project);
	CHECK("a symlink into the project is followed, also if the file is missing",
	      taint_has(&taint, missing));
	CHECK("what a symlink of the project leads to can change",
	      taint_has(&taint, through) && !taint_has(&taint, "/usr/bin/env"));
	taint_release(&taint);
}

static void relative(void)
{
	char folder[UNIT_PATH];
	AUTO_FREE char *shared = path_join(unit_temp(folder), "shared");
	AUTO_FREE char *before = getcwd(NULL, 0);
	struct taint taint;

	taint_init(&taint, "");
	CHECK("the folder of the test is entered", chdir(folder) == 0);
	taint_add(&taint, "./shared");
	taint_add(&taint, "");
	CHECK("the first folder is left again", chdir(before) == 0);
	CHECK("a relative folder is one of the current folder", taint_has(&taint, shared));
	CHECK("an empty one does not count", !taint_has(&taint, folder));
	taint_release(&taint);
}

static void make_program(const char *folder, const char *name)
{
	AUTO_FREE char *path = path_join(folder, name);

	symlink("/usr/bin/env", path);
}

static const char *path_of(const struct list *environment)
{
	return list_after_prefix(environment, "PATH=");
}

static void programs(void)
{
	char folder[UNIT_PATH];
	AUTO_FREE char *project = path_join(unit_temp(folder), "project");
	AUTO_FREE char *own = path_join(folder, "own");
	AUTO_FREE char *path = mem_format("%s:.::%s", project, own);
	AUTO_FREE char *clean = mem_format("/nonexistent:%s", own);
	AUTO_FREE char *link = path_join(own, "linked");
	AUTO_FREE char *tool = path_join(own, "tool");
	struct list environment = { 0 };
	struct taint taint;
	struct error err;

	mkdir(project, 0700);
	mkdir(own, 0700);
	make_program(project, "tool");
	make_program(own, "tool");
	symlink("../project/tool", link);
	env_set("PATH", path);
	taint_init(&taint, "");
	taint_add(&taint, project);

	AUTO_FREE char *found = taint_find(&taint, "tool");
	AUTO_FREE char *linked = taint_find(&taint, "linked");

	CHECK("a program is found in a folder that no agent can change",
	      found && strcmp(found, tool) == 0);
	CHECK("not if it is a symlink into the project", !linked);
	CHECK("a line may use the one, not the other",
	      taint_check_line(&taint, "tool a", &err) == 0 &&
		      taint_check_line(&taint, "tool | linked", &err) < 0);
	taint_environment(&taint, &environment);
	CHECK("PATH has only such folders, none of them relative",
	      path_of(&environment) && strcmp(path_of(&environment), clean) == 0);
	list_release(&environment);
	taint_release(&taint);
}

/* A command that runs in the project. */
static void inside(void)
{
	char folder[UNIT_PATH];
	AUTO_FREE char *tool = path_join(unit_temp(folder), "tool");
	struct taint taint;
	struct error err;

	symlink("/usr/bin/env", tool);
	taint_init(&taint, "");
	taint_add(&taint, folder);
	taint.folder = folder;
	CHECK("a relative word names a file of the project",
	      taint_check_word(&taint, "./tool", &err) < 0 &&
		      taint_check_word(&taint, "./missing", &err) < 0);
	CHECK("one that is not the name of a file passes",
	      taint_check_line(&taint, "pass show forge/token", &err) == 0);
	taint_release(&taint);
}

int main(void)
{
	env_init();
	words();
	lines();
	symlinks();
	relative();
	programs();
	inside();
	return unit_failures > 0;
}
