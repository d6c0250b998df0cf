/* Protected names, the precedence of rules, and paths that a spec may name. Uses a temporary
 * folder. */
#include "fence/mechanism/mechanism.h"
#include "unit.h"
#include "unit_init.h"

#include "fence/plan/defaults.h"
#include "fence/plan/home.h"
#include "fence/plan/known.h"
#include "fence/plan/names.h"
#include "fence/plan/secret.h"
#include "fence/run/run_record.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static char *home, *project, *state;

static void make_folder(const char *base, const char *name)
{
	AUTO_FREE char *path = path_join(base, name);

	if (state_folder_make(path, 0755) < 0)
		abort();
}

static void make_file(const char *base, const char *name, const char *text)
{
	AUTO_FREE char *path = path_join(base, name);
	FILE *file = fopen(path, "we");

	if (!file)
		abort();
	fputs(text, file);
	fclose(file);
}

static void put_link(const char *base, const char *name, const char *target)
{
	AUTO_FREE char *path = path_join(base, name);

	if (symlink(target, path) < 0)
		abort();
}

static bool executed(const char *name)
{
	return names_find("", name, DT_REG).by[NAMES_ALONE];
}

static bool secret(const char *name, bool is_dir)
{
	const struct names_found found = names_find("", name, is_dir ? DT_DIR : DT_REG);

	return found.by[NAMES_SECRET] || found.by[NAMES_SECRET_OR_CERTIFICATE];
}

static bool in_text(enum names_class test, const char *text)
{
	return secret_in_text(test, text, strlen(text));
}

static void names(void)
{
	CHECK("files that git, editors, agents and shells execute are known",
	      executed(".git") && executed(".vscode") && executed(".mcp.json") &&
		      executed(".claude") && executed(".bashrc") && executed("a.code-workspace"));
	CHECK("case does not matter", executed(".GIT") && executed(".Claude") &&
					      secret(".ENV", false) && secret("Server.PEM", false));
	CHECK("ordinary files are not special", !executed("main.c") && !executed("git") &&
							!secret("env", false) &&
							!secret("keys.txt", false));
	CHECK("environment files are secret",
	      secret(".env", false) && secret(".env.local", false) && secret(".envrc", false));
	CHECK("an example of an environment file is not secret by its name, but its folder is",
	      !secret(".env.example", false) && !secret(".ENV.Sample", false) &&
		      secret(".env.example.local", false) && secret(".env.example", true));
	CHECK("keys and credential folders are secret",
	      secret("a.pem", false) && secret("id.key", false) && secret("secrets", true) &&
		      secret("credentials", true));
	CHECK("a source file called secrets or credentials is not secret",
	      !secret("secrets", false) && !secret("credentials", false));
	CHECK("a name that is only the suffix is not a key", !secret(".pem", false));
	CHECK("a file with only certificates is public",
	      !in_text(NAMES_SECRET_OR_CERTIFICATE, "-----BEGIN CERTIFICATE-----\nx"));
	CHECK("a file that also has a private key is not public",
	      in_text(NAMES_SECRET_OR_CERTIFICATE,
		      "-----BEGIN CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----"));
}

static const char *by(const char *path, unsigned char type, enum names_class class)
{
	const struct names_found found = names_find("/srv/.config", path, type);

	return found.by[class] ? found.by[class] : "";
}

static void name_patterns(void)
{
	CHECK("a folder in a pattern is the one above the name",
	      strcmp(by("a/.cargo/config.toml", DT_REG, NAMES_START), "Cargo") == 0 &&
		      !*by("a/cargo/config.toml", DT_REG, NAMES_START) &&
		      !*by(".cargo/a/config.toml", DT_REG, NAMES_START));
	CHECK("that folder may be above the tree",
	      strcmp(by("mise", DT_DIR, NAMES_ALONE), "mise") == 0);
	CHECK("a star stands for nothing or more",
	      *by("lefthook.yml", DT_REG, NAMES_ALONE) && *by(".envrc", DT_REG, NAMES_ALONE) &&
		      *by("LEFTHOOK-local.toml", DT_REG, NAMES_ALONE) &&
		      !*by("a/lefthook", DT_REG, NAMES_ALONE));
	CHECK("a pattern with a trailing slash matches folders and symlinks",
	      *by(".mvn", DT_DIR, NAMES_START) && *by(".mvn", DT_LNK, NAMES_START) &&
		      !*by(".mvn", DT_REG, NAMES_START));
	CHECK("a symlink counts as the folder that it replaces",
	      *by(".cargo", DT_LNK, NAMES_START) && !*by(".cargo", DT_DIR, NAMES_START));
	CHECK("a name can be in several classes",
	      *by(".npmrc", DT_REG, NAMES_START) && *by(".npmrc", DT_REG, NAMES_SECRET_IF_FOUND));
	CHECK("folders pass their classes on",
	      names_above("", ".github/workflows/a/b.yml").by[NAMES_CI] &&
		      !names_above("", ".github/workflows").by[NAMES_CI]);
}

static bool credential(const char *text)
{
	return in_text(NAMES_SECRET_IF_FOUND, text);
}

