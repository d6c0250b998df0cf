/* Settings on their way into a loop: each must reach the spec, and the journal. A setting, a limit,
 * a mechanism or a member of the spec that is forgotten on the way fails here. */
#include "unit.h"

#include "fence/mechanism/mechanism.h"
#include "loop/state/loop_state.h"
#include "loop/state/spec_json.h"
#include "notify/notify_event.h"
#include "project/hosts.h"
#include "settings/effective.h"
#include "settings/loop_limits.h"
#include "util/env.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- every member of the spec */

static char word[] = "word";
static char other[] = "other";
static char socket_path[] = "/socket";
static struct fence_path path = { word, other, true };
static struct fence_cover cover = { word, other, true };
static struct fence_pattern pattern = { { word, true, true }, other };
static char *variable = word;
static struct fence_listen listener = { { .family = 4, .port = 5432, .address = { 127, 0, 0, 1 } },
					socket_path };
static int descriptor;

/* The order is that of the struct, so that a new member does not compile until it has a value here.
 * It then needs a row below and, unless it belongs to one run, a line in spec_json.c. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wmissing-field-initializers"
static struct fence_spec full = {
	word,
	word,
	word,
	word,
	(const struct fence_place *)word,
	{ &path, 1 },
	{ &path, 1 },
	{ &path, 1 },
	{ &cover, 1 },
	{ &pattern, 1 },
	{ &variable, 1 },
	true,
	word,
	(const struct fence_plan *)word,
	(const struct fence_made *)word,
	(struct fence_index *)word,
	true,
	word,
	true,
	true,
	true,
	FENCE_NET_OPEN,
	word,
	{ &path, 1 },
	{ .ca = word },
	{ 1, 2, 3 },
	(struct outlet *)word,
	&listener,
	1,
	{ 0 },
	1,
	1,
	(const struct launcher *)word,
	word,
	&descriptor,
	&variable,
};
#pragma GCC diagnostic pop

static const struct member {
	const char *name;
	size_t at, size;
	bool stored;
} members[] = {
#define STORED(name)                                                             \
	{                                                                        \
#name, offsetof(struct fence_spec, name), sizeof full.name, true \
	}
#define OF_A_RUN(name)                                                            \
	{                                                                         \
#name, offsetof(struct fence_spec, name), sizeof full.name, false \
	}
	STORED(mechanism),
	STORED(image),
	OF_A_RUN(project),
	OF_A_RUN(cwd),
	OF_A_RUN(place),
	STORED(write),
	STORED(read),
	STORED(hide),
	OF_A_RUN(covers),
	STORED(patterns),
	STORED(env),
	OF_A_RUN(draft),
	OF_A_RUN(layers),
	OF_A_RUN(before),
	OF_A_RUN(made),
	OF_A_RUN(index),
	STORED(read_only),
	STORED(read_only_origin),
	STORED(denials),
	STORED(trace_reads),
	STORED(raw_terminal),
	STORED(net),
	STORED(net_origin),
	STORED(allow),
	STORED(models),
	STORED(net_caps),
	OF_A_RUN(outlet),
	STORED(listens),
	STORED(listen_count),
	STORED(limits),
	STORED(accepted_weaker),
	STORED(accepted_limits),
	OF_A_RUN(launcher),
	OF_A_RUN(login),
	OF_A_RUN(lifeline),
	OF_A_RUN(command),
};

static bool is_zero(const void *spec, size_t at, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (((const unsigned char *)spec)[at + i])
			return false;
	return true;
}

/* Returns whether every byte that is set belongs to a row. */
static bool rows_are_complete(void)
{
	struct fence_spec rest;

	memcpy(&rest, &full, sizeof rest);
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		memset((char *)&rest + members[i].at, 0, members[i].size);
	return is_zero(&rest, 0, sizeof rest);
}

