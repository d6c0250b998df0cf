/* Files that a command is told to write: see output_file.h. */
#include "cli/output_file.h"

#include "fence/fence_report.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nobody inside the fence can create the symlinks in /dev. */
static bool names_a_device(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 && !strstr(path, "/../");
}

int output_file_open(struct output_file *file, const char *path, struct error *err)
{
	const char *name = path_name(path);
	AUTO_FREE char *folder = strndup(path, (size_t)(name - path));
	struct stat status;

	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
	    strcmp(path, "/dev/stderr") == 0) {
		/* Duplicated, not reopened: it shares its file offset with other writers. */
		file->direct = fcntl(strcmp(path, "/dev/stderr") == 0 ? 2 : 1, F_DUPFD_CLOEXEC, 3);
		if (file->direct < 0)
			return error_sys(err, "%s '%s'", file->option, path);
		file->path = path;
		return 0;
	}
	if (names_a_device(path)) {
		file->direct = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
		if (file->direct < 0)
			return error_sys(err, "%s '%s'", file->option, path);
		file->path = path;
		return 0;
	}
	file->folder = fd_openat2(AT_FDCWD, folder && *folder ? folder : ".",
				  O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
	if (file->folder < 0 && errno == ELOOP)
		return error_set(err,
				 "%s '%s': a folder in the path is a symlink; name its "
				 "target instead",
				 file->option, path);
	if (file->folder < 0 && errno == ENOENT)
		return error_set(err, "%s '%s': there is no folder '%s'", file->option, path,
				 folder);
	if (file->folder < 0)
		return error_sys(err, "%s '%s': open the folder", file->option, path);
	if (!*name)
		return error_set(err, "%s '%s' is a folder; name a file", file->option, path);
	if (fstatat(file->folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
		if ((S_ISLNK(status.st_mode) && !file->document) || S_ISDIR(status.st_mode))
			return error_set(err, "%s '%s' is a %s; name a file", file->option, path,
					 S_ISDIR(status.st_mode) ? "folder" : "symlink");
		if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
			file->direct = openat(file->folder, name,
					      O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
			if (file->direct < 0)
				return error_sys(err, "%s '%s'", file->option, path);
		}
	}
	if (file->direct < 0 && faccessat(file->folder, ".", W_OK, 0) < 0)
		return error_sys(err, "%s '%s'", file->option, path);
	file->path = path;
	file->name = name;
	return 0;
}

void output_file_release(struct output_file *file)
{
	fd_close(&file->folder);
	fd_close(&file->direct);
}

static int replace(const struct output_file *file, const struct buffer *bytes)
{
	return file->document
		       ? durable_replace(file->folder, file->name, bytes->data, bytes->used, 0644)
		       : fd_replace_file(file->folder, file->name, bytes->data, bytes->used, 0644);
}

int output_file_write(const struct output_file *file, const struct buffer *bytes, struct error *err)
{
	int result;

	if (!file->path)
		return 0;
	result = file->direct >= 0 ? fd_write_all(file->direct, bytes->data, bytes->used)
				   : replace(file, bytes);
	return result < 0 ? error_sys(err, "write '%s'", file->path) : 0;
}

int output_file_put(const char *option, const char *path, const struct buffer *bytes,
		    struct error *err)
{
	struct output_file file = OUTPUT_FILE_INIT;
	int result;

	file.option = option;
	file.document = true;
	result = output_file_open(&file, path, err);
	if (result == 0)
		result = output_file_write(&file, bytes, err);
	output_file_release(&file);
	return result;
}

int output_file_write_refused(const struct output_file *file, int code, struct error *why)
{
	AUTO_BUFFER struct buffer json = BUFFER_INIT(64 << 20);
	struct fence_result result = {
		.kind = FENCE_SETUP, .code = code, .mechanism = "none", .tripped = FENCE_LIMIT_COUNT
	};

	snprintf(result.why, sizeof result.why, "%s", why->text);
	fence_report_write(NULL, &result, &json);
	return output_file_write(file, &json, why);
}
