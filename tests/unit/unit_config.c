/* The subset of YAML, the table of settings, the layers, and trust. */
#include "unit.h"

#include "config/config.h"
#include "config/trust.h"
#include "config/yaml.h"
#include "util/mem.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Parses a text and returns its first problem, or "". */
static const char *problem(const char *text, size_t size)
{
	static char first[512];
	struct list problems = { 0 };
	struct yaml_node *root = NULL;
	int result = yaml_tree_read("f", text, size, &root, &problems);

	snprintf(first, sizeof first, "%s", problems.count ? problems.items[0] : "");
	if ((result < 0) != (problems.count > 0))
		snprintf(first, sizeof first, "the result contradicts the problems");
	if (result == 0)
		yaml_tree_free(root);
	list_release(&problems);
	return first;
}

static bool refused(const char *text, const char *place, const char *word)
{
	const char *said = problem(text, strlen(text));
	bool held = strncmp(said, place, strlen(place)) == 0 && strstr(said, word);

	if (!held)
		printf("# %s\n", said);
	return held;
}

static bool accepted(const char *text)
{
	return !*problem(text, strlen(text));
}

static void yaml_tree(void)
{
	static const char text[] = "a: 1\nb:\n  - x\n  - 'y z'\nc: {d: e}\n";
	struct list problems = { 0 };
	struct yaml_node *root = NULL;

	CHECK("a map of scalars, lists and maps is read",
	      yaml_tree_read("f", text, strlen(text), &root, &problems) == 0 && root &&
		      root->kind == YAML_MAP && root->count == 3);
	CHECK("nodes have keys and positions", root && strcmp(root->items[1]->key, "b") == 0 &&
						       root->items[1]->key_at.line == 2 &&
						       root->items[1]->items[1]->at.line == 4 &&
						       root->items[1]->items[1]->at.column == 5);
	CHECK("scalars are plain text", root && strcmp(root->items[0]->text, "1") == 0 &&
						strcmp(root->items[1]->items[1]->text, "y z") == 0);
	yaml_tree_free(root);
	root = NULL;
	CHECK("an empty text, comments and a byte order mark are an empty configuration",
	      accepted("") && accepted("# x\n") && accepted("---\n") && accepted("\xef\xbb\xbf") &&
		      accepted("\xef\xbb\xbf"
			       "a: b"));
}

static void yaml_refusals(void)
{
	CHECK("anchors are refused", refused("a: &x b", "f:1:4:", "anchor"));
	CHECK("aliases are refused", refused("a: b\nc: *x", "f:2:4:", "alias"));
	CHECK("tags are refused",
	      refused("a: !!str b", "f:1:4:", "tag") && refused("a: !x [b]", "f:1:4:", "tag"));
	CHECK("merge keys are refused", refused("<<: {a: b}", "f:1:1:", "merge"));
	CHECK("a second document is refused", refused("a: b\n---\nc: d\n", "f:2:1:", "document"));
	CHECK("directives are refused", refused("%YAML 1.1\n---\na: b", "f:1:1:", "directive"));
	CHECK("a duplicate key is refused", refused("a: b\na: c", "f:2:1:", "twice"));
	CHECK("a key that is not a word is refused", refused("[a]: b", "f:1:1:", "a key must"));
	CHECK("tabs as indentation are refused", refused("a:\n\t- b", "f:2:1:", "tab"));
	CHECK("NUL is refused, raw and escaped", strstr(problem("a: b\0", 5), "f:1:5: a NUL") &&
							 refused("a: \"x\\0\"", "f:1:4:", "NUL"));
	CHECK("invalid UTF-8 is refused", refused("a: \xff", "f:1:4:", "UTF-8") &&
						  refused("a: \xc3", "f:1:4:", "UTF-8") &&
						  refused("a: \xed\xa0\x80", "f:1:4:", "UTF-8"));
	CHECK("control characters are refused", refused("a: \x1b[0m", "f:1:4:", "U+001B"));
	CHECK("depth has an end",
	      accepted("[[[[[[[a]]]]]]]") && refused("[[[[[[[[a]]]]]]]]", "f:1:9:", "deeper"));

	char *large = mem_zero(YAML_MOST_BYTES + 2);

	memset(large, ' ', YAML_MOST_BYTES + 1);
	CHECK("size has an end", strstr(problem(large, YAML_MOST_BYTES + 1), "larger") &&
					 !*problem(large, YAML_MOST_BYTES));
	for (size_t i = 0; i + 3 < YAML_MOST_BYTES / 4; i += 3)
		memcpy(large + i, "- a\n" + 1, 3);
	memset(large, '[', 1);
	for (size_t i = 1; i + 2 < YAML_MOST_BYTES; i += 2)
		memcpy(large + i, "a,", 2);
	CHECK("the number of values has an end",
	      strstr(problem(large, YAML_MOST_BYTES), "more than 10000"));
	memset(large, '[', YAML_MOST_BYTES);
	CHECK("a mountain of brackets is refused early",
	      strstr(problem(large, YAML_MOST_BYTES), "deeper"));
	free(large);
}

