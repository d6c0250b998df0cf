/* ringfence trust and untrust: agree to the values of a project's ringfence.yml that widen the
 * fence, or withdraw that. */
#include "cli/cli.h"
#include "cli/confirm.h"
#include "config/trust.h"
#include "fence/fence_place.h"
#include "ops/op_image.h"
#include "ops/op_trust.h"
#include "settings/effective.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/json.h"
#include "util/text/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct trust_options {
	const char *project;
	bool yes;
	bool list;
	bool json;
	bool devcontainer;
};

static const struct cli_option trust_options[] = {
	OPTION_FLAG("yes", "agree without asking", struct trust_options, yes),
	OPTION_PROJECT(struct trust_options, project),
	OPTION_FLAG("devcontainer",
		    "agree to the project's own image (ringfence image build --devcontainer)",
		    struct trust_options, devcontainer),
	OPTION_FLAG("list", "list the trusted projects", struct trust_options, list),
	OPTION_JSON(struct trust_options, json),
	{ 0 },
};

static const struct cli_option untrust_options[] = {
	OPTION_FLAG("devcontainer", "withdraw trust from the project's own image",
		    struct trust_options, devcontainer),
	OPTION_PROJECT(struct trust_options, project),
	{ 0 },
};

/* Prints a meaning of one or more lines. */
static void print_meaning(const char *meaning)
{
	for (const char *at = meaning; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		AUTO_FREE char *line = mem_format("%.*s", (int)strcspn(at, "\n"), at);
		AUTO_FREE char *shown = text_escaped(line);

		printf("      %s%s\n", at == meaning ? "" : "  ", shown);
	}
}

static void print_items(const struct op_question *question, struct buffer *sum)
{
	size_t same = 0; /* values of one setting, which are adjacent */

	for (size_t i = 0; i < question->count; i++) {
		const struct op_item *item = &question->items[i];
		bool last = i + 1 == question->count || strcmp(item[1].name, item->name) != 0;
		AUTO_FREE char *text = text_escaped(item->value);

		printf("\n  %s: '%s'  (%s)\n", item->name, text, item->where);
		print_meaning(item->why);
		same++;
		if (!last)
			continue;
		buffer_printf(sum, "%s%zu of %s", sum->used ? ", " : "", same, item->name);
		same = 0;
	}
}

static void print_difference(const struct fence_place *place, const struct op_question *question)
{
	AUTO_FREE char *shown = text_escaped(place->project);
	AUTO_BUFFER struct buffer sum = BUFFER_INIT(4096);

	printf("%s/%s widens the fence:\n", shown, CONFIG_FILE);
	print_items(question, &sum);
	printf("\nIn total: %s.\n\n", buffer_text(&sum));
}

/* Asks about exactly what was shown. Returns the exit status. */
static int ask(struct op_trust_request *request, const struct op_question *question,
	       struct error *err)
{
	struct op_trust_result result;
	enum op_status status;

	if (!confirm_possible("use ringfence trust --yes", err))
		return cli_fail(err);
	if (!confirm(question)) {
		printf("not trusted; the values stay inactive\n");
		fflush(stdout);
		return 1;
	}
	request->answer.token = question->token;
	status = op_trust(request, &result, err);
	op_trust_release(&result);
	if (op_failed(status))
		return cli_fail(err);
	printf("trusted until one of these values changes\n");
	return cli_flush();
}

static int agree(const struct trust_options *opts, const struct fence_place *place,
		 const struct config *config, struct error *err)
{
	struct op_trust_request request = { .state = place->state,
					    .project = place->project,
					    .config = config,
					    .answer.to_all = opts->yes,
					    .now_s = time(NULL) };
	struct op_trust_result result;
	enum op_status status = op_trust(&request, &result, err);
	int code = 0;

	if (status == OP_REFUSED) {
		code = cli_fail(err);
	} else if (!result.widens) {
		printf("nothing to trust: %s does not widen the fence\n", CONFIG_FILE);
	} else {
		print_difference(place, &result.question);
		if (status == OP_UNCHANGED)
			printf("already trusted (to withdraw: ringfence untrust)\n");
		else if (status == OP_DONE)
			printf("trusted until one of these values changes\n");
		else
			code = status == OP_ASKS ? ask(&request, &result.question, err)
						 : cli_fail(err);
	}
	op_trust_release(&result);
	return code ? code : cli_flush();
}

