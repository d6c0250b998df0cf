/* Suggestions: see suggest.h. */
#include "settings/suggest.h"

#include "settings/reach.h"

#include "fence/fence_explain.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 3 }; /* this many entries of a folder are replaced by the folder */

static void withhold(struct suggest_list *all, const char *kind, const char *target,
		     const char *why)
{
	all->withheld = mem_resize(all->withheld, all->withheld_count + 1, sizeof *all->withheld);
	all->withheld[all->withheld_count++] =
		(struct suggest_withheld){ mem_dup(kind), mem_dup(target), mem_dup(why) };
}

static bool is_host(const char *key)
{
	return strcmp(key, "allow") == 0;
}

static bool covers(const char *key, const char *wide, const char *narrow)
{
	return is_host(key) ? strcmp(wide, narrow) == 0 : path_within(narrow, wide);
}

static void add(struct suggest_list *all, const struct fence_offer *offer)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->items[i].key, offer->key) == 0 &&
		    covers(offer->key, all->items[i].path, offer->path))
			return;
	all->items = mem_resize(all->items, all->count + 1, sizeof *all->items);
	all->items[all->count++] = (struct suggest_item){ .key = offer->key,
							  .path = mem_dup(offer->path),
							  .risk = mem_dup(offer->risk) };
}

static void drop(struct suggest_list *all, size_t index)
{
	free(all->items[index].path);
	free(all->items[index].risk);
	memmove(&all->items[index], &all->items[index + 1],
		(--all->count - index) * sizeof *all->items);
}

/* Drops items that another item covers. */
static void drop_covered(struct suggest_list *all)
{
	for (size_t i = 0; i < all->count; i++) {
		for (size_t k = 0; k < all->count; k++) {
			if (k == i || strcmp(all->items[i].key, all->items[k].key) != 0 ||
			    !covers(all->items[i].key, all->items[k].path, all->items[i].path))
				continue;
			drop(all, i--);
			break;
		}
	}
}

/* Replaces many entries of one folder by the folder, if the fence permits it. */
static void join(struct suggest_list *all, const struct fence_plan *plan)
{
	for (size_t i = 0; i < all->count; i++) {
		if (is_host(all->items[i].key))
			continue;

		AUTO_FREE char *folder = mem_dup(all->items[i].path);
		bool writable = strcmp(all->items[i].key, "write") == 0;
		size_t together = 0;
		struct error err;

		*strrchr(folder, '/') = '\0';
		for (size_t k = 0; k < all->count; k++)
			together += strcmp(all->items[k].key, all->items[i].key) == 0 &&
				    path_within(all->items[k].path, folder);
		if (together < TOGETHER || !*folder || strcmp(folder, plan->project) == 0 ||
		    fence_plan_permits(plan, writable, folder, &err) < 0)
			continue;
		free(all->items[i].path);
		all->items[i].path = folder;
		folder = NULL;
	}
	drop_covered(all);
}

/* Reads kind and target of a denial. Returns false if either is missing. */
static bool read_denial(json_t *denial, const char **ret_kind, const char **ret_target)
{
	*ret_kind = jsonget_string(denial, "kind");
	*ret_target = jsonget_string(denial, "target");
	return !json_object_get(denial, "harmless") && *ret_kind && *ret_target;
}

/* Whether this is a network connection, not one to a Unix socket. */
static bool is_network(const char *kind, const char *target)
{
	return strcmp(kind, "connect") == 0 && target[0] != '/' && target[0] != '@';
}

static bool is_allowed(const struct fence_plan *plan, const char *kind, const char *target)
{
	return is_network(kind, target) ? reach_allows(plan->spec, target)
					: fence_plan_allows(plan, kind, target);
}

static const char *rule_of(json_t *denial)
{
	const char *rule = jsonget_string(denial, "rule");

	return rule ? rule : "";
}

static void judge_denials(json_t *denials, const struct fence_plan *plan, struct suggest_list *all)
{
	size_t index;
	json_t *denial;

	json_array_foreach(denials, index, denial)
	{
		struct fence_offer offer;
		const char *kind;
		const char *target;

		if (!read_denial(denial, &kind, &target) || is_allowed(plan, kind, target))
			continue;
		if (is_network(kind, target))
			reach_offer(target, rule_of(denial), &offer);
		else
			fence_offer(plan, kind, target, &offer);
		if (offer.key)
			add(all, &offer);
		else
			withhold(all, kind, target, offer.risk);
		fence_offer_release(&offer);
	}
	join(all, plan);
}

