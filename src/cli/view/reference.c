/* The reference of settings: see reference.h. */
#include "cli/view/reference.h"

#include "cli/cli.h"
#include "util/buffer.h"
#include "util/mem.h"

#include <stdio.h>
#include <string.h>

/* A label and a text without the marks of Markdown. */
static void print_plain(const char *label, const char *text)
{
	AUTO_BUFFER struct buffer plain = BUFFER_INIT(1 << 16);

	for (; *text; text++)
		if (*text != '`')
			buffer_add(&plain, text, 1);
	printf("%s", label);
	cli_print_wrapped(buffer_text(&plain), (int)strlen(label));
}

void reference_explain(const struct setting *setting)
{
	AUTO_FREE char *title = mem_format("%s: ", setting->key);
	AUTO_FREE char *allowed = setting_allowed(setting);
	AUTO_FREE char *usage = cli_setting_usage(setting);

	print_plain(title, setting->help);
	if (setting->more)
		print_plain("  ", setting->more);
	print_plain("  value    ", allowed);
	printf("  default  %s%s%s\n", setting->fallback ? setting->fallback : "an empty list",
	       setting->in_loop ? "; in a loop " : "", setting->in_loop ? setting->in_loop : "");
	printf("  option   %s\n", usage);
	printf("  file     %s: %s\n", setting->key, setting->example);
	print_plain("  trust    ", setting_trust_text(setting));
}

static const char head[] =
	"# Configuration\n"
	"\n"
	"<!-- Made by `ringfence config --reference`; a test compares it. -->\n"
	"\n"
	"Every setting is an option of `ringfence run` and a key of a file, by the same name; those that are not only for loops are\n"
	"also options of `ringfence exec`.\n"
	"\n"
	"```yaml\n"
	"# ringfence.yml, at the root of the project\n"
	"write: [src, tests]\n"
	"hide: [fixtures/private]\n"
	"timeout: 30m\n"
	"net: open          # widens: inactive until `ringfence trust`\n"
	"```\n"
	"\n"
	"## Layers\n"
	"\n"
	"| layer | where | paths are relative to |\n"
	"| --- | --- | --- |\n"
	"| built-in | the defaults below | |\n"
	"| user | `$XDG_CONFIG_HOME/ringfence/config.yml` or `~/.config/ringfence/config.yml` | that folder |\n"
	"| project | `ringfence.yml` at the project's root | the project's root |\n"
	"| options | the command line | the current directory |\n"
	"\n"
	"Each layer is above the one before it. Lists add up; other values are replaced. `~` is your home.\n"
	"`ringfence config` shows every value with where it comes from, `ringfence config --explain KEY` explains one.\n"
	"\n"
	"## Trust\n"
	"\n"
	"A project's file comes with the repository. What tightens the fence in it holds at once. What widens it, compared with\n"
	"what is built in and what your own file says, is inactive, and a line says so at the start of a run. `ringfence trust`\n"
	"shows those values with what each of them means, and asks; `ringfence untrust` takes it back; `ringfence trust --list`\n"
	"lists. Agreed is to exactly what was shown: when a value that widens is added or changed, all of them are inactive\n"
	"again until the next `ringfence trust`. The records are in `STATE/trust`, outside of every project.\n"
	"\n"
	"`ringfence.yml` must be a file, not a symlink. It is read once for each run, and read-only inside the fence. Your own\n"
	"file must belong to you or root, must not be writable by others, and must not lie in the project.\n"
	"\n"
	"## Hiding by patterns\n"
	"\n"
	"`.ringfenceignore` and `.claudeignore` at the project's root hold patterns as in `.gitignore`, one a line: `*` and `?`\n"
	"within a name, `[a-z]`, `**` for any number of folders, a slash in front or inside for \"from the root on\", a slash at\n"
	"the end for folders only, `#` for a comment. What they match is hidden. They can only hide: a line that begins with `!`\n"
	"is passed over, and a notice says so. At most 1,000 patterns of 1,024 bytes.\n"
	"\n"
	"## What a file may hold\n"
	"\n"
	"YAML without its surprises: one map of settings. No anchors, aliases, tags, merge keys, directives or second documents,\n"
	"no key twice, no tabs as indentation; UTF-8, at most 1 MiB, 10,000 values and 8 levels. Values are texts: `no` is the word\n"
	"no, and a switch is `true` or `false`. A list of one entry can be written without brackets. Limits and times can be\n"
	"`none`. Up to 20 mistakes are named at once, each with its line and column; nothing runs before they are gone.\n"
	"\n"
	"## Settings\n";

static void print_setting(const struct setting *setting)
{
	AUTO_FREE char *allowed = setting_allowed(setting);
	AUTO_FREE char *usage = cli_setting_usage(setting);

	printf("\n### %s\n\n%c%s.%s%s\n\n", setting->key,
	       setting->help[0] >= 'a' && setting->help[0] <= 'z' ? setting->help[0] - 'a' + 'A'
								  : setting->help[0],
	       setting->help + 1, setting->more ? " " : "", setting->more ? setting->more : "");
	printf("- Value: %s. Default: %s%s%s.\n", allowed,
	       setting->fallback ? setting->fallback : "an empty list",
	       setting->in_loop ? "; in a loop " : "", setting->in_loop ? setting->in_loop : "");
	printf("- Option: `%s`. File: `%s: %s`.\n", usage, setting->key, setting->example);
	printf("- %s\n", setting_trust_text(setting));
}

void reference_print(void)
{
	fputs(head, stdout);
	for (size_t i = 0; i < SETTING_ID_COUNT; i++)
		print_setting(setting_at(i));
}
