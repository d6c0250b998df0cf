/* Making parts of images: see image_prepared.h. */
#include "ops/image_prepared.h"

#include "image/image_agent.h"
#include "util/env.h"
#include "util/file/dirwalk.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/program.h"
#include "util/text/sha256.h"
#include "util/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MINUTE_MS = 60000, INSTALL_MS = 20 * MINUTE_MS, DEBIAN_MS = 60 * MINUTE_MS };

int image_prepared_init(struct image_prepared *ret_prepared, const struct taint *taint,
			struct error *err)
{
	const char *xdg = env_get("XDG_CACHE_HOME");
	AUTO_FREE char *base = xdg && xdg[0] == '/' ? mem_dup(xdg)
						    : path_join(env_home(), ".cache");
	AUTO_FREE char *cache = path_join(base, "ringfence/images");

	if (base[0] != '/' || (!xdg && !env_home()[0]))
		return error_set(err, "there is no home folder to keep parts of images in");
	if (taint_has(taint, cache))
		return error_with(err, ERROR_REFUSED,
				  "an agent can change '%s', where parts of images are kept: set "
				  "XDG_CACHE_HOME to another folder",
				  cache);
	if (state_folder_make(cache, 0700) < 0)
		return error_sys(err, "create '%s'", cache);
	*ret_prepared = (struct image_prepared){ .cache = mem_dup(cache), .taint = taint };
	return 0;
}

void image_prepared_release(struct image_prepared *prepared)
{
	free(prepared->cache);
	prepared->cache = NULL;
}

int image_prepared_temporary(const struct image_prepared *prepared, char **ret_path,
			     struct error *err)
{
	AUTO_FREE char *path = mem_format("%s/new-XXXXXX", prepared->cache);

	if (!mkdtemp(path))
		return error_sys(err, "create a folder in '%s'", prepared->cache);
	*ret_path = mem_dup(path);
	return 0;
}

void image_prepared_drop(const char *path)
{
	dirwalk_remove(AT_FDCWD, path, NULL);
}

/* Returns the path of what is made of these words. The caller frees it. */
static char *place_of(const struct image_prepared *prepared, const char *kind,
		      const struct list *words, const char *suffix)
{
	struct sha256 sha256;
	char hash[SHA256_HEX];

	sha256_init(&sha256);
	for (size_t i = 0; i < words->count; i++)
		sha256_add(&sha256, words->items[i], strlen(words->items[i]) + 1);
	sha256_end(&sha256, hash);
	return mem_format("%s/%s-%.16s%s", prepared->cache, kind, hash, suffix);
}

/* Runs a program, which must succeed. */
static int run(const struct image_prepared *prepared, const char *path,
	       const struct list *arguments, uint64_t most_ms, struct error *err)
{
	AUTO_BUFFER struct buffer said = BUFFER_INIT(4 << 20);
	struct list environment = { 0 };
	struct program_run all = { .path = path,
				   .arguments = arguments,
				   .environment = &environment,
				   .most_ms = most_ms,
				   .terminal = true,
				   .output = &said,
				   .errors = &said,
				   .heard = prepared->heard,
				   .context = prepared->context };
	int status;

	taint_environment(prepared->taint, &environment);
	status = program_run(&all, err);
	list_release(&environment);
	if (status > 0) {
		enum { MOST = 600 };
		const char *text = buffer_text(&said);
		size_t size = strlen(text);
		AUTO_FREE char *shown = text_escaped(size > MOST ? text + size - MOST : text);

		return error_set(err, "'%s' failed with exit status %d: %s", path_name(path),
				 status, shown);
	}
	return status;
}

/* ---- agents ---- */

