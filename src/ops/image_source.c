/* A project's own image: see image_source.h. */
#include "ops/image_source.h"

#include "config/trust.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CONTAINERFILE_MAX = 1 << 20 };

static const struct {
	const char *file, *folder;
	bool json;
} places[] = {
	{ ".devcontainer/devcontainer.json", ".devcontainer", true },
	{ ".devcontainer.json", "", true },
	{ "Containerfile", "", false },
	{ "Dockerfile", "", false },
};

const char *image_source_place(size_t index)
{
	return index < sizeof places / sizeof *places ? places[index].file : NULL;
}

/* Reads a file below the project, by no symlink. Returns 0, or -1 with errno. */
static int read_below(int project, const char *name, struct buffer *bytes)
{
	AUTO_FD fd = fd_openat2(project, name, O_RDONLY | O_NONBLOCK, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -1;
	if (!S_ISREG(status.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	return fd_read_all(fd, bytes);
}

/* Finds the file that decides. Returns its place with its bytes, or -1 with err set. */
static int find_file(int project, struct buffer *bytes, struct error *err)
{
	for (int i = 0; i < (int)(sizeof places / sizeof *places); i++) {
		if (read_below(project, places[i].file, bytes) == 0)
			return i;
		if (errno != ENOENT && errno != ENOTDIR)
			return error_sys(err, "read '%s'", places[i].file);
	}
	return error_with(err, ERROR_NOT_FOUND,
			  "the project has no .devcontainer/devcontainer.json, Containerfile or "
			  "Dockerfile");
}

static int describe(int place, struct buffer *bytes, struct devcontainer *ret_found,
		    struct error *err)
{
	struct error why;

	if (!places[place].json) {
		*ret_found = (struct devcontainer){ .containerfile = mem_dup(places[place].file),
						    .context = mem_dup(places[place].folder) };
		return 0;
	}
	if (devcontainer_read(buffer_text(bytes), bytes->used, places[place].folder, ret_found,
			      &why) < 0)
		return error_with(err, why.status, "%s: %s", places[place].file, why.text);
	return 0;
}

/* Adds the Containerfile and the folder of the build. */
static int add_build(int project, int target, struct image_source *source, struct sha256 *hash,
		     struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(CONTAINERFILE_MAX);
	AUTO_FD context = -1;

	if (read_below(project, source->found.containerfile, &bytes) < 0)
		return error_sys(err, "read the Containerfile '%s'", source->found.containerfile);
	sha256_add(hash, buffer_text(&bytes), bytes.used);
	if (target >= 0) {
		if (fd_replace_file(target, "Containerfile", buffer_text(&bytes), bytes.used,
				    0600) < 0 ||
		    mkdirat(target, "context", 0700) < 0)
			return error_sys(err, "copy the Containerfile");
		context = openat(target, "context", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (image_context_copy(project, source->found.context, context, &source->context, err) < 0)
		return -1;
	sha256_add(hash, source->context.hash, sizeof source->context.hash);
	return 0;
}

int image_source_load(const char *project, int target, struct image_source *ret_source,
		      struct error *err)
{
	AUTO_FD folder = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(CONTAINERFILE_MAX);
	struct image_source source = { 0 };
	struct sha256 hash;
	int place;

	if (folder < 0)
		return error_sys(err, "open the project '%s'", project);
	place = find_file(folder, &bytes, err);
	if (place < 0 || describe(place, &bytes, &source.found, err) < 0)
		return -1;
	source.file = path_join(project, places[place].file);
	sha256_init(&hash);
	sha256_add(&hash, buffer_text(&bytes), bytes.used);
	if (source.found.containerfile && add_build(folder, target, &source, &hash, err) < 0) {
		image_source_release(&source);
		return -1;
	}
	sha256_end(&hash, source.hash);
	*ret_source = source;
	return 0;
}

void image_source_release(struct image_source *source)
{
	free(source->file);
	devcontainer_release(&source->found);
	*source = (struct image_source){ 0 };
}

void image_source_honoured(const struct image_source *source, struct list *lines)
{
	const struct devcontainer *found = &source->found;

	if (found->image)
		list_printf(lines, "image: %s", found->image);
	if (found->containerfile) {
		list_printf(lines, "build.dockerfile: %s", found->containerfile);
		list_printf(lines, "build.context: %s (%zu files, %llu bytes)",
			    found->context[0] ? found->context : ".", source->context.files,
			    (unsigned long long)source->context.bytes);
	}
	if (found->target)
		list_printf(lines, "build.target: %s", found->target);
	for (size_t i = 0; i < found->arguments.count; i++)
		list_printf(lines, "build.args: %s", found->arguments.items[i]);
}

int image_source_trusted(const char *state, const struct image_source *source, struct error *err)
{
	struct trust trust;
	int result;

	if (trust_find(state, source->file, &trust, err) < 0)
		return -1;
	result = trust.path && strcmp(trust.hash, source->hash) == 0;
	trust_release(&trust);
	return result;
}