static void contents(void)
{
	static const char wide[] = "\xff\xfe_\0a\0u\0t\0h\0=\0x\0";

	CHECK("a text in another encoding may hold anything",
	      secret_in_text(NAMES_SECRET_IF_FOUND, wide, sizeof wide - 1) &&
		      secret_in_text(NAMES_SECRET_IF_FOUND, wide + 2, sizeof wide - 3) &&
		      secret_in_text(NAMES_SECRET_IF_KEY, wide, sizeof wide - 1));
	CHECK("a binary certificate is not a private key",
	      !secret_in_text(NAMES_SECRET_IF_KEY, "0\x82\0\1", 4));
	CHECK("a variable with more after it is a credential",
	      credential("_authToken=${NPM_TOKEN}abcdefgh12") &&
		      !credential("_authToken=${NPM_TOKEN}") &&
		      !credential("token: \"${A}${B}\"") && !credential("token = ${A}-dev"));
	CHECK("tokens of npm and Yarn are found",
	      credential("//r.example/:_authToken=abc") && credential("_auth = dTpw") &&
		      credential("npmAuthToken: \"abc\"") && credential("npmAuthIdent: u:p") &&
		      credential("\"//r.example/:_authToken\" \"abc\""));
	CHECK("passwords are found in other forms",
	      credential("db_password_prod = \"x\"") && credential("<password>x</password>") &&
		      credential("<add key=\"ClearTextPassword\" value=\"x\" />") &&
		      credential("url = https://u:p@h.example/") &&
		      credential("{\"client_secret\": \"x\"}"));
	CHECK("tokens are found by their shape",
	      credential("x: npm_0123456789abcdefghij") &&
		      credential("\"github.com\": \"0123456789abcdef0123456789abcdef01234567\""));
	CHECK("a reference to a variable is not a credential",
	      !credential("//r.example/:_authToken=${NPM_TOKEN}") &&
		      !credential("npmAuthToken: \"${TOKEN}\"") &&
		      !credential("url = https://u:${PASSWORD}@h.example/"));
	CHECK("settings without a value are not a credential",
	      !credential("password =\n") && !credential("token: \"\"\n") &&
		      !credential("token: null") &&
		      !credential("always-auth=true\nregistry=https://r.example/\n") &&
		      !credential("max_tokens: 4096\n") &&
		      !credential("{\"token_uri\": \"https://o.example/token\"}"));
	CHECK("a checksum is not a credential",
	      !credential(
		      "checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
	CHECK("a private key is found in every form",
	      in_text(NAMES_SECRET_IF_KEY, "-----BEGIN PGP PRIVATE KEY BLOCK-----") &&
		      in_text(NAMES_SECRET_IF_KEY, "AGE-SECRET-KEY-1") &&
		      !in_text(NAMES_SECRET_IF_KEY, "-----BEGIN PGP PUBLIC KEY BLOCK-----"));
}

/* The word between two parts of a text, for each of some words. Prints those that are not judged
 * as expected. */
static bool judges_all(bool expected, const char *before, const char *const *words, size_t count,
		       const char *after)
{
	bool held = true;

	for (size_t i = 0; i < count; i++) {
		AUTO_FREE char *text = mem_format("%s%s%s", before, words[i], after);

		if (credential(text) == expected)
			continue;
		printf("# %s: %s\n", expected ? "not found" : "found", text);
		held = false;
	}
	return held;
}

#define JUDGES_ALL(expected, before, words, after) \
	judges_all(expected, before, words, sizeof(words) / sizeof *(words), after)

/* Each row of the tables in secret.c. */
static void credentials(void)
{
	static const char *const keys[] = { "password",   "passwd",     "passphrase", "secret",
					    "token",      "_auth",      "authident",  "apikey",
					    "api_key",    "api-key",    "accesskey",  "access_key",
					    "access-key", "private_key" };
	static const char *const tokens[] = { "npm_",  "ghp_", "gho_",        "ghu_",
					      "ghs_",  "ghr_", "github_pat_", "glpat-",
					      "pypi-", "AKIA", "ASIA",        "xoxb-",
					      "xoxp-", "AIza", "sk-",         "hvs." };
	static const char *const references[] = { "${A}", "{ref}",         "[ref]",
						  "<ref", "http://h/path", "https://h/path" };
	static const char *const nothing[] = { "null", "none", "true", "false", "12345" };
	static const char *const almost[] = { "nullify", "nonesuch", "trueish", "falsely",
					      "123456" };
	static const char *const marks[] = { "-----BEGIN RSA PRIVATE KEY-----", "<PrivateKey>",
					     "AGE-SECRET-KEY-1", "PuTTY-User-Key-File-3: x",
					     "-----BEGIN OpenVPN Static key V1-----" };
	bool held = true;

	CHECK("a value after each word for a credential is one",
	      JUDGES_ALL(true, "my_", keys, "_a = hunter"));
	CHECK("each word alone is not one", JUDGES_ALL(false, "my_", keys, "_a\n"));
	CHECK("tokens of each service are known by their start",
	      JUDGES_ALL(true, "x: ", tokens, "aaaaaaaaaaaaaaaaaaaa"));
	CHECK("a short word with such a start is not a token",
	      JUDGES_ALL(false, "x: ", tokens, "aaaa"));
	CHECK("a reference is not a credential", JUDGES_ALL(false, "token: ", references, ""));
	CHECK("a value that means nothing is not a credential",
	      JUDGES_ALL(false, "token: ", nothing, "") &&
		      JUDGES_ALL(false, "token: ", nothing, "\nx"));
	CHECK("a value that only begins so is a credential",
	      JUDGES_ALL(true, "token: ", almost, ""));
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		held = in_text(NAMES_SECRET_IF_KEY, marks[i]) &&
		       in_text(NAMES_SECRET_IF_FOUND, marks[i]) && held;
	CHECK("a private key of each kind is found", held);
}

static bool listens(const char *text)
{
	struct fence_listen listen;
	struct error err;

	if (fence_listen_parse(text, &listen, &err) < 0)
		return false;
	free(listen.socket);
	return true;
}

static void listening(void)
{
	CHECK("loopback addresses with a port are accepted",
	      listens("127.0.0.1:8080") && listens("[::1]:8080") &&
		      listens("127.0.0.1:8080=/run/x=y"));
	CHECK("other addresses are refused",
	      !listens("0.0.0.0:8080") && !listens("10.0.0.1:8080") && !listens("[::]:8080") &&
		      !listens("8080") && !listens("localhost:8080") && !listens("[::1:8080") &&
		      !listens(":8080") && !listens("[]:8080"));
	CHECK("invalid ports are refused",
	      !listens("127.0.0.1:") && !listens("127.0.0.1:0") && !listens("127.0.0.1:65536") &&
		      !listens("127.0.0.1:+80") && !listens("127.0.0.1:99999999999") &&
		      !listens("127.0.0.1:80"));
	CHECK("a relative socket path is refused", !listens("127.0.0.1:8080=x"));
}

/* Makes the plan of a spec for the project. Returns 0 or -1. */
static int make_plan(const struct fence_spec *spec, struct fence_plan *ret_plan)
{
	struct fence_spec full_spec = *spec;
	struct error err;

	full_spec.mechanism = "bwrap";
	full_spec.project = spec->project ? spec->project : project;
	return fence_plan_make(&full_spec, ret_plan, &err);
}

/* Returns the access to a path under a spec: "write", "read", "hide", "none", or "refused". */
static const char *verdict(const struct fence_spec *spec, const char *path)
{
	static const char *const words[] = { "write", "read", "hide", "hide" };
	AUTO_FREE char *full = path_absolute(path, project);
	struct fence_plan plan;

	if (make_plan(spec, &plan) < 0)
		return "refused";

	const struct fence_rule *rule = fence_plan_decide(&plan, full);
	const char *word = rule ? words[rule->access] : "none";

	fence_plan_release(&plan);
	return word;
}

static bool gives(const struct fence_spec *spec, const char *path, const char *expected)
{
	const char *seen = verdict(spec, path);

	if (strcmp(seen, expected) != 0)
		printf("# %s: %s, not %s\n", path, seen, expected);
	return strcmp(seen, expected) == 0;
}

#define ONE(text)                                                            \
	(struct fence_paths)                                                 \
	{                                                                    \
		.items = &(struct fence_path){ .path = (char *)(text),       \
					       .origin = (char *)"--test" }, \
		.count = 1                                                   \
	}
#define WEAK(text)                                                                  \
	(struct fence_paths)                                                        \
	{                                                                           \
		.items = &(struct fence_path){ .path = (char *)(text),              \
					       .origin = (char *)"ringfence.yml:1", \
					       .weak = true },                      \
		.count = 1                                                          \
	}

static void rules(void)
{
	struct fence_spec plain = { 0 };
	struct fence_spec read_only = { .read_only = true };
	struct fence_spec narrow = { .write = ONE("src") };
	struct fence_spec hide = { .hide = ONE("src") };
	struct fence_spec hide_file = { .hide = ONE("src"), .read = ONE("src/main.c") };
	struct fence_spec both = { .write = ONE("src"), .hide = ONE("src") };
	struct fence_spec read_and_write = { .write = ONE("src"), .read = ONE("src") };
	struct fence_spec open_secret = { .read = ONE(".env") };

	CHECK("the project is writable", gives(&plain, "src/main.c", "write"));
	CHECK("its secrets are hidden",
	      gives(&plain, ".env", "hide") && gives(&plain, "deep/er/secrets/x", "hide"));
	CHECK("files that the host executes are read-only",
	      gives(&plain, ".git/hooks/pre-commit", "read") &&
		      gives(&plain, "deep/.vscode/tasks.json", "read"));
	CHECK("a file with only certificates stays readable",
	      gives(&plain, "ca.pem", "write") && gives(&plain, "server.pem", "hide"));
	CHECK("nothing else exists", gives(&plain, "../other", "none"));
	CHECK("--read-only makes the whole project read-only",
	      gives(&read_only, "src/main.c", "read") && gives(&read_only, ".env", "hide"));
	CHECK("--write makes the rest read-only",
	      gives(&narrow, "src/main.c", "write") && gives(&narrow, "README", "read"));
	CHECK("--hide hides a file", gives(&hide, "src/main.c", "hide"));
	CHECK("the most specific rule wins",
	      gives(&hide_file, "src/main.c", "read") && gives(&hide_file, "src/other.c", "hide"));
	CHECK("at the same path, hidden beats writable", gives(&both, "src/main.c", "hide"));
	CHECK("at the same path, read-only beats writable",
	      gives(&read_and_write, "src/main.c", "read"));
	CHECK("a path named by the user beats a pattern", gives(&open_secret, ".env", "read"));
}

/* Rules from the project's own file, which is not trusted. */
static void weak_rules(void)
{
	struct fence_spec narrow = { .write = WEAK("src") };
	struct fence_spec git = { .write = WEAK(".git/hooks") };
	struct fence_spec folder = { .write = WEAK("deep/.vscode") };
	struct fence_spec secret = { .write = WEAK("deep/er/secrets") };
	struct fence_spec hidden = { .write = WEAK("src"), .hide = ONE("src") };
	struct fence_spec under = { .write = WEAK("deep/er"), .hide = ONE("deep") };
	struct fence_spec read = { .write = WEAK("deep/er"), .read = ONE("deep") };
	struct fence_spec link = { .write = WEAK("to-other") };
	struct fence_spec strong = { .write = ONE(".git/hooks") };

	CHECK("a weak write rule makes the rest read-only",
	      gives(&narrow, "src/main.c", "write") && gives(&narrow, "README", "read"));
	CHECK("a weak rule does not make files writable that the host executes",
	      gives(&git, ".git/hooks/pre-commit", "read") &&
		      gives(&folder, "deep/.vscode/tasks.json", "read"));
	CHECK("the user's rule does", gives(&strong, ".git/hooks/pre-commit", "write"));
	CHECK("a weak rule does not show secrets", gives(&secret, "deep/er/secrets/x", "hide"));
	CHECK("a weak rule does not override the user's hide and read rules",
	      gives(&hidden, "src/main.c", "hide") && gives(&under, "deep/er/x", "hide") &&
		      gives(&read, "deep/er/x", "read"));
	CHECK("a weak rule does not follow a symlink", gives(&link, "x", "refused"));
}

static void patterns(void)
{
	struct fence_pattern items[] = { { .origin = (char *)".ringfenceignore:1" },
					 { .origin = (char *)".ringfenceignore:2" },
					 { .origin = (char *)".ringfenceignore:3" } };
	struct fence_spec spec = { .patterns = { items, 3 } };
	struct fence_spec shown = { .patterns = { items, 3 }, .read = ONE("src/main.c") };

	glob_read("/deep/er/", &items[0].glob);
	glob_read("*.c", &items[1].glob);
	glob_read("ca.pem", &items[2].glob);
	CHECK("a pattern hides files and folders", gives(&spec, "src/main.c", "hide") &&
							   gives(&spec, "deep/er/x", "hide") &&
							   gives(&spec, "deep/x", "write"));
	CHECK("a pattern hides files that no built-in table hides", gives(&spec, "ca.pem", "hide"));
	CHECK("a pattern does not weaken the built-in tables",
	      gives(&spec, ".env", "hide") && gives(&spec, ".git/config", "read"));
	CHECK("a path named by the user beats an ignore pattern",
	      gives(&shown, "src/main.c", "read"));
	for (size_t i = 0; i < 3; i++)
		glob_release(&items[i].glob);
}

static void refusals(void)
{
	static const char *const wide[] = { "/",        "/..",   "//",    "~",        "~/",
					    "/home",    "/tmp",  "/usr",  "/etc",     "/etc/ssl",
					    "/usr/bin", "/proc", "../..", "../../..", "to-root",
					    "to-home",  "" };
	bool held = true;

	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
		struct fence_spec spec = { .write = ONE(wide[i]) };

		held = gives(&spec, "x", "refused") && held;
	}
	CHECK("no spelling of /, of home or of the system becomes writable", held);

	struct fence_spec reading_home = { .read = ONE("~") };
	struct fence_spec reading_keys = { .read = ONE("~/.ssh") };
	struct fence_spec reading_one = { .read = ONE("~/.ssh/known_hosts") };
	struct fence_spec home_project = { .project = home };
	struct fence_spec state_project = { .project = state };
	struct fence_spec outside = { .cwd = "/usr" };
	struct fence_spec planted = { .write = ONE("to-other") };
	struct fence_spec hide_planted = { .hide = ONE("to-src/main.c") };
	struct fence_spec hide_missing = { .hide = ONE("missing") };
	struct fence_spec read_missing = { .read = ONE("missing") };
	struct fence_spec hide_all = { .hide = ONE(".") };

	CHECK("the whole home cannot be made readable", gives(&reading_home, "x", "refused"));
	CHECK("a folder of credentials cannot be made readable, but a file in it can",
	      gives(&reading_keys, "x", "refused") && gives(&reading_one, "src", "write"));
	CHECK("neither home nor the state folder can be a project",
	      gives(&home_project, "x", "refused") && gives(&state_project, "x", "refused"));
	CHECK("a working directory outside the project is refused",
	      gives(&outside, "x", "refused"));
	CHECK("a path through a symlink in the project is refused",
	      gives(&planted, "x", "refused") && gives(&hide_planted, "x", "refused"));
	CHECK("a missing path can be hidden, but not made readable",
	      gives(&hide_missing, "src", "write") && gives(&read_missing, "x", "refused"));
	CHECK("hiding the project is refused", gives(&hide_all, "x", "refused"));
}

/* Returns how a plan knows an entry of the project: "inode", "content", "hidden" or "nothing". */
static const char *knowledge(const struct fence_spec *spec, const char *name)
{
	AUTO_FREE char *path = path_join(project, name);
	struct fence_plan plan;
	const char *word = "nothing";

	if (make_plan(spec, &plan) < 0)
		return "refused";
	for (size_t i = 0; i < plan.known_count; i++)
		if (strcmp(plan.known[i].path, path) == 0)
			word = plan.known[i].hidden       ? "hidden"
			       : plan.known[i].content[0] ? "content"
							  : "inode";
	fence_plan_release(&plan);
	return word;
}

static bool knows(const struct fence_spec *spec, const char *name, const char *expected)
{
	const char *seen = knowledge(spec, name);

	if (strcmp(seen, expected) != 0)
		printf("# %s: %s, not %s\n", name, seen, expected);
	return strcmp(seen, expected) == 0;
}

static bool has_notice(const struct fence_spec *spec, const char *part)
{
	struct fence_plan plan;
	bool found = false;

	if (make_plan(spec, &plan) < 0)
		return false;
	for (size_t i = 0; i < plan.notices.count; i++)
		found = found || strstr(plan.notices.items[i], part);
	fence_plan_release(&plan);
	return found;
}

/* Reports whether files here have a birth time that lasts. An overlay gives a file that of a copy
 * when it changes. */
static bool has_births(struct statx *ret_status)
{
	struct statfs system;

	return statx(AT_FDCWD, project, 0, STATX_BTIME, ret_status) == 0 &&
	       ret_status->stx_mask & STATX_BTIME && ret_status->stx_btime.tv_sec &&
	       statfs(project, &system) == 0 && system.f_type != OVERLAYFS_SUPER_MAGIC;
}

static void births(void)
{
	struct fence_inode inode;
	struct statx status;

	CHECK("an entry without a birth time is identified without one",
	      known_identify(AT_FDCWD, "/proc/version", &inode) == 0 && !inode.birth_s &&
		      !inode.birth_ns && inode.inode);
	CHECK("a missing entry is not identified",
	      known_identify(AT_FDCWD, "missing", &inode) < 0 && errno == ENOENT);
	if (!has_births(&status)) {
		printf("ok - the birth time of an entry belongs to its identity # skip no lasting "
		       "birth times in %s\n",
		       project);
		return;
	}
	CHECK("the birth time of an entry belongs to its identity",
	      known_identify(AT_FDCWD, project, &inode) == 0 &&
		      inode.birth_s == status.stx_btime.tv_sec &&
		      inode.birth_ns == status.stx_btime.tv_nsec);
	CHECK("a file with a birth time is known by its inode",
	      knows(&(struct fence_spec){ 0 }, ".mcp.json", "inode"));
}

/* The entries that the sweep leaves alone. */
static void known_entries(void)
{
	const struct fence_spec plain = { 0 };
	const struct fence_spec folder = { .write = ONE("deep/.vscode") };
	const struct fence_spec around = { .write = ONE("deep") };
	const struct fence_spec weak = { .write = WEAK("deep/.vscode") };
	const struct fence_spec hide = { .hide = ONE("src") };
	struct fence_inode pointer;
	struct fence_inode target;

	make_file(project, ".mcp.json", "{}");
	make_file(project, "src/.envrc", "x");
	make_file(project, "deep/.vscode/linked", "x");
	make_file(project, "deep/.vscode/single", "x");
	if (link("src/.envrc", "src/other-name") < 0 ||
	    link("deep/.vscode/linked", "src/another-name") < 0 ||
	    link(".env", "src/env-name") < 0 || symlink(".mcp.json", ".exrc") < 0)
		abort();
	births();
	CHECK("entries that the host executes are known",
	      knows(&plain, ".git", "inode") && knows(&plain, "deep/.vscode", "inode"));
	CHECK("an entry that the user makes writable is not known, and others still are",
	      knows(&folder, "deep/.vscode", "nothing") && knows(&folder, ".git", "inode"));
	CHECK("a notice says what the user made writable, and names who executes it",
	      has_notice(&folder, "deep/.vscode is writable (--write); the host will execute what "
				  "the command puts there (VS Code)") &&
		      !has_notice(&around, "is writable (--write)") &&
		      !has_notice(&weak, "is writable (--write)"));
	CHECK("an entry that stays read-only in a writable folder is known",
	      knows(&around, "deep/.vscode", "inode"));
	CHECK("a write rule of the project's own file makes no entry unknown",
	      knows(&weak, "deep/.vscode", "inode"));
	CHECK("hidden folders are known as such", knows(&plain, "deep/er/secrets", "hidden") &&
							  knows(&hide, "src", "hidden") &&
							  knows(&plain, "src", "nothing"));
	CHECK("a file with another name is known by its content, with a notice",
	      knows(&plain, "src/.envrc", "content") &&
		      has_notice(&plain, "src/.envrc has 2 hard links"));
	CHECK("so is one in a folder that the host executes, and others there are not known alone",
	      knows(&plain, "deep/.vscode/linked", "content") &&
		      knows(&plain, "deep/.vscode/single", "nothing"));
	CHECK("a hidden file with another name is reported",
	      has_notice(&plain, ".env has 2 hard links; it is hidden under this name only"));
	CHECK("a file with one name gets no notice", !has_notice(&plain, ".mcp.json has"));
	CHECK("ordinary files are not known", knows(&plain, "src/main.c", "nothing"));
	CHECK("a symlink is identified as itself",
	      known_identify(AT_FDCWD, ".exrc", &pointer) == 0 &&
		      known_identify(AT_FDCWD, ".mcp.json", &target) == 0 &&
		      pointer.inode != target.inode);
	if (unlink(".exrc") < 0 || unlink("src/other-name") < 0 || unlink("src/another-name") < 0 ||
	    unlink("src/env-name") < 0 || unlink("src/.envrc") < 0 || unlink(".mcp.json") < 0)
		abort();
}

/* Reports whether a plan refuses a path, which is relative to home or absolute, for this reason, or
 * permits it (NULL). */
static bool permits(const struct fence_plan *plan, bool writable, const char *path, const char *why)
{
	AUTO_FREE char *full = path_absolute(path, home);
	struct error err = { 0 };
	bool permitted = fence_plan_permits(plan, writable, full, &err) == 0;
	bool held = why ? !permitted && strstr(err.text, why) : permitted;

	if (!held)
		printf("# %s: %s\n", full, permitted ? "permitted" : err.text);
	return held;
}

static void permissions(void)
{
	static const char protected[] = "is protected";
	static const char system[] = "belongs to the system";
	AUTO_FREE char *settings = path_join(home, "my/settings");
	struct fence_plan plan;

	if (make_plan(&(struct fence_spec){ 0 }, &plan) < 0)
		abort();
	CHECK("a folder at home can be made writable",
	      permits(&plan, true, "data", NULL) && permits(&plan, false, "data", NULL));
	CHECK("files at home that the host executes cannot, nor folders around them",
	      permits(&plan, true, ".bashrc", protected) &&
		      permits(&plan, true, ".local", protected));
	CHECK("they can be made readable", permits(&plan, false, ".bashrc", NULL));
	CHECK("folders of credentials can be neither, but a file in one can be read",
	      permits(&plan, true, ".ssh", protected) &&
		      permits(&plan, true, ".ssh/known_hosts", protected) &&
		      permits(&plan, false, ".ssh", "holds credentials") &&
		      permits(&plan, false, ".ssh/known_hosts", NULL));
	CHECK("nor can Ringfence's own settings be made writable, or what is in or around them",
	      permits(&plan, true, ".config/ringfence", protected) &&
		      permits(&plan, true, ".config/ringfence/x", protected) &&
		      permits(&plan, true, ".config", protected) &&
		      permits(&plan, true, ".config/ringfences", NULL));
	env_set("XDG_CONFIG_HOME", settings);
	CHECK("this holds wherever the settings are",
	      permits(&plan, true, "my/settings/ringfence", protected) &&
		      permits(&plan, true, "my/settings/ringfence/x", protected) &&
		      permits(&plan, true, "my", protected) &&
		      permits(&plan, true, "my/other", NULL));
	env_set("XDG_CONFIG_HOME", NULL);
	CHECK("folders of the system cannot be made writable, nor anything in them",
	      permits(&plan, true, "/usr/share/x", system) &&
		      permits(&plan, true, "/etc", system) &&
		      permits(&plan, false, "/usr/share/x", NULL));
	CHECK("the state folder can be neither, nor what is in or around it",
	      permits(&plan, true, state, "keeps its state") &&
		      permits(&plan, false, "../state/runs", "keeps its state") &&
		      permits(&plan, false, "..", "home folder"));
	CHECK("whole folders of the kernel cannot be made readable",
	      permits(&plan, false, "/proc/1", "name only the files below it") &&
		      permits(&plan, false, "/sys", "name only the files below it") &&
		      permits(&plan, false, "/sys/class", NULL));
	fence_plan_release(&plan);
}

static bool has_variable(const struct fence_plan *plan, const char *variable)
{
	return list_has(&plan->environment, variable);
}

static void environments(void)
{
	AUTO_FREE char *path = mem_format("%s/src:%s/.ssh:/usr/sbin:/nowhere", project, home);
	AUTO_FREE char *expected = mem_format("PATH=%s/src:/usr/sbin:/usr/local/bin:/usr/bin:/bin",
					      project);
	AUTO_FREE char *here = mem_format("PWD=%s", project);
	AUTO_FREE char *inside = mem_format("HOME=%s", home);
	struct fence_spec spec = { 0 };
	struct fence_plan plan;

	env_set("PATH", path);
	env_set("LANG", "C");
	env_set("A_SECRET", "x");
	env_set("WANTED", "y");
	list_add(&spec.env, "WANTED");
	list_add(&spec.env, "GIVEN=z=1");
	list_add(&spec.env, "NO_UPDATE_NOTIFIER=no");
	if (make_plan(&spec, &plan) < 0)
		abort();
	CHECK("the path keeps the folders that exist inside, before those of the system",
	      has_variable(&plan, expected));
	CHECK("common variables are passed on, and others are not",
	      has_variable(&plan, "LANG=C") && !has_variable(&plan, "A_SECRET=x"));
	CHECK("variables that the user names are passed on, or set",
	      has_variable(&plan, "WANTED=y") && has_variable(&plan, "GIVEN=z=1") &&
		      has_variable(&plan, "NO_UPDATE_NOTIFIER=no"));
	CHECK("tools are kept from looking for newer versions",
	      has_variable(&plan, "npm_config_update_notifier=false") &&
		      has_variable(&plan, "PIP_DISABLE_PIP_VERSION_CHECK=1"));
	CHECK("some variables are those of the fence",
	      has_variable(&plan, "TMPDIR=/tmp") && has_variable(&plan, "SHELL=/bin/sh") &&
		      has_variable(&plan, "RINGFENCE=1") && has_variable(&plan, here) &&
		      has_variable(&plan, inside));
	fence_plan_release(&plan);
	list_add(&spec.env, "MISSING");
	CHECK("a variable that does not exist is refused", make_plan(&spec, &plan) < 0);
	list_release(&spec.env);
	list_add(&spec.env, "=x");
	CHECK("a variable without a name is refused", make_plan(&spec, &plan) < 0);
	list_release(&spec.env);
}

/* Files of the project that symlinks at home lead to. */
static void linked_from_home(void)
{
	AUTO_FREE char *rc = path_join(project, "my-rc");
	AUTO_FREE char *login = path_join(project, "my-login");
	const struct fence_spec plain = { 0 };

	make_file(project, "my-rc", "x");
	make_file(project, "my-login", "x");
	CHECK("a file of the project is writable",
	      gives(&plain, "my-rc", "write") && gives(&plain, "my-login", "write"));
	make_file(project, "my-hook", "x");
	put_link(project, ".git/hooks/pre-commit", "../../my-hook");
	CHECK("one that a symlink in a git directory leads to is read-only",
	      gives(&plain, "my-hook", "read"));
	put_link(home, ".bashrc", rc);
	put_link(home, ".netrc", login);
	CHECK("one that the host executes by a symlink is read-only",
	      gives(&plain, "my-rc", "read"));
	CHECK("one that holds a login by a symlink is hidden", gives(&plain, "my-login", "hide"));
}

static void covers(void)
{
	AUTO_FREE char *git = path_join(project, ".git");
	AUTO_FREE char *source = path_join(state, "runs");
	struct fence_cover items[] = { { .path = git, .source = source, .writable = true } };
	const struct fence_spec spec = { .covers = { items, 1 } };
	struct fence_plan plan;
	const struct fence_rule *rule;

	if (make_plan(&spec, &plan) < 0)
		abort();
	rule = fence_plan_decide(&plan, git);
	CHECK("a cover is mounted in the place of a folder, with its own access",
	      rule && rule->access == WIRE_WRITE && rule->source &&
		      strcmp(rule->source, source) == 0 && rule->is_dir);
	fence_plan_release(&plan);
	items[0].writable = false;
	if (make_plan(&spec, &plan) < 0)
		abort();
	rule = fence_plan_decide(&plan, git);
	CHECK("it can be read-only", rule && rule->access == WIRE_READ);
	fence_plan_release(&plan);
	items[0].source = (char *)"/bin/true";
	CHECK("a file does not cover a folder", make_plan(&spec, &plan) < 0);
	items[0].source = (char *)"/nonexistent";
	CHECK("a missing source is refused", make_plan(&spec, &plan) < 0);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static void places_at_home(void)
{
	AUTO_FREE char *nowhere = path_join(home, "nowhere");
	AUTO_FREE char *foreign = path_join(home, "foreign");
	AUTO_FREE char *file = path_join(project, "src/main.c");
	struct home names;

	home_read(home, &names);
	CHECK("an entry of home and paths below it may exist, whatever their case",
	      home_may_have(&names, ".ssh") && home_may_have(&names, ".SSH") &&
		      home_may_have(&names, "work/bin"));
	CHECK("other paths do not exist",
	      !home_may_have(&names, ".aws") && !home_may_have(&names, ".config/git"));
	home_read(nowhere, &names);
	CHECK("without a home, no path exists", !home_may_have(&names, ".ssh"));
	home_read(file, &names);
	CHECK("if home cannot be read, any path may exist", home_may_have(&names, ".aws"));
	make_folder(foreign, "\u00c4rger");
	home_read(foreign, &names);
	CHECK("if a name may have other spellings, any path may exist",
	      home_may_have(&names, ".aws"));
}

static void collect_link(void *context, const char *path, bool secret)
{
	buffer_printf(context, "%s %s\n", secret ? "secret" : "plain", path + strlen(home) + 1);
}

static bool finds(const char *all, const char *line)
{
	const char *at = strstr(all, line);

	return at && (at == all || at[-1] == '\n') && at[strlen(line)] == '\n';
}

static void links_at_home(void)
{
	AUTO_BUFFER struct buffer found = BUFFER_INIT(1 << 16);
	AUTO_FREE char *left_out = NULL;
	const char *all;
	struct home names;

	make_folder(home, ".config/tool/conf.d");
	make_folder(home, ".config/tool/cache");
	put_link(home, ".config/tool/conf.d/a", "/x");
	put_link(home, ".config/tool/cache/a", "/x");
	put_link(home, ".config/loop", ".");
	put_link(home, ".ssh/config", "/x");
	put_link(home, ".ssh/id", "/x");
	put_link(home, ".xinitrc", "/x");
	put_link(home, "plain", "/x");
	home_read(home, &names);
	left_out = home_search(home, &names, collect_link, &found);
	all = buffer_text(&found);
	CHECK("symlinks are found in folders that programs read",
	      !left_out && finds(all, "plain .config/tool/conf.d/a") &&
		      finds(all, "plain .xinitrc"));
	CHECK("keys are told from other files", finds(all, "secret .ssh/id") &&
							finds(all, "plain .ssh/config") &&
							!finds(all, "secret .ssh/config"));
	CHECK("other folders are not searched",
	      !finds(all, "plain .config/tool/cache/a") && !finds(all, "plain plain"));
	CHECK("a symlink to a folder around it comes to an end", finds(all, "plain .config/loop"));
}

/* Returns whether `auto` is this mechanism where these programs are installed, and gives a reason
 * if it is not the first. */
static bool chooses(const char *name, bool image, bool bwrap, bool podman, bool docker)
{
	const char *const first = image ? "podman" : "bwrap";
	AUTO_FREE char *why = NULL;
	const struct mechanism *chosen;

	env_set("RINGFENCE_BWRAP", bwrap ? "/bin/true" : "/nonexistent");
	env_set("RINGFENCE_PODMAN", podman ? "/bin/true" : "/nonexistent");
	env_set("RINGFENCE_DOCKER", docker ? "/bin/true" : "/nonexistent");
	chosen = mechanism_choose(image, &why);
	return chosen == mechanism_find(name) &&
	       (why != NULL) == (strcmp(name, first) != 0 && (podman || docker));
}

static void choices_of_auto(void)
{
	CHECK("auto is bwrap", chooses("bwrap", false, true, true, true));
	CHECK("without bwrap, it is podman", chooses("podman", false, false, true, true));
	CHECK("then docker", chooses("docker", false, false, false, true));
	CHECK("never a weaker one", chooses("bwrap", false, false, false, false));
	CHECK("with an image it is podman", chooses("podman", true, true, true, true));
	CHECK("or docker", chooses("docker", true, true, false, true));
	CHECK("and nothing else", chooses("podman", true, true, false, false));
	env_set("RINGFENCE_BWRAP", NULL);
	env_set("RINGFENCE_PODMAN", NULL);
	env_set("RINGFENCE_DOCKER", NULL);
}

int main(void)
{
	char root[UNIT_PATH];

	if (!unit_temp(root))
		return 1;
	unit_init();
	home = path_join(root, "home");
	project = path_join(home, "work/project");
	state = path_join(root, "state");
	make_folder(project, "src");
	make_folder(project, ".git/hooks");
	make_folder(project, "deep/.vscode");
	make_folder(project, "deep/er/secrets");
	make_folder(home, "work/other");
	make_folder(home, ".ssh");
	make_folder(state, "runs");
	make_file(home, ".ssh/known_hosts", "x");
	make_file(project, "src/main.c", "int main;");
	make_file(project, ".env", "SECRET=1");
	make_file(project, "ca.pem", "-----BEGIN CERTIFICATE-----\nx");
	make_file(project, "server.pem", "-----BEGIN PRIVATE KEY-----\nx");
	env_set("HOME", home);
	env_set("RINGFENCE_STATE_DIR", state);
	if (chdir(project) < 0 || symlink("/", "to-root") < 0 || symlink(home, "to-home") < 0 ||
	    symlink("../other", "to-other") < 0 || symlink("src", "to-src") < 0)
		return 1;
	names();
	name_patterns();
	contents();
	credentials();
	places_at_home();
	links_at_home();
	listening();
	rules();
	weak_rules();
	patterns();
	refusals();
	known_entries();
	permissions();
	environments();
	covers();
	linked_from_home();
	CHECK("a mechanism is found by its name",
	      mechanism_find("bwrap") && mechanism_find("none") && !mechanism_find("x"));
	choices_of_auto();
	nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(home);
	free(project);
	free(state);
	return unit_failures > 0;
}
