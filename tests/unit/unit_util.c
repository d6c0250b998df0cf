/* Small helpers of util: descriptors, walks through folders, members of JSON, Base64, comparing
 * secrets. */
#include "unit.h"

#include "util/env.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/ownership.h"
#include "util/file/path.h"
#include "util/file/symlinks.h"
#include "util/id.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/text/base64.h"
#include "util/text/consttime.h"
#include "util/text/jsonget.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool encodes(const char *bytes, const char *expected)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(100);

	base64_add(&out, bytes, strlen(bytes));
	return strcmp(buffer_text(&out), expected) == 0;
}

static void base64(void)
{
	CHECK("base64 encodes the examples of RFC 4648",
	      encodes("", "") && encodes("f", "Zg==") && encodes("fo", "Zm8=") &&
		      encodes("foo", "Zm9v") && encodes("foob", "Zm9vYg==") &&
		      encodes("fooba", "Zm9vYmE=") && encodes("foobar", "Zm9vYmFy"));
	CHECK("base64 encodes bytes above 127", encodes("\xff\xfe\xfb", "//77"));
}

static void secrets(void)
{
	CHECK("a secret equals itself", consttime_equal("abcd", 3, "abc"));
	CHECK("a difference in any byte is found",
	      !consttime_equal("xbc", 3, "abc") && !consttime_equal("abx", 3, "abc"));
	CHECK("a difference in length is found",
	      !consttime_equal("ab", 2, "abc") && !consttime_equal("abcd", 4, "abc"));
	CHECK("an empty secret equals an empty one", consttime_equal("", 0, ""));
}

static int opened(int folder, const char *path, uint64_t resolve)
{
	AUTO_FD fd = fd_openat2(folder, path, O_PATH, 0, resolve);

	return fd < 0 ? errno : fcntl(fd, F_GETFD) == FD_CLOEXEC ? 0 : -1;
}

