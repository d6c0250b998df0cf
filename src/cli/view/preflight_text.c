/* Printing a preflight: see preflight_text.h. */
#include "cli/view/preflight_text.h"

#include "cli/cli.h"
#include "cli/view/notice.h"
#include "util/mem.h"
#include "util/text/json.h"
#include "util/text/text.h"

#include <stdio.h>

void preflight_text_print(const struct preflight_items *items)
{
	enum { COLUMN = 15, INDENT = COLUMN + 3 };

	for (size_t i = 0; i < items->count; i++) {
		const struct preflight_item *item = &items->items[i];
		AUTO_FREE char *detail = text_escaped(item->detail);
		AUTO_FREE char *fix = item->fix ? text_escaped(item->fix) : NULL;

		printf("%-4s  %-7s  ", preflight_state_name(item->state), item->name);
		cli_print_wrapped(detail, COLUMN);
		if (!fix)
			continue;
		printf("%*s-> ", COLUMN, "");
		cli_print_wrapped(fix, INDENT);
	}
	printf("\n%s\n", preflight_items_have(items, PREFLIGHT_FAIL) ? "The loop would fail."
								     : "The loop can start.");
}

static void add_secrets(struct json *json, const struct preflight_items *items)
{
	json_open(json, "secrets", '[');
	for (size_t i = 0; i < items->secret_count; i++) {
		const struct preflight_secret *secret = &items->secrets[i];

		json_open(json, NULL, '{');
		json_text(json, "path", secret->path);
		json_number(json, "line", secret->line);
		json_text(json, "commit", secret->commit);
		json_text(json, "what", secret->what);
		json_text(json, "shown", secret->shown);
		json_close(json);
	}
	json_close(json);
}

void preflight_text_print_json(const struct preflight_items *items)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	struct json json = JSON_INIT(&out);

	json_open(&json, NULL, '{');
	json_flag(&json, "ok", !preflight_items_have(items, PREFLIGHT_FAIL));
	json_open(&json, "items", '[');
	for (size_t i = 0; i < items->count; i++) {
		const struct preflight_item *item = &items->items[i];

		json_open(&json, NULL, '{');
		json_text(&json, "name", item->name);
		json_text(&json, "state", preflight_state_name(item->state));
		json_text(&json, "detail", item->detail);
		json_text(&json, "fix", item->fix);
		json_close(&json);
	}
	json_close(&json);
	add_secrets(&json, items);
	json_close(&json);
	fputs(buffer_text(&out), stdout);
}

void preflight_text_notice(const struct preflight_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct preflight_item *item = &items->items[i];

		if (item->state != PREFLIGHT_PASS && !item->known)
			notice_format("%s: %s%s%s", item->name, item->detail,
				      item->fix ? "; to fix it: " : "", item->fix ? item->fix : "");
	}
}
