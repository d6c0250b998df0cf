/* Harmless denials: see harmless.h. */
#include "fence/watch/harmless.h"

#include <fnmatch.h>
#include <string.h>

/* A pattern's * also matches slashes. NULL matches everything. */
static const struct row {
	const char *kind, *target;
	const char *program;
	const char *argument; /* the program's first one */
	const char *why;
} rows[] = {
	{ "create", "*/.git/index.lock", "git", "status", "git refreshes its index" },
	{ "create", "*/.git/index.lock", "git", "diff", "git refreshes its index" },
	{ "create", "*/.git/index.lock", "git", "describe", "git refreshes its index" },
	{ "read", "/etc/gitconfig", "git", NULL, "git looks for settings of the machine" },
	{ "create", "/var/cache/fontconfig/*", NULL, NULL, "fontconfig renews its cache" },
	{ "write", "/var/cache/fontconfig/*", NULL, NULL, "fontconfig renews its cache" },
	{ "create", "/usr/share/fonts/*.uuid*", NULL, NULL, "fontconfig marks a folder" },
	{ "create", "/var/cache", NULL, NULL, "fontconfig renews its cache" },
	{ "write", "*/.config/chromium/Crash Reports/*", NULL, NULL,
	  "Chromium keeps crash reports" },
	{ "create", "/usr/lib/chromium/*", NULL, NULL, "Chromium looks for extensions" },
	{ "socket", "AF_NETLINK", "chromium", NULL, "Chromium watches the network" },
	{ "connect", "\\[2001:4860:4860::8888]:443", NULL, NULL, "Chromium tests for IPv6" },
	{ "connect", "*.sentry.io:443", NULL, NULL, "an error report to the tool's maker" },
	{ "connect", "*.statsig.com:443", NULL, NULL, "statistics for the tool's maker" },
	{ "connect", "*.segment.io:443", NULL, NULL, "statistics for the tool's maker" },
	{ "connect", "*.posthog.com:443", NULL, NULL, "statistics for the tool's maker" },
	{ "connect", "*.datadoghq.com:443", NULL, NULL, "statistics for the tool's maker" },
};

static bool matches(const struct row *row, const struct fence_denial *denial)
{
	const char *argument = denial->argv.count > 1 ? denial->argv.items[1] : "";

	return strcmp(row->kind, denial->kind) == 0 &&
	       fnmatch(row->target, denial->target, 0) == 0 &&
	       (!row->program || strcmp(row->program, denial->program) == 0) &&
	       (!row->argument || strcmp(row->argument, argument) == 0);
}

const char *harmless_why(const struct fence_denial *denial)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (matches(&rows[i], denial))
			return rows[i].why;
	return NULL;
}
