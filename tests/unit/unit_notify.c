/* Notifications: targets, messages, their shapes, when they are sent, and the news of journals. */
#include "unit.h"

#include "notify/notify_message.h"
#include "notify/notify_plan.h"
#include "notify/notify_record.h"
#include "notify/notify_shape.h"
#include "notify/notify_source.h"
#include "notify/notify_target.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALL = (1U << NOTIFY_EVENT_COUNT) - 1 };

static bool same(const char *got, const char *wanted)
{
	if (strcmp(got, wanted) != 0)
		printf("# %s\n# wanted: %s\n", got, wanted);
	return strcmp(got, wanted) == 0;
}

/* ---- targets ---- */

/* Returns how a target is shown, or the error. */
static const char *target(const char *text)
{
	static char said[400];
	struct notify_target read;
	struct error err;

	if (notify_target_read(text, "/h/u", &read, &err) < 0) {
		snprintf(said, sizeof said, "%.390s", err.text);
		return said;
	}

	AUTO_FREE char *shown = notify_target_shown(&read);

	snprintf(said, sizeof said, "%s", shown);
	notify_target_release(&read);
	return said;
}

static void check_targets(void)
{
	static const struct {
		const char *text, *shown;
	} valid[] = {
		{ "desktop", "desktop" },
		{ "slack env:SLACK_URL", "slack env:SLACK_URL" },
		{ "discord file:~/discord", "discord file:/h/u/discord" },
		{ "webhook env:URL env:TOKEN", "webhook env:URL env:TOKEN" },
		{ "ntfy file:/k/ntfy", "ntfy file:/k/ntfy" },
		{ "telegram -1001234 env:BOT", "telegram -1001234 env:BOT" },
		{ "telegram @team env:BOT", "telegram @team env:BOT" },
		{ "mail me@example.org", "mail me@example.org" },
		{ "command tell --token s3cret", "command tell ..." },
	};
	static const char *const invalid[] = {
		"",
		"pager env:X",
		"slack",
		"slack https://hooks.example.org/T0/B0/s3cret",
		"slack s3cret",
		"slack file:s3cret",
		"slack command:cat /s3cret",
		"slack env:A s3cret",
		"webhook env:A env:B s3cret",
		"ntfy env:A s3cret",
		"telegram env:BOT",
		"telegram s3cret:x env:BOT",
		"telegram 12 s3cret",
		"mail",
		"mail -s3cret",
		"mail a@b\nBcc:s3cret@c",
		"mail <s3cret@c>",
		"desktop s3cret",
		"command",
	};

	for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
		CHECK("a target is shown without secrets",
		      same(target(valid[i].text), valid[i].shown));
	for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
		struct notify_target read;
		struct error err;
		bool refused = notify_target_read(invalid[i], "/h/u", &read, &err) < 0;

		if (!refused)
			printf("# %s\n", invalid[i]);
		CHECK("a malformed target is refused", refused);
		CHECK("and the message never quotes a secret", !strstr(err.text, "s3cret"));
	}
	CHECK("a secret in the setting is refused with the cure",
	      strstr(target("slack https://hooks.example.org/x"), "file:PATH or env:NAME"));
}

static bool is_safe(const char *text)
{
	struct notify_target read = { 0 };
	struct taint taint;
	struct error err;
	bool safe;

	taint_init(&taint, "/h/u");
	taint_add(&taint, "/w/project");
	taint_add(&taint, "~/shared");
	safe = notify_target_read(text, "/h/u", &read, &err) == 0 &&
	       notify_target_check(&read, &taint, &err) == 0;
	taint_release(&taint);
	notify_target_release(&read);
	return safe;
}

