/* Packages: see detect_packages.h. */
#include "detect/detect_packages.h"

#include "detect/detect_match.h"
#include "project/path_group.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fnmatch.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- package.json ---- */

static const char *const groups[] = { "dependencies", "devDependencies", "optionalDependencies",
				      "peerDependencies", "overrides" };
static const char *const install_scripts[] = { "preinstall", "install",    "postinstall", "prepare",
					       "prepublish", "preprepare", "postprepare" };

static json_t *parse(const struct detect_text *text)
{
	return text->data ? json_loadb(text->data, text->size, JSON_REJECT_DUPLICATES, NULL) : NULL;
}

/* Returns the line, from 1, of the first text that has this key, or 0. */
static size_t line_of_key(const struct detect_pair *pair, const char *key)
{
	AUTO_FREE char *quoted = mem_format("\"%s\"", key);

	for (size_t i = 0; i < pair->after.count; i++)
		if (strstr(pair->after.items[i].text, quoted) && pair->added[i])
			return pair->after.items[i].number;
	return 0;
}

static void compare_group(struct detect_pairs *pairs, const struct detect_pair *pair,
			  const json_t *before, json_t *after)
{
	const char *name;
	json_t *version;

	json_object_foreach(after, name, version)
	{
		if (!json_equal(json_object_get(before, name), version))
			detect_pair_report_text(pairs, pair, DETECT_DEPENDENCY_CHANGED,
						line_of_key(pair, name), name);
	}
}

static void compare_package_json(struct detect_pairs *pairs, const struct detect_pair *pair)
{
	json_t *before = parse(&pair->change->before);
	json_t *after = parse(&pair->change->after);

	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		compare_group(pairs, pair, json_object_get(before, groups[i]),
			      json_object_get(after, groups[i]));
	for (size_t i = 0; i < sizeof install_scripts / sizeof *install_scripts; i++) {
		const char *name = install_scripts[i];
		json_t *script = json_object_get(json_object_get(after, "scripts"), name);

		if (script &&
		    !json_equal(json_object_get(json_object_get(before, "scripts"), name), script))
			detect_pair_report_text(pairs, pair, DETECT_INSTALL_SCRIPT,
						line_of_key(pair, name), name);
	}
	json_decref(before);
	json_decref(after);
}

/* ---- other manifests ---- */

/* How a manifest names a dependency on a line; in some only within a section. `manifest` is a
 * pattern of names. */
static const struct {
	const char *manifest, *section, *pattern;
} dependencies[] = {
	{ "requirements*.txt", NULL, "<@" },
	{ "go.mod", NULL, " v#." },
	{ "Gemfile", NULL, "<gem " },
	{ "Pipfile", "packages]", "<@*=" },
	{ "Cargo.toml", "dependencies", "<@*=" },
	{ "pyproject.toml", "dependencies", "\"*\"" },
	{ "pyproject.toml", "dependencies]", "<@*=" },
	{ "pom.xml", "\\<dependency\\>", "\\<artifactId" },
	{ "build.gradle*", NULL, "mplementation*:" },
	{ "build.gradle*", NULL, "<api*:" },
	{ "setup.py", "install_requires", "['\"]" },
	{ "setup.cfg", "install_requires", "<@" },
};

static bool ends_section(const char *text)
{
	return *text == '[' || *text == ']' || strcmp(text, "</dependency>") == 0;
}

static void compare_lines(struct detect_pairs *pairs, const struct detect_pair *pair, size_t row)
{
	const char *section = dependencies[row].section;
	bool inside = !section;

	for (size_t i = 0; i < pair->after.count; i++) {
		const struct detect_line *line = &pair->after.items[i];

		if (section && detect_match(section, line->text, NULL))
			inside = true;
		else if (section && ends_section(line->text))
			inside = false;
		else if (inside && pair->added[i] && *line->shape &&
			 detect_match(dependencies[row].pattern, line->text, NULL))
			detect_pair_report(pairs, pair, DETECT_DEPENDENCY_CHANGED, false, i);
	}
}

static void compare_manifest(struct detect_pairs *pairs, const struct detect_pair *pair)
{
	const char *name = path_name(pair->change->path);

	if (!pair->change->after.data)
		return;
	if (strcmp(name, "package.json") == 0)
		compare_package_json(pairs, pair);
	for (size_t i = 0; i < sizeof dependencies / sizeof *dependencies; i++)
		if (fnmatch(dependencies[i].manifest, name, 0) == 0)
			compare_lines(pairs, pair, i);
}

/* ---- files as a whole ---- */

static bool has_changed(struct detect_pairs *pairs, const char *name)
{
	for (size_t i = 0; i < pairs->count && detect_pairs_step(pairs); i++)
		if (strcmp(path_name(pairs->items[i].change->path), name) == 0)
			return true;
	return false;
}

static void compare_whole(struct detect_pairs *pairs, const struct detect_pair *pair)
{
	const struct detect_change *change = pair->change;
	bool changed = change->before.data && change->after.data &&
		       (change->before.size != change->after.size ||
			memcmp(change->before.data, change->after.data, change->after.size) != 0);

	if (changed && pair->is.lockfile &&
	    !has_changed(pairs, path_group_manifest_of(change->path)))
		detect_pair_report_text(pairs, pair, DETECT_LOCKFILE_ALONE, 0,
					path_name(change->path));
	if (changed && pair->is.recorded)
		detect_pair_report_text(pairs, pair, DETECT_SNAPSHOT_REWRITTEN, 0,
					path_name(change->path));
	if (!change->before.data && strcmp(path_name(change->path), "build.rs") == 0)
		detect_pair_report_text(pairs, pair, DETECT_INSTALL_SCRIPT, 0, "build.rs");
}

void detect_packages_compare(struct detect_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		compare_manifest(pairs, &pairs->items[i]);
		compare_whole(pairs, &pairs->items[i]);
	}
}
