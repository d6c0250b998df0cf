/* The JSON report: see report.h. */
#include "cli/report.h"

#include "util/fd.h"
#include "util/mem.h"
#include "util/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void add_found(struct buffer *json, const struct fence_found *found, bool *first)
{
	for (size_t i = 0; i < found->count; i++) {
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

static void add_result(struct buffer *json, const struct fence_plan *plan, const struct fence_result *result)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} weaker[] = {
		{FENCE_WEAKER_NO_FENCE, "no fence"},
		{FENCE_WEAKER_LANDLOCK, "landlock"},
		{FENCE_WEAKER_ABSTRACT_SOCKETS, "abstract-sockets"},
	};
	bool first = true;

	buffer_add_text(json, "{\n  \"mechanism\": ");
	text_json(json, result->mechanism);
	buffer_add_text(json, ",\n  \"weaker\": [");
	for (size_t i = 0; i < sizeof weaker / sizeof *weaker; i++) {
		if (result->weaker & weaker[i].bit) {
			buffer_printf(json, "%s\"%s\"", first ? "" : ", ", weaker[i].name);
			first = false;
		}
	}
	buffer_printf(json, "],\n  \"canaries\": {\"passed\": %u, \"total\": %u},\n", result->canaries_held, result->canaries_total);
	buffer_printf(json, "  \"exit\": {\"kind\": \"%s\", \"code\": %d, \"why\": ", fence_exit_name(result->kind), result->code);
	text_json(json, result->why);
	buffer_add_text(json, "},\n  \"quarantined\": [");
	first = true;
	if (plan)
		add_found(json, &plan->recovered, &first);
	add_found(json, &result->found, &first);
	buffer_printf(json, "],\n  \"duration_ms\": %lu\n}\n", (unsigned long)result->duration_ms);
}

/* A device or a pipe is written to; a file appears whole, under a name of its own until then. */
static int store(const char *path, const struct buffer *json, struct error *err)
{
	AUTO_FREE char *draft = mem_format("%s.%d", path, getpid());
	struct stat status;
	bool direct = lstat(path, &status) == 0 && !S_ISREG(status.st_mode); /* also a symlink such as /dev/stderr */
	AUTO_FD fd = direct ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) : open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return error_sys(err, "write the report '%s'", path);
	if (fd_write_all(fd, json->data, json->used) < 0 || (!direct && rename(draft, path) < 0)) {
		error_sys(err, "write the report '%s'", path);
		if (!direct)
			unlink(draft);
		return -1;
	}
	return 0;
}

int report_write(const char *path, const struct fence_plan *plan, const struct fence_result *result, struct error *err)
{
	AUTO_BUFFER struct buffer json = BUFFER_INIT(16 << 20);

	add_result(&json, plan, result);
	return store(path, &json, err);
}

int report_write_refused(const char *path, int code, struct error *why)
{
	struct fence_result result = {.kind = FENCE_SETUP, .code = code, .mechanism = "none"};

	snprintf(result.why, sizeof result.why, "%s", why->text);
	return report_write(path, NULL, &result, why);
}
