/* ringfence policy: show what a command may do here, and why. */
#include "cli/cli.h"
#include "cli/view/notice.h"
#include "cli/view/policy_text.h"
#include "fence/fence_explain.h"
#include "settings/effective.h"
#include "settings/pin_list.h"
#include "settings/reach.h"
#include "util/mem.h"
#include "util/text/json.h"
#include "util/text/shell.h"
#include "util/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct policy_options {
	struct effective effective;
	const char *why;
	bool json;
};

_Static_assert(offsetof(struct policy_options, effective) == 0,
	       "effective_set() needs it to be the first member");

static const struct cli_option options[] = {
	OPTION_PROJECT(struct policy_options, effective.spec.project),
	OPTION_TEXT("why", "PATH|HOST|SYSCALL",
		    "explain one thing: the verdict, its rule, and how to change it",
		    struct policy_options, why),
	OPTION_JSON(struct policy_options, json),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES", "  ringfence policy\n"
		      "  ringfence policy --why .env\n"
		      "  ringfence policy --why https://example.org\n"
		      "  ringfence policy --why mount\n" },
	{ 0 },
};

static void add_rules(struct json *json, const struct fence_plan *plan)
{
	json_open(json, "rules", '[');
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct fence_rule *rule = &plan->rules[i];
		AUTO_FREE char *name = NULL;
		const char *origin;

		fence_rule_describe(plan, rule, &name, &origin);
		json_open(json, NULL, '{');
		json_text(json, "path", rule->path);
		json_text(json, "access", policy_text_access(rule->access));
		json_text(json, "rule", name);
		json_text(json, "origin", origin);
		json_close(json);
	}
	json_close(json);
}

static void add_limits(struct json *json, const struct effective *effective)
{
	json_open(json, "limits", '{');
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++) {
		if (!effective->spec.limits[i])
			continue;
		json_open(json, fence_limit_name(i), '{');
		json_number(json, "value", effective->spec.limits[i]);
		json_text(json, "origin", policy_text_limit_origin(&effective->config, i));
		json_close(json);
	}
	json_close(json);
}

static void add_private(struct json *json, const struct fence_plan *plan)
{
	json_open(json, "private", '[');
	json_text(json, NULL, "/tmp");
	json_text(json, NULL, "/dev/shm");
	json_text(json, NULL, plan->home);
	json_close(json);
}

static void add_lists(struct json *json, const struct config *config, const struct fence_plan *plan)
{
	const char *call;

	json_open(json, "environment", '[');
	for (size_t i = 0; i < plan->environment.count; i++) {
		const char *variable = plan->environment.items[i];
		AUTO_FREE char *name = strndup(variable, strcspn(variable, "="));

		json_text(json, NULL, name);
	}
	json_close(json);
	json_open(json, "refused_syscalls", '[');
	for (size_t i = 0; (call = fence_refused_call(i)); i++)
		json_text(json, NULL, call);
	json_close(json);
	json_open(json, "inactive", '[');
	for (size_t i = 0; i < config->count; i++) {
		AUTO_FREE char *line = config_inactive_line(&config->values[i]);

		if (config->values[i].state == CONFIG_INACTIVE)
			json_text(json, NULL, line);
	}
	json_close(json);
}

/* Adds what a loop would pin, each pattern with its reason. */
static void add_pins(struct json *json, const struct effective *effective)
{
	struct pin_list list;

	pin_list_make(effective, &list);
	json_open(json, "pins", '[');
	for (size_t i = 0; i < list.count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "pattern", list.items[i].pattern);
		json_text(json, "kind", pins_kind_name(list.items[i].kind));
		json_text(json, "why", list.items[i].why);
		json_text(json, "origin", list.items[i].origin);
		json_close(json);
	}
	json_close(json);
	json_text(json, "no_pins", list.nothing);
	pin_list_release(&list);
}

static void print_json(const struct effective *effective, const struct fence_plan *plan)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(64 << 20);
	struct json json = JSON_INIT(&out);

	json_open(&json, NULL, '{');
	json_text(&json, "project", plan->project);
	json_text(&json, "mechanism", fence_plan_mechanism(plan));
	json_text(&json, "image", plan->spec->image);
	json_open(&json, "identity", '{');
	json_number(&json, "uid", plan->identity.uid);
	json_number(&json, "gid", plan->identity.gid);
	json_text(&json, "name", plan->identity.name);
	json_close(&json);
	json_open(&json, "net", '{');
	json_text(&json, "mode", setting_at(SETTING_NET)->choices[effective->spec.net]);
	json_text(&json, "origin", effective->spec.net_origin);
	json_open(&json, "allow", '[');
	for (size_t i = 0; i < effective->spec.allow.count; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "rule", effective->spec.allow.items[i].path);
		json_text(&json, "origin", effective->spec.allow.items[i].origin);
		json_close(&json);
	}
	json_close(&json);
	json_close(&json);
	add_rules(&json, plan);
	json_flag(&json, "private_git", policy_text_private_git(effective, plan));
	add_limits(&json, effective);
	add_private(&json, plan);
	add_lists(&json, &effective->config, plan);
	add_pins(&json, effective);
	json_close(&json);
	fputs(buffer_text(&out), stdout);
}

