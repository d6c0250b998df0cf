/* Tasks on git directories. */
#include "snapshot/git/gitwork.h"

#include "gitconfig/gitdir.h"
#include "snapshot/base/libgit.h"
#include "snapshot/base/snapshot_confine.h"
#include "snapshot/git/private_git.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 }; /* AddressSanitizer needs unlimited address space */
#else
enum { SANITIZED = 0 };
#endif

/* The caller frees the answer. */
static char *why_none(const char *project)
{
	AUTO_FREE char *root = gitdir_around(project);

	return root ? mem_format("the project is only a part of the repository '%s'", root)
		    : mem_dup("the project is not a git repository");
}

static int open_private(const struct gitwork *work, struct borrow *borrow, struct json *json,
			struct error *err)
{
	const char *const places[] = { work->import.folder, NULL };
	const struct private_git_options options = { .folder = work->import.folder,
						     .loop = work->import.loop,
						     .hidden = &work->hidden,
						     .head = work->head };
	bool again;

	if (borrow->git && !*borrow->why) {
		AUTO_FREE char *git = borrow->is_file ? mem_dup(PRIVATE_GIT_PLACE)
						      : path_join(work->project, ".git");

		borrow_add_user(borrow);
		borrow_add_filter(borrow, git);
	}
	if (!borrow->git || *borrow->why) {
		AUTO_FREE char *none = why_none(work->project);

		json_text(json, "mode", *borrow->why ? "read-only" : "none");
		json_text(json, "why", *borrow->why ? borrow->why : none);
		return 0;
	}
	if (snapshot_confine_writes(places, err) < 0 ||
	    private_git_make(&options, borrow, &again, err) < 0)
		return -1;
	json_text(json, "mode", "private");
	if (again)
		json_text(json, "why",
			  "the agent's git directory was damaged, as by a power cut: it was made "
			  "again from the commits that were imported; the old one is "
			  "git.damaged in the loop's folder");
	json_flag(json, "submodules", borrow->modules);
	private_git_write_began(work->import.folder, json);
	private_git_write_covers(work->import.folder, work->project, borrow, json);
	return 0;
}

static int look(const struct gitwork *work, struct borrow *borrow, struct json *json,
		struct error *err)
{
	AUTO_FREE char *head = path_join(work->import.folder, "git/HEAD");

	(void)err;
	if (borrow->git && !*borrow->why && access(head, F_OK) == 0)
		private_git_write_covers(work->import.folder, work->project, borrow, json);
	return 0;
}

/*
 * Limits the damage of hostile input to this process. The user's own packs are mapped through small
 * windows, so that large ones fit.
 */
static void limit_self(void)
{
	static const rlim_t most_bytes = (rlim_t)6 << 30;
	static const size_t window = 32 << 20;
	static const size_t windows = 512 << 20;
	static const rlim_t most_seconds = 600;

	if (!SANITIZED)
		setrlimit(RLIMIT_AS, &(struct rlimit){ most_bytes, most_bytes });
	setrlimit(RLIMIT_CPU, &(struct rlimit){ most_seconds, most_seconds });
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, window);
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, windows);
}

static int make_folder(const char *path, struct error *err)
{
	return mkdir(path, 0777) < 0 && errno != EEXIST ? error_sys(err, "create '%s'", path) : 0;
}

/* The store of Git LFS keeps its name, as the objects in it do. */
static int make_store(const char *path, struct error *err)
{
	if (mkdir(path, 0777) < 0)
		return errno == EEXIST ? 0 : error_sys(err, "create '%s'", path);
	return durable_sync_name(path) < 0 ? error_sys(err, "sync the folder of '%s'", path) : 0;
}

static int import(const struct gitwork *work, struct borrow *borrow, struct json *json,
		  struct error *err)
{
	AUTO_FREE char *own = path_join(work->import.folder, "git-own");

	if (!borrow->git || *borrow->why)
		return error_set(err, "the project's repository has changed: %s",
				 *borrow->why ? borrow->why : "it no longer exists");

	AUTO_FREE char *packs = path_join(borrow->common, "objects/pack");
	AUTO_FREE char *refs = path_join(borrow->common, "refs");
	AUTO_FREE char *content = path_join(work->import.folder, "git/lfs/objects");
	bool lfs = access(content, F_OK) == 0;
	const char *const places[] = { own, packs, refs, lfs ? borrow->lfs : NULL, NULL };

	if (make_folder(packs, err) < 0 || make_folder(refs, err) < 0 ||
	    (lfs && make_store(borrow->lfs, err) < 0) || snapshot_confine_writes(places, err) < 0)
		return -1;
	libgit_init();
	limit_self();
	return import_run(borrow, &work->import, json, err);
}

static int clean(const struct gitwork *work, struct borrow *borrow, struct json *json,
		 struct error *err)
{
	AUTO_FD common = borrow->common ? open(borrow->common, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
					: -1;

	(void)json;
	(void)err;
	if (common >= 0)
		import_clean(common, work->import.loop);
	return 0;
}

typedef int work_fn(const struct gitwork *work, struct borrow *borrow, struct json *json,
		    struct error *err);

static int run(work_fn *perform, const struct gitwork *work, struct json *json, struct error *err)
{
	struct borrow borrow;
	int result = borrow_find(work->project, &borrow, err);

	if (result == 0)
		result = perform(work, &borrow, json, err);
	borrow_release(&borrow);
	return result;
}

int gitwork_open(const struct gitwork *work, struct json *json, struct error *err)
{
	return run(open_private, work, json, err);
}

int gitwork_look(const struct gitwork *work, struct json *json, struct error *err)
{
	return run(look, work, json, err);
}

int gitwork_import(const struct gitwork *work, struct json *json, struct error *err)
{
	return run(import, work, json, err);
}

int gitwork_clean(const struct gitwork *work, struct json *json, struct error *err)
{
	return run(clean, work, json, err);
}
