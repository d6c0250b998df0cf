/* The built-in lists of paths: a second copy of the lists in defaults.c, so that no path can vanish
 * by mistake, and the folders at home that are searched for symlinks. Uses a temporary folder. */
#include "unit.h"

#include "fence/plan/defaults.h"
#include "fence/plan/home.h"
#include "util/buffer.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const home_secrets[] = {
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
};

static const char *const home_executed[] = {
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
};

static const char *const home_toolchains[] = {
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
};

static const char *const unwritable[] = {
	"/bin",       "/boot",          "/dev",           "/etc",
	"/lib",       "/lib32",         "/lib64",         "/libx32",
	"/proc",      "/run",           "/sbin",          "/sys",
	"/usr/bin",   "/usr/include",   "/usr/lib",       "/usr/lib32",
	"/usr/lib64", "/usr/libexec",   "/usr/libx32",    "/usr/sbin",
	"/usr/share", "/usr/local/bin", "/usr/local/lib", "/usr/local/sbin",
	"/var/lib",   "/var/run",       "/var/spool",     "/nix/store",
};

static const char *const wide[] = {
	"/",     "/home",    "/media",     "/mnt",     "/nix",       "/opt",
	"/root", "/srv",     "/tmp",       "/usr",     "/usr/local", "/usr/src",
	"/var",  "/var/tmp", "/var/cache", "/var/log", "/dev/shm",
};

static const char *const shown[] = {
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store",
};

static const char *const devices[] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
};

static const char *const etc_files[] = {
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
};

static const char *const etc_folders[] = {
	"chromium*", "crypto-policies", "fonts",    "java*", "maven",
	"perl",      "python3*",        "terminfo", "vim",
};

static const char *const etc_mounts[] = {
	"/etc/alternatives",
	"/etc/ssl/certs",
	"/etc/pki/tls",
	"/etc/pki/ca-trust",
};

static const char *const environment[] = {
	"LANG",     "LANGUAGE",    "LC_*", "TERM", "COLORTERM",
	"NO_COLOR", "FORCE_COLOR", "TZ",   "CI",   "SOURCE_DATE_EPOCH",
};

static const char *const quiet[] = {
	"npm_config_update_notifier=false",
	"NO_UPDATE_NOTIFIER=1",
	"PIP_DISABLE_PIP_VERSION_CHECK=1",
};

static bool is_list(const char *const *seen, const char *const *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!seen[i] || strcmp(seen[i], wanted[i]) != 0) {
			printf("# %s, not %s\n", seen[i] ? seen[i] : "the end", wanted[i]);
			return false;
		}
	return !seen[count];
}

#define IS_LIST(seen, wanted) is_list(seen, wanted, sizeof(wanted) / sizeof *(wanted))

static void complete_lists(void)
{
	CHECK("the list of secrets at home is complete",
	      IS_LIST(defaults_home_secrets, home_secrets));
	CHECK("the list of files at home that the host executes is complete",
	      IS_LIST(defaults_home_executed, home_executed));
	CHECK("the list of toolchains at home is complete",
	      IS_LIST(defaults_home_toolchains, home_toolchains));
	CHECK("the list of unwritable paths of the system is complete",
	      IS_LIST(defaults_unwritable, unwritable));
	CHECK("the list of folders that are too broad is complete", IS_LIST(defaults_wide, wide));
	CHECK("the list of shown folders of the system is complete",
	      IS_LIST(defaults_shown, shown));
	CHECK("the list of devices is complete", IS_LIST(defaults_devices, devices));
	CHECK("the list of shown files of /etc is complete",
	      IS_LIST(defaults_etc_files, etc_files));
	CHECK("the list of shown folders of /etc is complete",
	      IS_LIST(defaults_etc_folders, etc_folders));
	CHECK("the list of mounted folders of /etc is complete",
	      IS_LIST(defaults_etc_mounts, etc_mounts));
	CHECK("the list of variables that are passed on is complete",
	      IS_LIST(defaults_environment, environment));
	CHECK("the list of variables that keep tools quiet is complete",
	      IS_LIST(defaults_quiet, quiet));
}

static void etc(void)
{
	CHECK("a file of /etc is shown under its whole name only",
	      defaults_etc_shows("/etc/hosts") && !defaults_etc_shows("/etc/hostsfile") &&
		      !defaults_etc_shows("/etc/host") && !defaults_etc_shows("/etc/shadow"));
	CHECK("a folder of /etc is shown with all that is in it",
	      defaults_etc_shows("/etc/ssl/certs/a") && !defaults_etc_shows("/etc/ssl-private"));
	CHECK("the system includes /etc and the folders that are shown",
	      defaults_is_system("/usr/bin") && defaults_is_system("/etc") &&
		      !defaults_is_system("/home") && !defaults_is_system("/usrlocal"));
}

/* --- symlinks at home */