static void check_safety(void)
{
	CHECK("a program outside the project is safe",
	      is_safe("command /usr/bin/tell") && is_safe("command tell --loud"));
	CHECK("one in the project is not: an agent can change it",
	      !is_safe("command /w/project/tell"));
	CHECK("nor is a script there", !is_safe("command sh /w/project/tell.sh"));
	CHECK("nor is one within an argument",
	      !is_safe("command tell --config=/w/project/tell.ini"));
	CHECK("nor is one of which nobody knows where it is", !is_safe("command ./tell"));
	CHECK("nor is a secret there", is_safe("slack file:/w/key") &&
					       !is_safe("slack file:/w/project/key") &&
					       !is_safe("ntfy env:A file:/w/project/key"));
	CHECK("nor is anything in another folder that an agent may write to",
	      !is_safe("command /h/u/shared/tell") && !is_safe("slack file:~/shared/key"));
	CHECK("another spelling changes nothing", !is_safe("slack file:/w//x/../project/./key"));
}

/* ---- messages ---- */

static const struct notify_subject subject = { .id = "20261119-1-abcd", .project = "/w/calc" };

static void add(struct notify_list *list, int64_t seq, enum notify_event event, const char *text)
{
	notify_list_add(list, seq, seq * 1000, event, mem_dup(text));
}

static void check_messages(void)
{
	struct notify_list list = { 0 };
	struct notify_message message;

	add(&list, 3, NOTIFY_EVENT_warning, "half is spent");
	CHECK("one piece of news is a message",
	      notify_message_make(&list, 0, 9, ALL, &subject, &message) &&
		      same(message.title, "calc: warning") && same(message.text, "half is spent") &&
		      same(message.id, "20261119-1-abcd-3") && message.at_ms == 3000);
	notify_message_release(&message);
	CHECK("what was delivered is not told again",
	      !notify_message_make(&list, 3, 9, ALL, &subject, &message));
	CHECK("nor what nobody asked for",
	      !notify_message_make(&list, 0, 9, 1U << NOTIFY_EVENT_done, &subject, &message));
	add(&list, 4, NOTIFY_EVENT_blocked, "blocked: \"which key?\"");
	add(&list, 5, NOTIFY_EVENT_done, "completed");
	CHECK("several are a digest, named by the heaviest",
	      notify_message_make(&list, 0, 9, ALL, &subject, &message) &&
		      same(message.title, "calc: waits for you") &&
		      same(message.text, "warning: half is spent\n"
					 "blocked: blocked: \"which key?\"\n"
					 "done: completed") &&
		      same(message.id, "20261119-1-abcd-5"));
	notify_message_release(&message);
	CHECK("later news waits for the next message",
	      notify_message_make(&list, 0, 4, ALL, &subject, &message) && message.count == 2 &&
		      same(message.id, "20261119-1-abcd-4"));
	notify_message_release(&message);
	for (int64_t i = 6; i <= 60; i++)
		add(&list, i, NOTIFY_EVENT_warning, "a task has failed");
	CHECK("of many, the newest lines are shown, and how many more there are",
	      notify_message_make(&list, 0, 99, ALL, &subject, &message) && message.count == 58 &&
		      strstr(message.text, "\n53 more events"));
	notify_message_release(&message);
	notify_list_drop(&list, 59);
	CHECK("what every target has is forgotten", list.count == 1 && list.items[0].seq == 60);
	notify_list_release(&list);
}

/* ---- shapes ---- */

#define HOSTILE                                                                                     \
	"<!channel> @everyone <@U1> **x** [a](http://b) `c` & \"d\"\r\nBcc: e@f\x1b[2J\xe2\x80\xae" \
	"\nX: y"

static struct notify_message hostile(void)
{
	struct notify_list list = { 0 };
	struct notify_message message;
	const struct notify_subject evil = { .id = "ID",
					     .project = "/w/<!here>\nEvil: 1 \xc3\xa9" };

	add(&list, 1, NOTIFY_EVENT_failed, HOSTILE);
	notify_message_make(&list, 0, 1, ALL, &evil, &message);
	notify_list_release(&list);
	return message;
}

static struct notify_shape shape_of(const char *text, const char *secret, const char *token)
{
	struct notify_message message = hostile();
	struct notify_target read;
	struct notify_shape shape;
	struct error err;

	notify_target_read(text, "/h/u", &read, &err);
	notify_shape_http(&message, &read, secret, token, &shape);
	notify_target_release(&read);
	notify_message_release(&message);
	return shape;
}

static json_t *body_of(struct notify_shape *shape)
{
	return json_loads(buffer_text(&shape->body), 0, NULL);
}

