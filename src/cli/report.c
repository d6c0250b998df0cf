/* The JSON report: see report.h. */
#include "cli/report.h"

#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/sha256.h"
#include "util/state.h"
#include "util/text.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void add_found(struct buffer *json, const struct fence_found *found, bool *first)
{
	enum { MOST_LISTED = 10000 };

	for (size_t i = 0; i < found->count && i < MOST_LISTED; i++) {
		buffer_add_text(json, *first ? "{\"path\": " : ", {\"path\": ");
		text_json(json, found->items[i].path);
		buffer_add_text(json, ", \"reason\": ");
		text_json(json, found->items[i].reason);
		buffer_add_text(json, ", \"kept\": ");
		if (found->items[i].kept)
			text_json(json, found->items[i].kept);
		else
			buffer_add_text(json, "null");
		buffer_add_text(json, "}");
		*first = false;
	}
}

static void add_denial(struct buffer *json, const struct fence_denial *denial)
{
	const struct {
		const char *name, *value;
	} texts[] = { { "kind", denial->kind },
		      { "target", denial->target },
		      { "rule", denial->rule },
		      { "origin", denial->origin } };

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		buffer_printf(json, "%s\"%s\": ", i ? ", " : "{", texts[i].name);
		text_json(json, texts[i].value);
	}
	buffer_printf(json, ", \"pid\": %d, \"argv\": [", denial->pid);
	for (size_t i = 0; i < denial->argv.count; i++) {
		buffer_add_text(json, i ? ", " : "");
		text_json(json, denial->argv.items[i]);
	}
	buffer_printf(json, "], \"count\": %lu}", (unsigned long)denial->count);
}

static void add_number(struct buffer *json, const char *name, uint64_t number)
{
	buffer_printf(json, "\"%s\": %llu", name, (unsigned long long)number);
}

/* Those that were asked for, and what was used in any case. */
static void add_limits(struct buffer *json, const struct fence_result *result)
{
	bool first = true;

	buffer_add_text(json, "  \"limits\": {");
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++) {
		if (!result->limits[i].value)
			continue;
		buffer_printf(json, "%s\"%s\": {", first ? "" : ", ",
			      fence_limit_name((enum fence_limit)i));
		add_number(json, "value", result->limits[i].value);
		buffer_printf(json, ", \"how\": \"%s\"}", fence_how_name(result->limits[i].how));
		first = false;
	}
	buffer_add_text(json, "},\n  \"use\": {");
	add_number(json, "cpu_ms", result->use.cpu_ms);
	buffer_add_text(json, ", ");
	add_number(json, "memory_peak", result->use.memory_peak);
	buffer_add_text(json, ", ");
	add_number(json, "disk_written", result->use.disk_written);
	buffer_add_text(json, ", ");
	add_number(json, "processes_peak", result->use.processes_peak);
	buffer_add_text(json, "},\n");
}

static void add_result(struct buffer *json, const struct fence_plan *plan,
		       const struct fence_result *result)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} weaker[] = {
		{ FENCE_WEAKER_NO_FENCE, "no fence" },
		{ FENCE_WEAKER_LANDLOCK, "landlock" },
		{ FENCE_WEAKER_ABSTRACT_SOCKETS, "abstract-sockets" },
	};
	bool first = true;

	buffer_add_text(json, "{\n  \"project\": ");
	if (plan)
		text_json(json, plan->project);
	else
		buffer_add_text(json, "null");
	buffer_add_text(json, ",\n  \"mechanism\": ");
	text_json(json, result->mechanism);
	buffer_add_text(json, ",\n  \"weaker\": [");
	for (size_t i = 0; i < sizeof weaker / sizeof *weaker; i++) {
		if (result->weaker & weaker[i].bit) {
			buffer_printf(json, "%s\"%s\"", first ? "" : ", ", weaker[i].name);
			first = false;
		}
	}
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++) {
		if (result->weaker_limits & 1U << i) {
			buffer_printf(json, "%s\"%s\"", first ? "" : ", ",
				      fence_limit_name((enum fence_limit)i));
			first = false;
		}
	}
	buffer_printf(json, "],\n  \"canaries\": {\"passed\": %u, \"total\": %u},\n",
		      result->canaries_held, result->canaries_total);
	add_limits(json, result);
	buffer_printf(json, "  \"exit\": {\"kind\": \"%s\", \"code\": %d, \"limit\": ",
		      fence_exit_name(result->kind), result->code);
	if (result->tripped == FENCE_LIMIT_COUNT)
		buffer_add_text(json, "null");
	else
		text_json(json, fence_limit_name(result->tripped));
	buffer_add_text(json, ", \"why\": ");
	text_json(json, result->why);
	buffer_add_text(json, "},\n  \"quarantined\": [");
	first = true;
	if (plan)
		add_found(json, &plan->recovered, &first);
	add_found(json, &result->found, &first);
	buffer_printf(json, "],\n  \"quarantined_total\": %zu,\n",
		      result->found.count + (plan ? plan->recovered.count : 0));
	buffer_add_text(json, "  \"denials\": [");
	for (size_t i = 0; i < result->denials.count; i++) {
		buffer_add_text(json, i ? ",\n    " : "\n    ");
		add_denial(json, &result->denials.items[i]);
	}
	buffer_printf(json, "],\n  \"denials_unlisted\": %lu,\n",
		      (unsigned long)result->denials.unlisted);
	buffer_printf(json, "  \"duration_ms\": %lu\n}\n", (unsigned long)result->duration_ms);
}

