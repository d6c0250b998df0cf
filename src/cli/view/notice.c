/* Notices: see notice.h. */
#include "cli/view/notice.h"

#include "cli/view/page.h"
#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void notice(const char *text)
{
	page_report("[ringfence]", text);
}

void notice_format(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);

	AUTO_FREE char *text = mem_format_list(format, arguments);

	va_end(arguments);
	notice(text);
}

static bool is_first_of_tool(const struct fence_found *found, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(found->flagged[i].by, found->flagged[index].by) == 0)
			return false;
	return true;
}

/* Appends "; Cargo: .cargo/config.toml and 2 more". */
static void add_tool(struct buffer *text, const struct fence_found *found, size_t first)
{
	const struct fence_flagged *flagged = &found->flagged[first];
	size_t more = 0;

	for (size_t i = first + 1; i < found->flagged_count; i++)
		more += strcmp(found->flagged[i].by, flagged->by) == 0;
	buffer_printf(text, "%s %s: %s", text->used ? ";" : "", flagged->by, flagged->path);
	if (more)
		buffer_printf(text, " and %zu more", more);
}

/* Reports flagged files in one notice, by tool, so that many of one tool do not bury another. */
static void notice_flagged(const struct fence_found *found)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);

	for (size_t i = 0; i < found->flagged_count; i++)
		if (is_first_of_tool(found, i))
			add_tool(&text, found, i);
	if (text.used)
		notice_format(
			"review these new or changed files, which tools run or obey when they start:%s",
			buffer_text(&text));
}

void notice_found(const struct fence_found *found)
{
	enum { MOST_LINES = 20 };

	for (size_t i = 0; i < found->count; i++) {
		const struct fence_found_item *at = &found->items[i];
		AUTO_FREE char *text =
			at->kept
				? mem_format("quarantined %s (new; %s) -> %s", at->path, at->reason,
					     at->kept)
				: mem_format(
					  "COULD NOT quarantine %s (new; %s): remove it before you use this folder",
					  at->path, at->reason);

		if (i < MOST_LINES || !at->kept)
			notice(text);
	}
	if (found->count > MOST_LINES)
		notice_format("quarantined %zu entries in total; --report lists them",
			      found->count);
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
