/* Folders that the checks keep: see check_cache.h. */
#include "loop/run/check_cache.h"

#include "draft/draft.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* A folder in a view. */
struct place {
	const char *path; /* in the project */
	int above;        /* descriptor of the folder that contains it */
	char *kept;       /* where it is between rounds */
};

static int open_inside(int folder, const char *path)
{
	return fd_openat2(folder, *path ? path : ".", O_RDONLY | O_DIRECTORY, 0,
			  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Opens the folder above a path, which is made with the modes of the project's. */
static int open_above(const struct supervisor *sup, int files, const char *path)
{
	AUTO_FREE char *above = path_folder(path);

	for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
		AUTO_FREE char *each = strndup(path, (size_t)(end - path));
		AUTO_FREE char *original = path_join(sup->state.options.project, each);
		AUTO_FREE char *outer = path_folder(each);
		AUTO_FD folder = open_inside(files, outer);
		struct stat status = { .st_mode = 0755 };

		if (stat(original, &status) < 0 && errno != ENOENT)
			return -1;
		if (folder < 0 || (mkdirat(folder, path_name(each), status.st_mode & 07777) < 0 &&
				   errno != EEXIST))
			return -1;
	}
	return open_inside(files, above);
}

/* Hides what is below the folder in an overlay: root's marks differ from a user's. */
static int cover(int above, const char *name)
{
	AUTO_FD folder = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *mark = geteuid() == 0 ? "trusted.overlay.opaque" : "user.overlay.opaque";

	return folder < 0 ? -1 : fsetxattr(folder, mark, "y", 1, 0);
}

/* Replaces the folder in the view by the one that was kept, or by an empty one. */
static int bring(const struct place *place, bool layered)
{
	const char *name = path_name(place->path);

	if (dirwalk_remove(place->above, name, NULL) < 0 && errno != ENOENT)
		return -1;
	if (renameat(AT_FDCWD, place->kept, place->above, name) < 0 &&
	    (errno != ENOENT || mkdirat(place->above, name, 0755) < 0))
		return -1;
	return layered ? cover(place->above, name) : 0;
}

static void keep(const struct place *place)
{
	const char *name = path_name(place->path);
	struct stat status;

	/* A check may have replaced it. */
	if (fstatat(place->above, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISDIR(status.st_mode))
		return;
	if (renameat(place->above, name, AT_FDCWD, place->kept) < 0)
		fprintf(stderr, "keep '%s' of the checks: %m\n", place->path);
}

/* Opens the files of a view, or returns -1 with err set. */
static int open_files(const char *view, struct error *err)
{
	AUTO_FREE char *path = draft_files(view, err);
	int files = path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	return path && files < 0 ? error_sys(err, "open '%s'", path) : files;
}

/* Finds the i-th folder. Returns false if its place in the view cannot be opened. The caller closes
 * `above` and frees `kept`. */
static bool find(const struct supervisor *sup, int files, size_t i, struct place *ret_place)
{
	const char *path = json_string_value(json_array_get(sup->state.options.check_cache, i));

	*ret_place = (struct place){ .path = path,
				     .above = open_above(sup, files, path),
				     .kept = mem_format("%s/check-cache/%zu", sup->folder, i) };
	return ret_place->above >= 0;
}

int check_cache_bring(const struct supervisor *sup, const char *view, struct error *err)
{
	size_t count = json_array_size(sup->state.options.check_cache);
	AUTO_FREE char *all = path_join(sup->folder, "check-cache");
	AUTO_FD files = count ? open_files(view, err) : -1;
	int result = 0;

	if (!count)
		return 0;
	if (files < 0)
		return -1;
	if (mkdir(all, 0700) < 0 && errno != EEXIST)
		return error_sys(err, "create '%s'", all);
	for (size_t i = 0; i < count && result == 0; i++) {
		struct place place;

		if (!find(sup, files, i, &place) || bring(&place, draft_is_layered(view)) < 0)
			result = error_sys(err, "give the checks their own '%s'", place.path);
		fd_close(&place.above);
		free(place.kept);
	}
	return result;
}

void check_cache_keep(const struct supervisor *sup, const char *view)
{
	size_t count = json_array_size(sup->state.options.check_cache);
	struct error ignored;
	AUTO_FD files = count ? open_files(view, &ignored) : -1;

	for (size_t i = 0; i < count && files >= 0; i++) {
		struct place place;

		if (find(sup, files, i, &place))
			keep(&place);
		fd_close(&place.above);
		free(place.kept);
	}
}

void check_cache_drop(const struct supervisor *sup)
{
	AUTO_FREE char *all = path_join(sup->folder, "check-cache");

	if (dirwalk_remove(AT_FDCWD, all, NULL) < 0 && errno != ENOENT)
		fprintf(stderr, "remove '%s': %m\n", all); /* the content may be damaged */
}
