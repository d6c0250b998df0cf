/* ringfence policy: what would hold for a command here, and why. */
#include "cli/apply.h"
#include "cli/cli.h"
#include "cli/notice.h"
#include "cli/policy.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct policy_options {
	struct fence_spec spec;
	struct fence_place place;
	struct config config;
	const char *why;
	bool json;
};

#define OPTIONS struct policy_options *asked = options

static int take_project(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)err;
	asked->spec.project = value;
	return 0;
}

static int take_why(void *options, const char *value, struct error *err)
{
	OPTIONS;

	asked->why = value;
	return *value ? 0 : error_set(err, "--why needs a path, a host or a system call");
}

static int take_json(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)value;
	(void)err;
	asked->json = true;
	return 0;
}

static int take_setting(void *options, const struct setting *setting, const char *value,
			struct error *err)
{
	OPTIONS;

	return config_add_flag(&asked->config, setting, value, apply_judge, err);
}

static const struct option options[] = {
	{ "project", "DIR", "the project's folder (default: the current one)", take_project },
	{ "why", "PATH|HOST|SYSCALL",
	  "the verdict on one thing, its rule, and what would change it", take_why },
	{ "json", NULL, "as JSON", take_json },
	{ 0 },
};

static const struct section sections[] = {
	{ "EXAMPLES", "  ringfence policy\n"
		      "  ringfence policy --why .env\n"
		      "  ringfence policy --why https://example.org\n"
		      "  ringfence policy --why mount\n" },
	{ 0 },
};

static const char *access_word(enum wire_access access)
{
	static const char *const words[] = { [WIRE_WRITE] = "writable",
					     [WIRE_READ] = "readable",
					     [WIRE_HIDE] = "hidden",
					     [WIRE_HIDE_AROUND] = "hidden" };

	return words[access];
}

static const char *inside(const struct fence_plan *plan, const char *path)
{
	size_t size = strlen(plan->project);

	if (strcmp(path, plan->project) == 0)
		return ".";
	return path_within(path, plan->project) ? path + size + 1 : path;
}

static void print_line(const char *what, const char *value, const char *name, const char *origin)
{
	AUTO_FREE char *shown = text_escaped(value);
	AUTO_FREE char *from = text_escaped(origin);
	bool named = name && strcmp(name, what) != 0;

	printf("%-12s %-40s %s%s%s\n", what, shown, named ? name : "", named ? ", " : "", from);
}

static void print_rules(const struct fence_plan *plan)
{
	static const enum wire_access order[] = { WIRE_WRITE, WIRE_READ, WIRE_HIDE,
						  WIRE_HIDE_AROUND };

	for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
		for (size_t i = 0; i < plan->rule_count; i++) {
			const struct fence_rule *rule = &plan->rules[i];

			AUTO_FREE char *name = NULL;
			const char *origin;

			if (rule->access != order[k])
				continue;
			fence_rule_describe(plan, rule, &name, &origin);
			print_line(access_word(rule->access), inside(plan, rule->path), name,
				   origin);
		}
	}
	print_line("private", "/tmp", NULL, "built-in");
	print_line("private", "/dev/shm", NULL, "built-in");
	print_line("private", plan->home, NULL, "built-in");
	print_line("readable", "the system: /usr, /opt, parts of /etc", NULL, "built-in");
	print_line("absent", "everything else", NULL, "built-in");
}

static void print_limits(const struct config *config, const struct fence_spec *spec)
{
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++) {
		uint64_t value = spec->limits[i];
		enum setting_id id = i == FENCE_LIMIT_TIME ? SETTING_TIMEOUT : SETTING_MEMORY + i;

		if (value) {
			AUTO_FREE char *text = fence_limit_text(i, value);
			AUTO_FREE char *line = mem_format("%s %s", fence_limit_name(i), text);

			print_line("limit", line, NULL, config_get(config, id)->origin);
		}
	}
}

static void print_environment(const struct fence_plan *plan)
{
	AUTO_BUFFER struct buffer names = BUFFER_INIT(1 << 20);

	for (size_t i = 0; i < plan->environment.count; i++) {
		const char *variable = plan->environment.items[i];

		buffer_printf(&names, "%s%.*s", i ? " " : "", (int)strcspn(variable, "="),
			      variable);
	}

	AUTO_FREE char *shown = text_escaped(buffer_text(&names));

	printf("%-12s %s\n", "environment", shown);
}

