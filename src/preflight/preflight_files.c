/* Credentials in reach: see preflight_files.h. */
#include "preflight/preflight_files.h"

#include "credential/credential.h"
#include "snapshot/generated.h"
#include "util/clock.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/shell.h"
#include "util/text/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FILE_BYTES = 1 << 20, /* the beginning of each file */
	FILE_FINDINGS = 4,
	SECRETS = 20,
	CERTAIN_FILES = 64, /* are read at any speed */
};

struct search {
	const struct fence_plan *plan;
	const struct preflight_budget *budget;
	struct preflight_items *items;
	struct list likely, others; /* paths, relative to the project */
	uint64_t entries, files, bytes;
	uint64_t until_ms;
	const char *reached; /* the limit that ended the search, or NULL */
	char *text;          /* FILE_BYTES */
	int project;
};

/* ---- the files ---- */

static bool is_hidden(const struct search *at, const char *path)
{
	AUTO_FREE char *whole = path_join(at->plan->project, path);
	const struct fence_rule *rule = fence_plan_decide(at->plan, whole);

	return rule && (rule->access == WIRE_HIDE || rule->access == WIRE_HIDE_AROUND);
}

static enum dirwalk_verdict visit(void *context, const struct dirwalk_entry *entry)
{
	struct search *at = context;

	if (++at->entries > at->budget->entries) {
		at->reached = "entries";
		return DIRWALK_STOP;
	}
	if (entry->type == DT_DIR)
		return generated_is(entry->name) || is_hidden(at, entry->path) ? DIRWALK_PAST
									       : DIRWALK_ON;
	if (entry->type == DT_REG)
		list_add(credential_is_likely_name(entry->name) ? &at->likely : &at->others,
			 entry->path);
	return DIRWALK_ON;
}

static void find_files(struct search *at)
{
	const struct dirwalk walk = { .visit = visit, .context = at, .deepest = DIRWALK_DEPTH };
	struct error ignored;

	dirwalk_tree(&walk, at->project, NULL, &ignored);
}

/* ---- their contents ---- */

/* Reads the beginning of a file. Returns its size, or 0. */
static size_t read_beginning(const struct search *at, const char *path)
{
	AUTO_FD fd = fd_openat2(at->project, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	struct stat status;
	ssize_t size;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	size = pread(fd, at->text, FILE_BYTES, 0);
	return size > 0 ? (size_t)size : 0;
}

static void scan(struct search *at, const char *path)
{
	struct credential_finding findings[FILE_FINDINGS];
	size_t size;
	size_t count;

	if (is_hidden(at, path))
		return;
	size = read_beginning(at, path);
	count = credential_scan(at->text, size, findings, FILE_FINDINGS);
	at->files++;
	at->bytes += size;
	for (size_t i = 0; i < count; i++)
		preflight_items_add_secret(at->items, &(struct preflight_secret){
							      .path = (char *)path,
							      .what = (char *)findings[i].what,
							      .shown = findings[i].shown,
							      .line = findings[i].line });
}

static const char *limit_reached(const struct search *at)
{
	if (at->items->secret_count >= SECRETS)
		return "findings";
	if (at->files >= at->budget->files)
		return "files";
	if (at->bytes >= at->budget->bytes)
		return "bytes";
	return at->files >= CERTAIN_FILES && clock_steady_ms() > at->until_ms ? "time" : NULL;
}

static void scan_list(struct search *at, const struct list *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		const char *reached = limit_reached(at);

		if (reached) {
			at->reached = reached;
			return;
		}
		scan(at, paths->items[i]);
	}
}

/* ---- the item ---- */

/* States the part that was read, if not everything was. */
static void add_extent(const struct search *at, struct buffer *out)
{
	buffer_printf(out, "%llu file%s", (unsigned long long)at->files, at->files == 1 ? "" : "s");
	if (at->reached) {
		AUTO_FREE char *size = text_size(at->bytes);

		buffer_printf(out, ", %s; there is more, but the limit of %s was reached", size,
			      at->reached);
	}
}

static void add_item(const struct search *at)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 14);
	const struct preflight_secret *first = at->items->secrets;
	size_t count = at->items->secret_count;
	AUTO_FREE char *fix = NULL;

	if (count) {
		AUTO_FREE char *word = shell_quoted(first->path);

		buffer_printf(&text, "the agent can read %s:%lu: %s %s", first->path, first->line,
			      first->what, first->shown);
		if (count > 1)
			buffer_printf(&text, ", and %zu more", count - 1);
		buffer_add_text(&text, " (");
		add_extent(at, &text);
		buffer_add_text(&text, ")");
		fix = mem_format("--hide %s, or a line in .ringfenceignore", word);
	} else {
		buffer_add_text(&text, "none found in files that the agent can read (");
		add_extent(at, &text);
		buffer_add_text(&text, ")");
	}
	preflight_items_add(at->items, "secrets", count ? PREFLIGHT_WARN : PREFLIGHT_PASS,
			    mem_dup(buffer_text(&text)), fix);
}

void preflight_files_examine(const struct fence_plan *plan, const struct preflight_budget *budget,
			     struct preflight_items *items)
{
	struct search at = { .plan = plan,
			     .budget = budget,
			     .items = items,
			     .until_ms = clock_steady_ms() + budget->ms,
			     .text = mem_alloc(FILE_BYTES),
			     .project = open(plan->project, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };

	if (at.project >= 0)
		find_files(&at);
	scan_list(&at, &at.likely);
	scan_list(&at, &at.others);
	add_item(&at);
	fd_close(&at.project);
	list_release(&at.likely);
	list_release(&at.others);
	free(at.text);
}