static void opening(void)
{
	char place[UNIT_PATH];
	AUTO_FD folder = unit_temp(place) ? open(place, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	mkdirat(folder, "real", 0700);
	symlinkat("real", folder, "link");
	CHECK("openat2 opens a path with close-on-exec",
	      opened(folder, "real", RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH) == 0);
	CHECK("openat2 refuses a symlink", opened(folder, "link/.", RESOLVE_NO_SYMLINKS) == ELOOP);
	CHECK("openat2 follows a symlink if allowed", opened(folder, "link/.", 0) == 0);
	CHECK("openat2 refuses a way out", opened(folder, "..", RESOLVE_BENEATH) == EXDEV);
	unlinkat(folder, "link", 0);
	unlinkat(folder, "real", AT_REMOVEDIR);
	rmdir(place);
}

static void collect_passed(void *context, const char *link, const char *target)
{
	if (target)
		buffer_printf(context, "%s>%s ", link, target);
}

/* Returns whether a path leads there, through these symlinks; all below a folder. */
static bool leads(struct symlinks *symlinks, const char *folder, const char *path, const char *end,
		  const char *passed)
{
	AUTO_BUFFER struct buffer seen = BUFFER_INIT(1 << 16);
	AUTO_BUFFER struct buffer expected = BUFFER_INIT(1 << 16);
	AUTO_FREE char *from = mem_format("%s/%s", folder, path);
	AUTO_FREE char *to = mem_format("%s/%s", folder, end);
	AUTO_FREE char *reached = symlinks_follow(symlinks, from, collect_passed, &seen);

	if (*passed)
		buffer_printf(&expected, "%s/%s ", folder, passed);
	return strcmp(reached, to) == 0 && strcmp(buffer_text(&seen), buffer_text(&expected)) == 0;
}

/* Returns a target for the path in `context`, and for no other. */
static ssize_t read_elsewhere(void *context, const char *path, char target[PATH_MAX])
{
	if (strcmp(path, context) != 0)
		return -1;
	return snprintf(target, PATH_MAX, "other");
}

static bool has_folder(const char *path, const char *expected)
{
	AUTO_FREE char *folder = path_folder(path);

	return strcmp(folder, expected) == 0;
}

static void arrays(void)
{
	struct list list = { 0 };
	size_t *numbers = NULL;
	size_t sum = 0;

	list_add(&list, "abc");
	CHECK("a list has its items, and not their beginnings",
	      list_has(&list, "abc") && !list_has(&list, "ab") && !list_has(&list, "abcd"));
	list_release(&list);
	for (size_t i = 0; i < 100; i++) {
		numbers = mem_extend(numbers, i, sizeof *numbers);
		numbers[i] = i;
	}
	for (size_t i = 0; i < 100; i++)
		sum += numbers[i];
	free(numbers);
	CHECK("an array keeps its elements as it grows", sum == 4950);
	CHECK("the folder of a path ends with its last slash",
	      has_folder("/a/b", "/a/") && has_folder("/a", "/") && has_folder("a", ""));
}

static bool is_own(const char *folder, const char *path)
{
	AUTO_FREE char *full = mem_format("%s/%s", folder, path);
	struct error err;

	return ownership_check(full, getuid(), &err) == 0;
}

static void following(void)
{
	char place[UNIT_PATH];
	AUTO_FD folder = unit_temp(place) ? open(place, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct symlinks symlinks = { 0 };
	AUTO_FREE char *dir = mem_format("%s/dir", place);
	struct symlinks elsewhere = { .read = read_elsewhere, .context = dir };

	mkdirat(folder, "a", 0755);
	CHECK("symlinks for a path can be made", symlinkat("a/missing", folder, "one") == 0 &&
							 symlinkat("a", folder, "dir") == 0 &&
							 symlinkat("self", folder, "self") == 0);
	CHECK("a path without symlinks leads to itself",
	      leads(&symlinks, place, "a/x/../y//", "a/y", ""));
	CHECK("a symlink leads to a file that does not exist",
	      leads(&symlinks, place, "one", "a/missing", "one>a/missing"));
	CHECK("a symlink in the middle of a path is followed",
	      leads(&symlinks, place, "dir/x", "a/x", "dir>a"));
	CHECK("a folder that is remembered is followed alike",
	      leads(&symlinks, place, "dir/../a/y", "a/y", "dir>a"));
	CHECK("a symlink to itself comes to an end",
	      !leads(&symlinks, place, "self", "a", "self>self"));
	CHECK("symlinks can be read from elsewhere than the disk",
	      leads(&elsewhere, place, "dir/x", "other/x", "dir>other"));
	symlinks_release(&elsewhere);
	CHECK("the owner of a path with symlinks is checked", is_own(place, "dir/missing"));
	CHECK("a symlink to itself has no owner to trust", !is_own(place, "self"));
	CHECK("a folder that others can write has none either",
	      fchmodat(folder, "a", 0777, 0) == 0 && !is_own(place, "dir/missing"));
	symlinks_release(&symlinks);
	unlinkat(folder, "one", 0);
	unlinkat(folder, "dir", 0);
	unlinkat(folder, "self", 0);
	unlinkat(folder, "a", AT_REMOVEDIR);
	rmdir(place);
}

static bool is_same(int fd, const struct stat *expected)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_dev == expected->st_dev &&
	       status.st_ino == expected->st_ino && fcntl(fd, F_GETFD) == 0;
}

/* Two files in each other's place, one closed place, /dev/null, and one left alone. */
static int place_crosswise(void)
{
	struct stat files[2];
	struct stat null;
	const int wanted[] = { 1, 0, FD_NULL, 1, FD_UNTOUCHED };

	for (int i = 0; i < 2; i++) {
		AUTO_FD file = fd_memory("file", "x", 1);

		if (fstat(file, &files[i]) < 0 || dup2(file, i) < 0)
			return 1;
	}
	close(3);
	close(4);
	if (fd_place(wanted, 5) < 0)
		return 2;
	if (!is_same(0, &files[1]) || !is_same(1, &files[0]) || !is_same(3, &files[1]))
		return 3;
	if (stat("/dev/null", &null) < 0 || !is_same(2, &null))
		return 4;
	if (fcntl(4, F_GETFD) >= 0 || fcntl(5, F_GETFD) >= 0)
		return 5; /* something was left behind */
	return fd_place((const int[]){ 0, 77 }, 2) < 0 && errno == EBADF ? 0 : 6;
}

static void placing(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		closefrom(3);
		_exit(place_crosswise());
	}
	waitpid(child, &status, 0);
	CHECK("descriptors are placed whatever their numbers", status == 0);
	CHECK("more places than the maximum are refused",
	      fd_place((const int[FD_PLACES + 1]){ 0 }, FD_PLACES + 1) < 0 && errno == EINVAL);
}

