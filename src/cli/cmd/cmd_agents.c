/* ringfence agents: list the known agents, whether they are installed, and what they need. */
#include "agent/adapter.h"
#include "cli/cli.h"
#include "cli/view/page.h"
#include "fence/fence_place.h"
#include "settings/effective.h"
#include "util/mem.h"
#include "util/text/json.h"
#include "util/text/text.h"

#include <stdio.h>
#include <stdlib.h>

struct agents_options {
	bool json;
};

static const struct cli_option options[] = {
	OPTION_JSON(struct agents_options, json),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES", "  ringfence agents\n"
		      "  ringfence agents --json | jq '.agents[] | select(.installed) | .name'\n" },
	{ 0 },
};

static void list_json(struct json *json, const char *key, const char *const *texts)
{
	json_open(json, key, '[');
	for (; *texts; texts++)
		json_text(json, NULL, *texts);
	json_close(json);
}

static void add_json(struct json *json, const struct adapter *agent,
		     const struct adapter_found *found)
{
	json_open(json, NULL, '{');
	json_text(json, "name", agent->name);
	json_text(json, "title", agent->title);
	json_flag(json, "installed", found->program);
	json_text(json, "path", found->program);
	json_text(json, "version", found->version);
	json_flag(json, "tested", found->tested);
	json_text(json, "tested_from", agent->tested_from);
	json_text(json, "tested_below", agent->tested_below);
	list_json(json, "keys", agent->keys);
	json_text(json, "key", found->key);
	json_text(json, "credentials", found->credentials);
	json_text(json, "install", agent->install);
	json_text(json, "caveat", agent->caveat);
	json_close(json);
}

static void print_line(const char *text)
{
	enum { INDENT = 2 };

	printf("%*s", INDENT, "");
	page_print(text, INDENT);
}

static void print_login(const struct adapter *agent, const struct adapter_found *found)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4096);

	if (found->key)
		buffer_printf(&text, "login: %s is set", found->key);
	else if (agent->own)
		buffer_printf(
			&text,
			"login: neither %s nor %s is set; a local server needs no key (--upstream)",
			agent->keys[0], agent->keys[1]);
	else
		buffer_printf(&text, "login: %s is not set", agent->keys[0]);
	if (found->credentials)
		buffer_printf(&text, "; found ~/%s (use it with --agent-login file)",
			      agent->credentials);
	print_line(buffer_text(&text));
}

static void print_agent(const struct adapter *agent, const struct adapter_found *found)
{
	AUTO_FREE char *path = found->program ? text_escaped(found->program) : NULL;
	AUTO_FREE char *version = found->version ? text_escaped(found->version) : NULL;

	if (!path) {
		printf("%-10s not installed: %s\n", agent->name, agent->install);
		return;
	}
	printf("%-10s %s %s\n  %s\n", agent->name, agent->title,
	       version ? version : "(version unknown)", path);
	if (agent->tested_from && !agent->own)
		printf("  tested: from %s, below %s%s\n", agent->tested_from, agent->tested_below,
		       found->tested ? "" : " (not this version)");
	print_login(agent, found);
	if (agent->caveat) {
		AUTO_FREE char *note = mem_format("note: %s", agent->caveat);

		print_line(note);
	}
}

static int show(const struct agents_options *opts, struct error *err)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	struct json json = JSON_INIT(&out);
	const struct adapter *agent;
	struct fence_place place;

	if (effective_find(NULL, &place, err) < 0)
		return cli_fail(err);
	json_open(&json, NULL, '{');
	json_open(&json, "agents", '[');
	for (size_t i = 0; (agent = adapter_at(i)); i++) {
		struct adapter_found found;

		if (!agent->program)
			continue;
		adapter_look(agent, place.identity.home, &found);
		if (opts->json)
			add_json(&json, agent, &found);
		else
			print_agent(agent, &found);
		adapter_found_release(&found);
	}
	json_close(&json);
	json_close(&json);
	if (opts->json)
		fputs(buffer_text(&out), stdout);
	else
		printf("%-10s any command line: --agent-command COMMAND\n", "command");
	fence_place_release(&place);
	return cli_flush();
}

static int run_agents(const struct cli_command *command, char **argv)
{
	struct agents_options opts = { 0 };
	struct error err;
	int code;

	return cli_parse(command, argv, &opts, &code) ? show(&opts, &err) : code;
}

const struct cli_command cmd_agents = {
	.name = "agents",
	.args = "[--json]",
	.summary = "show which agents are installed and what they need",
	.description =
		"Looks for the agents that Ringfence knows, and shows where each is installed, whether "
		"its version was tested, and how it can log in. No agent is started.",
	.options = options,
	.sections = sections,
	.run = run_agents,
};
