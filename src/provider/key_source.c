/* Key sources: see key_source.h. */
#include "provider/key_source.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <stdlib.h>

static const char *const starts[] = {
	[KEY_SOURCE_ENV] = "env:",
	[KEY_SOURCE_FILE] = "file:",
	[KEY_SOURCE_COMMAND] = "command:",
};

int key_source_parse(const char *text, struct key_source *ret_source, struct error *err)
{
	for (enum key_source_kind kind = KEY_SOURCE_ENV; kind <= KEY_SOURCE_COMMAND; kind++) {
		const char *value = text_after_prefix(text, starts[kind]);

		if (!value || !*value || (kind == KEY_SOURCE_FILE && *value != '/'))
			continue;
		*ret_source = (struct key_source){ kind, mem_dup(value) };
		return 0;
	}
	return error_set(err, "invalid key source: expected env:NAME, file:/ABSOLUTE/PATH or "
			      "command:LINE (never put the key itself here)");
}

char *key_source_text(const struct key_source *source)
{
	return source->kind == KEY_SOURCE_NONE
		       ? NULL
		       : mem_format("%s%s", starts[source->kind], source->value);
}

void key_source_release(struct key_source *source)
{
	free(source->value);
	*source = (struct key_source){ 0 };
}
