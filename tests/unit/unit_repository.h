/*
 * Folders, files and repositories for the unit tests of ringfence-snapshot's tasks. Everything is
 * in one folder that is removed at the end.
 */
#ifndef UNIT_REPOSITORY_H
#define UNIT_REPOSITORY_H

#include "unit.h"

#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/base/snapshot_confine.h"
#include "util/env.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/json.h"

#include <fcntl.h>
#include <git2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Confinement lasts as long as the process, and these tests open several repositories in one.
 * tests/escape tests the real confinement.
 */
int snapshot_confine_writes(const char *const *places, struct error *err)
{
	(void)places;
	(void)err;
	return 0;
}

/* The fault point at which this process ends, or a hook runs; 0: none. */
static long unit_fault;
static void (*unit_meanwhile)(void);

void fault_point(void)
{
	if (!unit_fault || --unit_fault)
		return;
	if (!unit_meanwhile)
		_exit(9);
	unit_meanwhile();
}

/* Runs `work` in a child that ends at a fault point. Returns false if it has fewer fault points. */
static inline bool cut_off(int point, void (*work)(void))
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		unit_fault = point;
		work();
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		abort();
	return WIFEXITED(status) && WEXITSTATUS(status) == 9;
}

static char unit_top[64];

/* Returns a path below the test's folder; a few results are valid at a time. */
static inline const char *at(const char *name)
{
	static char paths[8][4096];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof paths[0], "%s/%s", unit_top, name);
	return path;
}