static bool means(const char *key, const char *text, uint64_t expected)
{
	const struct setting *setting = setting_find(key, NULL);
	struct error err;
	uint64_t number;

	return setting && setting_parse(setting, text, &number, &err) == 0 && number == expected;
}

static bool wrong(const char *key, const char *text)
{
	const struct setting *setting = setting_find(key, NULL);
	struct error err;
	uint64_t number;

	return setting && setting_parse(setting, text, &number, &err) < 0 &&
	       strncmp(err.text, key, strlen(key)) == 0;
}

static void table(void)
{
	const char *nearest = NULL;
	bool whole = true;

	for (size_t i = 0; i < SETTING_ID_COUNT; i++)
		whole = whole && setting_at(i)->id == (enum setting_id)i && setting_at(i)->help &&
			setting_at(i)->value && setting_at(i)->example &&
			(setting_at(i)->widens || setting_at(i)->trust == SETTING_FREE) &&
			setting_is_list(setting_at(i)) == !setting_at(i)->fallback;
	CHECK("every row of the table is whole", whole);
	CHECK("sizes", means("memory", "4G", UINT64_C(4) << 30) &&
			       means("memory", "512m", 512 << 20) &&
			       means("disk", "1T", UINT64_C(1) << 40) && means("memory", "1", 1) &&
			       means("memory", "none", 0));
	CHECK("invalid sizes", wrong("memory", "0") && wrong("memory", "4GB") &&
				       wrong("memory", "-1") && wrong("memory", "1.5G") &&
				       wrong("memory", "9999999999999999999") &&
				       wrong("memory", "99999999T") && wrong("memory", ""));
	CHECK("processors", means("cpus", "1.5", 1500) && means("cpus", "0.001", 1) &&
				    means("cpus", "1024", 1024000) && means("cpus", "none", 0));
	CHECK("invalid numbers of processors",
	      wrong("cpus", "0") && wrong("cpus", "1.") && wrong("cpus", ".5") &&
		      wrong("cpus", "1.0001") && wrong("cpus", "1024.1") && wrong("cpus", "0.000"));
	CHECK("shares of a whole",
	      means("early-stop", "0.95", 950) && means("early-stop", "1", 1000) &&
		      means("early-stop", "none", 0) && wrong("early-stop", "1.001") &&
		      wrong("early-stop", "0") && wrong("early-stop", "95%"));
	CHECK("numbers up to a maximum",
	      means("prompt-messages", "20", 20) && means("prompt-messages", "none", 0) &&
		      wrong("prompt-messages", "21") && means("prompt-output-size", "64K", 65536) &&
		      wrong("prompt-output-size", "65537"));
	CHECK("counts", means("processes", "500", 500) && wrong("processes", "0") &&
				wrong("processes", "5k") && wrong("processes", "2147483648"));
	CHECK("times", means("timeout", "30s", 30000) && means("timeout", "10", 600000) &&
			       means("timeout", "none", 0) && wrong("timeout", "soon"));
	CHECK("switches are true or false and nothing else",
	      means("read-only", "true", 1) && means("read-only", "false", 0) &&
		      wrong("read-only", "yes") && wrong("read-only", "True"));
	CHECK("choices", means("net", "list", 1) && means("net", "open", 2) &&
				 wrong("net", "all") && means("accept-weaker", "disk", 8) &&
				 wrong("accept-weaker", "all"));
	CHECK("variables have a name", means("env", "A_1", 0) && means("env", "A=b=c", 0) &&
					       wrong("env", "=b") && wrong("env", "a b=c") &&
					       wrong("env", ""));
	CHECK("the nearest key is found",
	      !setting_find("wirte", &nearest) && nearest && strcmp(nearest, "write") == 0);
	CHECK("of two that are as near, the first",
	      !setting_find("modes", &nearest) && nearest && strcmp(nearest, "model") == 0);
	CHECK("but no distant one", !setting_find("something", &nearest) && !nearest);
}