static size_t refused_calls(void)
{
	size_t count = 0;

	while (fence_refused_call(count))
		count++;
	return count;
}

void policy_print(const struct config *config, const struct fence_spec *spec,
		  const struct fence_plan *plan)
{
	const char *net = spec->net == FENCE_NET_OPEN ? "open: all of the host's" : "none";
	AUTO_FREE char *who = mem_format("%s (uid %u)", plan->identity.name, plan->identity.uid);
	AUTO_FREE char *calls = mem_format("%zu are refused", refused_calls());

	print_line("project", plan->project, NULL, spec->project ? "--project" : "");
	print_line("runs as", who, NULL, "");
	print_line("fence", plan->mechanism->name, NULL, config_get(config, SETTING_FENCE)->origin);
	print_rules(plan);
	print_line("network", net, NULL, spec->net_origin);
	print_line("system calls", calls, NULL, "built-in");
	print_limits(config, spec);
	print_environment(plan);
}

static void add_text(struct buffer *json, const char *before, const char *text)
{
	buffer_add_text(json, before);
	if (text)
		text_json(json, text);
	else
		buffer_add_text(json, "null");
}

static void add_rules(struct buffer *json, const struct fence_plan *plan)
{
	buffer_add_text(json, ",\n  \"rules\": [");
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct fence_rule *rule = &plan->rules[i];
		AUTO_FREE char *name = NULL;
		const char *origin;

		fence_rule_describe(plan, rule, &name, &origin);
		add_text(json, i ? ",\n    {\"path\": " : "\n    {\"path\": ", rule->path);
		add_text(json, ", \"access\": ", access_word(rule->access));
		add_text(json, ", \"rule\": ", name);
		add_text(json, ", \"origin\": ", origin);
		buffer_add_text(json, "}");
	}
	buffer_add_text(json, "\n  ]");
}

static void add_limits(struct buffer *json, const struct policy_options *asked)
{
	bool first = true;

	buffer_add_text(json, ",\n  \"limits\": {");
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++) {
		enum setting_id id = i == FENCE_LIMIT_TIME ? SETTING_TIMEOUT : SETTING_MEMORY + i;

		if (!asked->spec.limits[i])
			continue;
		buffer_printf(json, "%s\"%s\": {\"value\": %llu", first ? "" : ", ",
			      fence_limit_name(i), (unsigned long long)asked->spec.limits[i]);
		add_text(json, ", \"origin\": ", config_get(&asked->config, id)->origin);
		buffer_add_text(json, "}");
		first = false;
	}
	buffer_add_text(json, "}");
}

static void add_lists(struct buffer *json, const struct policy_options *asked,
		      const struct fence_plan *plan)
{
	const char *call;
	bool first = true;

	buffer_add_text(json, ",\n  \"private\": [\"/tmp\", \"/dev/shm\", ");
	text_json(json, plan->home);
	buffer_add_text(json, "],\n  \"environment\": [");
	for (size_t i = 0; i < plan->environment.count; i++) {
		const char *variable = plan->environment.items[i];
		AUTO_FREE char *name = strndup(variable, strcspn(variable, "="));

		add_text(json, i ? ", " : "", name);
	}
	buffer_add_text(json, "],\n  \"refused_syscalls\": [");
	for (size_t i = 0; (call = fence_refused_call(i)); i++)
		add_text(json, i ? ", " : "", call);
	buffer_add_text(json, "],\n  \"inactive\": [");
	for (size_t i = 0; i < asked->config.count; i++) {
		if (asked->config.values[i].state != CONFIG_INACTIVE)
			continue;

		AUTO_FREE char *line = config_inactive_line(&asked->config.values[i]);

		add_text(json, first ? "" : ", ", line);
		first = false;
	}
	buffer_add_text(json, "]");
}

static void print_json(const struct policy_options *asked, const struct fence_plan *plan)
{
	AUTO_BUFFER struct buffer json = BUFFER_INIT(64 << 20);

	add_text(&json, "{\n  \"project\": ", plan->project);
	add_text(&json, ",\n  \"mechanism\": ", plan->mechanism->name);
	buffer_printf(&json, ",\n  \"identity\": {\"uid\": %u, \"gid\": %u", plan->identity.uid,
		      plan->identity.gid);
	add_text(&json, ", \"name\": ", plan->identity.name);
	add_text(&json,
		 "},\n  \"net\": {\"mode\": ", asked->spec.net == FENCE_NET_OPEN ? "open" : "none");
	add_text(&json, ", \"origin\": ", asked->spec.net_origin);
	buffer_add_text(&json, "}");
	add_rules(&json, plan);
	add_limits(&json, asked);
	add_lists(&json, asked, plan);
	buffer_add_text(&json, "\n}\n");
	fputs(buffer_text(&json), stdout);
}