/* Removes the test's folder, if it exists. */
static inline void unit_clear(void)
{
	AUTO_FD tmp = open(unit_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	dirwalk_remove(tmp, "top", NULL);
}

static inline void unit_begin(void)
{
	snprintf(unit_top, sizeof unit_top, "%s/top", unit_folder);
	unit_clear();
	if (mkdir(unit_top, 0700) < 0)
		abort();
	env_set("HOME", unit_top);
	env_set("XDG_CONFIG_HOME", NULL);
	umask(022);
	libgit_init();
}

static inline int unit_end(void)
{
	unit_clear();
	git_libgit2_shutdown();
	return unit_failures ? 1 : 0;
}

static inline void make_folder(const char *name)
{
	AUTO_FREE char *path = mem_dup(at(name));

	for (char *slash = path + strlen(unit_top) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	mkdir(path, 0755);
}

static inline void put_bytes(const char *name, const void *bytes, size_t size)
{
	AUTO_FREE char *folder = mem_dup(name);
	char *slash = strrchr(folder, '/');
	FILE *file;

	if (slash) {
		*slash = '\0';
		make_folder(folder);
	}
	file = fopen(at(name), "w");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
		abort();
}

static inline void put(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

static inline bool is_there(const char *name)
{
	return faccessat(AT_FDCWD, at(name), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Reports whether a file holds exactly this text. */
static inline bool holds(const char *name, const char *text)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(1 << 26);

	return fd_read_path(at(name), &bytes) == 0 && strcmp(buffer_text(&bytes), text) == 0;
}

static inline bool mentions(const char *text, const char *words)
{
	if (!strstr(text, words))
		printf("# '%s' does not say '%s'\n", text, words);
	return strstr(text, words) != NULL;
}

/* ---- answers ---- */

struct answer {
	struct buffer bytes;
	struct json json;
	struct error err;
	int result;
};

static inline void answer_begin(struct answer *answer)
{
	*answer = (struct answer){ .bytes = BUFFER_INIT(1 << 20) };
	answer->json = JSON_INIT(&answer->bytes);
	json_open(&answer->json, NULL, '{');
}

static inline bool says(struct answer *answer, const char *words)
{
	return answer->result == 0 && mentions(buffer_text(&answer->bytes), words);
}

static inline bool fails(struct answer *answer, const char *words)
{
	return answer->result < 0 && mentions(answer->err.text, words);
}

static inline void answer_end(struct answer *answer)
{
	buffer_release(&answer->bytes);
}

/* ---- captured output ---- */

static inline int capture_begin(void)
{
	int before = dup(STDOUT_FILENO);
	int file = open(at("printed"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	fflush(stdout);
	if (before < 0 || file < 0 || dup2(file, STDOUT_FILENO) < 0)
		abort();
	close(file);
	return before;
}

static inline void capture_end(int before)
{
	fflush(stdout);
	dup2(before, STDOUT_FILENO);
	close(before);
}

static inline bool printed(const char *words)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(1 << 26);

	return fd_read_path(at("printed"), &bytes) == 0 && mentions(buffer_text(&bytes), words);
}

static inline bool printed_nothing(void)
{
	struct stat status;

	return stat(at("printed"), &status) == 0 && status.st_size == 0;
}

/* ---- repositories ---- */

static inline git_repository *make_repository(const char *name)
{
	git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
	git_repository *repository = NULL;

	options.flags = GIT_REPOSITORY_INIT_MKPATH;
	options.initial_head = "main";
	if (git_repository_init_ext(&repository, at(name), &options) < 0)
		abort();
	return repository;
}

static inline git_oid add_commit(git_repository *repository, const char *ref, const git_oid *parent,
				 const git_oid *tree_id)
{
	git_signature *who = NULL;
	git_commit *before = NULL;
	git_tree *tree = NULL;
	git_oid id;

	if (git_signature_new(&who, "A User", "user@example.org", 1700000000, 0) < 0 ||
	    git_tree_lookup(&tree, repository, tree_id) < 0 ||
	    (parent && git_commit_lookup(&before, repository, parent) < 0) ||
	    git_commit_create_v(&id, repository, ref, who, who, NULL, "a commit\n", tree,
				parent ? 1 : 0, before) < 0)
		abort();
	git_commit_free(before);
	git_tree_free(tree);
	git_signature_free(who);
	return id;
}

/* Commits all files of the work tree on top of HEAD. */
static inline git_oid commit_all(git_repository *repository)
{
	git_index *index = NULL;
	git_oid parent, tree;
	bool born = git_reference_name_to_id(&parent, repository, "HEAD") == 0;

	if (git_repository_index(&index, repository) < 0 ||
	    git_index_add_all(index, NULL, 0, NULL, NULL) < 0 ||
	    git_index_update_all(index, NULL, NULL, NULL) < 0 || git_index_write(index) < 0 ||
	    git_index_write_tree(&tree, index) < 0)
		abort();
	git_index_free(index);
	return add_commit(repository, "HEAD", born ? &parent : NULL, &tree);
}

/* Commits one more file on a branch that is not checked out; text NULL: removes it. */
static inline git_oid commit_file(git_repository *repository, const char *ref,
				  const git_oid *parent, const char *path, git_filemode_t mode,
				  const char *text)
{
	git_tree_update update = { .action = text ? GIT_TREE_UPDATE_UPSERT : GIT_TREE_UPDATE_REMOVE,
				   .filemode = mode,
				   .path = path };
	git_commit *before = NULL;
	git_tree *tree = NULL;
	git_oid id;

	if (git_commit_lookup(&before, repository, parent) < 0 ||
	    git_commit_tree(&tree, before) < 0 ||
	    (text && git_blob_create_from_buffer(&update.id, repository, text, strlen(text)) < 0) ||
	    git_tree_create_updated(&id, repository, tree, 1, &update) < 0)
		abort();
	git_tree_free(tree);
	git_commit_free(before);
	return add_commit(repository, ref, parent, &id);
}

static inline void set_ref(git_repository *repository, const char *name, const git_oid *id)
{
	git_reference *reference = NULL;

	if (git_reference_create(&reference, repository, name, id, 1, NULL) < 0)
		abort();
	git_reference_free(reference);
}

/* Reports whether a ref points to this commit. */
static inline bool ref_is(git_repository *repository, const char *name, const git_oid *id)
{
	git_oid found;

	return git_reference_name_to_id(&found, repository, name) == 0 && git_oid_equal(&found, id);
}

#endif