static void members(void)
{
	json_t *object = json_pack("{s:s, s:i, s:b}", "text", "word", "number", 7, "flag", 1);

	CHECK("JSON members are read", strcmp(jsonget_string(object, "text"), "word") == 0 &&
					       strcmp(jsonget_text(object, "text"), "word") == 0 &&
					       jsonget_number(object, "number") == 7 &&
					       jsonget_flag(object, "flag"));
	CHECK("a missing member has a default",
	      !jsonget_string(object, "none") && !*jsonget_text(object, "none") &&
		      jsonget_number(object, "none") == 0 && !jsonget_flag(object, "none"));
	CHECK("a member of another type has a default",
	      !jsonget_string(object, "number") && jsonget_number(object, "text") == 0 &&
		      !jsonget_flag(object, "number"));
	CHECK("a missing object yields defaults", !jsonget_string(NULL, "text"));
	json_decref(object);
}

/* --- walks */

struct seen {
	struct buffer text;
	const char *past; /* folder to skip, or NULL */
	const char *stop; /* entry at which to stop, or NULL */
};

static enum dirwalk_verdict see(void *context, const struct dirwalk_entry *entry)
{
	struct seen *seen = context;

	buffer_printf(&seen->text, "%s%s%s ", entry->path, entry->type == DT_DIR ? "/" : "",
		      entry->closed ? "!" : "");
	if (seen->stop && strcmp(entry->name, seen->stop) == 0)
		return DIRWALK_STOP;
	return seen->past && strcmp(entry->name, seen->past) == 0 ? DIRWALK_PAST : DIRWALK_ON;
}

static enum dirwalk_verdict see_leaving(void *context, const struct dirwalk_entry *entry)
{
	struct seen *seen = context;

	buffer_printf(&seen->text, "<%s ", entry->path);
	return DIRWALK_ON;
}

static bool sees(int root, const struct dirwalk *asked, struct seen seen, int result,
		 const char *expected)
{
	struct dirwalk walk = *asked;
	struct error err;
	bool held;

	seen.text = BUFFER_INIT(4096);
	walk.visit = see;
	walk.context = &seen;
	held = dirwalk_tree(&walk, root, NULL, &err) == result &&
	       strcmp(buffer_text(&seen.text), expected) == 0;
	if (!held)
		printf("# %s\n", buffer_text(&seen.text));
	buffer_release(&seen.text);
	return held;
}

static enum dirwalk_verdict count_entry(void *context, const struct dirwalk_entry *entry)
{
	(void)entry;
	++*(unsigned int *)context;
	return DIRWALK_ON;
}

/* Creates nested folders, more than there are descriptors and deeper than the longest path. */
static unsigned int make_deep(int root, unsigned int depth)
{
	AUTO_FD at = openat(root, ".", O_PATH | O_CLOEXEC);
	unsigned int made = 0;

	for (; made < depth && mkdirat(at, "deep", 0700) == 0; made++) {
		int below = openat(at, "deep", O_PATH | O_CLOEXEC);

		fd_close(&at);
		at = below;
	}
	return made;
}

static void walk_deep(int root)
{
	unsigned int count = 0;
	const struct dirwalk walk = { .visit = count_entry,
				      .context = &count,
				      .deepest = DIRWALK_ANY_DEPTH,
				      .no_paths = true };
	unsigned int made = make_deep(root, 1500);
	struct error err;

	CHECK("a walk reaches any depth and returns",
	      made == 1500 && dirwalk_tree(&walk, root, NULL, &err) == 0 && count == made + 3);
}

static enum dirwalk_verdict add_another(void *context, const struct dirwalk_entry *entry)
{
	(void)context;
	mkdirat(entry->folder, "another", 0700);
	return DIRWALK_PAST;
}

