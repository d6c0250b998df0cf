/* Private git directories. */
#include "snapshot/git/private_git.h"

#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/git/hidden_paths.h"
#include "snapshot/git/unfinished.h"
#include "snapshot/object/refs.h"
#include "util/file/dirwalk.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY "git.temporary"
#define DAMAGED   "git.damaged"

enum { REFS_BYTES = 128 << 20, IMPORTED_BYTES = 16 << 20 };

/* The name of the tree without entries, which every repository has. */
#define EMPTY_TREE "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
#define BEGAN      "began"

/* Everything is synced before the directory gets its name. */
static int write_file(int folder, const char *name, const char *bytes, size_t size,
		      struct error *err)
{
	AUTO_FD fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			    0600);

	return fd < 0 || fd_write_all(fd, bytes, size) < 0
		       ? error_sys(err, "write '%s' in the private git directory", name)
		       : 0;
}

/*
 * Copies keep the modification time: git rereads files that changed at or after the time of the
 * index.
 */
static int copy_time(int to, const struct stat *status)
{
	return futimens(to, (struct timespec[]){ { .tv_nsec = UTIME_OMIT }, status->st_mtim });
}

/* Copies a file, if it exists. The kernel shares blocks where possible. */
static int copy_file(const char *folder, const char *name, int target, struct error *err)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_FD from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	AUTO_FD to = -1;
	struct stat status;
	char chunk[1 << 16];
	ssize_t n = 0;

	if (from < 0 || fstat(from, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	to = openat(target, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return error_sys(err, "copy '%s'", path);
	for (off_t left = status.st_size; left > 0; left -= n) {
		n = copy_file_range(from, NULL, to, NULL, (size_t)left, 0);
		if (n <= 0)
			break;
	}
	while (n >= 0 || errno == EXDEV || errno == EINVAL || errno == ENOSYS ||
	       errno == EOPNOTSUPP) {
		n = read(from, chunk, sizeof chunk);
		if (n == 0)
			n = copy_time(to, &status);
		if (n == 0)
			return 0;
		if (n < 0 || fd_write_all(to, chunk, (size_t)n) < 0)
			break;
	}
	return error_sys(err, "copy '%s'", path);
}

/* Copies the index, and the shared index it may be split from. */
static int copy_index(const struct borrow *borrow, int git, struct error *err)
{
	DIR *dir = opendir(borrow->git);
	int result = copy_file(borrow->git, "index", git, err);

	for (struct dirent *entry; dir && result == 0 && (entry = readdir(dir));)
		if (strncmp(entry->d_name, "sharedindex.", 12) == 0)
			result = copy_file(borrow->git, entry->d_name, git, err);
	if (dir)
		closedir(dir);
	return result;
}

/* A symbolic ref cannot be packed. */
static int write_symbolic(int git, const struct refs_entry *ref, struct error *err)
{
	AUTO_FREE char *text = mem_format("ref: %s\n", ref->target);
	AUTO_FREE char *above = path_folder(ref->name);
	AUTO_FD folder = -1;

	if (refs_make_folders(git, ref->name, 0700) < 0)
		return error_sys(err, "create '%s' in the private git directory", above);
	folder = openat(git, above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return error_sys(err, "open '%s' in the private git directory", above);
	return write_file(folder, path_name(ref->name), text, strlen(text), err);
}

/* The refs of a new directory: the user's, and those of the agent that were imported. */
struct beginning {
	struct refs user; /* without the stash, which is private to the user */
	struct refs refs;
	struct refs_entry head;
	char commit[REFS_HEX + 1]; /* of HEAD, if it is not the user's; else empty */
	const char *began;         /* the commit that the loop begins with; NULL: the user's HEAD */
};

static void beginning_release(struct beginning *from)
{
	refs_release(&from->user);
	refs_release(&from->refs);
	free(from->head.target);
}

/* Brings an imported ref back to where the agent had it. */
static int add_imported(struct beginning *from, const char *loop, const struct refs_entry *ref,
			struct error *err)
{
	AUTO_FREE char *branch = mem_format("refs/heads/ringfence/%s", loop);
	AUTO_FREE char *below = mem_format("refs/ringfence/%s/", loop);
	AUTO_FREE char *beside = mem_format("%sHEAD", below);
	AUTO_FREE char *own = NULL;

	if (strcmp(ref->name, branch) == 0 || strcmp(ref->name, beside) == 0) {
		snprintf(from->commit, sizeof from->commit, "%s", ref->hex);
		return 0;
	}
	if (strncmp(ref->name, below, strlen(below)) != 0)
		return 0;
	own = mem_format("refs/%s", ref->name + strlen(below));
	return refs_set(&from->refs, own, ref->hex, err);
}

/* Our own branch is not the agent's, unless it is checked out. */
static int set_head(struct beginning *from, const char *loop, struct error *err)
{
	AUTO_FREE char *branch = mem_format("refs/heads/ringfence/%s", loop);

	if (!*from->commit)
		return 0;
	if (refs_set(&from->refs, branch, NULL, err) < 0)
		return -1;
	if (from->head.target)
		return refs_set(&from->refs, from->head.target, from->commit, err);
	memcpy(from->head.hex, from->commit, sizeof from->head.hex);
	return 0;
}

/* Begins with the result of another loop, which was imported. */
static int begin_with(struct beginning *from, const struct private_git_options *options,
		      struct error *err)
{
	from->began = options->head;
	if (!options->head)
		return 0;
	snprintf(from->commit, sizeof from->commit, "%s", options->head);
	return set_head(from, options->loop, err);
}

/* Reads what was imported; nothing in a new loop. */
static int read_imported(struct beginning *from, const char *loop, int own, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(IMPORTED_BYTES);
	struct refs imported = { 0 };
	int result = 0;

	if (fd_read_file(own, "imported", &text) < 0)
		return errno == ENOENT ? 0 : error_sys(err, "read the imported refs");
	result = refs_parse(buffer_text(&text), text.used, true, &imported, err);
	for (size_t i = 0; i < imported.count && result == 0; i++)
		result = add_imported(from, loop, &imported.items[i], err);
	refs_release(&imported);
	return result < 0 ? -1 : set_head(from, loop, err);
}

static int read_user(const struct borrow *borrow, struct beginning *from, struct error *err)
{
	AUTO_FD common = open(borrow->common, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD home = open(borrow->git, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (common < 0 || home < 0)
		return error_sys(err, "open the repository '%s'", borrow->git);
	if (refs_read(common, &from->user, err) < 0 || refs_read(common, &from->refs, err) < 0 ||
	    refs_set(&from->user, "refs/stash", NULL, err) < 0 ||
	    refs_set(&from->refs, "refs/stash", NULL, err) < 0)
		return -1;
	return refs_head(home, &from->head)
		       ? 0
		       : error_set(err, "the HEAD of '%s' cannot be read", borrow->git);
}

/* A directory that is made again keeps the refs and the commit that the loop began with. */
static int write_base(const struct beginning *from, int own, struct error *err)
{
	AUTO_BUFFER struct buffer base = BUFFER_INIT(REFS_BYTES);
	const char *commit = from->began ? from->began : refs_resolve(&from->user, &from->head);
	struct stat status;

	if (fstatat(own, "base", &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_size)
		return 0;
	if (!commit)
		commit = EMPTY_TREE;
	refs_write(&from->user, &base);
	return write_file(own, BEGAN, commit, strlen(commit), err) < 0
		       ? -1
		       : write_file(own, "base", base.data, base.used, err);
}

static int write_refs(const struct beginning *from, int git, int own, struct error *err)
{
	AUTO_BUFFER struct buffer packed = BUFFER_INIT(REFS_BYTES);
	AUTO_FREE char *head = from->head.target ? mem_format("ref: %s\n", from->head.target)
						 : mem_format("%s\n", from->head.hex);

	refs_write(&from->refs, &packed);
	for (size_t i = 0; i < from->refs.count; i++)
		if (from->refs.items[i].target &&
		    write_symbolic(git, &from->refs.items[i], err) < 0)
			return -1;
	if (write_file(git, "packed-refs", packed.data, packed.used, err) < 0 ||
	    write_base(from, own, err) < 0)
		return -1;
	return write_file(git, "HEAD", head, strlen(head), err);
}

/* Writes the index of an imported commit, which is in the user's repository. */
static int write_index(const struct borrow *borrow, const char *commit, const char *path,
		       struct error *err)
{
	git_repository *repository = NULL;
	git_commit *object = NULL;
	git_index *index = NULL;
	git_odb *objects = NULL;
	git_tree *tree = NULL;
	git_oid id;
	int result = -1;

	libgit_init();
	if (git_oid_fromstr(&id, commit) == 0 &&
	    git_odb_open(&objects, borrow->lenders.items[0]) == 0 &&
	    git_repository_wrap_odb(&repository, objects) == 0 &&
	    git_commit_lookup(&object, repository, &id) == 0 &&
	    git_commit_tree(&tree, object) == 0 && git_index_open(&index, path) == 0 &&
	    git_index_read_tree(index, tree) == 0 && git_index_write(index) == 0)
		result = 0;
	else
		libgit_error("write the index of the private git directory", err);
	git_index_free(index);
	git_tree_free(tree);
	git_commit_free(object);
	git_repository_free(repository);
	git_odb_free(objects);
	return result;
}

static int write_alternates(const struct borrow *borrow, int git, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 16);
	AUTO_FD info = openat(git, "objects/info", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < borrow->lenders.count; i++)
		buffer_printf(&text, BORROW_OBJECTS "/%zu\n", i);
	return write_file(info, "alternates", text.data, text.used, err);
}

/* Keeps the index as it is in the beginning (unfinished.h). */
static int keep_index(const char *index, int own, struct error *err)
{
	AUTO_FREE char *folder = path_folder(index);

	unlinkat(own, UNFINISHED_INDEX, 0);
	return copy_file(folder, "index", own, err);
}

/* Keeps git from reading what the fence hides. */
static int hide(const struct private_git_options *options, const char *index, int git, int own,
		struct error *err)
{
	struct list hidden = { 0 };
	int result = options->hidden->count ? hidden_paths_write(options->hidden, own, err) : 0;

	if (result == 0)
		result = hidden_paths_read(own, &hidden, err);
	if (result == 0)
		result = hidden_paths_ignore(&hidden, git, err);
	if (result == 0)
		result = hidden_paths_skip(&hidden, index, err);
	list_release(&hidden);
	return result;
}

static int fill(const struct private_git_options *options, const struct borrow *borrow,
		const struct beginning *from, int git, int own, struct error *err)
{
	static const char *const folders[] = {
		"objects",    "objects/info", "objects/pack", "refs",
		"refs/heads", "refs/tags",    "info",         "hooks"
	};
	static const char *const commons[] = { "info/exclude", "info/attributes", "shallow" };
	AUTO_FREE char *file = mem_format("gitdir: %s\n", PRIVATE_GIT_PLACE);
	AUTO_FREE char *index = mem_format("%s/" TEMPORARY "/index", options->folder);

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (mkdirat(git, folders[i], 0700) < 0)
			return error_sys(err, "create '%s' in the private git directory",
					 folders[i]);
	for (size_t i = 0; i < sizeof commons / sizeof *commons; i++)
		if (copy_file(borrow->common, commons[i], git, err) < 0)
			return -1;
	if (copy_file(borrow->git, "info/sparse-checkout", git, err) < 0 ||
	    (*from->commit ? write_index(borrow, from->commit, index, err)
			   : copy_index(borrow, git, err)) < 0 ||
	    keep_index(index, own, err) < 0 || hide(options, index, git, own, err) < 0 ||
	    write_alternates(borrow, git, err) < 0 ||
	    write_file(git, "config", borrow->config.data, borrow->config.used, err) < 0 ||
	    write_file(own, "file", file, strlen(file), err) < 0 ||
	    write_file(own, "none", "", 0, err) < 0)
		return -1;
	return write_refs(from, git, own, err);
}

static bool is_folder(int above, const char *name)
{
	struct stat status;

	return fstatat(above, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

/*
 * Creates the mount point for git directories of submodules. Anything else that the agent put there
 * is removed.
 */
static int make_modules(const struct borrow *borrow, int folder, struct error *err)
{
	if (!borrow->modules || borrow->is_file || is_folder(folder, "git/modules"))
		return 0;
	if ((unlinkat(folder, "git/modules", 0) < 0 && errno != ENOENT) ||
	    mkdirat(folder, "git/modules", 0700) < 0)
		return error_sys(err, "create 'modules' in the private git directory");
	return 0;
}

/* Removes what an interrupted attempt left, and moves a damaged directory out of the way. */
static int make_way(int above, struct error *err)
{
	dirwalk_remove(above, TEMPORARY, NULL);
	fault_point();
	if (!is_folder(above, "git"))
		return 0;
	dirwalk_remove(above, DAMAGED, NULL);
	if (renameat(above, "git", above, DAMAGED) < 0)
		return error_sys(err, "move the damaged git directory out of the way");
	return 0;
}

/* Makes the directory at its temporary name. */
static int make_temporary(const struct private_git_options *options, const struct borrow *borrow,
			  int above, struct error *err)
{
	const char *folder = options->folder;
	struct beginning from = { 0 };
	AUTO_FD git = -1;
	AUTO_FD own = -1;
	int result;

	if ((mkdirat(above, "git-own", 0700) < 0 && errno != EEXIST) ||
	    mkdirat(above, TEMPORARY, 0700) < 0)
		return error_sys(err, "create a private git directory in '%s'", folder);
	git = openat(above, TEMPORARY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	own = openat(above, "git-own", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (git < 0 || own < 0)
		return error_sys(err, "open the private git directory in '%s'", folder);
	fault_point();
	result = read_user(borrow, &from, err) < 0 || begin_with(&from, options, err) < 0 ||
				 read_imported(&from, options->loop, own, err) < 0 ||
				 fill(options, borrow, &from, git, own, err) < 0
			 ? -1
			 : 0;
	beginning_release(&from);
	return result;
}

int private_git_make(const struct private_git_options *options, const struct borrow *borrow,
		     bool *ret_again, struct error *err)
{
	AUTO_FD above = open(options->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*ret_again = false;
	if (above < 0)
		return error_sys(err, "open '%s'", options->folder);
	if (is_folder(above, "git")) {
		*ret_again = private_git_is_damaged(above);
		if (!*ret_again)
			return make_modules(borrow, above, err);
	}
	if (make_way(above, err) < 0 || make_temporary(options, borrow, above, err) < 0)
		return -1;
	fault_point();
	if (durable_name_folder(above, TEMPORARY, "git") < 0)
		return error_sys(err, "rename the private git directory into place");
	fault_point();
	return make_modules(borrow, above, err);
}

void private_git_write_began(const char *folder, struct json *json)
{
	AUTO_FREE char *own = path_join(folder, "git-own");
	AUTO_FD fd = open(own, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_BUFFER struct buffer commit = BUFFER_INIT(REFS_HEX + 1);

	if (fd >= 0 && fd_read_file(fd, BEGAN, &commit) == 0)
		json_text(json, "began", buffer_text(&commit));
}

static void write_cover(struct json *json, const char *path, const char *source, bool writable)
{
	json_open(json, NULL, '{');
	json_text(json, "path", path);
	json_text(json, "source", source);
	json_flag(json, "writable", writable);
	json_close(json);
}

void private_git_write_covers(const char *folder, const char *project, const struct borrow *borrow,
			      struct json *json)
{
	AUTO_FREE char *git = path_join(folder, "git");
	AUTO_FREE char *file = path_join(folder, "git-own/file");
	AUTO_FREE char *none = path_join(folder, "git-own/none");
	AUTO_FREE char *place = path_join(project, ".git");
	AUTO_FREE char *modules = path_join(borrow->git, "modules");
	AUTO_FREE char *objects = path_join(borrow->lfs, "objects");
	AUTO_FREE char *lfs = NULL;

	json_open(json, "covers", '[');
	if (borrow->is_file)
		write_cover(json, place, file, false);
	write_cover(json, borrow->is_file ? PRIVATE_GIT_PLACE : place, git, true);
	if (borrow->modules)
		write_cover(json, modules, modules, false);
	lfs = realpath(objects, NULL);
	if (lfs)
		write_cover(json, BORROW_OBJECTS "/lfs/objects", lfs, false);
	for (size_t i = 0; i < borrow->lenders.count; i++) {
		AUTO_FREE char *shown = mem_format(BORROW_OBJECTS "/%zu", i);
		AUTO_FREE char *inner = path_join(shown, "info/alternates");
		AUTO_FREE char *list = path_join(borrow->lenders.items[i], "info/alternates");

		write_cover(json, shown, borrow->lenders.items[i], false);
		if (access(list, F_OK) == 0)
			write_cover(json, inner, none, false);
	}
	json_close(json);
}
