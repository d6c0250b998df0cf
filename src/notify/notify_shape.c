/* The shapes of messages: see notify_shape.h. */
#include "notify/notify_shape.h"

#include "notify/notify_plan.h"
#include "util/mem.h"
#include "util/text/base64.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define TELEGRAM "https://api.telegram.org/bot"

enum {
	DISCORD_MAX = 1900, /* Discord refuses more than 2,000 characters */
	TEXT_MAX = 4000,    /* Telegram refuses more than 4,096 */
	BODY_MAX = 64 << 10
};

static void add_json(json_t *object, struct buffer *out)
{
	AUTO_FREE char *text = json_dumps(object, JSON_COMPACT);

	if (text)
		buffer_add_text(out, text);
	json_decref(object);
}

static char *first(const char *text, size_t most)
{
	return mem_format("%.*s", (int)text_first(text, strlen(text), most), text);
}

static char *plain(const struct notify_message *message)
{
	AUTO_FREE char *text = mem_format("%s\n%s", message->title, message->text);

	return first(text, TEXT_MAX);
}

/* Appends text in which these characters are replaced. */
static void add_replaced(struct buffer *out, const char *text, const char *chars,
			 const char *const *replacements)
{
	for (; *text; text++) {
		const char *found = strchr(chars, *text);

		if (found)
			buffer_add_text(out, replacements[found - chars]);
		else
			buffer_add(out, text, 1);
	}
}

/* For Slack's fallback text and the body on the desktop. */
static char *without_tags(const char *text)
{
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;" };
	AUTO_BUFFER struct buffer out = BUFFER_INIT(8 * TEXT_MAX);

	add_replaced(&out, text, "&<>", entities);
	return mem_dup(buffer_text(&out));
}

/* Slack shows plain_text as it is: no mentions, no links, no markup. */
static void shape_slack(const struct notify_message *message, struct buffer *out)
{
	AUTO_FREE char *all = plain(message);
	AUTO_FREE char *text = first(all, 2900);
	AUTO_FREE char *fallback = without_tags(text);

	add_json(json_pack("{s:s, s:b, s:b, s:b, s:[{s:s, s:{s:s, s:s, s:b}}]}", "text", fallback,
			   "mrkdwn", 0, "unfurl_links", 0, "unfurl_media", 0, "blocks", "type",
			   "section", "text", "type", "plain_text", "text", text, "emoji", 0),
		 out);
}

/* Discord obeys Markdown; mentions are turned off besides. */
static void shape_discord(const struct notify_message *message, struct buffer *out)
{
	static const char marks[] = "\\*_~`|>#[]()<@:-";
	AUTO_BUFFER struct buffer escaped = BUFFER_INIT(3 * TEXT_MAX);
	AUTO_FREE char *text = plain(message);

	for (const char *at = text; *at; at++)
		buffer_printf(&escaped, "%s%c", strchr(marks, *at) ? "\\" : "", *at);

	AUTO_FREE char *content = first(buffer_text(&escaped), DISCORD_MAX);
	size_t end = strlen(content);

	/* A backslash that has lost its character would escape nothing. */
	if (end && content[end - 1] == '\\' && (end < 2 || content[end - 2] != '\\'))
		content[end - 1] = '\0';
	add_json(json_pack("{s:s, s:i, s:{s:[]}}", "content", content, "flags", 4,
			   "allowed_mentions", "parse"),
		 out);
}

static void shape_telegram(const struct notify_message *message, const char *chat,
			   struct buffer *out)
{
	static const char space[] = "\xe2\x80\x8b"; /* without width */
	AUTO_BUFFER struct buffer apart = BUFFER_INIT(4 * TEXT_MAX);
	AUTO_FREE char *whole = plain(message);

	/* Without parse_mode, nothing is markup; but a name after an @ would be mentioned. */
	for (const char *at = whole; *at; at++)
		buffer_printf(&apart, "%c%s", *at, *at == '@' ? space : "");

	AUTO_FREE char *text = first(buffer_text(&apart), TEXT_MAX);

	add_json(json_pack("{s:s, s:s, s:{s:b}}", "chat_id", chat, "text", text,
			   "link_preview_options", "is_disabled", 1),
		 out);
}

void notify_shape_json(const struct notify_message *message, struct buffer *out)
{
	add_json(json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I}", "version", 1, "id",
			   message->id, "event", notify_event_name(message->event), "title",
			   message->title, "text", message->text, message->batch ? "batch" : "loop",
			   message->loop, "project", message->project, "count",
			   (json_int_t)message->count, "at", (json_int_t)(message->at_ms / 1000)),
		 out);
}

/* Appends text as the value of a header: ASCII, or encoded (RFC 2047) in words of at most 75
 * characters. `fold` separates them. */
static void add_header(struct buffer *out, const char *text, const char *fold)
{
	enum { WORD = 42 };
	bool ascii = true;

	for (const char *at = text; *at; at++)
		ascii = ascii && *at >= ' ' && *at < 127;
	if (ascii && !strstr(text, "=?")) {
		buffer_add_text(out, text);
		return;
	}
	for (const char *at = text; *at;) {
		size_t size = text_first(at, strlen(at), WORD);

		buffer_printf(out, "%s=?UTF-8?B?", at > text ? fold : "");
		base64_add(out, at, size);
		buffer_add_text(out, "?=");
		at += size;
	}
}

