/* Scans of a project by its index: the plan is the same as after a scan of everything. Uses a
 * temporary folder. */
#include "unit.h"
#include "unit_init.h"

#include "fence/fence_index.h"
#include "fence/fence_place.h"
#include "fence/fence_plan.h"
#include "util/buffer.h"
#include "util/env.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static char *project, *layer;
static struct fence_place place;
static uint32_t seed;

static uint32_t chance(uint32_t most)
{
	seed = seed * 1664525U + 1013904223U;
	return (seed >> 8) % most;
}

/* ---- random trees ---- */

static const char *const folders[] = { "src",     "lib", "a b",        ".git",   ".vscode",
				       "secrets", "x",   "x-y",        ".husky", "refs",
				       "objects", "é",   "credentials" };
static const char *const files[] = { "main.c",     ".env",      "HEAD",          "Makefile",
				     "server.pem", "ca.pem",    "id.key",        ".envrc",
				     "notes.txt",  ".mcp.json", ".env.example",  "x",
				     "config",     "README",    "kubeconfig.yml" };
static const char *const texts[] = { "nothing\n", "-----BEGIN PRIVATE KEY-----\nx\n",
				     "-----BEGIN CERTIFICATE-----\nx\n", "API_KEY=abcdef\n" };
static const char *const targets[] = { "main.c", "src", "../x", "/etc/passwd", "missing", ".env" };

static const char *one_of(const char *const *words, size_t count)
{
	return words[chance((uint32_t)count)];
}
#define ONE_OF(words) one_of(words, sizeof(words) / sizeof *(words))

static void write_file(const char *path)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	const char *text = ONE_OF(texts);

	if (fd >= 0 && fd_write_all(fd, text, strlen(text)) < 0)
		abort();
}

static void add_entry(const char *folder)
{
	bool is_link = chance(8) == 0;
	AUTO_FREE char *path = path_join(folder, ONE_OF(files));

	if (!is_link)
		write_file(path);
	else if (symlink(ONE_OF(targets), path) < 0)
		return; /* something else has the name */
}

static void fill(const char *folder, int depth)
{
	if (mkdir(folder, 0755) < 0 && access(folder, X_OK) < 0)
		return; /* a file has the name */
	for (uint32_t i = chance(5); i > 0; i--)
		add_entry(folder);
	for (uint32_t i = depth ? chance(4) : 0; i > 0; i--) {
		AUTO_FREE char *inner = path_join(folder, ONE_OF(folders));

		fill(inner, depth - 1);
	}
}

/* Copies a tree over another one, as a view shows it. */
static enum dirwalk_verdict show(void *context, const struct dirwalk_entry *entry)
{
	AUTO_FREE char *from = path_join(layer, entry->path);
	AUTO_FREE char *to = path_join(context, entry->path);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4096);
	struct stat status;
	char target[256] = "";

	if (lstat(to, &status) == 0 && !(S_ISDIR(status.st_mode) && entry->type == DT_DIR))
		dirwalk_remove(AT_FDCWD, to, NULL);
	if (entry->type == DT_DIR) {
		mkdir(to, 0755);
	} else if (entry->type == DT_LNK) {
		if (readlink(from, target, sizeof target - 1) < 0 || symlink(target, to) < 0)
			abort();
	} else {
		AUTO_FD fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

		if (fd_read_path(from, &text) < 0 || fd_write_all(fd, text.data, text.used) < 0)
			abort();
	}
	return DIRWALK_ON;
}