static bool has_header(const struct notify_shape *shape, const char *wanted)
{
	for (size_t i = 0; i < shape->headers.count; i++) {
		if (strpbrk(shape->headers.items[i], "\r\n"))
			return false;
		if (strcmp(shape->headers.items[i], wanted) == 0)
			return true;
	}
	return false;
}

static void check_slack(void)
{
	struct notify_shape shape = shape_of("slack env:A", "https://h/s", NULL);
	json_t *body = body_of(&shape);
	const json_t *block = json_array_get(json_object_get(body, "blocks"), 0);
	const json_t *text = json_object_get(block, "text");

	CHECK("Slack gets plain text, in which a mention is nothing",
	      same(jsonget_text(text, "type"), "plain_text") &&
		      strstr(jsonget_text(text, "text"), "<!channel>"));
	CHECK("its fallback has no tags", strstr(jsonget_text(body, "text"), "&lt;!channel&gt;") &&
						  !strchr(jsonget_text(body, "text"), '<'));
	CHECK("it unfurls no links", json_is_false(json_object_get(body, "unfurl_links")));
	CHECK("terminal controls are gone", !strchr(jsonget_text(text, "text"), 27));
	CHECK("a message has its id", has_header(&shape, "X-Ringfence-Delivery: ID-1"));
	json_decref(body);
	notify_shape_release(&shape);
}

static void check_discord(void)
{
	struct notify_shape shape = shape_of("discord env:A", "https://h/s", NULL);
	json_t *body = body_of(&shape);
	const json_t *allowed = json_object_get(body, "allowed_mentions");
	const char *content = jsonget_text(body, "content");

	CHECK("Discord mentions nobody",
	      json_is_array(json_object_get(allowed, "parse")) &&
		      json_array_size(json_object_get(allowed, "parse")) == 0);
	CHECK("its markup is escaped", strstr(content, "\\*\\*x\\*\\*") &&
					       strstr(content, "\\[a\\]\\(http\\:") &&
					       strstr(content, "\\@everyone"));
	CHECK("it is not too long", strlen(content) <= 2000);
	json_decref(body);
	notify_shape_release(&shape);
}

static void check_telegram(void)
{
	struct notify_shape shape = shape_of("telegram -12 env:A", "12:tok", NULL);
	json_t *body = body_of(&shape);

	CHECK("Telegram's token is in the address",
	      same(shape.url, "https://api.telegram.org/bot12:tok/sendMessage"));
	CHECK("a name after an @ is not mentioned",
	      strstr(jsonget_text(body, "text"), "@\xe2\x80\x8b"
						 "everyone"));
	CHECK("its text is never markup",
	      !json_object_get(body, "parse_mode") && strstr(jsonget_text(body, "text"), "**x**"));
	CHECK("the chat is named", same(jsonget_text(body, "chat_id"), "-12"));
	json_decref(body);
	notify_shape_release(&shape);
	shape = shape_of("telegram -12 env:A", "http://127.0.0.1:81/bot12:tok", NULL);
	CHECK("a server of one's own can be named",
	      same(shape.url, "http://127.0.0.1:81/bot12:tok/sendMessage"));
	notify_shape_release(&shape);
}

static void check_ntfy(void)
{
	struct notify_shape shape = shape_of("ntfy env:A env:B", "https://ntfy.example/t", "tk");

	CHECK("a title with other characters than ASCII is encoded",
	      has_header(&shape, "Title: =?UTF-8?B?PCFoZXJlPiBFdmlsOiAxIMOpOiBzdG9wcGVk?="));
	CHECK("a token is a secret header",
	      shape.secrets.count == 1 && same(shape.secrets.items[0], "Authorization: Bearer tk"));
	CHECK("the text is one line, without controls",
	      strstr(buffer_text(&shape.body), "Bcc: e@f\\x1b[2J") &&
		      !strpbrk(buffer_text(&shape.body), "\r\n\x1b"));
	notify_shape_release(&shape);
}

