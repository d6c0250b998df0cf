/* Paths that are always refused, and credentials at the edge of what counts as one. */
#include "unit.h"

#include "fence/plan/defaults.h"
#include "fence/plan/identity.h"
#include "fence/plan/permit.h"
#include "fence/plan/ruleset.h"
#include "fence/plan/secret.h"
#include "util/mem.h"

#include <string.h>

static char home[] = "/h/u";
static char passwd_home[] = "/var/lib/me";
static char project[] = "/h/u/work/project";
static char state[] = "/h/u/.local/state/ringfence";

static struct fence_plan plan = {
	.identity = { .home = home, .passwd_home = passwd_home },
	.project = project,
	.state = state,
};

typedef int permit_fn(const struct fence_plan *of, const char *option, const char *path,
		      struct error *err);

/* Whether a path is refused with these words, or permitted if there are none. */
static bool is(permit_fn *permit, const char *path, const char *words)
{
	struct error err;
	bool refused = permit(&plan, "--option", path, &err) < 0;
	bool held = words ? refused && strncmp(err.text, "--option '", 10) == 0 &&
				    strstr(err.text, words)
			  : !refused;

	if (!held)
		printf("# %s: %s\n", path, refused ? err.text : "permitted");
	return held;
}

static void hidden(void)
{
	bool held = true;

	for (const char *const *at = defaults_unwritable; *at; at++)
		held = is(permit_hidden, *at, "no command can run without") && held;
	CHECK("no folder of the system can be hidden",
	      held && is(permit_hidden, "/", "no command can run without"));
	CHECK("a folder below can be", is(permit_hidden, "/usr/share/doc", NULL));
	CHECK("the project cannot be hidden, nor a folder above it",
	      is(permit_hidden, project, "hide the project itself") &&
		      is(permit_hidden, "/h/u/work", "hide the project itself") &&
		      is(permit_hidden, "/h", "hide the project itself"));
	CHECK("a folder in it or beside it can be",
	      is(permit_hidden, "/h/u/work/project/a", NULL) &&
		      is(permit_hidden, "/h/u/work/project2", NULL));
}

/* For reading and for writing alike. */
static bool both(const char *path, const char *words)
{
	return is(permit_readable, path, words) && is(permit_writable, path, words);
}

static void wide(void)
{
	bool held = true;

	for (const char *const *at = defaults_wide; *at; at++)
		held = both(*at, "too broad") && held;
	CHECK("folders that are too broad are refused", held && both("/", "too broad"));
	CHECK("a home is refused, and a folder above it",
	      both(home, "your home folder") && both(passwd_home, "your home folder") &&
		      both("/var/lib", "your home folder"));
	CHECK("the state is refused, with folders above and below",
	      both(state, "keeps its state") && both("/h/u/.local/state", "keeps its state") &&
		      both("/h/u/.local/state/ringfence/x", "keeps its state"));
	CHECK("a folder in a home is permitted", both("/h/u/src", NULL));
}

static void writable(void)
{
	bool system = true;
	bool below = true;

	for (const char *const *at = defaults_unwritable; *at; at++) {
		AUTO_FREE char *inner = mem_format("%s/x", *at);

		system = is(permit_writable, *at, "") && system;
		below = is(permit_writable, inner, "belongs to the system") && below;
	}
	CHECK("nothing of the system can be written", system && below);
	CHECK("the settings cannot be written",
	      is(permit_writable, "/h/u/.config/ringfence", "is protected") &&
		      is(permit_writable, "/h/u/.config/ringfence/config.yaml", "is protected") &&
		      is(permit_writable, "/h/u/.config", "is protected"));
	CHECK("files that the host executes, and credentials, cannot be written",
	      is(permit_writable, "/h/u/.bashrc", "is protected") &&
		      is(permit_writable, "/h/u/.ssh", "is protected") &&
		      is(permit_writable, "/h/u/.ssh/known_hosts", "is protected"));
}

static void readable(void)
{
	static const char *const whole[] = { "/etc", "/run", "/var/run", "/proc", "/sys", "/dev" };
	bool held = true;

	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		held = is(permit_readable, whole[i], "") && held;
	CHECK("whole folders of the system cannot be shown", held);
	CHECK("nothing in /proc can be", is(permit_readable, "/proc/1/environ", "name only"));
	CHECK("single files in the others can be",
	      is(permit_readable, "/etc/hosts", NULL) && is(permit_readable, "/sys/a", NULL));
	CHECK("a folder of credentials cannot be shown, but a file in it can",
	      is(permit_readable, "/h/u/.ssh", "holds credentials") &&
		      is(permit_readable, "/h/u/.ssh/known_hosts", NULL));
}