static const char *ntfy_priority(enum notify_event event)
{
	return event == NOTIFY_EVENT_done || event == NOTIFY_EVENT_warning ? "default" : "high";
}

static void shape_ntfy(const struct notify_message *message, struct notify_shape *shape)
{
	AUTO_BUFFER struct buffer title = BUFFER_INIT(4096);
	AUTO_FREE char *text = first(message->text, TEXT_MAX - 100);

	add_header(&title, message->title, " ");
	list_printf(&shape->headers, "Title: %s", buffer_text(&title));
	list_printf(&shape->headers, "Priority: %s", ntfy_priority(message->event));
	list_add(&shape->headers, "Markdown: no");
	list_add(&shape->headers, "Content-Type: text/plain; charset=utf-8");
	buffer_add_text(&shape->body, text);
}

void notify_shape_http(const struct notify_message *message, const struct notify_target *target,
		       const char *secret, const char *token, struct notify_shape *ret_shape)
{
	struct notify_shape shape = { .body = BUFFER_INIT(BODY_MAX) };
	bool whole = strncmp(secret, "http", 4) == 0; /* a Bot API server of one's own */

	shape.url = target->kind == NOTIFY_TARGET_telegram
			    ? mem_format("%s%s/sendMessage", whole ? "" : TELEGRAM, secret)
			    : mem_dup(secret);
	list_printf(&shape.headers, "X-Ringfence-Delivery: %s", message->id);
	if (token)
		list_printf(&shape.secrets, "Authorization: Bearer %s", token);
	if (target->kind == NOTIFY_TARGET_ntfy)
		shape_ntfy(message, &shape);
	else
		list_add(&shape.headers, "Content-Type: application/json");
	if (target->kind == NOTIFY_TARGET_slack)
		shape_slack(message, &shape.body);
	else if (target->kind == NOTIFY_TARGET_discord)
		shape_discord(message, &shape.body);
	else if (target->kind == NOTIFY_TARGET_telegram)
		shape_telegram(message, target->address, &shape.body);
	else if (target->kind == NOTIFY_TARGET_webhook)
		notify_shape_json(message, &shape.body);
	*ret_shape = shape;
}

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
}

void notify_shape_release(struct notify_shape *shape)
{
	wipe(shape->url);
	free(shape->url);
	for (size_t i = 0; i < shape->secrets.count; i++)
		wipe(shape->secrets.items[i]);
	list_release(&shape->headers);
	list_release(&shape->secrets);
	buffer_release(&shape->body);
	*shape = (struct notify_shape){ 0 };
}

void notify_shape_mail(const struct notify_message *message, const char *address,
		       struct buffer *out)
{
	buffer_printf(out, "To: %s\nSubject: ", address);
	add_header(out, message->title, "\n ");
	buffer_printf(out, "\nMessage-ID: <%s@ringfence.invalid>\n", message->id);
	buffer_add_text(out, "Auto-Submitted: auto-generated\nMIME-Version: 1.0\n"
			     "Content-Type: text/plain; charset=utf-8\n"
			     "Content-Transfer-Encoding: 8bit\n\n");
	buffer_printf(out, "%s\n\n%s %s\n%s\n", message->text, message->batch ? "batch" : "loop",
		      message->loop, message->project);
}

void notify_shape_desktop(const struct notify_message *message, struct list *arguments)
{
	AUTO_FREE char *body = without_tags(message->text);
	AUTO_FREE char *title = without_tags(message->title);

	list_add(arguments, "notify-send");
	list_add(arguments, "--app-name=Ringfence");
	list_add(arguments,
		 message->event >= NOTIFY_EVENT_failed ? "--urgency=critical" : "--urgency=normal");
	list_add(arguments, "--");
	list_add(arguments, title);
	list_add(arguments, body);
}

static double wait_in(const json_t *object)
{
	const json_t *direct = json_object_get(object, "retry_after"); /* Discord */
	const json_t *inner = json_object_get(json_object_get(object, "parameters"),
					      "retry_after"); /* Telegram */

	return json_number_value(direct ? direct : inner);
}

static int64_t wait_ms(const char *retry_after, const char *body, size_t size)
{
	json_t *object = json_loadb(body, size, 0, NULL);
	double seconds = wait_in(object);
	char *end = NULL;

	json_decref(object);
	if (seconds <= 0 && retry_after && *retry_after) {
		seconds = strtod(retry_after, &end);
		seconds = *end ? 0 : seconds; /* a date: the usual back-off does */
	}
	if (!(seconds > 0))
		return 0;
	return seconds < (double)NOTIFY_PLAN_WAIT_MS / 1000 ? (int64_t)(seconds * 1000)
							    : NOTIFY_PLAN_WAIT_MS;
}

int notify_shape_judge(unsigned int status, const char *retry_after, const char *body, size_t size,
		       int64_t *ret_wait_ms)
{
	*ret_wait_ms = 0;
	if (status >= 200 && status < 300)
		return 0;
	if (status != 408 && status != 425 && status != 429 && status < 500)
		return -1;
	*ret_wait_ms = wait_ms(retry_after, body, size);
	return 1;
}
