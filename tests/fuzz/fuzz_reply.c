// sources: src/builtin/model/reply.c src/builtin/tool/beneath.c src/builtin/tool/replace.c
// sources: src/builtin/tool/child.c src/builtin/model/dialect.c src/builtin/tool/filewalk.c
// sources: src/builtin/tool/pattern.c src/builtin/emit.c src/builtin/model/conversation.c
// sources: src/builtin/tool/tool.c src/builtin/tool/tool_edit.c src/builtin/tool/tool_file.c
// sources: src/builtin/tool/tool_find.c src/builtin/tool/tool_shell.c src/meter/jsonscan.c
// sources: src/meter/sse.c src/meter/form_anthropic.c src/meter/form_gemini.c
// sources: src/meter/form_openai.c src/meter/form.c src/meter/usage_reader.c -ljansson
/*
 * Model replies as the built-in agent reads them. The first byte selects the protocol and how the
 * rest is split. The message that results can be sent back in both protocols.
 */
#include "fuzz.h"

#include "builtin/model/dialect.h"
#include "builtin/model/reply.h"

#include <stdlib.h>
#include <string.h>

static void check_request(const struct dialect *dialect, const struct conversation *talk)
{
	AUTO_BUFFER struct buffer body = BUFFER_INIT(DIALECT_REQUEST);
	const struct dialect_request request = {
		.model = "m", .system = "s", .conversation = talk, .most = 1
	};
	json_t *root;

	dialect->write(&request, &body);
	root = json_loadb(buffer_text(&body), body.used, 0, NULL);
	if (!root)
		abort();
	json_decref(root);
}

static void write_message(struct conversation_message *message, struct buffer *out)
{
	struct conversation talk = { .items = message, .count = 1 };

	conversation_write(&talk, out);
}

void fuzz_reply(const uint8_t *data, size_t size)
{
	static struct reply whole, split;
	AUTO_BUFFER struct buffer one = BUFFER_INIT(64 << 20), two = BUFFER_INIT(64 << 20);
	const struct dialect *dialect;
	const char *text = (const char *)data + 1;
	size_t step;

	if (size < 2)
		return;
	dialect = data[0] & 1 ? &dialect_chat : &dialect_anthropic;
	step = 1 + (data[0] >> 1);
	size--;
	reply_init(&whole, &dialect->reader);
	reply_init(&split, &dialect->reader);
	reply_feed(&whole, text, size);
	for (size_t at = 0; at < size; at += step)
		reply_feed(&split, text + at, size - at < step ? size - at : step);
	reply_end(&whole, 0);
	reply_end(&split, 0);
	write_message(&whole.message, &one);
	write_message(&split.message, &two);
	if (one.used != two.used || memcmp(one.data, two.data, one.used) != 0 ||
	    whole.stop != split.stop || whole.ended != split.ended ||
	    whole.damaged != split.damaged)
		abort();

	struct conversation talk = { .items = &whole.message, .count = 1 };

	check_request(&dialect_anthropic, &talk);
	check_request(&dialect_chat, &talk);
	reply_release(&whole);
	reply_release(&split);
}

FUZZ_TARGET(fuzz_reply)