static void changing(int root)
{
	bool changed = true;
	const struct dirwalk quiet = { .visit = count_entry,
				       .context = &(unsigned int){ 0 },
				       .deepest = DIRWALK_DEPTH };
	const struct dirwalk busy = { .visit = add_another, .deepest = DIRWALK_DEPTH };
	struct error err;

	CHECK("a walk reports that no folder changed",
	      dirwalk_tree(&quiet, root, &changed, &err) == 0 && !changed);
	CHECK("a walk reports that a folder changed",
	      dirwalk_tree(&busy, root, &changed, &err) == 0 && changed);
}

static void walking(void)
{
	char place[UNIT_PATH];
	AUTO_FD root = unit_temp(place) ? open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	const struct dirwalk plain = { .deepest = DIRWALK_DEPTH };
	const struct dirwalk leaving = { .leave = see_leaving, .deepest = DIRWALK_DEPTH };
	uint64_t bytes = 0;

	mkdirat(root, "a", 0700);
	mkdirat(root, "a/b", 0700);
	symlinkat("..", root, "a/b/link");
	CHECK("a walk visits every entry and follows no symlink",
	      sees(root, &plain, (struct seen){ 0 }, 0, "a/ a/b/ a/b/link "));
	CHECK("a walk leaves folders from the inside out",
	      sees(root, &leaving, (struct seen){ 0 }, 0, "a/ a/b/ a/b/link <a/b <a "));
	CHECK("a walk can skip a folder",
	      sees(root, &plain, (struct seen){ .past = "b" }, 0, "a/ a/b/ "));
	CHECK("a walk can be stopped",
	      sees(root, &leaving, (struct seen){ .stop = "b" }, -1, "a/ a/b/ "));
	CHECK("a folder that is too deep is visited as closed",
	      sees(root, &(struct dirwalk){ .deepest = 1 }, (struct seen){ 0 }, 0,
		   "a/ a/b/ a/b/! "));
	changing(root);
	unlinkat(root, "another", AT_REMOVEDIR);
	walk_deep(root);
	fchmodat(root, "a/b", 0, 0);
	CHECK("a tree is removed at any depth, whatever its permissions",
	      dirwalk_remove(AT_FDCWD, place, &bytes) == 0 && access(place, F_OK) < 0);
	CHECK("a missing tree cannot be removed",
	      dirwalk_remove(AT_FDCWD, place, NULL) < 0 && errno == ENOENT);
}

static bool is(const char *text, const char *wanted)
{
	return text && strcmp(text, wanted) == 0;
}

static void environment(void)
{
	AUTO_FREE char *none = env_config_folder("", false);
	struct list folders = { 0 };
	struct list child = { 0 };

	CHECK("without env_init() the environment is empty", !*env_all() && !env_get("PATH"));
	CHECK("without a home there is no folder for settings", !none && is(env_home(), ""));
	env_init();
	CHECK("main() takes over the environment of the process", env_has("PATH"));
	env_set("UNIT_HOME", "/a");
	env_set("HOME", "home");
	CHECK("a relative HOME counts for nothing", is(env_home(), ""));
	env_set("HOME", "/home");
	CHECK("names are compared as a whole", is(env_home(), "/home") && !env_get("UNIT"));
	env_set("UNIT_HOME", "");
	CHECK("an empty variable is set but has no value",
	      is(env_get("UNIT_HOME"), "") && !env_has("UNIT_HOME"));
	env_copy(&child);
	env_put(&child, "UNIT_HOME=b");
	env_put(&child, "UNIT_NEW=c");
	CHECK("the environment of a child is its own",
	      is(list_after_prefix(&child, "UNIT_HOME="), "b") &&
		      is(list_after_prefix(&child, "UNIT_NEW="), "c") && !env_get("UNIT_NEW"));
	env_set("UNIT_HOME", NULL);
	CHECK("a variable can be removed", !env_get("UNIT_HOME") && env_get("PATH"));
	env_set("PATH", "/bin:.::sbin:/usr/bin:");
	env_path(&folders);
	CHECK("relative folders of PATH are left out", folders.count == 2 &&
							       is(folders.items[0], "/bin") &&
							       is(folders.items[1], "/usr/bin"));
	list_release(&folders);
	list_release(&child);
}