/* Each word of each setting that offers a choice. */
static void choices(void)
{
	static const struct {
		const char *key;
		const char *words[10];
	} all[] = {
		{ "net", { "none", "list", "open" } },
		{ "fence", { "auto", "bwrap", "podman", "docker", "landlock" } },
		{ "accept-weaker",
		  { "landlock", "abstract-sockets", "memory", "cpus", "processes", "open-files",
		    "file-size", "tmp-size", "disk" } },
		{ "agent-login", { "key", "file" } },
		{ "models", { "none", "auto" } },
		{ "unknown-model", { "refuse", "most-expensive" } },
		{ "provider-tools",
		  { "web-search", "web-fetch", "mcp", "files", "other", "none" } },
		{ "replay-pace", { "fast", "original" } },
		{ "session", { "fresh", "continue" } },
		{ "git", { "read-only", "private" } },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		AUTO_FREE char *sentence = mem_format("'%s' offers these words and no others",
						      all[i].key);
		const struct setting *setting = setting_find(all[i].key, NULL);
		bool held = setting && setting->choices;
		size_t count = 0;

		for (; held && all[i].words[count]; count++)
			held = setting->choices[count] &&
			       strcmp(setting->choices[count], all[i].words[count]) == 0;
		CHECK(sentence, held && !setting->choices[count]);
	}
}

static const struct config_place place = { .project = "/w/p", .home = "/w" };

/* Makes a configuration from the user's text, the project's text and an option. */
static void layered(struct config *config, const char *user, const char *project, const char *key,
		    const char *value, const char *agreed)
{
	struct error err;

	config_init(config);
	if (key && config_add_flag(config, setting_find(key, NULL), value, NULL, &err) < 0)
		abort();
	if (config_add_text(config, CONFIG_USER, "u", "/w/.config/ringfence", &place, user,
			    strlen(user)) < 0 ||
	    config_add_text(config, CONFIG_PROJECT, "p", "/w/p", &place, project, strlen(project)) <
		    0)
		printf("# %s\n", config->problems.items[0]);
	config_settle(config, &place, agreed);
}

/* The number of inactive values of the project's text, on top of the user's. */
static size_t inactive(const char *user, const char *project)
{
	struct config config;
	size_t count = 0;

	layered(&config, user, project, NULL, NULL, NULL);
	for (size_t i = 0; i < config.count; i++)
		count += config.values[i].state == CONFIG_INACTIVE;
	if (config.problems.count)
		count = 99;
	config_release(&config);
	return count;
}

static bool holds(const struct config *config, enum setting_id id, const char *text,
		  const char *origin)
{
	const struct config_value *value = config_get(config, id);

	return value && strcmp(value->text, text) == 0 && strcmp(value->origin, origin) == 0;
}

