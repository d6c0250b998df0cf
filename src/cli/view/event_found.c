/* Denials, quarantine and flagged files as text: see event_found.h. */
#include "cli/view/event_found.h"

#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"
#include "view/view_denials.h"

/* Prints the new or changed files that tools obey when they start, the first of each tool. */
static void print_flagged(struct event_text *view, const json_t *data)
{
	const json_t *flagged = json_object_get(data, "flagged");
	size_t index;
	const json_t *tool;

	if (json_array_size(flagged))
		event_text_print(view, "  review: tools run or obey these when they start");
	json_array_foreach(flagged, index, tool)
	{
		int more = (int)jsonget_number(tool, "files") - 1;
		AUTO_FREE char *others = more > 0 ? mem_format(" and %d more", more) : mem_dup("");

		event_text_print(view, "    %.100s: %.300s%s", jsonget_text(tool, "by"),
				 jsonget_text(tool, "path"), others);
	}
}

/* Appends how many denials there are of each sort: "3 writes outside the project, 1 connection".
 * Protected files are named, and harmless denials are left out. */
static void add_sorts(const json_t *sorts, struct buffer *out)
{
	static const struct {
		const char *sort, *one, *more;
	} words[] = {
		{ "outside", "write outside the project", "writes outside the project" },
		{ "inside", "write in the project", "writes in the project" },
		{ "read", "read", "reads" },
		{ "connect", "connection", "connections" },
		{ "call", "system call", "system calls" },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		int count = (int)jsonget_number(sorts, words[i].sort);

		if (count)
			buffer_printf(out, "%s%d %s", out->used ? ", " : "", count,
				      count == 1 ? words[i].one : words[i].more);
	}
}

/* Names every denial of a run. */
static void print_every_denial(struct event_text *view, const json_t *data, const char *name)
{
	enum { MOST = 50 };
	json_t *denials = json_object_get(data, "denied_sorts")
				  ? view_denials_read(view->loop, view->iteration, view->attempt,
						      name)
				  : NULL;
	size_t index;
	const json_t *denial;

	json_array_foreach(denials, index, denial)
	{
		AUTO_FREE char *line = view_denials_line(denial);

		if (index < MOST)
			event_text_print(view, "    %s", line);
	}
	if (json_array_size(denials) > MOST)
		event_text_print(view, "    and %zu more (ringfence logs --denials)",
				 json_array_size(denials) - MOST);
	json_decref(denials);
}

/* A path as the user would write it in the project. */
static const char *in_project(const struct event_text *view, const char *path)
{
	const char *rest = text_after_prefix(path, view->loop->state.options.project);

	return rest && *rest == '/' ? rest + 1 : path;
}

/* Prints what the fence denied: protected files by name, the rest as one line. `name` begins the
 * name of the run's report. */
static void print_denied(struct event_text *view, const json_t *data, const char *name)
{
	const json_t *sorts = json_object_get(data, "denied_sorts");
	const json_t *guarded = json_object_get(data, "denied_protected");
	int more = (int)jsonget_number(sorts, "protected") - (int)json_array_size(guarded);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1024);
	size_t index;
	const json_t *entry;

	json_array_foreach(guarded, index, entry)
		event_text_paint(view, COLOR_RED, "  denied: %s %.300s (protected)",
				 jsonget_text(entry, "kind"),
				 in_project(view, jsonget_text(entry, "target")));
	if (more > 0)
		event_text_paint(view, COLOR_RED, "  denied: %d more protected files", more);
	add_sorts(sorts, &text);
	if (text.used)
		event_text_print(view, "  blocked: %s%s", buffer_text(&text),
				 view->hinted_denials || view->verbose
					 ? ""
					 : " (names: ringfence logs --denials; to allow them: "
					   "ringfence suggest)");
	view->hinted_denials |= text.used > 0;
	if (view->verbose)
		print_every_denial(view, data, name);
}

/* Prints what the fence denied, quarantined and flagged; the first of each by name. */
void event_found_print(struct event_text *view, const json_t *data, const char *name)
{
	const json_t *aside = json_object_get(data, "put_aside");
	size_t index;
	const json_t *entry;

	print_denied(view, data, name);
	if (json_array_size(aside))
		event_text_print(view, "  quarantined because the host would execute it: %d",
				 (int)jsonget_number(data, "quarantined"));
	json_array_foreach(aside, index, entry)
	{
		if (*jsonget_text(entry, "kept"))
			event_text_print(view, "    %.300s -> %.500s", jsonget_text(entry, "path"),
					 jsonget_text(entry, "kept"));
		else
			event_text_print(
				view,
				"    COULD NOT quarantine %.300s: remove it before you use this folder",
				jsonget_text(entry, "path"));
	}
	print_flagged(view, data);
}