/* Counts for each item the denials that it would prevent. */
static void count_allowed(json_t *denials, const struct fence_plan *plan, struct suggest_list *all)
{
	size_t index;
	json_t *denial;

	json_array_foreach(denials, index, denial)
	{
		const char *kind;
		const char *target;

		if (!read_denial(denial, &kind, &target) || !is_allowed(plan, kind, target))
			continue;
		for (size_t i = 0; i < all->count; i++)
			if (is_network(kind, target)
				    ? is_host(all->items[i].key) &&
					      reach_rule_allows(all->items[i].path, target)
				    : !is_host(all->items[i].key) &&
					      path_within(target, all->items[i].path))
				all->items[i].allows++;
	}
}

static void drop_useless(struct suggest_list *all, const struct fence_plan *plan)
{
	for (size_t i = 0; i < all->count; i++) {
		/* Items taken over from the project's file prevent no denial. */
		if (all->items[i].allows ||
		    fence_plan_allows(plan, all->items[i].key, all->items[i].path))
			continue;
		withhold(all, all->items[i].key, all->items[i].path,
			 "the rule would not have allowed it");
		drop(all, i--);
	}
}

/* The user's `write` list replaces the project's, so the project's entries must be added to it. */
static void adopt_project_entries(struct suggest_list *all, struct fence_spec *spec,
				  const char *project)
{
	bool needed = false;
	size_t kept = 0;

	for (size_t i = 0; i < all->count; i++)
		needed = needed || (strcmp(all->items[i].key, "write") == 0 &&
				    path_within(all->items[i].path, project));
	for (size_t i = 0; i < spec->write.count; i++) {
		struct fence_path *path = &spec->write.items[i];

		if (!needed || !path->weak) {
			spec->write.items[kept++] = *path;
			continue;
		}
		add(all,
		    &(struct fence_offer){
			    .key = "write",
			    .path = path->path,
			    .risk = (char *)"the project's file names it, and your list replaces that one" });
		free(path->path);
		free(path->origin);
	}
	spec->write.count = kept;
}

static void add_to_spec(struct fence_spec *spec, const struct suggest_item *item)
{
	struct fence_paths *list = is_host(item->key)                ? &spec->allow
				   : strcmp(item->key, "write") == 0 ? &spec->write
								     : &spec->read;

	if (is_host(item->key) && spec->net == FENCE_NET_NONE)
		spec->net = FENCE_NET_LIST;
	fence_paths_add(list, item->path, "--suggested");
}

int suggest(json_t *report, struct fence_spec *spec, struct suggest_list *ret_suggestions,
	    struct error *err)
{
	json_t *denials = json_object_get(report, "denials");
	struct suggest_list all = { 0 };
	struct fence_plan plan;

	if (!json_is_array(denials))
		return error_set(err, "this is not a Ringfence report: it has no list of denials");
	if (fence_plan_make(spec, &plan, err) < 0)
		return -1;
	judge_denials(denials, &plan, &all);
	adopt_project_entries(&all, spec, plan.project);
	fence_plan_release(&plan);
	for (size_t i = 0; i < all.count; i++)
		add_to_spec(spec, &all.items[i]);
	if (all.count && fence_plan_make(spec, &plan, err) < 0) {
		suggest_list_release(&all);
		return -1;
	}
	if (all.count) {
		count_allowed(denials, &plan, &all);
		drop_useless(&all, &plan);
		fence_plan_release(&plan);
	}
	*ret_suggestions = all;
	return 0;
}

void suggest_list_release(struct suggest_list *suggestions)
{
	while (suggestions->count)
		drop(suggestions, suggestions->count - 1);
	for (size_t i = 0; i < suggestions->withheld_count; i++) {
		free(suggestions->withheld[i].kind);
		free(suggestions->withheld[i].target);
		free(suggestions->withheld[i].why);
	}
	free(suggestions->items);
	free(suggestions->withheld);
}

/* The last line of the user's file with an entry of this list, or 0. */
static unsigned int last_line(const struct config *config, const char *key)
{
	unsigned int line = 0;

	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];
		const char *colon = strrchr(value->origin, ':');

		if (value->layer == CONFIG_USER && strcmp(value->setting->key, key) == 0 && colon &&
		    strtoul(colon + 1, NULL, 10) > line)
			line = (unsigned int)strtoul(colon + 1, NULL, 10);
	}
	return line;
}