static void print_why_json(const struct fence_explanation *about)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	struct json json = JSON_INIT(&out);

	json_open(&json, NULL, '{');
	json_text(&json, "about", about->about);
	json_text(&json, "subject", about->subject);
	json_text(&json, "verdict", about->verdict);
	json_text(&json, "rule", about->rule);
	json_text(&json, "origin", about->origin);
	json_text(&json, "note", about->note);
	if (about->change_key) {
		json_open(&json, "change", '{');
		json_text(&json, "key", about->change_key);
		json_text(&json, "value", about->change_value);
		json_text(&json, "also", about->change_also);
		json_close(&json);
	} else {
		json_text(&json, "change", NULL);
	}
	json_close(&json);
	fputs(buffer_text(&out), stdout);
}

static void print_why_line(const char *label, const char *text)
{
	enum { COLUMN = 11 };
	AUTO_FREE char *shown = text_escaped(text);

	printf("  %-8s ", label);
	cli_print_wrapped(shown, COLUMN);
}

/* Prints " --write VALUE", as a shell reads it. */
static void print_option(const char *key, const char *value)
{
	AUTO_FREE char *quoted = shell_quoted(value);
	AUTO_FREE char *shown = text_escaped(quoted);

	printf(" --%s %s", key, shown);
}

static void print_change(const struct fence_explanation *about, bool is_list)
{
	const char *const values[] = { about->change_also, about->change_value };

	printf("  %-8s in ~/.config/ringfence/config.yml, or as", "change");
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (values[i])
			print_option(about->change_key, values[i]);
	printf(is_list ? ":\n             %s:\n" : ":\n             %s:", about->change_key);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		AUTO_FREE char *shown = values[i] ? text_escaped(values[i]) : NULL;

		if (shown)
			printf(is_list ? "               - %s\n" : " %s\n", shown);
	}
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
		print_why_line(about->instead ? "change" : "note", about->note);
	if (!about->change_key) {
		if (!about->instead)
			print_why_line("change", "no setting changes this");
		return;
	}

	print_change(about, is_list);
}

static void add_note(struct fence_explanation *about, const char *text)
{
	char *note = mem_format("%s%s%s", about->note ? about->note : "", about->note ? "; " : "",
				text);

	free(about->note);
	about->note = note;
}

static void note_guess(struct fence_explanation *about)
{
	AUTO_FREE char *text =
		mem_format("read as a host, because there is no such file; for a file, "
			   "write ./%s",
			   about->subject);

	add_note(about, text);
}

/* The plan describes .git for a single command; note that a loop has another one. */
static void note_git(const struct effective *effective, const struct fence_plan *plan,
		     struct fence_explanation *about)
{
	if (policy_text_is_git(plan, about->subject) && policy_text_private_git(effective, plan))
		add_note(about, "in a loop, a private, writable git directory takes its place");
}

static int show(struct policy_options *opts, struct error *err)
{
	static char *const nothing[] = { (char *)"true", NULL };
	struct effective *effective = &opts->effective;
	AUTO_FREE char *here = getcwd(NULL, 0);
	struct fence_explanation about;
	struct fence_plan plan;

	effective->spec.command = nothing;
	if (fence_plan_make(&effective->spec, &plan, err) < 0)
		return cli_fail(err);
	notice_found(&plan.recovered, plan.project);
	if (opts->why) {
		fence_explain(&plan, opts->why, here ? here : plan.project, &about);
		if (strcmp(about.about, "host") == 0)
			reach_explain(&effective->spec, &about);
		else if (strcmp(about.about, "path") == 0)
			note_git(effective, &plan, &about);
		if (about.guessed)
			note_guess(&about);
		if (opts->json)
			print_why_json(&about);
		else
			print_why(&about);
		fence_explanation_release(&about);
	} else if (opts->json) {
		print_json(effective, &plan);
	} else {
		notice_config(&effective->config, notice_is_general);
		policy_text_print(effective, &plan, false);
	}
	fence_plan_release(&plan);
	return cli_flush();
}

static int load_and_show(struct policy_options *opts, struct error *err)
{
	if (opts->why && !*opts->why) {
		error_set(err, "--why needs a path, a host or a system call");
		return cli_fail(err);
	}
	if (effective_spec(&opts->effective, err) < 0)
		return cli_fail_config(&opts->effective.config, err);
	return show(opts, err);
}

static int run_policy(const struct cli_command *command, char **argv)
{
	struct policy_options opts = { 0 };
	struct error err;
	char **rest;
	int code;

	effective_init(&opts.effective);
	rest = cli_parse(command, argv, &opts, &code);
	if (rest && *rest && opts.why) {
		code = cli_fail_argument(command, *rest);
	} else if (rest) {
		opts.why = *rest ? *rest : opts.why;
		code = load_and_show(&opts, &err);
	}
	effective_release(&opts.effective);
	return code;
}

const struct cli_command cmd_policy = {
	.name = "policy",
	.args = "[--json] [options] [[--why] PATH|HOST|SYSCALL]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "show what a command may do here, and why",
	.description =
		"Prints every rule of the fence for a command in this project, with its origin, and the "
		"files that a loop would pin. With a path, a host or a system call, prints whether it is "
		"allowed, and the line that would change that.",
	.options = options,
	.set = effective_set,
	.sections = sections,
	.run = run_policy,
};
