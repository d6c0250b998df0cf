/* Finds out what the commands of a draft have made, by layers that this test makes itself. */
#include "unit.h"

#include "draft/draft_own.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static char place[UNIT_PATH];

/* Makes a file, or a folder if the path ends with a slash, with the folders above it. */
static void make(const char *path)
{
	AUTO_FREE char *whole = mem_format("%s/%s", place, path);

	for (char *end = whole + strlen(place); (end = strchr(end + 1, '/'));) {
		*end = '\0';
		mkdir(whole, 0755);
		*end = '/';
	}
	if (path[strlen(path) - 1] != '/')
		close(open(whole, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static bool mark(const char *path, const char *name, const char *value)
{
	AUTO_FREE char *whole = mem_format("%s/%s", place, path);
	AUTO_FREE char *attribute = mem_format("user.overlay.%s", name);

	make(path);
	return setxattr(whole, attribute, value, strlen(value), 0) == 0;
}

/* Whether a command made the entry, in a view of `draft`, over `over` and with pins, if given. */
static bool made(const char *draft, const char *over, const char *pins, const char *path)
{
	AUTO_FREE char *project = mem_format("%s/project", place);
	AUTO_FREE char *folder = mem_format("%s/%s", place, draft);
	AUTO_FREE char *below = over ? mem_format("%s/%s", place, over) : NULL;
	AUTO_FREE char *pinned = pins ? mem_format("%s/%s", place, pins) : NULL;
	const struct draft_view view = {
		.project = project, .folder = folder, .over = below, .front = pinned
	};
	struct draft_own *own = NULL;
	struct error err;
	bool has;

	if (draft_own_open(&view, &own, &err) < 0) {
		printf("# %s\n", err.text);
		return false;
	}
	has = draft_own_has(own, path);
	draft_own_free(own);
	return has;
}

static void one_layer(void)
{
	make("a/upper/new");
	make("a/upper/inner/new");
	make("project/shown");
	make("project/folder/");
	CHECK("a file that only the draft has is its own",
	      made("a", NULL, NULL, "new") && made("a", NULL, NULL, "inner/new"));
	CHECK("a file of the project is not", !made("a", NULL, NULL, "shown"));
	CHECK("nor is what nobody has", !made("a", NULL, NULL, "missing"));
	make("a/upper/shown");
	CHECK("a new file in place of the project's is", made("a", NULL, NULL, "shown"));
	CHECK("a copied file has a mark", mark("a/upper/shown", "origin", ""));
	CHECK("a copied file is its own where the project has it", made("a", NULL, NULL, "shown"));
	mark("a/upper/moved", "origin", "");
	CHECK("a copied file is not its own elsewhere", !made("a", NULL, NULL, "moved"));
	mark("a/upper/folder", "origin", "");
	CHECK("nor in place of a folder", !made("a", NULL, NULL, "folder"));
}

static void folders(void)
{
	make("a/upper/alone/");
	make("a/upper/both/");
	make("project/both/");
	mark("a/upper/opaque/", "opaque", "y");
	make("project/opaque/");
	mark("a/upper/copied/", "origin", "");
	CHECK("a folder that only the draft has is its own", made("a", NULL, NULL, "alone"));
	CHECK("one that shows the project's entries as well is not",
	      !made("a", NULL, NULL, "both"));
	CHECK("one that replaces the project's is", made("a", NULL, NULL, "opaque"));
	CHECK("a copied one is not", !made("a", NULL, NULL, "copied"));
}

static void layers_of_a_check(void)
{
	make("check/upper/check");
	make("a/upper/agent");
	mark("check/upper/agent", "origin", "");
	make("pins/pinned");
	mark("check/upper/pinned", "origin", "");
	make("a/upper/pinned");
	make("a/upper/deep/");
	make("check/upper/deep/");
	mark("check/upper/moved", "origin", "");
	CHECK("a check owns what it made", made("check", "a", "pins", "check"));
	CHECK("and what the agent made", made("check", "a", "pins", "new"));
	CHECK("also if it changed that", made("check", "a", "pins", "agent"));
	CHECK("but no pinned file, also if the agent changed it",
	      !made("check", "a", "pins", "pinned"));
	CHECK("which is the agent's in its own view",
	      made("check", "a", NULL, "pinned") && made("a", NULL, NULL, "pinned"));
	CHECK("nor a folder that shows the entries of another one",
	      !made("check", "a", "pins", "deep"));
	CHECK("nor what was moved", !made("check", "a", "pins", "moved"));
}

static void doubts(void)
{
	make("a/upper/file");
	CHECK("what is below a file is not its own", !made("a", NULL, NULL, "file/below"));
	CHECK("nor what is outside", !made("a", NULL, NULL, "../upper/new"));
	CHECK("an incomplete draft has nothing", !made("missing", NULL, NULL, "new"));
}

int main(void)
{
	if (!unit_temp(place))
		return 1;
	make("project/");
	one_layer();
	folders();
	layers_of_a_check();
	doubts();
	return unit_failures > 0;
}