static void show_layer(void)
{
	AUTO_FD root = open(layer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirwalk walk = { .visit = show, .context = project, .deepest = 64 };
	struct error err;

	if (dirwalk_tree(&walk, root, NULL, &err) < 0)
		abort();
}

/* ---- plans ---- */

static void describe(const struct fence_plan *plan, struct buffer *out)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct fence_rule *rule = &plan->rules[i];

		buffer_printf(out, "rule %s %d %s %llu\n", rule->path, (int)rule->access,
			      rule->origin, (unsigned long long)rule->inode);
	}
	for (size_t i = 0; i < plan->known_count; i++)
		buffer_printf(out, "known %s %d %s\n", plan->known[i].path, plan->known[i].hidden,
			      plan->known[i].content);
	for (size_t i = 0; i < plan->secret_count; i++)
		buffer_printf(out, "secret %llu\n", (unsigned long long)plan->secrets[i].inode);
	for (size_t i = 0; i < plan->seen_count; i++)
		buffer_printf(out, "seen %.16s\n", plan->seen[i].place);
	for (size_t i = 0; i < plan->link_count; i++)
		buffer_printf(out, "link %s %s\n", plan->links[i].path, plan->links[i].target);
	for (size_t i = 0; i < plan->witness_count; i++)
		buffer_printf(out, "witness %s\n", plan->witnesses[i].path);
	for (size_t i = 0; i < plan->notices.count; i++)
		buffer_printf(out, "notice %s\n", plan->notices.items[i]);
}

static int by_line(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns what a plan says, sorted, because a walk meets entries in the order of the disk. */
static char *plan_text(struct fence_index *index, const struct fence_patterns *patterns)
{
	const struct fence_spec spec = { .mechanism = "bwrap",
					 .project = project,
					 .place = &place,
					 .draft = true,
					 .index = index,
					 .patterns = *patterns };
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 24);
	AUTO_BUFFER struct buffer sorted = BUFFER_INIT(1 << 24);
	struct list lines = { 0 };
	struct fence_plan plan;
	struct error err;

	if (fence_plan_make(&spec, &plan, &err) < 0) {
		printf("# %s\n", err.text);
		return mem_dup("refused");
	}
	describe(&plan, &text);
	fence_plan_release(&plan);
	for (char *at = buffer_text(&text) ? text.data : NULL, *end; at && *at; at = end + 1) {
		end = strchr(at, '\n');
		*end = '\0';
		list_add(&lines, at);
	}
	qsort(lines.items, lines.count, sizeof *lines.items, by_line);
	for (size_t i = 0; i < lines.count; i++)
		buffer_printf(&sorted, "%s\n", lines.items[i]);
	list_release(&lines);
	return mem_dup(buffer_text(&sorted));
}

static bool same(const char *one, const char *other, const char *what)
{
	if (strcmp(one, other) != 0)
		printf("# %s differ with seed %u:\n# %s\n# %s\n", what, seed, one, other);
	return strcmp(one, other) == 0;
}

struct outcome {
	bool projects, views, watches;
	size_t paths, rules;
};

/* Compares scans of everything with scans by an index, of one random project and of a view. */
static void try_project(uint32_t number, const struct fence_patterns *patterns,
			struct outcome *outcome)
{
	const struct fence_spec spec = { .place = &place, .patterns = *patterns };
	struct fence_index index = { .watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC),
				     .most = 1000 };
	struct list layers = { 0 };
	struct fence_index view = FENCE_INDEX_INIT;
	struct error err;

	seed = number;
	fill(project, 4);

	AUTO_FREE char *all = plan_text(&index, patterns);
	AUTO_FREE char *indexed = plan_text(&index, patterns);

	outcome->projects = same(all, indexed, "projects") && outcome->projects;
	outcome->watches = fence_index_is_watched(&index) && outcome->watches;
	outcome->paths += index.paths.count;
	outcome->rules += strstr(indexed, "secret ") != NULL;
	dirwalk_remove(AT_FDCWD, layer, NULL);
	fill(layer, 4);
	list_add(&layers, layer);
	if (fence_index_view(&index, &spec, &layers, &view, &err) < 0)
		abort();
	show_layer();

	AUTO_FREE char *whole = plan_text(NULL, patterns);
	AUTO_FREE char *seen = plan_text(&view, patterns);

	outcome->views = same(whole, seen, "views") && outcome->views;
	list_release(&layers);
	fence_index_release(&index);
	fence_index_release(&view);
	dirwalk_remove(AT_FDCWD, project, NULL);
}