static void storing(void)
{
	struct fence_spec copy = { 0 };
	json_t *first, *second = NULL;
	struct error err;

	for (int i = 0; i < FENCE_LIMIT_COUNT; i++)
		full.limits[i] = (uint64_t)i + 1;
	first = spec_json_write(&full, "/");
	if (spec_json_read(first, &copy, &err) == 0)
		second = spec_json_write(&copy, "/");
	else
		printf("# %s\n", err.text);
	CHECK("every member of the spec has a row in this test", rows_are_complete());
	CHECK("the whole spec of a loop is read back unchanged", json_equal(first, second));
	CHECK("the limits are as well", memcmp(copy.limits, full.limits, sizeof copy.limits) == 0);
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		AUTO_FREE char *sentence = mem_format("a loop's spec keeps '%s'", members[i].name);

		if (members[i].stored)
			CHECK(sentence, !is_zero(&full, members[i].at, members[i].size) &&
						!is_zero(&copy, members[i].at, members[i].size));
	}
	fence_spec_release(&copy);
	json_decref(first);
	json_decref(second);
}

/* An older version knew fewer limits. */
static void fewer_limits(void)
{
	struct fence_spec copy = { 0 };
	json_t *json = spec_json_write(&full, "/");
	json_t *limits = json_object_get(json, "limits");
	struct error err;
	int result;

	json_array_remove(limits, FENCE_LIMIT_COUNT - 1);
	result = spec_json_read(json, &copy, &err);
	CHECK("a limit that is newer than a loop does not apply to it",
	      result == 0 && copy.limits[FENCE_LIMIT_COUNT - 2] == FENCE_LIMIT_COUNT - 1 &&
		      copy.limits[FENCE_LIMIT_COUNT - 1] == 0);
	fence_spec_release(&copy);
	for (int i = 0; i < 2; i++)
		json_array_append_new(limits, json_integer(1));
	CHECK("a limit that this version does not know is refused",
	      spec_json_read(json, &copy, &err) < 0);
	json_object_del(json, "limits");
	CHECK("a spec without limits is refused", spec_json_read(json, &copy, &err) < 0);
	json_decref(json);
}

/* --- every setting of the fence */

/* The spec of a project with this setting, or without any if it is NULL, as stored by a loop. */
static json_t *spec_with(const char *project, const struct setting *setting, const char *value)
{
	struct effective effective;
	json_t *json = NULL;
	struct error err;

	effective_init(&effective);
	effective.spec.project = project;
	if ((setting && effective_set(&effective, setting, value, &err) < 0) ||
	    effective_spec(&effective, &err) < 0)
		printf("# %s: %s\n", setting ? setting->key : "defaults", err.text);
	else
		json = spec_json_write(&effective.spec, "/");
	effective_release(&effective);
	return json;
}

/* The last entry of the setting's example, which is written as in a file. The caller frees. */
static char *example_of(const struct setting *setting)
{
	const char *from = strrchr(setting->example, ' ');
	const char *text = from ? from + 1 : setting->example;
	size_t skipped = strspn(text, "[\"");

	return mem_format("%.*s", (int)strcspn(text + skipped, "]\""), text + skipped);
}

static void every_setting(const char *project)
{
	json_t *usual = spec_with(project, NULL, NULL);

	/* The settings of drafts come last, and are not the fence's: they make the view. */
	for (int i = 0; i < SETTING_DRAFT_KIND; i++) {
		const struct setting *setting = setting_at((size_t)i);
		AUTO_FREE char *value = example_of(setting);
		AUTO_FREE char *sentence = mem_format("'%s' reaches the spec", setting->key);
		json_t *changed = spec_with(project, setting, value);

		CHECK(sentence, usual && changed && !json_equal(usual, changed));
		json_decref(changed);
	}
	json_decref(usual);
}

