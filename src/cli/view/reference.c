/* The reference of all settings: see reference.h. */
#include "cli/view/reference.h"

#include "cli/cli.h"
#include "cli/view/page.h"
#include "util/buffer.h"
#include "util/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints a label and a text without Markdown's backticks. */
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

enum { REFERENCE_WIDTH = 100 };

static const char head[] =
	"# Configuration\n"
	"\n"
	"<!-- Printed by `ringfence config --reference`; a test compares it. -->\n"
	"\n"
	"Every setting is an option of `ringfence run` and a key of a configuration file, under the same\n"
	"name. Settings that are not only for loops are also options of `ringfence exec`.\n"
	"\n"
	"```yaml\n"
	"# ringfence.yml, at the root of the project\n"
	"write: [src, tests]\n"
	"hide: [fixtures/private]\n"
	"timeout: 30m\n"
	"net: open          # widens the fence: inactive until `ringfence trust`\n"
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
	"Each layer overrides the ones above it in this table. Lists are concatenated, except `phases`;\n"
	"other values are replaced. `~` is your home. `ringfence config` shows every value and its origin;\n"
	"`ringfence config --explain KEY` explains one setting.\n"
	"\n"
	"## Trust\n"
	"\n"
	"A project's file comes with the repository. Values that tighten the fence take effect at once.\n"
	"Values that widen it, compared with the built-in defaults and your own file, are inactive, and a\n"
	"notice says so when a run starts. `ringfence trust` shows these values, explains what each of them\n"
	"means, and asks for your agreement. You agree to exactly what was shown: when a widening value is\n"
	"added or changed, all of them become inactive until the next `ringfence trust`. `ringfence\n"
	"untrust` withdraws the agreement; `ringfence trust --list` lists all agreements. They are stored\n"
	"in `STATE/trust`, outside every project.\n"
	"\n"
	"`ringfence.yml` must be a regular file, not a symlink. It is read once per run and is read-only\n"
	"inside the fence. Your own file must belong to you or root, must not be writable by others, and\n"
	"must not be inside the project.\n"
	"\n"
	"## Hiding files by pattern\n"
	"\n"
	"`.ringfenceignore` and `.claudeignore` at the project's root hold patterns as in `.gitignore`, one\n"
	"per line: `*` and `?` within a name, `[a-z]`, `**` for any number of folders, a leading or inner\n"
	"slash to anchor a pattern at the root, a trailing slash for folders only, `#` for comments.\n"
	"Matching files are hidden. A pattern cannot show a file again: lines that begin with `!` are\n"
	"skipped with a notice. The limit is 1,000 patterns of 1,024 bytes.\n"
	"\n"
	"## File format\n"
	"\n"
	"A file is one YAML map of settings. Anchors, aliases, tags, merge keys, directives, further\n"
	"documents, duplicate keys and tabs as indentation are refused. The limits are UTF-8, 1 MiB, 10,000\n"
	"values and 8 levels. Values are text: `no` is the word no, and a switch is `true` or `false`. A\n"
	"list with one entry can be written without brackets. Limits and times can be `none`. Up to 20\n"
	"mistakes are reported at once, each with its line and column; nothing runs until they are fixed.\n"
	"\n"
	"## Settings\n";

/* Prints a paragraph, or a list item if the mark is "- ". Frees the text. */
static void print_paragraph(const char *mark, char *text)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 16);
	int indent = (int)strlen(mark);

	page_wrap(&out, text, indent, indent, REFERENCE_WIDTH);
	printf("%s%s\n", mark, buffer_text(&out));
	free(text);
}

static void print_setting(const struct setting *setting)
{
	AUTO_FREE char *allowed = setting_allowed(setting);
	AUTO_FREE char *usage = cli_setting_usage(setting);

	printf("\n### %s\n\n", setting->key);
	print_paragraph("",
			mem_format("%c%s.%s%s", toupper(setting->help[0]), setting->help + 1,
				   setting->more ? " " : "", setting->more ? setting->more : ""));
	printf("\n");
	print_paragraph("- ", mem_format("Value: %s. Default: %s%s%s.", allowed,
					 setting->fallback ? setting->fallback : "an empty list",
					 setting->in_loop ? "; in a loop " : "",
					 setting->in_loop ? setting->in_loop : ""));
	print_paragraph("- ", mem_format("Option: `%s`. File: `%s: %s`.", usage, setting->key,
					 setting->example));
	print_paragraph("- ", mem_dup(setting_trust_text(setting)));
}

void reference_print(void)
{
	fputs(head, stdout);
	for (size_t i = 0; i < SETTING_ID_COUNT; i++)
		print_setting(setting_at(i));
}