static void add_entry(struct buffer *out, const char *indent, const struct suggest_item *item,
		      const char *home)
{
	bool at_home = home[0] && path_within(item->path, home) && item->path[strlen(home)];
	AUTO_FREE char *shown = at_home ? mem_format("~%s", item->path + strlen(home))
					: mem_dup(item->path);
	AUTO_FREE char *risk = text_escaped(item->risk);

	buffer_printf(out, "+%s# %s\n+%s- ", indent, risk, indent);
	text_json(out, shown);
	buffer_add_text(out, "\n");
}

static size_t entries_of(const struct suggest_list *all, const char *key)
{
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++)
		count += strcmp(all->items[i].key, key) == 0;
	return count;
}

/* The start of a line and its size. */
static const char *line_at(const char *text, unsigned int number, size_t *ret_size)
{
	for (unsigned int i = 1; i < number && text; i++) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	*ret_size = text ? strcspn(text, "\n") : 0;
	return text;
}

static unsigned int count_lines(const char *text)
{
	unsigned int lines = 0;

	for (const char *at = text; *at; at++)
		lines += *at == '\n' || !at[1];
	return lines;
}

/* Appends the lines to add after this line of the file; 0 is its end. Returns their number. */
static size_t add_after(struct buffer *out, const struct suggest_list *all, const char *key,
			const char *home, const char *text, unsigned int line)
{
	size_t size = 0;
	const char *above = line ? line_at(text, line, &size) : NULL;
	AUTO_FREE char *indent = above ? strndup(above, strspn(above, " ")) : mem_dup("  ");
	size_t added = above ? 0 : 1;

	if (!entries_of(all, key))
		return 0;
	if (!above)
		buffer_printf(out, "+%s:\n", key);
	for (size_t i = 0; i < all->count; i++) {
		if (strcmp(all->items[i].key, key) != 0)
			continue;
		add_entry(out, indent, &all->items[i], home);
		added += 2;
	}
	return added;
}

/* Whether the key is in the file, but not as a list with one entry per line. */
static bool is_other_form(const struct config *config, const char *key, const char *text)
{
	unsigned int number = last_line(config, key);
	size_t size = 0;
	const char *line = number ? line_at(text, number, &size) : NULL;
	AUTO_FREE char *start = mem_format("\n%s:", key);
	AUTO_FREE char *whole = mem_format("\n%s", text);

	if (line)
		return strncmp(line + strspn(line, " "), "- ", 2) != 0;
	return strstr(whole, start) != NULL;
}

bool suggest_by_hand(const struct suggest_list *suggestions, const struct config *config,
		     const char *text)
{
	static const char *const keys[] = { "write", "read", "allow" };

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (entries_of(suggestions, keys[i]) && is_other_form(config, keys[i], text))
			return true;
	return *text && text[strlen(text) - 1] != '\n';
}

void suggest_diff(const struct suggest_list *suggestions, const struct config *config,
		  const char *home, const char *shown, const char *text, struct buffer *out)
{
	static const char *const keys[] = { "write", "read", "allow" };
	enum { KEYS = 3, CONTEXT = 3 };
	AUTO_BUFFER struct buffer hunk = BUFFER_INIT(16 << 20);
	unsigned int count = count_lines(text);
	unsigned int place[KEYS];
	unsigned int first = count;
	unsigned int last = 0;
	size_t added = 0;

	for (int k = 0; k < KEYS; k++) {
		unsigned int line = last_line(config, keys[k]);

		place[k] = line ? line : count;
		if (!entries_of(suggestions, keys[k]))
			continue;
		first = place[k] < first ? place[k] : first;
		last = place[k] > last ? place[k] : last;
	}
	first = first > CONTEXT ? first - CONTEXT + 1 : (count ? 1 : 0);
	last = count - last > CONTEXT ? last + CONTEXT : count;
	for (unsigned int i = first; i <= last; i++) {
		size_t size = 0;
		const char *line = i ? line_at(text, i, &size) : NULL;

		if (line)
			buffer_printf(&hunk, " %.*s\n", (int)size, line);
		for (int k = 0; k < KEYS; k++)
			if (place[k] == i)
				added += add_after(&hunk, suggestions, keys[k], home, text,
						   last_line(config, keys[k]));
	}
	buffer_printf(out, "--- %s\n+++ %s\n@@ -%u,%u +%u,%zu @@\n%s", *text ? shown : "/dev/null",
		      shown, first, count ? last - first + 1 : 0, first ? first : 1,
		      (count ? last - first + 1 : 0) + added, buffer_text(&hunk));
}