static void limits(void)
{
	const char *const *weaker = setting_at(SETTING_ACCEPT_WEAKER)->choices;

	for (int i = 0; i < FENCE_LIMIT_COUNT; i++) {
		const char *name = fence_limit_name((enum fence_limit)i);
		AUTO_FREE char *sentence = mem_format("accept-weaker knows '%s'", name);
		bool known = i == FENCE_LIMIT_TIME;

		for (size_t k = 0; weaker[k]; k++)
			known = known || strcmp(weaker[k], name) == 0;
		CHECK(sentence, known);
	}
}

static void mechanisms(void)
{
	const char *const *choices = setting_at(SETTING_FENCE)->choices;
	size_t count = 0;

	for (; choices[count]; count++) {
		AUTO_FREE char *sentence = mem_format("there is a mechanism '%s'", choices[count]);

		CHECK(sentence,
		      mechanism_find(choices[count]) || strcmp(choices[count], "auto") == 0);
	}
	/* "auto" is a choice without a row, "none" a row without a choice. */
	CHECK("every mechanism can be chosen", count == MECHANISM_COUNT);
}

/* --- every limit of a loop */

/* Returns whether a limit in the journal changes the state of a loop. */
static bool is_read(const struct setting *setting, uint64_t number)
{
	struct loop_state *before = mem_zero(sizeof *before);
	struct loop_state *after = mem_zero(sizeof *after);
	json_t *nothing = json_object();
	json_t *limit = json_object();
	bool changed;

	loop_limits_set(limit, setting, number);
	loop_options_change(nothing, before);
	loop_options_change(limit, after);
	changed = memcmp(before, after, sizeof *before) != 0;
	json_decref(limit);
	json_decref(nothing);
	free(before);
	free(after);
	return changed;
}

static void loop_settings(void)
{
	for (int i = 0; i < SETTING_ID_COUNT; i++) {
		const struct setting *setting = setting_at((size_t)i);
		AUTO_FREE char *stored = mem_format("'%s' is a limit of a loop", setting->key);
		AUTO_FREE char *used = mem_format("a loop uses '%s'", setting->key);

		if (i > SETTING_TASKS)
			CHECK(stored, loop_limits_has(setting));
		if (loop_limits_has(setting))
			CHECK(used, is_read(setting, 5000) || is_read(setting, 0));
	}
}

/* --- lists that the help repeats */

static void sets_of_hosts(void)
{
	const struct setting *setting = setting_at(SETTING_ALLOW);
	AUTO_FREE char *names = hosts_names();
	char *rest = names;
	int known = 0;

	for (char *name; (name = strtok_r(rest, ", ", &rest)); known++) {
		AUTO_FREE char *quoted = mem_format("`%s`", name);
		AUTO_FREE char *sentence = mem_format("the help names the set %s", name);

		CHECK(sentence, strstr(setting->more, quoted));
	}
	CHECK("there are sets of hosts", known > 5);
}

static void events(void)
{
	const struct setting *setting = setting_at(SETTING_NOTIFY_ON);
	size_t count = 0;

	for (; setting->choices[count]; count++) {
		AUTO_FREE char *sentence =
			mem_format("people can be notified of %s, as the help says",
				   setting->choices[count]);

		CHECK(sentence, notify_event_find(setting->choices[count]) >= 0 &&
					strstr(setting->help, setting->choices[count]));
	}
	CHECK("every event can be chosen", count == NOTIFY_EVENT_COUNT);
}

int main(void)
{
	char root[UNIT_PATH];
	AUTO_FD tmp = open(unit_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!unit_temp(root) || tmp < 0)
		return 1;
	env_set("HOME", root);
	env_set("RINGFENCE_STATE_DIR", root);

	AUTO_FREE char *project = mem_format("%s/project", root);

	mkdir(project, 0700);
	storing();
	fewer_limits();
	every_setting(project);
	limits();
	mechanisms();
	loop_settings();
	sets_of_hosts();
	events();
	dirwalk_remove(tmp, root + strlen(unit_folder) + 1, NULL);
	return unit_failures > 0;
}
