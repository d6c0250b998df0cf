/* The built-in tables: see defaults.h. */
#include "fence/plan/defaults.h"

#include "util/file/path.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Executed or read as configuration when the user enters a folder, opens an editor, uses git or
 * starts an agent. */
static const struct {
	const char *name;
	const char *reason;
} executed[] = {
	{ ".git", "git" },
	{ ".hg", "version control" },
	{ ".svn", "version control" },
	{ ".jj", "version control" },
	{ ".gitconfig", "git" },
	{ ".envrc", "run by direnv" },
	{ ".direnv", "run by direnv" },
	{ ".mise.toml", "run by mise" },
	{ "mise.toml", "run by mise" },
	{ ".mise", "run by mise" },
	{ ".vscode", "editor settings" },
	{ ".idea", "editor settings" },
	{ ".fleet", "editor settings" },
	{ ".zed", "editor settings" },
	{ ".vim", "editor settings" },
	{ ".vimrc", "editor settings" },
	{ ".nvim.lua", "editor settings" },
	{ ".nvimrc", "editor settings" },
	{ ".exrc", "editor settings" },
	{ ".dir-locals.el", "editor settings" },
	{ ".emacs", "editor settings" },
	{ ".emacs.d", "editor settings" },
	{ ".gdbinit", "debugger settings" },
	{ ".lldbinit", "debugger settings" },
	{ ".devcontainer", "container settings" },
	{ ".devcontainer.json", "container settings" },
	{ ".husky", "git hooks" },
	{ ".githooks", "git hooks" },
	{ ".pre-commit-config.yaml", "git hooks" },
	{ "lefthook.yml", "git hooks" },
	{ ".lefthook.yml", "git hooks" },
	{ ".lefthook", "git hooks" },
	{ ".mcp.json", "agent settings" },
	{ ".claude", "agent settings" },
	{ ".claude.json", "agent settings" },
	{ ".codex", "agent settings" },
	{ ".gemini", "agent settings" },
	{ ".cursor", "agent settings" },
	{ ".opencode", "agent settings" },
	{ "opencode.json", "agent settings" },
	{ "opencode.jsonc", "agent settings" },
	{ ".windsurf", "agent settings" },
	{ ".continue", "agent settings" },
	{ ".roo", "agent settings" },
	{ ".aider.conf.yml", "agent settings" },
	{ ".patchpal", "agent settings" },
	{ "ringfence.yml", "Ringfence's settings" },
	{ ".ringfenceignore", "Ringfence's settings" },
	{ ".claudeignore", "Ringfence's settings" },
	{ ".claudeignore", "Ringfence's settings" },
	{ ".bashrc", "shell start-up" },
	{ ".bash_profile", "shell start-up" },
	{ ".bash_login", "shell start-up" },
	{ ".bash_logout", "shell start-up" },
	{ ".bash_aliases", "shell start-up" },
	{ ".profile", "shell start-up" },
	{ ".zshrc", "shell start-up" },
	{ ".zshenv", "shell start-up" },
	{ ".zprofile", "shell start-up" },
	{ ".zlogin", "shell start-up" },
	{ ".zlogout", "shell start-up" },
	{ ".inputrc", "shell start-up" },
	{ ".tmux.conf", "shell start-up" },
};

static bool ends_with(const char *name, const char *end)
{
	size_t size = strlen(name);
	size_t tail = strlen(end);

	return size > tail && strcasecmp(name + size - tail, end) == 0;
}

/* Rejects most names by their first letter, because this runs for every file of a project. */
static bool first_letter_fits(char first)
{
	static bool known[256];
	static bool ready;

	if (!ready) {
		for (size_t i = 0; i < sizeof executed / sizeof *executed; i++) {
			known[(unsigned char)tolower(executed[i].name[0])] = true;
			known[(unsigned char)toupper(executed[i].name[0])] = true;
		}
		ready = true;
	}
	return known[(unsigned char)first];
}

struct defaults_name defaults_name(const char *name, bool is_dir)
{
	struct defaults_name verdict = { 0 };

	for (size_t i = 0; first_letter_fits(name[0]) && i < sizeof executed / sizeof *executed;
	     i++)
		if (strcasecmp(name, executed[i].name) == 0)
			verdict.executed = executed[i].reason;
	if (ends_with(name, ".code-workspace"))
		verdict.executed = "editor settings";
	if (strncasecmp(name, ".env", 4) == 0)
		verdict.secret = "environment file";
	else if (is_dir &&
		 (strcasecmp(name, "credentials") == 0 || strcasecmp(name, "secrets") == 0))
		verdict.secret = "credentials";
	else if (!is_dir && (ends_with(name, ".pem") || ends_with(name, ".key")))
		verdict.secret = "key";
	return verdict;
}

bool defaults_public_certificates(const char *text, size_t size)
{
	return memmem(text, size, "-----BEGIN CERTIFICATE-----", 27) &&
	       !memmem(text, size, "PRIVATE", 7);
}