/* /dev/stdout and the like are symlinks that nobody inside can have made. */
static bool names_a_device(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 && !strstr(path, "/../");
}

int report_open(struct report *report, const char *path, struct error *err)
{
	const char *name = path_name(path);
	AUTO_FREE char *folder = strndup(path, (size_t)(name - path));
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS };
	struct stat status;

	if (names_a_device(path)) {
		report->direct = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
		if (report->direct < 0)
			return error_sys(err, "--report '%s'", path);
		report->path = path;
		return 0;
	}
	report->folder = (int)syscall(SYS_openat2, AT_FDCWD, folder && *folder ? folder : ".", &how,
				      sizeof how);
	if (report->folder < 0 || !*name)
		return error_sys(err, "--report '%s' (a path without symlinks is needed)", path);
	if (fstatat(report->folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
		if (S_ISLNK(status.st_mode) || S_ISDIR(status.st_mode))
			return error_set(err, "--report '%s' is a %s; name a file", path,
					 S_ISDIR(status.st_mode) ? "folder" : "symlink");
		if (!S_ISREG(status.st_mode)) {
			report->direct = openat(report->folder, name,
						O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
			if (report->direct < 0)
				return error_sys(err, "--report '%s'", path);
		}
	}
	if (report->direct < 0 && faccessat(report->folder, ".", W_OK, 0) < 0)
		return error_sys(err, "--report '%s'", path);
	report->path = path;
	report->name = name;
	return 0;
}

void report_release(struct report *report)
{
	fd_close(&report->folder);
	fd_close(&report->direct);
}

/* A file appears whole, under a name of its own until then. */
static int store(const struct report *report, const struct buffer *json, struct error *err)
{
	AUTO_FREE char *draft = mem_format(".%.200s.%d", report->name, getpid());
	AUTO_FD file = -1;

	if (report->direct >= 0)
		return fd_write_all(report->direct, json->data, json->used) < 0
			       ? error_sys(err, "write the report '%s'", report->path)
			       : 0;
	file = openat(report->folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (file < 0)
		return error_sys(err, "write the report '%s'", report->path);
	if (fd_write_all(file, json->data, json->used) < 0 ||
	    renameat(report->folder, draft, report->folder, report->name) < 0) {
		error_sys(err, "write the report '%s'", report->path);
		unlinkat(report->folder, draft, 0);
		return -1;
	}
	return 0;
}

char *report_kept_path(const char *state, const char *project)
{
	char hash[SHA256_HEX];

	sha256_hex(project, strlen(project), hash);
	return mem_format("%s/denials/%s.json", state, hash);
}

/* For `ringfence suggest`: the report of the last run, if something was denied in it. */
static void keep(const struct fence_plan *plan, const struct fence_result *result,
		 const struct buffer *json)
{
	AUTO_FREE char *path = report_kept_path(plan->state, plan->project);
	AUTO_FREE char *folder = path_join(plan->state, "denials");
	AUTO_FREE char *draft = mem_format("%s.%d", path, getpid());

	if (!result->denials.count) {
		unlink(path);
		return;
	}
	if (make_folders(folder, 0700) < 0)
		return;

	AUTO_FD fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || fd_write_all(fd, json->data, json->used) < 0 || rename(draft, path) < 0)
		unlink(draft);
}

int report_write(const struct report *report, const struct fence_plan *plan,
		 const struct fence_result *result, struct error *err)
{
	AUTO_BUFFER struct buffer json = BUFFER_INIT(64 << 20);

	if (!report->path && !plan)
		return 0;
	add_result(&json, plan, result);
	if (plan)
		keep(plan, result, &json);
	return report->path ? store(report, &json, err) : 0;
}

int report_write_refused(const struct report *report, int code, struct error *why)
{
	struct fence_result result = {
		.kind = FENCE_SETUP, .code = code, .mechanism = "none", .tripped = FENCE_LIMIT_COUNT
	};

	snprintf(result.why, sizeof result.why, "%s", why->text);
	return report_write(report, NULL, &result, why);
}