static void layers(void)
{
	struct config config;

	layered(&config, "net: open\ntimeout: 1h\n", "timeout: 5m\n", "memory", "1G", NULL);
	CHECK("each value has its origin",
	      holds(&config, SETTING_NET, "open", "u:1") &&
		      holds(&config, SETTING_TIMEOUT, "5m", "p:1") &&
		      holds(&config, SETTING_MEMORY, "1G", "--memory") &&
		      holds(&config, SETTING_DISK, "none", "built-in"));
	config_release(&config);

	layered(&config, "hide: [a, ~/b]\n", "hide: [c]\n", "hide", "d", NULL);

	size_t hidden = 0;
	bool right = true;
	static const char *const paths[] = { "/w/.config/ringfence/a", "/w/b", "/w/p/c", "d" };

	for (size_t i = 0; i < config.count; i++)
		if (config.values[i].setting->id == SETTING_HIDE && hidden < 4)
			right = strcmp(config.values[i].path, paths[hidden++]) == 0 && right;
	CHECK("lists add up, and paths are relative to their file", right && hidden == 4);
	config_release(&config);

	layered(&config, "", "net: none\n", "net", "open", NULL);
	CHECK("an option replaces the value of a file",
	      holds(&config, SETTING_NET, "open", "--net"));
	config_release(&config);
}

static void widening(void)
{
	static const char *const wide[] = {
		"net: open",      "read: /x",
		"read: .env",     "read: ../x",
		"write: /x",      "write: ..",
		"write: ~/x",     "write: a/../../x",
		"write: /w/pp",   "env: A",
		"env: A=b",       "listen: x",
		"fence: bwrap",   "accept-weaker: disk",
		"denials: false", "check: make",
	};
	static const char *const tight[] = {
		"net: none",         "write: src", "write: /w/p/src", "write: ~/p/x",
		"write: .",          "hide: x",    "hide: /x",        "read-only: true",
		"timeout: 1s",       "memory: 1G", "denials: true",   "cpus: 1",
		"trace-reads: true", "disk: 1",    "fence: auto",     "read-only: false",
		"timeout: none",
	};
	bool held = true;

	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
		held = inactive("", wide[i]) == 1 && held;
	CHECK("widening values are inactive", held);
	for (size_t i = 0, ok; i < sizeof tight / sizeof *tight; i++) {
		ok = inactive("", tight[i]) == 0;
		if (!ok)
			printf("# %s\n", tight[i]);
		held = ok && held;
	}
	CHECK("tightening values are active at once", held);
	CHECK("a limit may be lowered, not raised or removed",
	      inactive("memory: 4G", "memory: 2G") == 0 &&
		      inactive("memory: 4G", "memory: 8G") == 1 &&
		      inactive("memory: 4G", "memory: none") == 1 &&
		      inactive("memory: 4G", "memory: 4096M") == 0);
	CHECK("a time may be shortened, not extended or removed",
	      inactive("timeout: 10m", "timeout: 5m") == 0 &&
		      inactive("timeout: 10m", "timeout: 11m") == 1 &&
		      inactive("timeout: 10m", "timeout: none") == 1);
	CHECK("read-only cannot be removed", inactive("read-only: true", "read-only: false") == 1);
	CHECK("values that the user already grants do not widen",
	      inactive("net: open", "net: open") == 0 && inactive("env: [A, B]", "env: B") == 0 &&
		      inactive("read: /x", "read: ../../x") == 0 &&
		      inactive("denials: false", "denials: false") == 0);
}

/* The state of a layer's last `write`. */
static enum config_state write_state(const struct config *config, enum config_layer layer)
{
	for (size_t i = config->count; i-- > 0;)
		if (config->values[i].setting->id == SETTING_WRITE &&
		    config->values[i].layer == layer)
			return config->values[i].state;
	return CONFIG_INACTIVE;
}

