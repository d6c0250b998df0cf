/* ringfence notify: show the targets of notifications, or test them. */
#include "cli/cli.h"
#include "cli/loops.h"
#include "notify/notify_send.h"
#include "notify/notify_start.h"
#include "settings/effective.h"
#include "settings/watch_request.h"
#include "util/clock.h"
#include "util/env.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>

struct notify_options {
	struct effective effective; /* first: effective_set() finds it here */
	bool test, json;
};

static const struct cli_option options[] = {
	OPTION_FLAG("test", "send a test message to every target, and wait for the results",
		    struct notify_options, test),
	OPTION_JSON(struct notify_options, json),
	OPTION_PROJECT(struct notify_options, effective.spec.project),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS", "  0    every test message has arrived, or none was sent\n"
			 "  1    a test message has not arrived\n" },
	{ "EXAMPLES", "  ringfence notify --test\n"
		      "  ringfence notify --test --notify desktop\n" },
	{ 0 },
};

static bool has_setting(const struct setting *setting)
{
	return setting->id == SETTING_NOTIFY || setting->id == SETTING_NOTIFY_ON;
}

/* Sends a test message. Returns what happened, or NULL if it has arrived. The caller frees it. */
static char *try_target(const struct notify_target *target, const struct taint *taint)
{
	struct notify_message message;
	enum notify_send_result result;
	struct error err;
	int64_t wait_ms;

	notify_message_test(clock_wall_ms(), &message);
	result = notify_send(&message, target, taint, &wait_ms, &err);
	notify_message_release(&message);
	return result == NOTIFY_SEND_ARRIVED ? NULL : mem_dup(err.text);
}

static void show(const struct notify_options *opts, const char *shown, const char *failed,
		 json_t *list)
{
	AUTO_FREE char *target = text_escaped(shown);
	AUTO_FREE char *why = failed ? text_escaped(failed) : NULL;

	if (opts->json)
		json_array_append_new(list,
				      json_pack("{s:s, s:o, s:o}", "target", target, "sent",
						opts->test ? json_boolean(!failed) : json_null(),
						"error", why ? json_string(why) : json_null()));
	else if (!opts->test)
		printf("%s\n", target);
	else
		printf("%-40s %s%s\n", target, failed ? "FAILED: " : "sent", why ? why : "");
}

/* Returns whether a message has not arrived. */
static bool take(const struct notify_options *opts, const char *text, const struct taint *taint,
		 json_t *list)
{
	struct notify_target target;
	struct error err;

	if (notify_target_read(text, env_home(), &target, &err) < 0)
		return true; /* the configuration was checked */

	AUTO_FREE char *shown = notify_target_shown(&target);
	AUTO_FREE char *failed = opts->test ? try_target(&target, taint) : NULL;

	show(opts, shown, failed, list);
	notify_target_release(&target);
	return failed;
}

static int run_all(const struct notify_options *opts)
{
	json_t *targets = effective_words(&opts->effective.config, SETTING_NOTIFY);
	json_t *list = json_array();
	struct taint taint;
	bool failed = false;
	size_t index;
	const json_t *text;

	effective_taint(&opts->effective, &taint);
	notify_start_pending(opts->effective.place.state);
	json_array_foreach(targets, index, text)
		failed = take(opts, json_string_value(text), &taint, list) || failed;
	if (opts->json)
		loops_print(json_pack("{s:O}", "targets", list));
	else if (!json_array_size(targets))
		puts("nobody is notified: see the setting notify (docs/notifications.md)");
	taint_release(&taint);
	json_decref(list);
	json_decref(targets);
	return cli_flush() ? 1 : failed;
}

static int run_notify(const struct cli_command *command, char **argv)
{
	struct notify_options opts = { 0 };
	struct error err;
	int code;

	effective_init(&opts.effective);
	if (cli_parse(command, argv, &opts, &code))
		code = effective_load(&opts.effective, &err) < 0 ? cli_fail(&err) : run_all(&opts);
	effective_release(&opts.effective);
	return code;
}

const struct cli_command cmd_notify = {
	.name = "notify",
	.args = "[--test] [--json]",
	.summary = "show the targets of notifications, or test them",
	.description =
		"Shows the targets of the setting notify, without secrets. With --test, sends a test "
		"message to each and prints the results. Messages of earlier loops that were not delivered, "
		"because their notifier was killed, are delivered now.",
	.options = options,
	.set = effective_set,
	.has_setting = has_setting,
	.settings_of = "run",
	.sections = sections,
	.run = run_notify,
};