static void print_list(const struct trust_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		AUTO_FREE char *path = text_escaped(list->items[i].path);
		AUTO_FREE char *when = clock_text((int64_t)list->items[i].time * 1000,
						  CLOCK_MINUTE);

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

static int show_list(const struct trust_options *opts, struct error *err)
{
	struct fence_place place = { 0 };
	struct trust_list list = { 0 };
	int code;

	if (effective_find(opts->project, &place, err) < 0 ||
	    trust_all(place.state, &list, err) < 0) {
		code = cli_fail(err);
	} else {
		if (opts->json)
			print_list_json(&list);
		else
			print_list(&list);
		code = cli_flush();
	}
	trust_list_release(&list);
	fence_place_release(&place);
	return code;
}

static int trust_project(const struct trust_options *opts, struct error *err)
{
	struct effective effective;
	int code;

	effective_init(&effective);
	effective.spec.project = opts->project;
	if (effective_load(&effective, err) < 0)
		code = cli_fail_config(&effective.config, err);
	else
		code = agree(opts, &effective.place, &effective.config, err);
	effective_release(&effective);
	return code;
}

/* ---- the project's own image ---- */

static void print_source(const struct op_image_trust_result *result)
{
	AUTO_FREE char *file = text_escaped(result->file);

	printf("%s says how an image is built; its commands run in a container, with a network:\n",
	       file);
	for (size_t i = 0; i < result->question.count; i++) {
		AUTO_FREE char *value = text_escaped(result->question.items[i].value);

		printf("  %s: %s\n", result->question.items[i].name, value);
	}
	for (size_t i = 0; i < result->ignored.count; i++) {
		AUTO_FREE char *line = text_escaped(result->ignored.items[i]);

		printf("  ignored: %s\n", line);
	}
}

/* Asks about exactly what was shown. */
static enum op_status ask_source(struct op_image_trust_request *request,
				 const struct op_question *question, struct error *err)
{
	struct op_image_trust_result result;
	enum op_status status;

	if (!confirm_possible("use ringfence trust --devcontainer --yes", err))
		return OP_INVALID;
	if (!confirm(question))
		return OP_ASKS;
	request->answer.token = question->token;
	status = op_image_trust(request, &result, err);
	op_image_trust_release(&result);
	return status;
}

static int trust_image(const struct trust_options *opts, struct error *err)
{
	struct fence_place place = { 0 };
	struct op_image_trust_request request = { .answer.to_all = opts->yes, .now_s = time(NULL) };
	struct op_image_trust_result result = { 0 };
	enum op_status status = OP_FAILED;

	if (effective_find(opts->project, &place, err) == 0) {
		request.state = place.state;
		request.project = place.project;
		status = op_image_trust(&request, &result, err);
	}
	if (!op_failed(status))
		print_source(&result);
	if (status == OP_ASKS)
		status = ask_source(&request, &result.question, err);
	op_image_trust_release(&result);
	fence_place_release(&place);
	if (op_failed(status))
		return cli_fail(err);
	puts(status == OP_ASKS ? "not trusted; no image is built from it"
	     : status == OP_UNCHANGED
		     ? "already trusted (to withdraw: ringfence untrust --devcontainer)"
		     : "trusted until one of these files changes");
	return status == OP_ASKS ? 1 : cli_flush();
}

static int untrust_image(const struct trust_options *opts, struct error *err)
{
	struct fence_place place = { 0 };
	enum op_status status = OP_FAILED;

	if (effective_find(opts->project, &place, err) == 0)
		status = op_image_untrust(place.state, place.project, err);
	fence_place_release(&place);
	if (op_failed(status))
		return cli_fail(err);
	puts(status == OP_DONE ? "the project's own image is no longer trusted"
			       : "the project's own image was not trusted");
	return cli_flush();
}

static int untrust_project(const struct trust_options *opts, struct error *err)
{
	struct fence_place place = { 0 };
	enum op_status status = OP_FAILED;
	int code;

	if (effective_find(opts->project, &place, err) == 0)
		status = op_trust_forget(place.state, place.project, err);
	if (op_failed(status)) {
		code = cli_fail(err);
	} else {
		AUTO_FREE char *shown = text_escaped(place.project);

		printf(status == OP_DONE ? "%s is no longer trusted\n" : "%s was not trusted\n",
		       shown);
		code = cli_flush();
	}
	fence_place_release(&place);
	return code;
}

static int run(const struct cli_command *command, char **argv)
{
	struct trust_options opts = { 0 };
	struct error err;
	int code;

	if (!cli_parse(command, argv, &opts, &code))
		return code;
	if (opts.json && !opts.list) {
		error_set(&err, "--json needs --list");
		return cli_fail(&err);
	}
	if (command == &cmd_untrust)
		return opts.devcontainer ? untrust_image(&opts, &err)
					 : untrust_project(&opts, &err);
	if (opts.devcontainer && !opts.list)
		return trust_image(&opts, &err);
	return opts.list ? show_list(&opts, &err) : trust_project(&opts, &err);
}

const struct cli_command cmd_trust = {
	.name = "trust",
	.args = "[--yes] [--devcontainer] [OPTION]... | --list [--json]",
	.summary = "agree to values of ringfence.yml that widen the fence",
	.description =
		"Shows which values of the project's ringfence.yml widen the fence, and what each of them "
		"means, and asks for your agreement. They are inactive until you agree, and again after "
		"one of them changes. --devcontainer does the same with what the project says about its "
		"own image, in a devcontainer.json, Containerfile or Dockerfile.",
	.options = trust_options,
	.sections = (const struct cli_section[]){ { 0 } },
	.run = run,
};

const struct cli_command cmd_untrust = {
	.name = "untrust",
	.args = "[--devcontainer] [--project DIR]",
	.summary = "withdraw trust from a project's ringfence.yml",
	.description =
		"Withdraws what you agreed to with ringfence trust: values of the project's ringfence.yml "
		"that widen the fence are inactive again.",
	.options = untrust_options,
	.sections = (const struct cli_section[]){ { 0 } },
	.run = run,
};