static void writes(void)
{
	struct config config;

	layered(&config, "", "write: src", "write", "docs", NULL);
	CHECK("an option's write replaces a project's",
	      write_state(&config, CONFIG_PROJECT) == CONFIG_REPLACED &&
		      write_state(&config, CONFIG_FLAG) == CONFIG_ACTIVE);
	config_release(&config);
	layered(&config, "write: /x", "write: src", NULL, NULL, NULL);
	CHECK("a write elsewhere leaves a project's write active",
	      write_state(&config, CONFIG_PROJECT) == CONFIG_ACTIVE &&
		      write_state(&config, CONFIG_USER) == CONFIG_ACTIVE);
	config_release(&config);
	layered(&config, "write: ~/p/docs", "write: src", NULL, NULL, NULL);
	CHECK("a user's write in the project replaces the project's",
	      write_state(&config, CONFIG_PROJECT) == CONFIG_REPLACED);
	config_release(&config);
	layered(&config, "write: ~/q", "write: src", NULL, NULL, NULL);
	CHECK("one at home, outside the project, does not",
	      write_state(&config, CONFIG_PROJECT) == CONFIG_ACTIVE);
	config_release(&config);
	layered(&config, "", "write: src", "write", "~", NULL);
	CHECK("home as a whole is not in the project",
	      write_state(&config, CONFIG_PROJECT) == CONFIG_ACTIVE);
	config_release(&config);
	layered(&config, "", "write: src", "write", "~p/docs", NULL);
	CHECK("a name that begins with a tilde is not at home",
	      write_state(&config, CONFIG_PROJECT) == CONFIG_REPLACED);
	config_release(&config);
	layered(&config, "write: /x", "write: src", "read-only", "true", NULL);
	CHECK("--read-only cancels the write of files",
	      write_state(&config, CONFIG_PROJECT) == CONFIG_REPLACED &&
		      write_state(&config, CONFIG_USER) == CONFIG_REPLACED);
	config_release(&config);
	layered(&config, "read-only: true", "write: src", NULL, NULL, NULL);
	CHECK("a project's write does not override the user's read-only",
	      write_state(&config, CONFIG_PROJECT) == CONFIG_REPLACED);
	config_release(&config);
	layered(&config, "", "read-only: true\nwrite: src", NULL, NULL, NULL);
	CHECK("with the project's own read-only it stays active",
	      write_state(&config, CONFIG_PROJECT) == CONFIG_ACTIVE);
	config_release(&config);
}

static void agreement(void)
{
	static const char text[] = "net: open\nread: [/x]\n";
	char hash[SHA256_HEX];
	struct config config;

	layered(&config, "", text, NULL, NULL, NULL);
	memcpy(hash, config.hash, sizeof hash);
	CHECK("widening values have a hash and are untrusted",
	      config.trust == CONFIG_UNTRUSTED && strlen(hash) == 64);
	config_release(&config);
	layered(&config, "", text, NULL, NULL, hash);
	CHECK("trusted values are active",
	      config.trust == CONFIG_TRUST && holds(&config, SETTING_NET, "open", "p:1"));
	config_release(&config);
	layered(&config, "", "# a comment\n\nnet: open\nhide: y\nread: [/x]\n", NULL, NULL, hash);
	CHECK("a comment or a tighter value changes nothing", config.trust == CONFIG_TRUST);
	config_release(&config);
	layered(&config, "", "net: open\nread: [/x, /y]\n", NULL, NULL, hash);
	CHECK("with one more value, all are inactive again",
	      config.trust == CONFIG_CHANGED && holds(&config, SETTING_NET, "none", "built-in"));
	config_release(&config);
	layered(&config, "", "hide: y\n", NULL, NULL, hash);
	CHECK("without widening values, no trust is needed", config.trust == CONFIG_NOTHING_WIDENS);
	config_release(&config);
}

