/* The checkpoint repository. */
#include "snapshot/store/checkpoint_repo.h"

#include "snapshot/base/libgit.h"
#include "snapshot/base/note.h"
#include "snapshot/base/snapshot_confine.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char config[] = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
static const char head[] = "ref: refs/heads/none\n";

/* Each step can be repeated. HEAD, which makes the folder a repository, is written last. */
static int create(const char *path, struct error *err)
{
	static const char *const folders[] = { "objects/pack", "objects/info", "refs/ringfence",
					       "rules" };
	AUTO_FD folder = -1;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		AUTO_FREE char *inner = path_join(path, folders[i]);

		if (state_folder_make(inner, 0700) < 0)
			return error_sys(err, "create '%s'", inner);
	}
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || durable_replace(folder, "config", config, strlen(config), 0600) < 0 ||
	    durable_replace(folder, "HEAD", head, strlen(head), 0600) < 0)
		return error_sys(err, "create the checkpoint repository '%s'", path);
	return 0;
}

/* A power cut may have emptied files that an older version did not sync; write both again. */
static bool is_repository(const char *path)
{
	static const char *const names[] = { "config", "HEAD" };
	struct stat status;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		AUTO_FREE char *file = path_join(path, names[i]);

		if (stat(file, &status) < 0 || status.st_size == 0)
			return false;
	}
	return true;
}

static void *open_git(void *argument)
{
	struct checkpoint_repo *repo = argument;

	libgit_init();
	if (git_repository_open_bare(&repo->repository, repo->path) < 0 ||
	    git_repository_odb(&repo->odb, repo->repository) < 0)
		snprintf(repo->trouble, sizeof repo->trouble, "%.500s", libgit_reason());
	return NULL;
}

int checkpoint_repo_open(struct checkpoint_repo *repo, const char *path, const char *project,
			 const char *also, struct error *err)
{
	const char *const places[] = { path, project ? project : also, project ? also : NULL,
				       NULL };

	*repo = (struct checkpoint_repo){ .path = mem_dup(path), .folder = -1, .lock = -1 };
	if (!is_repository(path) && create(path, err) < 0)
		return -1;
	repo->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (repo->folder < 0)
		return error_sys(err, "open '%s'", path);
	if (snapshot_confine_writes(places, err) < 0)
		return -1;
	repo->opening = pthread_create(&repo->opener, NULL, open_git, repo) == 0;
	if (!repo->opening)
		open_git(repo);
	return 0;
}

int checkpoint_repo_git(struct checkpoint_repo *repo, struct error *err)
{
	if (repo->opening)
		pthread_join(repo->opener, NULL);
	repo->opening = false;
	return repo->odb ? 0 : error_set(err, "open the checkpoint repository: %s", repo->trouble);
}

void checkpoint_repo_close(struct checkpoint_repo *repo)
{
	struct error ignored;

	if (repo->opening)
		checkpoint_repo_git(repo, &ignored);
	git_odb_free(repo->odb);
	git_repository_free(repo->repository);
	fd_close(&repo->lock);
	fd_close(&repo->folder);
	free(repo->path);
	*repo = (struct checkpoint_repo){ .folder = -1, .lock = -1 };
}