static void random_projects(void)
{
	enum { PROJECTS = 120 / UNIT_SLOWER };
	struct fence_pattern pattern = { .origin = (char *)".ringfenceignore:1" };
	const struct fence_patterns patterns = { &pattern, 1 };
	struct outcome outcome = { true, true, true, 0, 0 };

	glob_read("notes.txt", &pattern.glob);
	for (uint32_t i = 1; i <= PROJECTS; i++)
		try_project(i, &patterns, &outcome);
	glob_release(&pattern.glob);
	CHECK("random projects have entries to look at, and secrets among them",
	      outcome.paths > PROJECTS && outcome.rules > PROJECTS / 4);
	CHECK("a plan by an index is the plan after a scan of everything", outcome.projects);
	CHECK("so is the plan of a view by the index and the layers", outcome.views);
	CHECK("a scan that makes an index watches every folder", outcome.watches);
}

/* ---- watches ---- */

static bool has_event(const struct fence_index *index)
{
	char events[4096];

	return read(index->watch, events, sizeof events) > 0;
}

static void make_file(const char *name)
{
	AUTO_FREE char *path = path_join(project, name);
	AUTO_FREE char *above = path_folder(path);

	if (state_folder_make(above, 0755) < 0)
		abort();
	write_file(path);
}

static void start_index(struct fence_index *index, size_t most)
{
	AUTO_FREE char *text = NULL;

	*index = (struct fence_index){ .watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC),
				       .most = most };
	text = plan_text(index, &(struct fence_patterns){ 0 });
}

static void watches(void)
{
	AUTO_FREE char *old = NULL;
	struct fence_index index;
	bool quiet;

	make_file("a/b/c/main.c");
	make_file(".git/config");
	make_file("secrets/key");
	make_file(".env");
	old = path_join(project, "a/b/c/main.c");
	start_index(&index, 1000);
	quiet = !has_event(&index);
	CHECK("a scan causes no event", quiet && index.complete);
	CHECK("each folder that is scanned is watched, and hidden ones are not",
	      index.watched == 4);
	CHECK("an index has the entries that need a look",
	      index.paths.count == 3 && strcmp(index.paths.items[0], ".env") == 0 &&
		      strcmp(index.paths.items[1], ".git") == 0 &&
		      strcmp(index.paths.items[2], "secrets") == 0);
	make_file(".git/config");
	CHECK("git's own files cause no event", !has_event(&index));
	make_file("a/b/c/main.c");
	CHECK("a changed file causes one", has_event(&index));
	CHECK("so does a changed mode", chmod(old, 0600) == 0 && has_event(&index));
	CHECK("and a removed file", unlink(old) == 0 && has_event(&index));
	make_file("a/b/new.c");
	CHECK("and a new one", has_event(&index));
	fence_index_release(&index);
	start_index(&index, 3);
	CHECK("an index is used for this run even if there are too many folders to watch",
	      index.complete && !fence_index_is_watched(&index));
	fence_index_release(&index);
	dirwalk_remove(AT_FDCWD, project, NULL);
}

/* ---- change times ---- */

/* Makes an index again until no folder changed just before it was read. */
static void start_timed(struct fence_index *index)
{
	*index = (struct fence_index){ .watch = -1, .timed = true };
	do {
		AUTO_FREE char *text = NULL;

		fence_index_clear(index);
		text = plan_text(index, &(struct fence_patterns){ 0 });
	} while (index->unsure);
}

/* Makes an index, changes something, and reports whether the index is still current. */
static bool stays_current(void (*change)(void))
{
	struct fence_index index;
	bool current;

	start_timed(&index);
	change();
	current = fence_index_is_current(&index, project);
	fence_index_release(&index);
	return current;
}

static void change_nothing(void)
{
}

static void change_content(void)
{
	make_file("a/b/c/main.c");
}

static void add_secret(void)
{
	make_file("a/b/.env");
}

static void remove_secret(void)
{
	AUTO_FREE char *path = path_join(project, "a/b/.env");

	if (unlink(path) < 0)
		abort();
}

static void add_to_root(void)
{
	make_file(".env");
}

static void add_to_hidden(void)
{
	make_file("secrets/other");
}

static void close_folder(void)
{
	AUTO_FREE char *path = path_join(project, "a/b");

	if (chmod(path, 0700) < 0)
		abort();
}