static void check_others(void)
{
	struct notify_shape shape = shape_of("webhook env:A", "https://h/s", NULL);
	struct notify_message message = hostile();
	struct buffer mail = BUFFER_INIT(65536);
	struct list arguments = { 0 };
	json_t *body = body_of(&shape);

	CHECK("a webhook gets JSON", same(jsonget_text(body, "event"), "failed") &&
					     same(jsonget_text(body, "id"), "ID-1") &&
					     same(jsonget_text(body, "loop"), "ID") &&
					     jsonget_number(body, "count") == 1);
	notify_shape_mail(&message, "me@example.org", &mail);

	const char *headers = buffer_text(&mail);
	const char *end = strstr(headers, "\n\n");

	CHECK("no text becomes a header of a mail",
	      end && !strstr(headers, "\nEvil:") && strstr(headers, "\nBcc:") == NULL &&
		      strncmp(headers, "To: me@example.org\nSubject: =?UTF-8?B?", 38) == 0);
	CHECK("a mail that comes twice has the same id",
	      strstr(headers, "\nMessage-ID: <ID-1@ringfence.invalid>\n"));
	notify_shape_desktop(&message, &arguments);
	CHECK("the desktop gets no markup and no options",
	      arguments.count == 6 && same(arguments.items[3], "--") &&
		      strstr(arguments.items[5], "&lt;!channel&gt;") &&
		      !strchr(arguments.items[5], '<'));
	list_release(&arguments);
	buffer_release(&mail);
	json_decref(body);
	notify_message_release(&message);
	notify_shape_release(&shape);
}

static void check_judgement(void)
{
	static const struct {
		unsigned int status;
		const char *retry_after, *body;
		int judged;
		int64_t wait_ms;
	} responses[] = {
		{ 200, NULL, "ok", 0, 0 },
		{ 204, NULL, "", 0, 0 },
		{ 301, NULL, "", -1, 0 },
		{ 400, NULL, "{}", -1, 0 },
		{ 404, NULL, "no_service", -1, 0 },
		{ 408, NULL, "", 1, 0 },
		{ 429, "7", "", 1, 7000 },
		{ 429, "7", "{\"retry_after\": 0.5}", 1, 500 },
		{ 429, NULL, "{\"ok\": false, \"parameters\": {\"retry_after\": 3}}", 1, 3000 },
		{ 429, "Wed, 21 Oct 2026 07:28:00 GMT", "", 1, 0 },
		{ 429, "1e9", "", 1, 3600000 },
		{ 429, "-5", "", 1, 0 },
		{ 429, "nan", "", 1, 0 },
		{ 503, NULL, "\xff\xfe", 1, 0 },
	};

	for (size_t i = 0; i < sizeof responses / sizeof *responses; i++) {
		const char *body = responses[i].body;
		int64_t wait_ms = -1;
		int judged = notify_shape_judge(responses[i].status, responses[i].retry_after, body,
						strlen(body), &wait_ms);

		if (judged != responses[i].judged || wait_ms != responses[i].wait_ms)
			printf("# %u: %d, %lld\n", responses[i].status, judged, (long long)wait_ms);
		CHECK("a response is judged by its status",
		      judged == responses[i].judged && wait_ms == responses[i].wait_ms);
	}
}

/* ---- the plan ---- */

static void check_back_off(void)
{
	const struct notify_pace pace = NOTIFY_PACE_DEFAULT;
	struct notify_plan plan = { .mark = 3 };
	int64_t now = 1000000;
	bool waits = true;

	CHECK("without news nothing is due", notify_plan_due_ms(&plan, &pace, false) == INT64_MAX);
	CHECK("news is due at once", notify_plan_due_ms(&plan, &pace, true) <= now);
	notify_plan_begin(&plan, 8);
	for (uint32_t i = 1; i < pace.tries; i++) {
		int64_t delay = 5000 * ((int64_t)1 << (i - 1));

		waits = waits && !notify_plan_failed(&plan, &pace, now, 0, false) &&
			notify_plan_due_ms(&plan, &pace, true) ==
				now + (delay < 3600000 ? delay : 3600000);
	}
	CHECK("each failure doubles the delay, up to an hour", waits);
	notify_plan_begin(&plan, 20);
	CHECK("another try has the same news", plan.through == 8);
	CHECK("at last it is given up, and the next news has its turn",
	      notify_plan_failed(&plan, &pace, now, 0, false) && plan.mark == 8 &&
		      plan.through == 0 && plan.tries == 0 &&
		      notify_plan_due_ms(&plan, &pace, true) <= now);
	notify_plan_begin(&plan, 20);
	notify_plan_failed(&plan, &pace, now, 90000, false);
	CHECK("a server may ask for a longer delay",
	      notify_plan_due_ms(&plan, &pace, true) == now + 90000);
	CHECK("what can never arrive is given up at once",
	      notify_plan_failed(&plan, &pace, now, 0, true) && plan.mark == 20);
}