/* The mount points and links of a system. */
static int make_folders(const char *root, struct error *err)
{
	static const char *const folders[] = { "usr",  "etc", "opt", "var",  "run",  "tmp",
					       "home", "dev", "sys", "proc", "root", "work" };
	static const char *const links[] = { "bin", "sbin", "lib", "lib64" };

	if (mkdir(root, 0755) < 0)
		return error_sys(err, "create '%s'", root);
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		AUTO_FREE char *path = path_join(root, folders[i]);

		if (mkdir(path, 0755) < 0)
			return error_sys(err, "create '%s'", path);
	}
	for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
		AUTO_FREE char *path = path_join(root, links[i]);
		AUTO_FREE char *target = path_join("usr", links[i]);

		if (symlink(target, path) < 0)
			return error_sys(err, "create '%s'", path);
	}
	return 0;
}

/* Adds the command that runs npm in a fence, which may change only `folder`. */
static void add_npm(const struct image_prepared *prepared, const char *folder,
		    const struct list *packages, struct list *arguments)
{
	static const char *const npm[] = { "--",
					   "npm",
					   "install",
					   "--no-audit",
					   "--no-fund",
					   "--no-save",
					   "--no-package-lock",
					   "--loglevel=error",
					   "--fetch-retries=1" };

	list_add(arguments, "exec");
	list_printf(arguments, "--project=%s", folder);
	list_add(arguments, "--allow=npm");
	for (size_t i = 0; prepared->fence_options && i < prepared->fence_options->count; i++)
		list_add(arguments, prepared->fence_options->items[i]);
	for (size_t i = 0; i < sizeof npm / sizeof *npm; i++)
		list_add(arguments, npm[i]);
	list_printf(arguments, "--prefix=%s", folder);
	for (size_t i = 0; i < packages->count; i++)
		list_add(arguments, packages->items[i]);
}

static int run_npm(const struct image_prepared *prepared, const char *folder,
		   const struct list *packages, struct error *err)
{
	AUTO_FREE char *self = NULL;
	struct list arguments = { 0 };
	int result;

	if (process_beside("ringfence", &self, err) < 0)
		return -1;
	add_npm(prepared, folder, packages, &arguments);
	result = run(prepared, self, &arguments, INSTALL_MS, err);
	list_release(&arguments);
	return result;
}

static int install(const struct image_prepared *prepared, const char *folder,
		   const struct list *packages, struct error *err)
{
	AUTO_FREE char *bin = path_join(folder, "bin");

	if (mkdir(folder, 0755) < 0)
		return error_sys(err, "create '%s'", folder);
	if (packages->count && run_npm(prepared, folder, packages, err) < 0)
		return -1;
	if (symlink("node_modules/.bin", bin) < 0)
		return error_sys(err, "create '%s'", bin);
	return 0;
}

static int make_context(const struct image_prepared *prepared, const char *new,
			const struct list *packages, struct error *err)
{
	AUTO_FREE char *folders = path_join(new, "folders");
	AUTO_FREE char *agents = path_join(new, "agents");

	if (make_folders(folders, err) < 0 || install(prepared, agents, packages, err) < 0)
		return -1;
	return 0;
}

