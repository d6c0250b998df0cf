/* Copying the folder of a build: see image_context.h. */
#include "image/image_context.h"

#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/list.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The hash must not depend on the order of a folder, so the names come first. */
struct names {
	struct list items;
	bool many;
};

static enum dirwalk_verdict visit(void *context, const struct dirwalk_entry *entry)
{
	struct names *names = context;

	if (entry->type == DT_UNKNOWN || (entry->depth == 0 && strcmp(entry->name, ".git") == 0))
		return DIRWALK_PAST;
	names->many = names->items.count >= IMAGE_CONTEXT_FILES;
	if (names->many)
		return DIRWALK_STOP;
	list_add(&names->items, entry->path);
	return DIRWALK_ON;
}

static int refuse_size(struct error *err)
{
	return error_with(err, ERROR_REFUSED,
			  "the folder of the build has more than %d files or %d MiB: put the "
			  "Containerfile into a folder of its own, such as .devcontainer",
			  IMAGE_CONTEXT_FILES, IMAGE_CONTEXT_MIB);
}

static int list_names(int folder, struct list *ret_names, struct error *err)
{
	struct names names = { 0 };
	const struct dirwalk walk = { .visit = visit, .context = &names, .deepest = DIRWALK_DEPTH };

	if (dirwalk_tree(&walk, folder, NULL, err) < 0) {
		list_release(&names.items);
		return names.many ? refuse_size(err) : -1;
	}
	dirwalk_sort(&names.items);
	*ret_names = names.items;
	return 0;
}

struct copy {
	int from, to;
	struct image_context *context;
	struct sha256 hash;
};

static void add_text(struct copy *copy, const char *text)
{
	sha256_add(&copy->hash, text, strlen(text) + 1);
}

/* Opens the folder of a name in the copy. A symlink that was copied is not followed. */
static int open_target(const struct copy *copy, const char *name, struct error *err)
{
	AUTO_FREE char *folder = path_folder(name);
	int fd = fd_openat2(copy->to, folder[0] ? folder : ".", O_RDONLY | O_DIRECTORY, 0,
			    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

	return fd < 0 ? error_sys(err, "copy '%s'", name) : fd;
}

static int copy_link(struct copy *copy, const char *name, struct error *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(copy->from, name, target, sizeof target - 1);

	if (n < 0)
		return error_sys(err, "read the symlink '%s'", name);
	target[n] = '\0';
	add_text(copy, "link");
	add_text(copy, target);
	if (copy->to < 0)
		return 0;

	AUTO_FD folder = open_target(copy, name, err);

	if (folder < 0)
		return -1;
	if (symlinkat(target, folder, path_name(name)) < 0)
		return error_sys(err, "copy the symlink '%s'", name);
	return 0;
}

static int copy_bytes(struct copy *copy, const char *name, int from, int to, struct error *err)
{
	char chunk[1 << 16];
	char size[32];
	uint64_t bytes = 0;
	ssize_t n;

	while ((n = read(from, chunk, sizeof chunk)) > 0) {
		bytes += (uint64_t)n;
		sha256_add(&copy->hash, chunk, (size_t)n);
		if (copy->context->bytes + bytes > (uint64_t)IMAGE_CONTEXT_MIB << 20)
			return refuse_size(err);
		if (to >= 0 && fd_write_all(to, chunk, (size_t)n) < 0)
			return error_sys(err, "copy '%s'", name);
	}
	if (n < 0)
		return error_sys(err, "read '%s'", name);
	/* After the content, so that no content can look like its end and another file. */
	snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
	add_text(copy, size);
	copy->context->bytes += bytes;
	copy->context->files++;
	return 0;
}

/* Creates a file in the copy that everybody in the image may read. Returns it, or -1. */
static int make_file(const struct copy *copy, const char *name, bool program, struct error *err)
{
	AUTO_FD folder = open_target(copy, name, err);
	AUTO_FD file = -1;

	if (folder < 0)
		return -1;
	file = openat(folder, path_name(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0 || fchmod(file, program ? 0755 : 0644) < 0)
		return error_sys(err, "copy '%s'", name);
	return fd_steal(&file);
}

static int copy_file(struct copy *copy, const char *name, struct error *err)
{
	AUTO_FD from = fd_openat2(copy->from, name, O_RDONLY | O_NONBLOCK, 0,
				  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	AUTO_FD to = -1;
	struct stat status;

	if (from < 0 || fstat(from, &status) < 0)
		return error_sys(err, "read '%s'", name);
	if (!S_ISREG(status.st_mode))
		return error_with(err, ERROR_REFUSED, "'%s' is not a file", name);
	add_text(copy, status.st_mode & 0100 ? "program" : "file");
	if (copy->to >= 0 && (to = make_file(copy, name, status.st_mode & 0100, err)) < 0)
		return -1;
	return copy_bytes(copy, name, from, to, err);
}

static int copy_folder(struct copy *copy, const char *name, struct error *err)
{
	add_text(copy, "folder");
	if (copy->to < 0)
		return 0;

	AUTO_FD folder = open_target(copy, name, err);

	if (folder < 0)
		return -1;
	if (mkdirat(folder, path_name(name), 0755) < 0)
		return error_sys(err, "copy the folder '%s'", name);
	return 0;
}

static int copy_entry(struct copy *copy, const char *name, struct error *err)
{
	struct stat status;

	if (fstatat(copy->from, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return error_sys(err, "look at '%s'", name);
	add_text(copy, name);
	if (S_ISLNK(status.st_mode))
		return copy_link(copy, name, err);
	return S_ISDIR(status.st_mode) ? copy_folder(copy, name, err) : copy_file(copy, name, err);
}

int image_context_copy(int project, const char *path, int target, struct image_context *ret_context,
		       struct error *err)
{
	AUTO_FD folder = fd_openat2(project, path[0] ? path : ".", O_RDONLY | O_DIRECTORY, 0,
				    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	struct image_context context = { 0 };
	struct copy copy = { .from = folder, .to = target, .context = &context };
	struct list names = { 0 };
	int result = 0;

	if (folder < 0)
		return error_sys(err, "open the folder of the build '%s'", path);
	sha256_init(&copy.hash);
	if (list_names(folder, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count && result == 0; i++)
		result = copy_entry(&copy, names.items[i], err);
	list_release(&names);
	sha256_end(&copy.hash, context.hash);
	if (result == 0)
		*ret_context = context;
	return result;
}