static void check_clock(void)
{
	const struct notify_pace pace = NOTIFY_PACE_DEFAULT;
	struct notify_plan rests = { .mark = 3, .paid_ms = INT64_MAX };
	struct notify_plan waits = { .mark = 3, .through = 4, .due_ms = INT64_MAX };
	struct notify_plan usual = { .mark = 3, .due_ms = 5000, .paid_ms = 61000 };
	struct notify_plan before = usual;
	int64_t now = 1000;

	notify_plan_correct(&rests, &pace, now);
	CHECK("after the clock is put back, news waits as long as after a burst",
	      notify_plan_due_ms(&rests, &pace, true) == now + pace.interval_ms);
	notify_plan_correct(&waits, &pace, now);
	CHECK("and another try no longer than at most",
	      notify_plan_due_ms(&waits, &pace, true) == now + pace.most_ms);
	notify_plan_correct(&usual, &pace, now);
	CHECK("times that this clock has set stay as they are",
	      memcmp(&usual, &before, sizeof usual) == 0);
}

static void check_rate(void)
{
	const struct notify_pace pace = NOTIFY_PACE_DEFAULT;
	struct notify_plan plan = { 0 };
	int64_t now = 1000000;
	bool burst = true;

	for (uint32_t i = 0; i < pace.burst; i++) {
		burst = burst && notify_plan_due_ms(&plan, &pace, true) <= now;
		notify_plan_begin(&plan, i + 1);
		notify_plan_sent(&plan, &pace, now);
	}
	CHECK("a few messages go at once", burst && plan.mark == 5);
	CHECK("the next one waits for a minute",
	      notify_plan_due_ms(&plan, &pace, true) == now + 60000);
	notify_plan_skip(&plan, 30);
	CHECK("what a target does not want is skipped without a message",
	      plan.mark == 30 && notify_plan_due_ms(&plan, &pace, true) == now + 60000);
	now += 3600 * 1000;
	CHECK("after a while a few may go at once again",
	      notify_plan_due_ms(&plan, &pace, true) <= now);
}

static void check_record(void)
{
	struct notify_record record = { .count = 2, .heartbeat_ms = 77, .pending = true };
	struct notify_record again;
	struct error err;

	record.plans[1] = (struct notify_plan){
		.mark = 5, .through = 9, .tries = 2, .due_ms = 1234, .paid_ms = 5678
	};
	notify_record_read(unit_folder, 2, &again);
	CHECK("without a record everything is news", again.plans[1].mark == 0 && again.count == 2);
	CHECK("and nothing is pending", !notify_record_is_pending(unit_folder));
	CHECK("a record is written", notify_record_write(unit_folder, &record, &err) == 0);
	notify_record_read(unit_folder, 2, &again);
	CHECK("and read again",
	      memcmp(&again.plans[1], &record.plans[1], sizeof record.plans[1]) == 0 &&
		      again.heartbeat_ms == 77 && notify_record_is_pending(unit_folder));
	record.pending = false;
	notify_record_write(unit_folder, &record, &err);
	CHECK("a notifier that is done leaves nothing pending",
	      !notify_record_is_pending(unit_folder));
}

/* ---- news of a loop ---- */

struct story {
	struct notify_source source;
	int64_t seq;
};

