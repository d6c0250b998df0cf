/* ringfence trust and untrust: what a person agrees to in a project's own file. */
#include "cli/cli.h"
#include "cli/settings/effective.h"
#include "config/trust.h"
#include "fence/fence_place.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct trust_options {
	const char *project;
	bool yes;
	bool list;
	bool json;
};

static const struct cli_option trust_options[] = {
	OPTION_FLAG("yes", "agree without being asked", struct trust_options, yes),
	OPTION_PROJECT(struct trust_options, project),
	OPTION_FLAG("list", "the projects that are trusted", struct trust_options, list),
	OPTION_JSON(struct trust_options, json),
	{ 0 },
};

static const struct cli_option untrust_options[] = {
	OPTION_PROJECT(struct trust_options, project),
	{ 0 },
};

enum { MOST_VALUES = 50 };

/* What weighs most comes last, next to the question. */
static const enum setting_id by_weight[] = {
	SETTING_SESSION,
	SETTING_PROMISE,
	SETTING_TASKS,
	SETTING_MAX_ITERATIONS,
	SETTING_MAX_TIME,
	SETTING_IDLE_TIMEOUT,
	SETTING_CHECK_TIMEOUT,
	SETTING_MAX_ERRORS,
	SETTING_MAX_SAME_ERROR,
	SETTING_MAX_NO_PROGRESS,
	SETTING_MAX_INTERRUPTED,
	SETTING_CHECKPOINT_EVERY,
	SETTING_CHECKPOINT_IGNORED,
	SETTING_CHECKPOINT_SIZE,
	SETTING_CHECKPOINT_AGE,
	SETTING_CHECKPOINTS,
	SETTING_GIT,
	SETTING_GIT_SIZE,
	SETTING_LOOP_DISK,
	SETTING_MIN_FREE,
	SETTING_ENV,
	SETTING_CHECK,
	SETTING_DENIALS,
	SETTING_TRACE_READS,
	SETTING_MEMORY,
	SETTING_CPU_COUNT,
	SETTING_PROCESSES,
	SETTING_OPEN_FILES,
	SETTING_FILE_SIZE,
	SETTING_TMP_SIZE,
	SETTING_DISK,
	SETTING_TIMEOUT,
	SETTING_PAUSE_ON_WARNING,
	SETTING_WARN_COST,
	SETTING_BUDGET,
	SETTING_MAX_COST,
	SETTING_DAILY_BUDGET,
	SETTING_UNKNOWN_MODEL,
	SETTING_REPLAY_PACE,
	SETTING_REPLAY,
	SETTING_RECORD,
	SETTING_AGENT_FORMAT,
	SETTING_MODEL,
	SETTING_MODELS,
	SETTING_AGENT_ARGS,
	SETTING_AGENT_LOGIN,
	SETTING_AGENT,
	SETTING_AGENT_COMMAND,
	SETTING_FENCE,
	SETTING_HIDE,
	SETTING_READ_ONLY,
	SETTING_ACCEPT_WEAKER,
	SETTING_LISTEN,
	SETTING_READ,
	SETTING_WRITE,
	SETTING_NET_CONNECTIONS,
	SETTING_NET_IN,
	SETTING_NET_OUT,
	SETTING_UPSTREAM_CA,
	SETTING_UPSTREAM_PROXY,
	SETTING_ALLOW,
	SETTING_NET,
	SETTING_MODEL_KEY,
	SETTING_UPSTREAM,
};

_Static_assert(sizeof by_weight / sizeof *by_weight == SETTING_ID_COUNT,
	       "every setting has its place");

static size_t print_values(const struct config *config, enum setting_id id)
{
	size_t count = 0;

	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];
		AUTO_FREE char *text = text_escaped(value->text);
		AUTO_FREE char *meaning = value->meaning ? text_escaped(value->meaning) : NULL;

		if (!meaning || value->setting->id != id)
			continue;
		printf("\n  %s: '%s'  (%s)\n      %s\n", value->setting->key, text, value->origin,
		       meaning);
		count++;
	}
	return count;
}

static void print_difference(const struct fence_place *place, const struct config *config)
{
	AUTO_FREE char *shown = text_escaped(place->project);
	AUTO_BUFFER struct buffer sum = BUFFER_INIT(4096);

	printf("%s/%s widens the fence:\n", shown, CONFIG_FILE);
	for (size_t i = 0; i < SETTING_ID_COUNT; i++) {
		size_t count = print_values(config, by_weight[i]);

		if (count)
			buffer_printf(&sum, "%s%zu of %s", sum.used ? ", " : "", count,
				      setting_at(by_weight[i])->key);
	}
	printf("\nIn all: %s.\n\n", buffer_text(&sum));
}

static size_t count_widening(const struct config *config)
{
	size_t count = 0;

	for (size_t i = 0; i < config->count; i++)
		count += config->values[i].meaning != NULL;
	return count;
}

/* Asks on the terminal. Anything but a clear yes is a no. */
static bool agreed(void)
{
	char answer[16] = "";

	printf("Trust this? [y/N] ");
	fflush(stdout);
	if (!fgets(answer, sizeof answer, stdin))
		return false;
	return strcmp(answer, "y\n") == 0 || strcmp(answer, "Y\n") == 0 ||
	       strcmp(answer, "yes\n") == 0;
}

