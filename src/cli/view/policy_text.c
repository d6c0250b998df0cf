/* The effective policy as text: see policy_text.h. */
#include "cli/view/policy_text.h"

#include "cli/cli.h"
#include "cli/view/page.h"
#include "fence/fence_explain.h"
#include "settings/pin_list.h"
#include "util/buffer.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *policy_text_access(enum wire_access access)
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
	enum { LABEL = 13, COLUMN = 36 };
	AUTO_FREE char *shown = text_escaped(value);
	bool named = name && strcmp(name, what) != 0;
	AUTO_FREE char *rule = mem_format("%s%s%s", named ? name : "", named ? ", " : "", origin);
	AUTO_FREE char *from = text_escaped(rule);
	bool long_one = page_width() && page_columns(shown) > COLUMN;

	printf("%-12s %-*s", what, *from ? COLUMN : 0, shown);
	if (*from && long_one)
		printf("\n%*s", LABEL + COLUMN, "");
	printf("%s", *from ? " " : "");
	page_print(from, LABEL + COLUMN + 1);
}

bool policy_text_is_git(const struct fence_plan *plan, const char *path)
{
	AUTO_FREE char *git = path_join(plan->project, ".git");

	return path_within(path, git);
}

bool policy_text_private_git(const struct effective *effective, const struct fence_plan *plan)
{
	AUTO_FREE char *git = path_join(plan->project, ".git");
	AUTO_FREE char *head = path_join(git, "HEAD");
	struct stat status;

	if (strcmp(config_get(&effective->config, SETTING_GIT)->text, "private") != 0 ||
	    plan->weaker & FENCE_WEAKER_NO_FENCE)
		return false;
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].asked && policy_text_is_git(plan, plan->rules[i].path))
			return false;
	return lstat(git, &status) == 0 && (S_ISREG(status.st_mode) || access(head, F_OK) == 0);
}

static void print_rules(const struct effective *effective, const struct fence_plan *plan, bool loop)
{
	static const enum wire_access order[] = { WIRE_WRITE, WIRE_READ, WIRE_HIDE,
						  WIRE_HIDE_AROUND };
	const char *git_origin = config_get(&effective->config, SETTING_GIT)->origin;
	bool private_git = policy_text_private_git(effective, plan);

	for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
		for (size_t i = 0; i < plan->rule_count; i++) {
			const struct fence_rule *rule = &plan->rules[i];

			AUTO_FREE char *name = NULL;
			const char *origin;

			if (rule->access != order[k] ||
			    (loop && private_git && policy_text_is_git(plan, rule->path)))
				continue;
			fence_rule_describe(plan, rule, &name, &origin);
			print_line(policy_text_access(rule->access), inside(plan, rule->path), name,
				   origin);
		}
	}
	if (private_git)
		print_line(loop ? "private" : "in a loop",
			   loop ? ".git" : ".git is private and writable", "git", git_origin);
	print_line("private", "/tmp", NULL, "built-in");
	print_line("private", "/dev/shm", NULL, "built-in");
	print_line("private", plan->home, NULL, "built-in");
	print_line("readable", "/usr, /opt, parts of /etc", NULL, "built-in");
	print_line("absent", "everything else", NULL, "built-in");
}

const char *policy_text_limit_origin(const struct config *config, enum fence_limit limit)
{
	return config_get(config, effective_limit_setting(limit))->origin;
}

static void print_limits(const struct effective *effective)
{
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++) {
		uint64_t value = effective->spec.limits[i];

		if (value) {
			AUTO_FREE char *text = fence_limit_text(i, value);
			AUTO_FREE char *line = mem_format("%s %s", fence_limit_name(i), text);

			print_line("limit", line, NULL,
				   policy_text_limit_origin(&effective->config, i));
		}
	}
}

static void print_environment(const struct fence_plan *plan)
{
	enum { COLUMN = 13 };
	AUTO_BUFFER struct buffer names = BUFFER_INIT(1 << 20);

	for (size_t i = 0; i < plan->environment.count; i++) {
		const char *variable = plan->environment.items[i];

		buffer_printf(&names, "%s%.*s", i ? " " : "", (int)strcspn(variable, "="),
			      variable);
	}

	AUTO_FREE char *shown = text_escaped(buffer_text(&names));

	printf("%-12s ", "environment");
	cli_print_wrapped(shown, COLUMN);
}