/* Gives a folder its name, unless somebody else was faster. */
static int keep_folder(const struct image_prepared *prepared, const char *new, const char *place,
		       struct error *err)
{
	AUTO_FD cache = open(prepared->cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (cache < 0 || (durable_name_folder(cache, path_name(new), path_name(place)) < 0 &&
			  errno != EEXIST && errno != ENOTEMPTY))
		return error_sys(err, "keep '%s'", place);
	return 0;
}

static int keep_file(const struct image_prepared *prepared, const char *file, const char *place,
		     struct error *err)
{
	AUTO_FD cache = open(prepared->cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD fd = open(file, O_RDONLY | O_CLOEXEC);

	if (cache < 0 || fd < 0 || durable_name(fd, AT_FDCWD, file, cache, path_name(place)) < 0)
		return error_sys(err, "keep '%s'", place);
	return 0;
}

int image_prepared_context(const struct image_prepared *prepared, const struct list *agents,
			   char **ret_path, struct error *err)
{
	struct list packages = { 0 };
	AUTO_FREE char *place = NULL;
	AUTO_FREE char *new = NULL;
	int result = 0;

	image_agent_packages(agents, &packages);
	if (packages.count)
		list_add(&packages, image_agent_node());
	place = place_of(prepared, "agents", &packages, "");
	if (access(place, F_OK) < 0) {
		result = image_prepared_temporary(prepared, &new, err);
		if (result == 0)
			result = make_context(prepared, new, &packages, err);
		if (result == 0)
			result = keep_folder(prepared, new, place, err);
		if (new)
			image_prepared_drop(new);
	}
	list_release(&packages);
	if (result == 0)
		*ret_path = mem_dup(place);
	return result;
}

/* ---- Debian ---- */

static char *find_debootstrap(void)
{
	static const char usual[] = "/usr/sbin/debootstrap";
	char *found = process_find_system("debootstrap", "RINGFENCE_DEBOOTSTRAP");

	return found || access(usual, X_OK) < 0 ? found : mem_dup(usual);
}

static int run_debootstrap(const struct image_prepared *prepared, const struct list *packages,
			   const char *mirror, const char *root, struct error *err)
{
	AUTO_FREE char *program = find_debootstrap();
	AUTO_BUFFER struct buffer include = BUFFER_INIT(1 << 16);
	struct list arguments = { 0 };
	int result;

	if (!program)
		return error_with(
			err, ERROR_NOT_FOUND,
			"debootstrap is not installed: run 'sudo apt install debootstrap', or "
			"choose --from host");
	for (size_t i = 0; i < packages->count; i++)
		buffer_printf(&include, "%s%s", i ? "," : "--include=", packages->items[i]);
	list_add(&arguments, "--variant=minbase");
	list_add(&arguments, buffer_text(&include));
	list_add(&arguments, IMAGE_RECIPE_SUITE);
	list_add(&arguments, root);
	if (mirror)
		list_add(&arguments, mirror);
	result = run(prepared, program, &arguments, DEBIAN_MS, err);
	list_release(&arguments);
	return result;
}

static int pack(const struct image_prepared *prepared, const char *root, const char *file,
		struct error *err)
{
	AUTO_FREE char *tar = process_find_system("tar", "RINGFENCE_TAR");
	struct list arguments = { 0 };
	int result;

	if (!tar)
		return error_with(err, ERROR_NOT_FOUND, "tar is not installed");
	list_add(&arguments, "--numeric-owner");
	list_add(&arguments, "--exclude=./var/cache/apt/archives/*.deb");
	list_add(&arguments, "--exclude=./var/lib/apt/lists/*_*");
	list_add(&arguments, "-C");
	list_add(&arguments, root);
	list_add(&arguments, "-cf");
	list_add(&arguments, file);
	list_add(&arguments, ".");
	result = run(prepared, tar, &arguments, DEBIAN_MS, err);
	list_release(&arguments);
	return result;
}

static int make_debian(const struct image_prepared *prepared, const struct list *packages,
		       const char *mirror, const char *place, struct error *err)
{
	AUTO_FREE char *new = NULL;
	AUTO_FREE char *root = NULL;
	AUTO_FREE char *file = NULL;
	int result = image_prepared_temporary(prepared, &new, err);

	if (result < 0)
		return -1;
	root = path_join(new, "root");
	file = path_join(new, "tar");
	result = run_debootstrap(prepared, packages, mirror, root, err);
	if (result == 0)
		result = pack(prepared, root, file, err);
	if (result == 0)
		result = keep_file(prepared, file, place, err);
	image_prepared_drop(new);
	return result;
}

int image_prepared_debian(const struct image_prepared *prepared, const struct list *packages,
			  const char *mirror, char **ret_path, struct error *err)
{
	AUTO_FREE char *place = place_of(prepared, IMAGE_RECIPE_SUITE, packages, ".tar");

	if (access(place, F_OK) < 0) {
		if (geteuid() != 0)
			return error_with(
				err, ERROR_REFUSED,
				"only root can make a Debian system with debootstrap: choose "
				"--from host, or --from with the name of an image");
		if (make_debian(prepared, packages, mirror, place, err) < 0)
			return -1;
	}
	*ret_path = mem_dup(place);
	return 0;
}