static int settle(const struct trust_options *asked, const struct fence_place *place,
		  const struct config *config, struct error *err)
{
	if (config->trust == CONFIG_NOTHING_WIDENS) {
		printf("nothing in %s widens the fence: there is nothing to trust\n", CONFIG_FILE);
		return cli_printed();
	}
	if (count_widening(config) > MOST_VALUES) {
		error_set(
			err,
			"%s widens the fence by %zu values; nobody reads more than %d before they agree: shorten it, or put them "
			"into your own config.yml",
			CONFIG_FILE, count_widening(config), MOST_VALUES);
		return cli_fail(err);
	}
	print_difference(place, config);
	if (config->trust == CONFIG_TRUST) {
		printf("it is trusted already (to take that back: ringfence untrust)\n");
		return cli_printed();
	}
	if (!asked->yes && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) {
		fflush(stdout);
		error_set(err, "there is no terminal to ask on; ringfence trust --yes agrees");
		return cli_fail(err);
	}
	if (!asked->yes && !agreed()) {
		printf("not trusted; what widens stays inactive\n");
		fflush(stdout);
		return 1;
	}
	if (trust_record(place->state, place->project, config->hash, (uint64_t)time(NULL), err) < 0)
		return cli_fail(err);
	printf("trusted, until what is listed here changes\n");
	return cli_printed();
}

static void print_list(const struct trust_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		AUTO_FREE char *path = text_escaped(list->items[i].path);
		time_t seconds = (time_t)list->items[i].time;
		char when[32] = "?";
		struct tm parts;

		if (localtime_r(&seconds, &parts))
			strftime(when, sizeof when, "%Y-%m-%d %H:%M", &parts);
		printf("%s  %s\n", when, path);
	}
	if (!list->count)
		printf("no project is trusted\n");
}

static void print_list_json(const struct trust_list *list)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(64 << 20);
	struct json json = JSON_INIT(&out);

	json_open(&json, NULL, '[');
	for (size_t i = 0; i < list->count; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "project", list->items[i].path);
		json_text(&json, "hash", list->items[i].hash);
		json_number(&json, "time", list->items[i].time);
		json_close(&json);
	}
	json_close(&json);
	fputs(buffer_text(&out), stdout);
}

static int show_list(const struct trust_options *asked, struct error *err)
{
	struct fence_place place = { 0 };
	struct trust_list list = { 0 };
	int code;

	if (effective_find(asked->project, &place, err) < 0 ||
	    trust_all(place.state, &list, err) < 0) {
		code = cli_fail(err);
	} else {
		if (asked->json)
			print_list_json(&list);
		else
			print_list(&list);
		code = cli_printed();
	}
	trust_list_release(&list);
	fence_place_release(&place);
	return code;
}

static int trust_project(const struct trust_options *asked, struct error *err)
{
	struct effective effective;
	int code;

	effective_init(&effective);
	effective.spec.project = asked->project;
	if (effective_load(&effective, err) < 0)
		code = effective_fail(&effective.config, err);
	else
		code = settle(asked, &effective.place, &effective.config, err);
	effective_release(&effective);
	return code;
}

static int untrust_project(const struct trust_options *asked, struct error *err)
{
	struct fence_place place = { 0 };
	int was = 0;
	int code;

	if (effective_find(asked->project, &place, err) < 0 ||
	    trust_forget(place.state, place.project, &was, err) < 0) {
		code = cli_fail(err);
	} else {
		AUTO_FREE char *shown = text_escaped(place.project);

		printf(was ? "%s is no longer trusted\n" : "%s was not trusted\n", shown);
		code = cli_printed();
	}
	fence_place_release(&place);
	return code;
}

static int run(const struct cli_command *command, char **argv)
{
	struct trust_options asked = { 0 };
	struct error err;
	int code;

	if (!cli_begin(command, argv, &asked, &code))
		return code;
	if (asked.json && !asked.list) {
		error_set(&err, "--json goes with --list");
		return cli_fail(&err);
	}
	if (command == &cmd_untrust)
		return untrust_project(&asked, &err);
	return asked.list ? show_list(&asked, &err) : trust_project(&asked, &err);
}

const struct cli_command cmd_trust = {
	.name = "trust",
	.args = "[--yes] [--project DIR] | --list [--json]",
	.help = "agree to what a project's ringfence.yml widens",
	.about =
		"Shows which values of the project's ringfence.yml widen the fence, with what each of them means, and asks. They "
		"are inactive until then, and again when one of them changes.",
	.options = trust_options,
	.sections = (const struct cli_section[]){ { 0 } },
	.run = run,
};

const struct cli_command cmd_untrust = {
	.name = "untrust",
	.args = "[--project DIR]",
	.help = "forget what was agreed to with trust",
	.about =
		"Forgets what was agreed to with ringfence trust: what widens the fence in the project's ringfence.yml is inactive again.",
	.options = untrust_options,
	.sections = (const struct cli_section[]){ { 0 } },
	.run = run,
};