static void settings_folder(void)
{
	AUTO_FREE char *usual = NULL;
	AUTO_FREE char *chosen = NULL;
	AUTO_FREE char *foreign = NULL;

	env_set("XDG_CONFIG_HOME", "relative");
	usual = env_config_folder("/home", false);
	env_set("XDG_CONFIG_HOME", "/xdg");
	chosen = env_config_folder("/home", false);
	foreign = env_config_folder("/home", true);
	CHECK("settings are in XDG_CONFIG_HOME, or in .config at home",
	      is(usual, "/home/.config") && is(chosen, "/xdg"));
	CHECK("another user's XDG_CONFIG_HOME is ignored", is(foreign, "/home/.config"));
}

static void zones(void)
{
	struct tm parts;

	env_set("TZ", "UTC-3");
	CHECK("a time zone is used for one conversion",
	      env_local_time("UTC+5", 0, &parts) == 0 && parts.tm_gmtoff == -5 * 3600 &&
		      env_local_time(NULL, 0, &parts) == 0 && parts.tm_gmtoff == 3 * 3600);
}

/* Process 1 of a PID namespace that still has the /proc of the one around it. */
static int end_own_child(void *unused)
{
	pid_t child = fork();

	(void)unused;
	if (child == 0)
		for (;;)
			pause();
	process_end_children();
	return kill(child, 0) == 0;
}

static void children(void)
{
	pid_t first = process_fork(end_own_child, NULL,
				   CLONE_NEWPID | (geteuid() == 0 ? 0 : CLONE_NEWUSER));
	int status = 0;

	if (first < 0)
		printf("# no PID namespace here: %s\n", strerror(errno));
	else
		CHECK("children end although /proc shows another PID namespace",
		      waitpid(first, &status, 0) == first && status == 0);
}

/* A process that leads a group, with a child in it that would outlive it. */
static int lead_group(void *argument)
{
	const int *pipe = argument;

	setsid();
	close(pipe[0]);
	if (fork() != 0 && write(pipe[1], "", 1) < 0)
		return 1;
	for (;;)
		pause();
}

static void groups(void)
{
	int ends[2];
	char byte;

	if (pipe(ends) < 0)
		return;

	pid_t leader = process_fork(lead_group, ends, 0);
	int status = 0;

	close(ends[1]);
	CHECK("a group has begun", read(ends[0], &byte, 1) == 1);
	process_kill(leader);
	CHECK("a killed process takes the group that it leads along",
	      waitpid(leader, &status, 0) == leader && WIFSIGNALED(status) &&
		      read(ends[0], &byte, 1) == 0);
	close(ends[0]);

	leader = fork();
	if (leader == 0)
		for (;;)
			pause();
	process_kill(leader);
	CHECK("a process that leads no group is killed alone",
	      waitpid(leader, &status, 0) == leader && WIFSIGNALED(status));
}

static void ids(void)
{
	static const char id[] = "20260102-030405-abcd";
	AUTO_FREE char *new = id_new();

	CHECK("a new id is valid", id_is_valid(new));
	CHECK("an id stands for itself", id_matches(id, id));
	CHECK("four characters of the beginning stand for an id", id_matches(id, "2026"));
	CHECK("three are too few", !id_matches(id, "202"));
	CHECK("the letters at the end stand for an id", id_matches(id, "abcd"));
	CHECK("a part of them does not, nor more than them",
	      !id_matches(id, "bcd") && !id_matches(id, "-abcd"));
	CHECK("another beginning does not", !id_matches(id, "2027"));
	CHECK("a name has letters, digits and some signs", id_is_name("fix.the_Login-2"));
	CHECK("a name cannot be taken for an id, an option or a hidden file",
	      !id_is_name("2026") && !id_is_name("-a") && !id_is_name(".a"));
	CHECK("a name is not empty, and has no other bytes",
	      !id_is_name("") && !id_is_name("a b") && !id_is_name("a/b") && !id_is_name("a\x1b"));
	CHECK("a name has at most 40 bytes",
	      id_is_name("abcdefghijabcdefghijabcdefghijabcdefghij") &&
		      !id_is_name("abcdefghijabcdefghijabcdefghijabcdefghijk"));
}

int main(void)
{
	ids();
	environment();
	children();
	groups();
	settings_folder();
	zones();
	base64();
	secrets();
	arrays();
	opening();
	following();
	placing();
	walking();
	members();
	return unit_failures > 0;
}