/* Returns whether two pins have the same reason. */
static bool is_alike(const struct pin_list_item *a, const struct pin_list_item *b)
{
	return a->kind == b->kind && strcmp(a->why, b->why) == 0 &&
	       strcmp(a->origin, b->origin) == 0;
}

/* Prints the patterns from the i-th one on that have the same reason. Returns the next one. */
static size_t print_pin(const struct pin_list *list, size_t i)
{
	enum { COLUMN = 13 };
	const struct pin_list_item *first = &list->items[i];
	AUTO_BUFFER struct buffer line = BUFFER_INIT(1 << 20);

	buffer_printf(&line, "%s, %s:", first->why, first->origin);
	for (; i < list->count && is_alike(first, &list->items[i]); i++)
		buffer_printf(&line, " %s", list->items[i].pattern);

	AUTO_FREE char *shown = text_escaped(buffer_text(&line));

	printf("%-12s ", first->kind == PINS_NOT ? "unpinned" : "pinned");
	cli_print_wrapped(shown, COLUMN);
	return i;
}

/* Prints what the checks of a loop would see as it was before the loop. */
static void print_pins(const struct effective *effective)
{
	struct pin_list list;

	pin_list_make(effective, &list);
	if (list.nothing) {
		AUTO_FREE char *line = mem_format("nothing: %s", list.nothing);

		print_line("pinned", line, NULL, "");
	}
	for (size_t i = 0; i < list.count;)
		i = print_pin(&list, i);
	pin_list_release(&list);
}

static size_t refused_calls(void)
{
	size_t count = 0;

	while (fence_refused_call(count))
		count++;
	return count;
}

/* Prints the upstreams that answer model requests, or the tape that replaces or records them. */
static void print_models(const struct model_access *access)
{
	const char *replay = model_access_tape(access, MODEL_ACCESS_REPLAY);
	const char *record = model_access_tape(access, MODEL_ACCESS_RECORD);

	for (size_t i = 0; i < PROVIDER_COUNT && !replay; i++) {
		AUTO_FREE char *url = url_text(&access->upstreams[i].url);
		AUTO_FREE char *shown = mem_format("%s %s", provider_at(i)->name, url);

		if (access->upstreams[i].set)
			print_line("models", shown, NULL, "models");
	}
	if (replay)
		print_line("models", replay, "a tape", "replay");
	if (record)
		print_line("tape", record, NULL, "record");
}

void policy_text_print(const struct effective *effective, const struct fence_plan *plan, bool loop)
{
	static const char *const nets[] = { [FENCE_NET_NONE] = "none",
					    [FENCE_NET_LIST] = "list: only these hosts",
					    [FENCE_NET_OPEN] =
						    "open: the whole network of the host" };
	AUTO_FREE char *who = mem_format("%s (uid %u)", plan->identity.name, plan->identity.uid);
	AUTO_FREE char *calls = mem_format("%zu are refused", refused_calls());

	print_line("project", plan->project, NULL, effective->spec.project ? "--project" : "");
	print_line("runs as", who, NULL, "");
	print_line("fence", fence_plan_mechanism(plan), NULL,
		   config_get(&effective->config, SETTING_FENCE)->origin);
	if (plan->spec->image)
		print_line("image", plan->spec->image, NULL,
			   config_get(&effective->config, SETTING_IMAGE)->origin);
	print_rules(effective, plan, loop);
	print_line("network",
		   effective->spec.net == FENCE_NET_LIST && !effective->spec.allow.count
			   ? (model_access_is_set(&effective->spec.models)
				      ? "list: no host, only models"
				      : "list: no host is allowed")
			   : nets[effective->spec.net],
		   NULL, effective->spec.net_origin);
	for (size_t i = 0; i < effective->spec.allow.count; i++)
		print_line("allow", effective->spec.allow.items[i].path, NULL,
			   effective->spec.allow.items[i].origin);
	print_models(&effective->spec.models);
	print_line("system calls", calls, NULL, "built-in");
	print_limits(effective);
	print_environment(plan);
	print_pins(effective);
}