static void print_why_json(const struct fence_explanation *about)
{
	AUTO_BUFFER struct buffer json = BUFFER_INIT(1 << 20);

	add_text(&json, "{\"about\": ", about->about);
	add_text(&json, ", \"subject\": ", about->subject);
	add_text(&json, ", \"verdict\": ", about->verdict);
	add_text(&json, ", \"rule\": ", about->rule);
	add_text(&json, ", \"origin\": ", about->origin);
	add_text(&json, ", \"note\": ", about->note);
	if (about->change_key) {
		add_text(&json, ", \"change\": {\"key\": ", about->change_key);
		add_text(&json, ", \"value\": ", about->change_value);
		buffer_add_text(&json, "}}\n");
	} else {
		buffer_add_text(&json, ", \"change\": null}\n");
	}
	fputs(buffer_text(&json), stdout);
}

static void print_why_line(const char *label, const char *text)
{
	AUTO_FREE char *shown = text_escaped(text);

	printf("  %-8s %s\n", label, shown);
}

static void print_why(const struct fence_explanation *about)
{
	AUTO_FREE char *subject = text_escaped(about->subject);
	const char *nearest = NULL;
	const struct setting *setting = about->change_key
						? setting_find(about->change_key, &nearest)
						: NULL;
	bool is_list = setting && setting_is_list(setting);

	printf("%s: %s\n", subject, about->verdict);
	print_why_line("rule", about->rule);
	print_why_line("origin", about->origin);
	if (about->note)
		print_why_line("note", about->note);
	if (!about->change_key) {
		print_why_line("change", "no setting changes this");
		return;
	}

	AUTO_FREE char *value = text_escaped(about->change_value);

	printf("  %-8s in ~/.config/ringfence/config.yml, or as --%s %s:\n", "change",
	       about->change_key, value);
	printf(is_list ? "             %s:\n               - %s\n" : "             %s: %s\n",
	       about->change_key, value);
}

static int show(struct policy_options *asked, struct error *err)
{
	static char *const nothing[] = { (char *)"true", NULL };
	AUTO_FREE char *here = getcwd(NULL, 0);
	struct fence_explanation about;
	struct fence_plan plan;

	asked->spec.command = nothing;
	asked->spec.place = &asked->place;
	if (fence_plan_make(&asked->spec, &plan, err) < 0)
		return cli_fail(err);
	notice_found(&plan.recovered);
	if (asked->why) {
		fence_explain(&plan, asked->why, here ? here : plan.project, &about);
		if (asked->json)
			print_why_json(&about);
		else
			print_why(&about);
		fence_explanation_release(&about);
	} else if (asked->json) {
		print_json(asked, &plan);
	} else {
		notice_config(&asked->config);
		policy_print(&asked->config, &asked->spec, &plan);
	}
	fence_plan_release(&plan);
	return cli_printed();
}

static int run_policy(const struct command *command, char **argv)
{
	struct policy_options asked = { 0 };
	struct error err;
	bool help = false;
	char **rest;
	int code;

	config_init(&asked.config);
	rest = cli_parse(command, argv, &asked, &help, &err);
	if (!rest || (!help && cli_no_more(command, rest, &err) < 0))
		code = cli_fail(&err);
	else if (help)
		code = cli_print_help(command);
	else if (apply_load(asked.spec.project, &asked.place, &asked.config, &err) < 0 ||
		 apply_config(&asked.config, &asked.spec, &err) < 0)
		code = apply_fail(&asked.config, &err);
	else
		code = show(&asked, &err);
	fence_spec_release(&asked.spec);
	fence_place_release(&asked.place);
	config_release(&asked.config);
	return code;
}

const struct command cmd_policy = {
	.name = "policy",
	.args = "[--why PATH|HOST|SYSCALL] [--json] [options]",
	.help = "what a command could do here, and why",
	.about =
		"Prints what would hold for a command in the fence of this project: every rule with where it comes from. "
		"With --why, the verdict on one path, host or system call, and the line that would change it.",
	.options = options,
	.set = take_setting,
	.sections = sections,
	.run = run_policy,
};
