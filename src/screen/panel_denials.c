/* The denials of an iteration. */
#include "screen/panel.h"

#include "util/mem.h"
#include "util/text/jsonget.h"
#include "view/view_denials.h"

static void add_denial(struct sheet *sheet, const json_t *denial, size_t index)
{
	AUTO_FREE char *line = view_denials_line(denial);

	sheet_line(sheet, index);
	sheet_printf(sheet, jsonget_string(denial, "harmless") ? CANVAS_dim : CANVAS_warning, " %s",
		     line);
}

void panel_denials(struct watched *watched, struct sheet *sheet)
{
	const struct watched_log *log = &watched->log;
	size_t index;
	const json_t *denial;

	if (!watched->denials)
		watched->denials = view_denials_read(&watched->loop, log->iteration, log->attempt,
						     "");
	sheet_line(sheet, SHEET_NO_MARK);
	sheet_printf(sheet, CANVAS_title, " Denied in iteration %u", log->iteration);
	sheet_add(sheet, CANVAS_dim,
		  json_array_size(watched->denials) ? "   (Enter: allow ...)" : "");
	json_array_foreach(watched->denials, index, denial) add_denial(sheet, denial, index);
	if (!json_array_size(watched->denials))
		sheet_text(sheet, SHEET_NO_MARK, CANVAS_dim,
			   " nothing; the report of an iteration is written when its agent ends");
}