int checkpoint_repo_lock(struct checkpoint_repo *repo, struct error *err)
{
	int result;

	repo->lock = openat(repo->folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	do
		result = repo->lock < 0 ? -1 : flock(repo->lock, LOCK_EX);
	while (result < 0 && repo->lock >= 0 && errno == EINTR);
	return result < 0 ? error_sys(err, "lock the checkpoints in '%s'", repo->path) : 0;
}

int checkpoint_repo_check_space(const struct checkpoint_repo *repo, struct error *err)
{
	static const uint64_t reserve = UINT64_C(512) << 20;
	struct statvfs disk;

	if (fstatvfs(repo->folder, &disk) < 0)
		return error_sys(err, "check the free disk space of '%s'", repo->path);

	uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	uint64_t hundredth = (uint64_t)disk.f_blocks * disk.f_frsize / 100;
	uint64_t least = hundredth < reserve ? hundredth : reserve;

	if (free_bytes >= least)
		return 0;

	AUTO_FREE char *left = text_size(free_bytes);
	AUTO_FREE char *needed = text_size(least);

	return error_set(
		err,
		"the disk of '%s' is nearly full: %s left, and a checkpoint needs %s (free "
		"some space, or run: ringfence clean)",
		repo->path, left, needed);
}

/* ---- checkpoints ---- */

static int64_t parse_field(const char *message, const char *name)
{
	const char *at = strstr(message, name);

	return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

int checkpoint_repo_read_commit(struct checkpoint_repo *repo, const git_oid *commit,
				struct checkpoint_repo_item *ret_checkpoint, struct error *err)
{
	struct checkpoint_repo_item found = { .commit = *commit };
	git_commit *object = NULL;
	const char *message;

	if (checkpoint_repo_git(repo, err) < 0)
		return -1;
	if (git_commit_lookup(&object, repo->repository, commit) < 0)
		return libgit_error("read a checkpoint", err);
	message = git_commit_message(object);
	found.tree = *git_commit_tree_id(object);
	if (sscanf(message, "kind: %15[a-z]", found.kind) != 1)
		found.kind[0] = '\0';
	found.iteration = parse_field(message, "\niteration: ");
	found.at_ms = parse_field(message, "\nat_ms: ");
	found.files = (uint64_t)parse_field(message, "\nfiles: ");
	found.bytes = (uint64_t)parse_field(message, "\nbytes: ");
	found.skipped = (uint64_t)parse_field(message, "\nskipped: ");
	git_commit_free(object);
	*ret_checkpoint = found;
	return 0;
}

static int read_ref(struct checkpoint_repo *repo, const char *loop, int64_t number,
		    git_oid *ret_commit)
{
	AUTO_FREE char *name = mem_format("refs/ringfence/%s/%lld", loop, (long long)number);
	AUTO_FD fd = openat(repo->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char text[GIT_OID_HEXSZ + 1] = "";

	if (fd < 0 || read(fd, text, GIT_OID_HEXSZ) != GIT_OID_HEXSZ)
		return -1;
	return git_oid_fromstr(ret_commit, text);
}

int checkpoint_repo_read(struct checkpoint_repo *repo, const char *loop, int64_t number,
			 struct checkpoint_repo_item *ret_checkpoint, struct error *err)
{
	git_oid commit;

	if (read_ref(repo, loop, number, &commit) < 0)
		return error_with(
			err, ERROR_NOT_FOUND,
			"there is no checkpoint %lld (list them with: ringfence checkpoints)",
			(long long)number);
	if (checkpoint_repo_read_commit(repo, &commit, ret_checkpoint, err) < 0)
		return -1;
	ret_checkpoint->number = number;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a;
	int64_t right = *(const int64_t *)b;

	return left < right ? -1 : left > right;
}

/* Lists the existing numbers in ascending order. The caller frees them. */
static size_t list_numbers(const struct checkpoint_repo *repo, const char *loop,
			   int64_t **ret_numbers)
{
	AUTO_FREE char *path = mem_format("%s/refs/ringfence/%s", repo->path, loop);
	DIR *folder = opendir(path);
	int64_t *numbers = NULL;
	size_t count = 0;

	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		char *end;
		long long number = strtoll(entry->d_name, &end, 10);

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || *end)
			continue;
		numbers = mem_resize(numbers, count + 1, sizeof *numbers);
		numbers[count++] = number;
	}
	if (folder)
		closedir(folder);
	if (count)
		qsort(numbers, count, sizeof *numbers, by_number);
	*ret_numbers = numbers;
	return count;
}

int checkpoint_repo_each(struct checkpoint_repo *repo, const char *loop, checkpoint_repo_fn *look,
			 void *context, struct error *err)
{
	AUTO_FREE int64_t *numbers = NULL;
	size_t count = list_numbers(repo, loop, &numbers);
	int result = 0;

	for (size_t i = 0; i < count && result == 0; i++) {
		struct checkpoint_repo_item checkpoint;

		result = checkpoint_repo_read(repo, loop, numbers[i], &checkpoint, err);
		if (result == 0)
			result = look(context, &checkpoint, err);
	}
	return result;
}

int64_t checkpoint_repo_last(const struct checkpoint_repo *repo, const char *loop)
{
	AUTO_FREE int64_t *numbers = NULL;
	size_t count = list_numbers(repo, loop, &numbers);

	return count ? numbers[count - 1] : -1;
}

static bool has_number(const struct checkpoint_repo *repo, const char *loop, int64_t number)
{
	AUTO_FREE char *name = mem_format("refs/ringfence/%s/%lld", loop, (long long)number);

	return faccessat(repo->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

char *checkpoint_repo_file(const char *name, const char *draft)
{
	return draft ? mem_format("%s-%s", name, draft) : mem_dup(name);
}

int64_t checkpoint_repo_next(const struct checkpoint_repo *repo, const char *loop, int64_t next)
{
	int64_t last;

	if (next > 0 && has_number(repo, loop, next - 1) && !has_number(repo, loop, next))
		return next;
	last = checkpoint_repo_last(repo, loop);
	return last >= next ? last + 1 : next;
}

int checkpoint_repo_number(struct checkpoint_repo *repo, const char *loop, int64_t number,
			   const git_oid *commit, struct error *err)
{
	AUTO_FREE char *path = mem_format("%s/refs/ringfence/%s", repo->path, loop);
	AUTO_FREE char *name = mem_format("%lld", (long long)number);
	char text[GIT_OID_HEXSZ + 2];
	AUTO_FD folder = -1;

	git_oid_tostr(text, GIT_OID_HEXSZ + 1, commit);
	text[GIT_OID_HEXSZ] = '\n';
	text[GIT_OID_HEXSZ + 1] = '\0';
	if (state_folder_make(path, 0700) < 0 ||
	    (folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return error_sys(err, "create '%s'", path);
	return checkpoint_repo_write(repo, folder, name, text, strlen(text), err);
}

int checkpoint_repo_write(struct checkpoint_repo *repo, int folder, const char *name,
			  const char *bytes, size_t size, struct error *err)
{
	return note_write(repo->folder, "temporary", folder, name, bytes, size) < 0
		       ? error_sys(err, "write '%s' in the checkpoint repository", name)
		       : 0;
}

/* ---- contents of a checkpoint ---- */

int checkpoint_repo_parts(struct checkpoint_repo *repo, const git_oid *tree, git_tree **ret_files,
			  git_blob **ret_manifest, struct error *err)
{
	git_tree *root = NULL;
	git_tree *files = NULL;
	git_blob *manifest = NULL;
	const git_tree_entry *first = NULL;
	const git_tree_entry *second = NULL;
	int result = -1;

	if (checkpoint_repo_git(repo, err) < 0)
		return -1;
	if (git_tree_lookup(&root, repo->repository, tree) == 0) {
		first = git_tree_entry_byname(root, "files");
		second = git_tree_entry_byname(root, "manifest");
	}
	if (first && second &&
	    git_tree_lookup(&files, repo->repository, git_tree_entry_id(first)) == 0 &&
	    git_blob_lookup(&manifest, repo->repository, git_tree_entry_id(second)) == 0)
		result = 0;
	else
		libgit_error("read a checkpoint", err);
	git_tree_free(root);
	if (result < 0 || !ret_files) {
		git_tree_free(files);
		files = NULL;
	}
	if (result < 0 || !ret_manifest) {
		git_blob_free(manifest);
		manifest = NULL;
	}
	if (result == 0 && ret_files)
		*ret_files = files;
	if (result == 0 && ret_manifest)
		*ret_manifest = manifest;
	return result;
}
