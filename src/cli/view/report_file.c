/* The report of a run: see report_file.h. */
#include "cli/view/report_file.h"

#include "fence/fence_report.h"
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

int report_file_open(struct report_file *report, const char *path, struct error *err)
{
	const char *name = path_name(path);
	AUTO_FREE char *folder = strndup(path, (size_t)(name - path));
	struct stat status;

	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
	    strcmp(path, "/dev/stderr") == 0) {
		/* Duplicated, not reopened: it shares its file offset with other writers. */
		report->direct = fcntl(strcmp(path, "/dev/stderr") == 0 ? 2 : 1, F_DUPFD_CLOEXEC,
				       3);
		if (report->direct < 0)
			return error_sys(err, "%s '%s'", report->option, path);
		report->path = path;
		return 0;
	}
	if (names_a_device(path)) {
		report->direct = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
		if (report->direct < 0)
			return error_sys(err, "%s '%s'", report->option, path);
		report->path = path;
		return 0;
	}
	report->folder = fd_openat2(AT_FDCWD, folder && *folder ? folder : ".",
				    O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
	if (report->folder < 0 && errno == ELOOP)
		return error_set(err,
				 "%s '%s': a folder in the path is a symlink; name its "
				 "target instead",
				 report->option, path);
	if (report->folder < 0 && errno == ENOENT)
		return error_set(err, "%s '%s': there is no folder '%s'", report->option, path,
				 folder);
	if (report->folder < 0)
		return error_sys(err, "%s '%s': open the folder", report->option, path);
	if (!*name)
		return error_set(err, "%s '%s' is a folder; name a file", report->option, path);
	if (fstatat(report->folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
		if (S_ISLNK(status.st_mode) || S_ISDIR(status.st_mode))
			return error_set(err, "%s '%s' is a %s; name a file", report->option, path,
					 S_ISDIR(status.st_mode) ? "folder" : "symlink");
		if (!S_ISREG(status.st_mode)) {
			report->direct = openat(report->folder, name,
						O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
			if (report->direct < 0)
				return error_sys(err, "%s '%s'", report->option, path);
		}
	}
	if (report->direct < 0 && faccessat(report->folder, ".", W_OK, 0) < 0)
		return error_sys(err, "%s '%s'", report->option, path);
	report->path = path;
	report->name = name;
	return 0;
}

void report_file_release(struct report_file *report)
{
	fd_close(&report->folder);
	fd_close(&report->direct);
}

int report_file_write(const struct report_file *report, const struct buffer *json,
		      struct error *err)
{
	int result;

	if (!report->path)
		return 0;
	result = report->direct >= 0 ? fd_write_all(report->direct, json->data, json->used)
				     : fd_replace_file(report->folder, report->name, json->data,
						       json->used, 0644);
	return result < 0 ? error_sys(err, "write the report '%s'", report->path) : 0;
}

int report_file_write_refused(const struct report_file *report, int code, struct error *why)
{
	AUTO_BUFFER struct buffer json = BUFFER_INIT(64 << 20);
	struct fence_result result = {
		.kind = FENCE_SETUP, .code = code, .mechanism = "none", .tripped = FENCE_LIMIT_COUNT
	};

	snprintf(result.why, sizeof result.why, "%s", why->text);
	fence_report_write(NULL, &result, &json);
	return report_file_write(report, &json, why);
}
