/* ringfence trust and untrust: what a person agrees to in a project's own file. */
#include "cli/apply.h"
#include "cli/cli.h"
#include "config/trust.h"
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

#define OPTIONS struct trust_options *asked = options

static int take_project(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)err;
	asked->project = value;
	return 0;
}

static int take_yes(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)value;
	(void)err;
	asked->yes = true;
	return 0;
}

static int take_list(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)value;
	(void)err;
	asked->list = true;
	return 0;
}

static int take_json(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)value;
	(void)err;
	asked->json = true;
	return 0;
}

static const struct option trust_options[] = {
	{ "yes", NULL, "agree without being asked", take_yes },
	{ "project", "DIR", "the project's folder (default: the current one)", take_project },
	{ "list", NULL, "the projects that are trusted", take_list },
	{ "json", NULL, "with --list: as JSON", take_json },
	{ 0 },
};

static const struct option untrust_options[] = {
	{ "project", "DIR", "the project's folder (default: the current one)", take_project },
	{ 0 },
};

static void print_difference(const struct fence_place *place, const struct config *config)
{
	AUTO_FREE char *shown = text_escaped(place->project);

	printf("%s/%s widens the fence:\n", shown, CONFIG_FILE);
	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];
		AUTO_FREE char *text = text_escaped(value->text);
		AUTO_FREE char *meaning = value->meaning ? text_escaped(value->meaning) : NULL;

		if (meaning)
			printf("\n  %s: %s  (%s)\n      %s\n", value->setting->key, text,
			       value->origin, meaning);
	}
	printf("\n");
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
	AUTO_BUFFER struct buffer json = BUFFER_INIT(64 << 20);

	buffer_add_text(&json, "[");
	for (size_t i = 0; i < list->count; i++) {
		buffer_add_text(&json, i ? ",\n {\"project\": " : "\n {\"project\": ");
		text_json(&json, list->items[i].path);
		buffer_printf(&json, ", \"hash\": \"%s\", \"time\": %lu}", list->items[i].hash,
			      (unsigned long)list->items[i].time);
	}
	buffer_add_text(&json, list->count ? "\n]\n" : "]\n");
	fputs(buffer_text(&json), stdout);
}

static int show_list(const struct trust_options *asked, struct error *err)
{
	struct fence_place place = { 0 };
	struct trust_list list = { 0 };
	int code;

	if (fence_place_find(asked->project, &place, err) < 0 ||
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
	struct fence_place place = { 0 };
	struct config config;
	int code;

	config_init(&config);
	if (apply_load(asked->project, &place, &config, err) < 0)
		code = apply_fail(&config, err);
	else
		code = settle(asked, &place, &config, err);
	config_release(&config);
	fence_place_release(&place);
	return code;
}

static int untrust_project(const struct trust_options *asked, struct error *err)
{
	struct fence_place place = { 0 };
	int was = 0;
	int code;

	if (fence_place_find(asked->project, &place, err) < 0 ||
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

static int run(const struct command *command, char **argv)
{
	struct trust_options asked = { 0 };
	struct error err;
	bool help = false;
	char **rest = cli_parse(command, argv, &asked, &help, &err);

	if (help)
		return cli_print_help(command);
	if (rest && *rest)
		error_set(&err, "%s takes no argument '%s' (--project DIR names a project)",
			  command->name, *rest);
	else if (rest && asked.json && !asked.list)
		error_set(&err, "--json goes with --list");
	if (!rest || *rest || (asked.json && !asked.list))
		return cli_fail(&err);
	if (command == &cmd_untrust)
		return untrust_project(&asked, &err);
	return asked.list ? show_list(&asked, &err) : trust_project(&asked, &err);
}

const struct command cmd_trust = {
	.name = "trust",
	.args = "[--yes] [--project DIR] | --list [--json]",
	.help = "agree to what a project's ringfence.yml widens",
	.about =
		"Shows which values of the project's ringfence.yml widen the fence, with what each of them means, and asks. They "
		"are inactive until then, and again when one of them changes.",
	.options = trust_options,
	.sections = (const struct section[]){ { 0 } },
	.run = run,
};

const struct command cmd_untrust = {
	.name = "untrust",
	.args = "[--project DIR]",
	.help = "take that back",
	.about =
		"Forgets what was agreed to with ringfence trust: what widens the fence in the project's ringfence.yml is inactive again.",
	.options = untrust_options,
	.sections = (const struct section[]){ { 0 } },
	.run = run,
};
