/* The built-in tables: see defaults.h. */
#include "fence/plan/defaults.h"

#include "util/file/path.h"

#include <string.h>

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
	".config/containers",
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
	"chromium*", "crypto-policies", "fonts",    "java*", "maven",
	"perl",      "python3*",        "terminfo", "vim",   NULL,
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

const char *const defaults_quiet[] = {
	"npm_config_update_notifier=false", /* npm asks its registry for a newer npm */
	"NO_UPDATE_NOTIFIER=1",             /* so do programs with the library update-notifier */
	"PIP_DISABLE_PIP_VERSION_CHECK=1",  /* pip asks its index for a newer pip */
	NULL,
};
