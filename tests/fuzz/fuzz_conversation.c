// sources: src/builtin/model/reply.c src/builtin/tool/beneath.c src/builtin/tool/replace.c
// sources: src/builtin/tool/child.c src/builtin/model/dialect.c src/builtin/tool/filewalk.c
// sources: src/builtin/tool/pattern.c src/builtin/emit.c src/builtin/model/conversation.c
// sources: src/builtin/tool/tool.c src/builtin/tool/tool_edit.c src/builtin/tool/tool_file.c
// sources: src/builtin/tool/tool_find.c src/builtin/tool/tool_shell.c src/meter/jsonscan.c
// sources: src/meter/sse.c src/meter/form_anthropic.c src/meter/form_gemini.c
// sources: src/meter/form_openai.c src/meter/form.c src/meter/usage_reader.c -ljansson
/*
 * Sessions from a folder that others can write to: an accepted one can be sent, and is the same
 * when written and read again.
 */
#include "fuzz.h"

#include "builtin/model/conversation.h"
#include "builtin/model/dialect.h"

#include <stdlib.h>
#include <string.h>

static void check(const struct conversation *talk)
{
	static const struct dialect *const dialects[] = { &dialect_anthropic, &dialect_chat };

	for (size_t i = 0; i < 2; i++) {
		AUTO_BUFFER struct buffer body = BUFFER_INIT(DIALECT_REQUEST);
		const struct dialect_request request = {
			.model = "m", .system = "s", .conversation = talk, .most = 1
		};
		json_t *root;

		dialects[i]->write(&request, &body);
		root = json_loadb(buffer_text(&body), body.used, 0, NULL);
		if (!root)
			abort();
		json_decref(root);
	}
}

void fuzz_conversation(const uint8_t *data, size_t size)
{
	AUTO_BUFFER struct buffer first = BUFFER_INIT(64 << 20), second = BUFFER_INIT(64 << 20);
	struct conversation talk = { 0 }, again = { 0 };
	struct error err;

	if (conversation_read((const char *)data, size, &talk, &err) < 0)
		return;
	check(&talk);
	conversation_write(&talk, &first);
	if (conversation_read(buffer_text(&first), first.used, &again, &err) < 0)
		abort();
	conversation_write(&again, &second);
	if (first.used != second.used || memcmp(first.data, second.data, first.used) != 0)
		abort();
	conversation_release(&talk);
	conversation_release(&again);
}

FUZZ_TARGET(fuzz_conversation)
