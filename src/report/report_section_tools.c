/* Tools, hosts and denials: see report_section.h. */
#include "report/report_section.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <inttypes.h>
#include <string.h>

/* The most frequent targets of a tool, on one line. */
static void add_targets(struct document *document, const struct view_names *targets,
			const size_t *order, size_t tool)
{
	enum { MOST = 3, BYTES = 60 };
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4096);
	size_t shown = 0, count = 0;

	for (size_t i = 0; i < targets->count; i++) {
		const struct view_name *target = &targets->items[order[i]];

		if (target->group != tool)
			continue;
		if (shown < MOST) {
			buffer_printf(&text, "%s%.*s%s", shown++ ? "\n" : "",
				      (int)text_first(target->text, strcspn(target->text, "\r\n"),
						      BYTES),
				      target->text, strlen(target->text) > BYTES ? " ..." : "");
			if (target->count > 1)
				buffer_printf(&text, " (%" PRIu64 ")", target->count);
		}
		count++;
	}
	if (count > shown)
		buffer_printf(&text, "\nand %zu more", count - shown);
	document_cell(document, DOCUMENT_CODE, buffer_text(&text));
}

void report_section_tools(struct document *document, const struct view_tools *tools)
{
	AUTO_FREE size_t *order = view_names_order(&tools->tools);
	AUTO_FREE size_t *targets = view_names_order(&tools->targets);

	if (!tools->tools.count && !tools->unread && !tools->untold)
		return;
	document_section(document, "tools", "Tools");
	if (tools->tools.count)
		document_table(document,
			       DOCUMENT_COLUMNS({ "tool", false }, { "calls", true },
						{ "failed", true }, { "most often", false }));
	for (size_t i = 0; i < report_section_rows(tools->tools.count); i++) {
		const struct view_name *tool = &tools->tools.items[order[i]];

		document_cell(document, DOCUMENT_CODE, tool->text);
		report_section_count(document, (int64_t)tool->count);
		report_section_count(document, (int64_t)tools->errors[order[i]]);
		add_targets(document, &tools->targets, targets, order[i]);
	}
	report_section_rest(document, REPORT_ROWS, tools->tools.count, tools->tools.unlisted);
	if (tools->unread)
		document_add(document, DOCUMENT_NOTE,
			     "%zu older transcripts are too large to be counted.", tools->unread);
	if (tools->untold)
		document_add(
			document, DOCUMENT_NOTE,
			tools->untold == 1
				? "%zu transcript is plain text and does not tell which tools were used."
				: "%zu transcripts are plain text and do not tell which tools were used.",
			tools->untold);
}

void report_section_hosts(struct document *document, const struct view_tools *tools)
{
	AUTO_FREE size_t *order = view_names_order(&tools->hosts);

	if (!tools->hosts.count)
		return;
	document_section(document, "hosts", "Hosts");
	document_table(document, DOCUMENT_COLUMNS({ "host", false }, { "connections", true },
						  { "refused", true }, { "received", true },
						  { "sent", true }));
	for (size_t i = 0; i < report_section_rows(tools->hosts.count); i++) {
		const struct view_host *host = &tools->traffic[order[i]];
		AUTO_FREE char *in = figure_bytes(host->bytes_in);
		AUTO_FREE char *out = figure_bytes(host->bytes_out);

		document_cell(document, DOCUMENT_CODE, tools->hosts.items[order[i]].text);
		report_section_count(document, (int64_t)host->connections);
		report_section_count(document, (int64_t)host->refusals);
		document_cell(document, DOCUMENT_NUMBER, in);
		document_cell(document, DOCUMENT_NUMBER, out);
	}
	report_section_rest(document, REPORT_ROWS, tools->hosts.count, tools->hosts.unlisted);
}

void report_section_denials(struct document *document, const struct view_tools *tools)
{
	AUTO_FREE size_t *order = view_names_order(&tools->denials);

	if (!tools->denials.count)
		return;
	document_section(document, "denials", "Denials");
	document_add(document, DOCUMENT_TEXT,
		     "The fence did not permit these. To permit more next time: ringfence suggest");
	document_table(document, DOCUMENT_COLUMNS({ "denied", false }, { "rule", false },
						  { "attempts", true }));
	for (size_t i = 0; i < report_section_rows(tools->denials.count); i++) {
		const struct view_name *denial = &tools->denials.items[order[i]];

		document_cell(document, DOCUMENT_CODE, denial->text);
		document_cell(document, DOCUMENT_PLAIN, tools->rules.items[denial->group].text);
		report_section_count(document, (int64_t)denial->count);
	}
	report_section_rest(document, REPORT_ROWS, tools->denials.count, tools->denials.unlisted);
}