const char *const defaults_home_secrets[] = {
	".ssh",
	".gnupg",
	".aws",
	".azure",
	".kube",
	".docker",
	".netrc",
	".npmrc",
	".pypirc",
	".pgpass",
	".my.cnf",
	".git-credentials",
	".cargo/credentials",
	".cargo/credentials.toml",
	".config/gcloud",
	".config/gh",
	".config/git/credentials",
	".config/op",
	".config/sops",
	".config/rclone",
	".password-store",
	".local/share/keyrings",
	".mozilla",
	".config/google-chrome",
	".config/chromium",
	".bash_history",
	".zsh_history",
	".terraform.d",
	".vault-token",
	".claude.json",
	".claude/.credentials.json",
	".codex/auth.json",
	".gemini/oauth_creds.json",
	".local/share/opencode/auth.json",
	NULL,
};

const char *const defaults_home_executed[] = {
	".bashrc",
	".bash_profile",
	".bash_login",
	".bash_logout",
	".bash_aliases",
	".profile",
	".zshrc",
	".zshenv",
	".zprofile",
	".zlogin",
	".zlogout",
	".inputrc",
	".tmux.conf",
	".gitconfig",
	".vim",
	".vimrc",
	".emacs",
	".emacs.d",
	".claude",
	".codex",
	".gemini",
	".cursor",
	".vscode",
	".config/autostart",
	".config/systemd",
	".config/fish",
	".config/git",
	".config/nvim",
	".config/environment.d",
	".config/direnv",
	".config/ringfence",
	".config/Code",
	".local/bin",
	".local/share/applications",
	".local/state/ringfence",
	"bin",
	NULL,
};

const char *const defaults_home_toolchains[] = {
	".rustup",
	".cargo/bin",
	".nvm",
	".volta",
	".fnm",
	".local/share/fnm",
	".pyenv",
	".rbenv",
	".asdf",
	".local/share/mise",
	".local/share/uv",
	".local/pipx",
	".local/share/pipx",
	".local/share/pnpm",
	".npm-global",
	".bun",
	".deno",
	".sdkman",
	".ghcup",
	".elan",
	"go/bin",
	".local/bin",
	".nix-profile",
	NULL,
};

const char *const defaults_unwritable[] = {
	"/bin",       "/boot",          "/dev",           "/etc",
	"/lib",       "/lib32",         "/lib64",         "/libx32",
	"/proc",      "/run",           "/sbin",          "/sys",
	"/usr/bin",   "/usr/include",   "/usr/lib",       "/usr/lib32",
	"/usr/lib64", "/usr/libexec",   "/usr/libx32",    "/usr/sbin",
	"/usr/share", "/usr/local/bin", "/usr/local/lib", "/usr/local/sbin",
	"/var/lib",   "/var/run",       "/var/spool",     "/nix/store",
	NULL,
};

const char *const defaults_wide[] = {
	"/",     "/home",    "/media",     "/mnt",     "/nix",       "/opt",
	"/root", "/srv",     "/tmp",       "/usr",     "/usr/local", "/usr/src",
	"/var",  "/var/tmp", "/var/cache", "/var/log", "/dev/shm",   NULL,
};

const char *const defaults_shown[] = {
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", NULL,
};

bool defaults_is_system(const char *path)
{
	for (const char *const *place = defaults_shown; *place; place++)
		if (path_within(path, *place))
			return true;
	return path_within(path, "/etc");
}

const char *const defaults_devices[] = { "/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
					 "/dev/urandom", "/dev/tty",  NULL };

const char *const defaults_etc_files[] = {
	"bash.bashrc",
	"ca-certificates.conf",
	"debian_version",
	"ethertypes",
	"gai.conf",
	"host.conf",
	"hosts",
	"inputrc",
	"ld.so.cache",
	"ld.so.conf",
	"lsb-release",
	"localtime",
	"locale.alias",
	"locale.conf",
	"login.defs",
	"magic",
	"magic.mime",
	"manpath.config",
	"mime.types",
	"networks",
	"nsswitch.conf",
	"os-release",
	"profile",
	"protocols",
	"rpc",
	"services",
	"shells",
	"ssl/openssl.cnf",
	"timezone",
	"vconsole.conf",
	"wgetrc",
	NULL,
};

const char *const defaults_etc_folders[] = {
	"crypto-policies", "fonts", "java*", "maven", "perl", "python3*", "terminfo", "vim", NULL,
};

const char *const defaults_etc_mounts[] = { "/etc/alternatives", "/etc/ssl/certs", "/etc/pki/tls",
					    "/etc/pki/ca-trust", NULL };

/* Returns whether a path relative to /etc is at or below `name`. A trailing * makes it a prefix. */
static bool etc_matches(const char *path, const char *name)
{
	size_t size = strlen(name);

	if (name[size - 1] == '*')
		return strncmp(path, name, size - 1) == 0;
	return strncmp(path, name, size) == 0 && (path[size] == '/' || !path[size]);
}

bool defaults_etc_shows(const char *path)
{
	static const char *const own[] = { "passwd", "group", NULL };
	const char *const *const lists[] = { own, defaults_etc_files, defaults_etc_folders };
	const char *inner = path + strlen("/etc");

	if (!*inner)
		return true;
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		for (const char *const *name = lists[i]; *name; name++)
			if (etc_matches(inner + 1, *name))
				return true;
	for (const char *const *mounted = defaults_etc_mounts; *mounted; mounted++)
		if (path_within(path, *mounted))
			return true;
	return false;
}

const char *const defaults_environment[] = {
	"LANG", "LANGUAGE",          "LC_*", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "TZ",
	"CI",   "SOURCE_DATE_EPOCH", NULL,
};
