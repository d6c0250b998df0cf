/* Notices: see notice.h. */
#include "cli/view/notice.h"

#include "cli/view/page.h"
#include "settings/hint.h"
#include "util/buffer.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/shell.h"
#include "util/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void notice(const char *text)
{
	page_report("[ringfence]", text);
}

void notice_all(const struct list *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		notice(texts->items[i]);
}

void notice_format(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);

	AUTO_FREE char *text = mem_format_list(format, arguments);

	va_end(arguments);
	notice(text);
}

/* One file of a list that is shown by tool. */
struct named {
	const char *by;
	const char *path;
};

static bool is_first_of_tool(const struct named *all, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(all[i].by, all[index].by) == 0)
			return false;
	return true;
}

/* Appends "; Cargo: .cargo/config.toml and 2 more" for every tool. */
static void add_tools(struct buffer *text, const struct named *all, size_t count)
{
	for (size_t first = 0; first < count; first++) {
		size_t more = 0;

		if (!is_first_of_tool(all, first))
			continue;
		for (size_t i = first + 1; i < count; i++)
			more += strcmp(all[i].by, all[first].by) == 0;
		buffer_printf(text, "%s %s: %s", text->used ? ";" : "", all[first].by,
			      all[first].path);
		if (more)
			buffer_printf(text, " and %zu more", more);
	}
}

/* Reports flagged files in one notice, by tool, so that many of one tool do not bury another. */
static void notice_flagged(const struct fence_found *found)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	AUTO_FREE struct named *all = mem_zero((found->flagged_count + 1) * sizeof *all);

	for (size_t i = 0; i < found->flagged_count; i++)
		all[i] = (struct named){ found->flagged[i].by, found->flagged[i].path };
	add_tools(&text, all, found->flagged_count);
	if (text.used)
		notice_format(
			"review these new or changed files, which tools run or obey when they start:%s",
			buffer_text(&text));
}

/* A path as the user would write it in the project. */
static const char *inside(const char *project, const char *path)
{
	return path_within(path, project) && strcmp(path, project) != 0 ? path + strlen(project) + 1
									: path;
}

/* Returns the folder of the quarantine that has the file at `path`. The caller frees it. */
static char *quarantine_of(const char *kept, const char *path)
{
	size_t size = strlen(kept);
	size_t tail = strlen(path);

	if (size > tail && strcmp(kept + size - tail, path) == 0)
		return mem_format("%.*s", (int)(size - tail - (kept[size - tail - 1] == '/')),
				  kept);
	return mem_dup(kept);
}

/* Reports many files in one notice, by tool. */
static void notice_many(const struct named *all, size_t count, const char *kept)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	AUTO_FREE char *folder = quarantine_of(kept, all[0].path);

	add_tools(&text, all, count);
	notice_format("quarantined %zu new files or folders:%s -> %s", count, buffer_text(&text),
		      folder);
}

static void notice_keep(const char *path)
{
	AUTO_FREE char *name = shell_quoted(path);

	notice_format("to keep one, bring it back: ringfence quarantine restore %s", name);
}

static void notice_failed(const struct fence_found *found)
{
	for (size_t i = 0; i < found->count; i++)
		if (!found->items[i].kept)
			notice_format(
				"COULD NOT quarantine %s (new; %s): remove it before you use this folder",
				found->items[i].path, found->items[i].reason);
}

void notice_found(const struct fence_found *found, const char *project)
{
	enum { MOST_LINES = 5 };
	AUTO_FREE struct named *all = mem_zero((found->count + 1) * sizeof *all);
	const struct fence_found_item *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < found->count; i++) {
		if (!found->items[i].kept)
			continue;
		first = first ? first : &found->items[i];
		all[count++] = (struct named){ found->items[i].reason,
					       inside(project, found->items[i].path) };
	}
	if (count > MOST_LINES)
		notice_many(all, count, first->kept);
	for (size_t i = 0, at = 0; i < found->count && count <= MOST_LINES; i++)
		if (found->items[i].kept) {
			notice_format("quarantined %s (new; %s) -> %s", all[at].path, all[at].by,
				      found->items[i].kept);
			at++;
		}
	if (first)
		notice_keep(first->path);
	notice_failed(found);
	notice_flagged(found);
}

/* Appends the keys of inactive settings, each once. */
static void add_inactive(struct buffer *keys, const struct config *config,
			 bool (*applies)(const struct setting *setting))
{
	bool named[SETTING_ID_COUNT] = { 0 };

	for (size_t i = 0; i < config->count; i++) {
		const struct setting *setting = config->values[i].setting;

		if (config->values[i].state != CONFIG_INACTIVE || named[setting->id] ||
		    (applies && !applies(setting)))
			continue;
		buffer_printf(keys, "%s%s", keys->used ? ", " : "", setting->key);
		named[setting->id] = true;
	}
}

bool notice_is_general(const struct setting *setting)
{
	return !setting->loop_only;
}

void notice_config(const struct config *config, bool (*applies)(const struct setting *setting))
{
	AUTO_BUFFER struct buffer keys = BUFFER_INIT(4096);

	for (size_t i = 0; i < config->notices.count; i++)
		notice(config->notices.items[i]);
	add_inactive(&keys, config, applies);
	if (keys.used) {
		AUTO_FREE char *text = mem_format(
			"%s widens the fence (%s), which is inactive until you run: ringfence trust",
			CONFIG_FILE, buffer_text(&keys));

		notice(text);
	}
}

void notice_part(const struct effective *effective)
{
	AUTO_FREE char *text = effective->spec.project ? NULL : hint_part(&effective->place);

	if (text)
		notice(text);
}