/* The places to search, with the levels of folders. Those in .config that need no level of their
 * own are left out. */
static const struct {
	const char *path;
	int levels;
} places[] = {
	{ ".local/bin", 1 },
	{ "bin", 1 },
	{ ".ssh", 2 },
	{ ".config/systemd", 4 },
	{ ".config/fish", 3 },
	{ ".config/zsh", 3 },
	{ ".config/bash", 2 },
	{ ".config/nushell", 3 },
	{ ".config/git", 3 },
	{ ".config/nvim", 4 },
	{ ".config/vim", 3 },
	{ ".config/emacs", 2 },
	{ ".config/doom", 2 },
	{ ".config/direnv", 3 },
	{ ".config/mise", 3 },
	{ ".config/ringfence", 2 },
	{ ".config/tmux", 2 },
	{ ".config/i3", 3 },
	{ ".config/sway", 3 },
	{ ".config/hypr", 3 },
	{ ".config/waybar", 3 },
	{ ".config/niri", 2 },
	{ ".config/river", 2 },
	{ ".config/bspwm", 3 },
	{ ".config/sxhkd", 2 },
	{ ".config/awesome", 3 },
	{ ".config/qtile", 3 },
	{ ".config/openbox", 2 },
	{ ".config/herbstluftwm", 2 },
	{ ".config/plasma-workspace", 2 },
	{ ".config/Code/User", 2 },
	{ ".config/VSCodium/User", 2 },
	{ ".config/Cursor/User", 2 },
	{ ".config/opencode", 3 },
	{ ".local/share/applications", 2 },
	{ ".local/share/dbus-1", 2 },
	{ ".local/share/systemd", 4 },
	{ ".local/share/nautilus/scripts", 2 },
	{ ".local/share/gnome-shell/extensions", 2 },
	{ ".vim", 3 },
	{ ".emacs.d", 2 },
	{ ".doom.d", 2 },
	{ ".zsh", 3 },
	{ ".zshrc.d", 1 },
	{ ".bashrc.d", 1 },
	{ ".bash_completion.d", 1 },
	{ ".oh-my-zsh/custom", 3 },
	{ ".tmux", 2 },
	{ ".xmonad", 2 },
	{ ".i3", 2 },
	{ ".fluxbox", 1 },
	{ ".claude", 2 },
	{ ".codex", 2 },
	{ ".gemini", 2 },
	{ ".cursor", 1 },
	{ ".vscode", 1 },
	{ ".cargo", 1 },
	{ ".gradle/init.d", 1 },
	{ ".ipython/profile_default", 2 },
};

static char *home;

/* Returns the path at home of a symlink this many levels below a place. The caller frees it. */
static char *link_below(const char *place, int levels)
{
	static const char inner[] = "x/x/x/x/";

	return mem_format("%s/%.*slink", place, 2 * (levels - 1), inner);
}

static void put_link(const char *place, int levels)
{
	AUTO_FREE char *link = link_below(place, levels);
	AUTO_FREE char *path = path_join(home, link);
	AUTO_FREE char *folder = path_folder(path);

	if (state_folder_make(folder, 0755) < 0 || symlink("/x", path) < 0)
		abort();
}

static void collect(void *context, const char *path, bool secret)
{
	(void)secret;
	buffer_printf(context, "\n%s\n", path + strlen(home) + 1);
}

static bool has_link(struct buffer *found, const char *place, int levels, bool wanted)
{
	AUTO_FREE char *link = link_below(place, levels);
	AUTO_FREE char *line = mem_format("\n%s\n", link);
	bool seen = strstr(buffer_text(found), line);

	if (seen != wanted)
		printf("# %s: %s\n", link, seen ? "found" : "not found");
	return seen == wanted;
}

static void searched_places(void)
{
	AUTO_BUFFER struct buffer found = BUFFER_INIT(1 << 20);
	bool held = true;
	struct home names;

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		put_link(places[i].path, places[i].levels);
		put_link(places[i].path, places[i].levels + 1);
	}
	put_link("my-settings", 3);

	AUTO_FREE char *settings = path_join(home, "my-settings");

	env_set("XDG_CONFIG_HOME", settings);
	home_read(home, &names);
	CHECK("nothing is left out", !home_search(home, &names, collect, &found));
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		held = has_link(&found, places[i].path, places[i].levels, true) &&
		       has_link(&found, places[i].path, places[i].levels + 1, false) && held;
	CHECK("the folder that replaces .config is searched",
	      has_link(&found, "my-settings", 3, true));
	CHECK("symlinks at home are found in each place, to its depth and no deeper", held);
}

int main(void)
{
	char root[UNIT_PATH];

	if (!unit_temp(root))
		return 1;
	home = path_join(root, "home");
	complete_lists();
	etc();
	searched_places();
	free(home);
	return unit_failures > 0;
}