static bool is_deepest(const char *path, const char *expected)
{
	AUTO_FREE char *found = permit_deepest(path);

	return strcmp(found, expected) == 0;
}

static void deepest(void)
{
	CHECK("the deepest folder that exists is found",
	      is_deepest("/proc/none/x", "/proc") && is_deepest("/proc", "/proc") &&
		      is_deepest("/none/x/y", "/") && is_deepest("/", "/"));
}

static void maps(void)
{
	CHECK("the initial user namespace maps every uid to itself",
	      identity_is_initial_map("         0          0 4294967295\n"));
	CHECK("a namespace of a user maps others",
	      !identity_is_initial_map("         0       1000          1\n") &&
		      !identity_is_initial_map("         0          1 4294967295\n") &&
		      !identity_is_initial_map("         1          0 4294967295\n") &&
		      !identity_is_initial_map("         0          0 4294967294\n") &&
		      !identity_is_initial_map("         0          0 42949672950\n"));
	CHECK("a text that is cut off is not that of the initial one",
	      !identity_is_initial_map("") && !identity_is_initial_map("0 0\n") &&
		      !identity_is_initial_map("0 0 4294967295"));
}

/* --- rules */

static void too_many(void)
{
	enum { SMALL = 10, LARGE = RULESET_MOST };
	static struct fence_rule rules[SMALL + LARGE];
	struct fence_plan outside = { 0 };
	struct fence_spec spec = { 0 };
	struct fence_plan full = {
		.rules = rules, .rule_count = RULESET_MOST, .spec = &spec, .project = (char *)"/p"
	};
	char wanted[64];
	struct error err;

	for (size_t i = 0; i < SMALL + LARGE; i++)
		rules[i].path = i < SMALL ? mem_format("/p/aa/%05zu", i)
					  : mem_format("/p/bb/%05zu", i);
	CHECK("as many rules as a fence has room for are accepted",
	      ruleset_refuse_too_many(&full, &err) == 0);
	full.rule_count = SMALL + LARGE;
	snprintf(wanted, sizeof wanted, "%d of them are in '/p/bb'", (int)LARGE);
	CHECK("more are refused, and the folder with the most is named",
	      ruleset_refuse_too_many(&full, &err) < 0 && strstr(err.text, wanted));
	spec.before = &outside;
	CHECK("in a draft, the command has made them, and the way back is named",
	      ruleset_refuse_too_many(&full, &err) < 0 && strstr(err.text, "rollback"));
	for (size_t i = 0; i < SMALL + LARGE; i++)
		free(rules[i].path);
}

/* --- credentials */

static bool found(const char *text)
{
	return secret_in_text(NAMES_SECRET_IF_FOUND, text, strlen(text));
}

static void secrets(void)
{
	CHECK("the mark of another encoding alone is enough",
	      secret_in_text(NAMES_SECRET_IF_KEY, "\xff\xfe", 2) &&
		      secret_in_text(NAMES_SECRET_IF_KEY, "\xfe\xff", 2) &&
		      !secret_in_text(NAMES_SECRET_IF_KEY, "\xff", 1) &&
		      !secret_in_text(NAMES_SECRET_IF_KEY, "\xff\xff", 2));
	CHECK("a certificate alone is not secret, and with a key it is",
	      !secret_in_text(NAMES_SECRET_OR_CERTIFICATE, "-----BEGIN CERTIFICATE-----", 27) &&
		      secret_in_text(NAMES_SECRET_OR_CERTIFICATE,
				     "-----BEGIN CERTIFICATE-----\nPRIVATE", 35) &&
		      secret_in_text(NAMES_SECRET_OR_CERTIFICATE, "anything else", 13));
	CHECK("a file that is secret by its name is secret with any text",
	      secret_in_text(NAMES_SECRET, "x", 1) && secret_in_text(NAMES_SECRET, "", 0));
	CHECK("a value in an attribute counts, and without one nothing does",
	      found("<add key=\"password\" value=\"x\" />") &&
		      !found("<add key=\"password\" value=\"\" />") && !found("password value"));
	CHECK("a port is not a credential, and a longer number is",
	      !found("token: 12345") && found("token: 123456") && found("token: 12345x"));
	CHECK("a password in a URL counts, and a name alone does not",
	      found("https://me:pass@host/") && !found("https://me@host/") &&
		      !found("https://host:80/a@b") && !found("https://me:${PASS}@host/"));
}

int main(void)
{
	unsetenv("XDG_CONFIG_HOME");
	hidden();
	wide();
	writable();
	readable();
	deepest();
	maps();
	too_many();
	secrets();
	return unit_failures > 0;
}