static void happens(struct story *story, const char *kind, const char *data)
{
	struct journal_event event = {
		.seq = ++story->seq, .at_ms = story->seq * 1000, .kind = kind, .data = data
	};
	struct error err;

	if ((story->source.batch ? notify_source_fold_batch(&story->source, &event, &err)
				 : notify_source_fold_loop(&story->source, &event, &err)) < 0)
		CHECK("an event is legal", same(err.text, ""));
}

/* Returns the news of the last event as "EVENT: TEXT", or "". */
static const char *news(const struct story *story)
{
	static char said[600];
	const struct notify_list *list = &story->source.news;
	const struct notify_news *last = list->count ? &list->items[list->count - 1] : NULL;

	snprintf(said, sizeof said, "%s%s%s",
		 last && last->seq == story->seq ? notify_event_name(last->event) : "",
		 last && last->seq == story->seq ? ": " : "",
		 last && last->seq == story->seq ? last->text : "");
	return said;
}

static void loop_begins(struct story *story)
{
	*story = (struct story){ 0 };
	loop_state_init(&story->source.loop);
	happens(story, "created",
		"{\"config\": {\"project\": \"/p\", \"objective\": \"o\", \"agent_command\": \"a\", "
		"\"agent_format\": \"plain\", \"fence\": {}, \"checks\": []}}");
	happens(story, "baselined", "{}");
	happens(story, "begun", "{\"iteration\": 1, \"attempt\": 1}");
}

static void loop_ends(struct story *story)
{
	loop_state_release(&story->source.loop);
	notify_list_release(&story->source.news);
}

static void check_loop_news(void)
{
	struct story story;

	loop_begins(&story);
	CHECK("nobody is told of a loop at work", same(news(&story), ""));
	happens(&story, "alerted",
		"{\"rule\": \"errors\", \"then\": \"notify\", \"text\": \"many errors\"}");
	CHECK("an alert is news", same(news(&story), "alert: many errors"));
	happens(&story, "ended", "{}");
	happens(&story, "waits", "{\"until_ms\": 100000, \"reason\": \"a limit\"}");
	CHECK("nor of a short wait", same(news(&story), ""));
	happens(&story, "waited", "{}");
	happens(&story, "begun", "{\"iteration\": 1, \"attempt\": 2}");
	happens(&story, "ended", "{}");
	happens(&story, "waits", "{\"until_ms\": 9000000, \"reason\": \"a limit\"}");
	CHECK("a long one is", same(news(&story), "warning: waits: a limit"));
	happens(&story, "paused", "{\"blocked\": \"which key?\", \"reason\": \"blocked\"}");
	CHECK("a blocked agent is news",
	      same(news(&story),
		   "blocked: blocked: \"which key?\" (to answer: ringfence answer TEXT)"));
	happens(&story, "resumed", "{}");
	happens(&story, "paused", "{\"reason\": \"a breaker opened\"}");
	CHECK("a pause is news", same(news(&story), "paused: a breaker opened"));
	happens(&story, "resumed", "{}");
	happens(&story, "asked", "{\"wish\": \"pause\"}");
	happens(&story, "paused", "{\"reason\": \"by you\"}");
	CHECK("but not to the one who asked for it", same(news(&story), ""));
	happens(&story, "resumed", "{}");
	happens(&story, "begun", "{\"iteration\": 1, \"attempt\": 3}");
	happens(&story, "alerted",
		"{\"rule\": \"time\", \"then\": \"ask\", \"text\": \"too long\"}");
	CHECK("an alert that pauses is told with the pause", same(news(&story), ""));
	happens(&story, "interrupted", "{\"alert\": true}");
	happens(&story, "paused", "{\"reason\": \"too long; go on?\", \"asks\": true}");
	CHECK("a question waits for an answer", same(news(&story), "blocked: too long; go on?"));
	happens(&story, "resumed", "{}");
	happens(&story, "closing", "{\"status\": \"completed\", \"reason\": \"every rule holds\"}");
	CHECK("nobody is told while a loop is being closed", same(news(&story), ""));
	happens(&story, "finished",
		"{\"status\": \"completed\", \"reason\": \"every rule holds\"}");
	CHECK("its end is",
	      same(news(&story), "done: completed: every rule holds (iteration 1, US$ 0.00)"));
	happens(&story, "closing", "{\"status\": \"completed\"}");
	happens(&story, "finished", "{\"status\": \"completed\"}");
	CHECK("one that is closed again after a rollback is not", same(news(&story), ""));
	loop_ends(&story);
}