static void mistakes(void)
{
	struct config config;
	char text[4096] = "";

	config_init(&config);
	config_add_text(&config, CONFIG_USER, "u", "/", &place, "nte: open\nmemory: x\nnet: [a]\n",
			28);
	CHECK("all mistakes in a file are found, with their positions",
	      config.problems.count == 3 &&
		      strstr(config.problems.items[0],
			     "u:1:1: there is no setting 'nte'; did you mean 'net'") &&
		      strstr(config.problems.items[1], "u:2:9: memory must be a size") &&
		      strstr(config.problems.items[2],
			     "u:3:6: net must be none, list or open, not a list"));
	config_release(&config);
	config_init(&config);
	for (int i = 0; i < 30; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "x%d: y\n", i);
	config_add_text(&config, CONFIG_USER, "u", "/", &place, text, strlen(text));
	CHECK("but no more than twenty", config.problems.count == PROBLEMS_MOST);
	config_release(&config);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static void write_record(const char *state, const char *project, const char *text)
{
	char name[SHA256_HEX];

	sha256_hex(project, strlen(project), name);

	AUTO_FREE char *path = mem_format("%s/trust/%s", state, name);
	FILE *file = fopen(path, "we");

	if (!file)
		abort();
	fputs(text, file);
	fclose(file);
}

/* Records that are not whole mean no trust. */
static void damaged_records(const char *state, const char *hash)
{
	static const char *const ends[] = { "",
					    "\ntime 1",
					    "\ntime 1\npath",
					    "\ntime 1\npath x",
					    "\ntime x\npath /w/r",
					    "\ntime \npath /w/r",
					    "\ntime :1\npath /w/r",
					    "\nTime 1\npath /w/r",
					    "0\ntime 1\npath /w/r" };
	struct trust trust;
	struct error err;
	bool held = true;

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		AUTO_FREE char *text = mem_format("hash %s%s", hash, ends[i]);

		write_record(state, "/w/r", text);
		held = trust_find(state, "/w/r", &trust, &err) == 0 && !trust.path && held;
	}
	CHECK("a damaged record means no trust", held);

	AUTO_FREE char *whole = mem_format("hash %s\ntime 9\npath /w/r", hash);

	write_record(state, "/w/r", whole);
	CHECK("a whole one does",
	      trust_find(state, "/w/r", &trust, &err) == 0 && trust.path && trust.time == 9);
	trust_release(&trust);
	CHECK("a state folder that cannot be a folder has no records",
	      trust_find("/dev/null", "/w/r", &trust, &err) == 0 && !trust.path);
}

static void records(void)
{
	char state[UNIT_PATH];
	static const char odd[] = "/w/odd\npath x";
	char hash[SHA256_HEX];
	struct trust trust;
	struct trust_list list;
	struct error err;
	int was = 0;

	if (!unit_temp(state))
		abort();
	sha256_hex("x", 1, hash);
	CHECK("a project without a record is not trusted",
	      trust_find(state, "/w/p", &trust, &err) == 0 && !trust.path);
	CHECK("records are stored, even for odd paths",
	      trust_record(state, "/w/p", hash, 12, &err) == 0 &&
		      trust_record(state, odd, hash, 13, &err) == 0);
	CHECK("and found", trust_find(state, odd, &trust, &err) == 0 && trust.path &&
				   strcmp(trust.path, odd) == 0 && trust.time == 13 &&
				   strcmp(trust.hash, hash) == 0);
	trust_release(&trust);
	CHECK("all are listed", trust_all(state, &list, &err) == 0 && list.count == 2);
	trust_list_release(&list);
	CHECK("a record can be removed",
	      trust_forget(state, odd, &was, &err) == 0 && was &&
		      trust_forget(state, odd, &was, &err) == 0 && !was &&
		      trust_find(state, odd, &trust, &err) == 0 && !trust.path);

	AUTO_FREE char *other = mem_format("hash %s\ntime 1\npath /w/p", hash);

	write_record(state, "/w/q", other);
	CHECK("a record that names another project is ignored",
	      trust_find(state, "/w/q", &trust, &err) == 0 && !trust.path);
	damaged_records(state, hash);
	nftw(state, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
	yaml_tree();
	yaml_refusals();
	table();
	choices();
	layers();
	widening();
	writes();
	agreement();
	mistakes();
	records();
	return unit_failures > 0;
}