/* Another folder gets the path of one that was scanned. */
static void exchange(const char *one)
{
	AUTO_FREE char *aside = mem_format("%s-aside", one);

	if (rename(one, aside) < 0 || mkdir(one, 0755) < 0)
		abort();
}

static void exchange_folder(void)
{
	AUTO_FREE char *path = path_join(project, "a");

	exchange(path);
}

static void exchange_project(void)
{
	exchange(project);
}

static void change_times(void)
{
	AUTO_FREE char *aside = mem_format("%s-aside", project);
	struct fence_index index;

	make_file("a/b/c/main.c");
	make_file("secrets/key");
	CHECK("an index is current while nothing changes", stays_current(change_nothing));
	CHECK("and after a change in a file", stays_current(change_content));
	CHECK("and after a new file in a hidden folder", stays_current(add_to_hidden));
	CHECK("but not after a new file in a folder", !stays_current(add_secret));
	CHECK("nor after a removed one", !stays_current(remove_secret));
	CHECK("nor after one in the project's own folder", !stays_current(add_to_root));
	CHECK("nor when a folder has another mode", !stays_current(close_folder));
	CHECK("nor when another folder has its path", !stays_current(exchange_folder));
	CHECK("nor when another folder has the project's path", !stays_current(exchange_project));
	dirwalk_remove(AT_FDCWD, project, NULL);
	dirwalk_remove(AT_FDCWD, aside, NULL);
	make_file("new/main.c");
	index = (struct fence_index){ .watch = -1, .timed = true };
	free(plan_text(&index, &(struct fence_patterns){ 0 }));
	CHECK("an index is not relied upon if a folder had changed just before",
	      index.unsure && !fence_index_is_current(&index, project));
	fence_index_release(&index);
	dirwalk_remove(AT_FDCWD, project, NULL);
}

/* ---- walks ---- */

static enum dirwalk_verdict note(void *context, const struct dirwalk_entry *entry)
{
	buffer_printf(context, "%s\n", entry->path);
	return DIRWALK_ON;
}

static void walks(void)
{
	AUTO_BUFFER struct buffer seen = BUFFER_INIT(4096);
	struct list paths = { 0 };
	const struct dirwalk walk = {
		.visit = note, .context = &seen, .deepest = 64, .only = &paths
	};
	struct error err;

	make_file("a/b/c");
	make_file("a/b-c");
	make_file("a-b");
	make_file("b/c/d");
	make_file("b/e");
	make_file("b/f/g");
	list_add(&paths, "b/f/g");
	list_add(&paths, "b/c"); /* nothing below it is wanted */
	list_add(&paths, "b/e");
	list_add(&paths, "a-b");
	list_add(&paths, "b/missing/x");
	list_add(&paths, "a/b/c");
	list_add(&paths, "a");
	list_add(&paths, "a/b/c");
	list_add(&paths, "a/b-c");
	dirwalk_sort(&paths);

	AUTO_FD root = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK("a walk of some entries visits them and the folders above, and nothing else",
	      dirwalk_tree(&walk, root, NULL, &err) == 0 &&
		      strcmp(buffer_text(&seen),
			     "a\na-b\nb\na/b\na/b-c\na/b/c\nb/c\nb/e\nb/f\nb/f/g\n") == 0);
	list_release(&paths);
	dirwalk_remove(AT_FDCWD, project, NULL);
}

int main(void)
{
	char root[UNIT_PATH];
	struct error err;

	if (!unit_temp(root))
		return 1;

	AUTO_FREE char *home = path_join(root, "home");
	AUTO_FREE char *state = path_join(root, "state");
	AUTO_FREE char *runs = path_join(state, "runs");

	project = path_join(home, "project");
	layer = path_join(root, "layer");
	env_set("HOME", home);
	env_set("RINGFENCE_STATE_DIR", state);
	unit_init();
	if (state_folder_make(runs, 0755) < 0 || state_folder_make(project, 0755) < 0 ||
	    fence_place_find(project, &place, &err) < 0)
		return 1;
	walks();
	watches();
	change_times();
	random_projects();
	fence_place_release(&place);
	free(project);
	free(layer);
	return unit_failures > 0;
}