static void check_loop_ends(void)
{
	struct story story;

	loop_begins(&story);
	happens(&story, "finished", "{\"status\": \"limit\", \"reason\": \"20 iterations\"}");
	CHECK("a limit is news",
	      same(news(&story), "failed: limit: 20 iterations (iteration 1, US$ 0.00)"));
	loop_ends(&story);
	loop_begins(&story);
	happens(&story, "asked", "{\"wish\": \"abort\"}");
	happens(&story, "finished", "{\"status\": \"aborted\", \"reason\": \"by you\"}");
	CHECK("an abort is not told to the one who asked for it", same(news(&story), ""));
	loop_ends(&story);
	loop_begins(&story);
	happens(&story, "alerted",
		"{\"rule\": \"time\", \"then\": \"abort\", \"text\": \"too long\"}");
	happens(&story, "finished", "{\"status\": \"aborted\", \"reason\": \"too long\"}");
	CHECK("one by an alert is news",
	      same(news(&story), "failed: aborted: too long (iteration 1, US$ 0.00)"));
	loop_ends(&story);
}

/* ---- news of a batch ---- */

static void check_batch_news(void)
{
	struct story story = { .source = { .batch = true } };

	batch_state_init(&story.source.batch_sums);
	happens(&story, "created",
		"{\"config\": {\"project\": \"/p\", \"lists\": [], \"templates\": [{}], \"jobs\": 2, "
		"\"rounds\": 3, \"tasks\": [{\"id\": \"1\", \"title\": \"Add tax\", \"prompt\": \"p\", \"depends\": [], "
		"\"template\": 0}, {\"id\": \"2\", \"title\": \"Fix it\", \"prompt\": \"p\", \"depends\": [], "
		"\"template\": 0}]}}");
	happens(&story, "begun", "{\"task\": \"1\", \"loop\": \"L1\"}");
	happens(&story, "begun", "{\"task\": \"2\", \"loop\": \"L2\"}");
	CHECK("nobody is told of a batch at work", same(news(&story), ""));
	happens(&story, "held", "{\"task\": \"1\", \"reason\": \"blocked: which key?\"}");
	CHECK("a task that waits for a person is news",
	      same(news(&story), "blocked: task \"Add tax\" waits for you: blocked: which key?"));
	happens(&story, "ended",
		"{\"task\": \"2\", \"status\": \"limit\", \"reason\": \"20 iterations\"}");
	CHECK("a task that has failed is a warning",
	      same(news(&story), "warning: task \"Fix it\" has failed: 20 iterations"));
	happens(&story, "paused", "{\"reason\": \"nothing runs\"}");
	CHECK("a batch that waits is news",
	      same(news(&story),
		   "paused: the work list is paused: nothing runs (0 of 2 tasks done, 1 failed, 1 "
		   "wait for you)"));
	happens(&story, "resumed", "{}");
	happens(&story, "unheld", "{\"task\": \"1\"}");
	happens(&story, "ended", "{\"task\": \"1\", \"status\": \"completed\"}");
	happens(&story, "landed", "{\"task\": \"1\"}");
	CHECK("nor of a task that is done", same(news(&story), ""));
	happens(&story, "finished", "{\"status\": \"failed\", \"reason\": \"1 failed\"}");
	CHECK("the end of a batch is news",
	      same(news(&story), "failed: failed: 1 of 2 tasks done, 1 failed"));
	batch_state_release(&story.source.batch_sums);
	notify_list_release(&story.source.news);
}

int main(void)
{
	check_targets();
	check_safety();
	check_messages();
	check_slack();
	check_discord();
	check_telegram();
	check_ntfy();
	check_others();
	check_judgement();
	check_back_off();
	check_clock();
	check_rate();
	check_record();
	check_loop_news();
	check_loop_ends();
	check_batch_news();
	return unit_failures != 0;
}
