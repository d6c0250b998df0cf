/* Paths that the user changed beside a draft: see edited_text.h. */
#include "cli/view/edited_text.h"

#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/text.h"

enum { SHOWN = 5 };

char *edited_text_paths(const json_t *paths, size_t count)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 16);
	size_t index;
	json_t *path;

	json_array_foreach(paths, index, path)
	{
		AUTO_FREE char *shown = text_escaped(json_string_value(path));

		if (index < SHOWN)
			buffer_printf(&text, "%s%s", index ? ", " : "", shown);
	}
	if (count > SHOWN)
		buffer_printf(&text, " and %zu more", count - SHOWN);
	return mem_dup(buffer_text(&text));
}

char *edited_text_sentence(const char *edited)
{
	json_t *paths = edited ? json_loads(edited, 0, NULL) : NULL;
	AUTO_FREE char *shown = edited_text_paths(paths, json_array_size(paths));
	char *sentence = NULL;

	if (json_array_size(paths))
		sentence = mem_format("you changed in the project meanwhile: %s; checks may have "
				      "seen that, and the draft does not have it",
				      shown);
	json_decref(paths);
	return sentence;
}
