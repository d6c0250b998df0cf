/* Keeps a conversation within the model's window: see window.h. */
#include "builtin/model/window.h"

#include "util/mem.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum {
	PERMILLE = 400, /* tokens per thousand bytes until measured; code has about 300 */
	LEAST_PERMILLE = 220,
	OUTPUT = 32000, /* most tokens of a reply */
	WORTH = 400,    /* bytes: shorter texts stay */
};

static const struct {
	const char *start;
	uint64_t tokens;
} families[] = {
	{ "claude-", 200000 },
	/* They accept more, at twice the price. */
	{ "gpt-6", 272000 },
	{ "gpt-5", 272000 },
	{ "gpt-4.1", 1000000 },
	{ "gpt-4o", 128000 },
};

static uint64_t known(const char *model)
{
	const char *slash = strrchr(model, '/');
	const char *name = slash ? slash + 1 : model;

	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (strncmp(name, families[i].start, strlen(families[i].start)) == 0)
			return families[i].tokens;
	return WINDOW_UNKNOWN;
}

static void share(struct window *window)
{
	window->output = window->tokens / 4 < OUTPUT ? window->tokens / 4 : OUTPUT;
}

void window_init(struct window *window, const char *model, uint64_t given)
{
	*window = (struct window){ .tokens = given ? given : known(model), .permille = PERMILLE };
	if (window->tokens < WINDOW_LEAST)
		window->tokens = WINDOW_LEAST;
	if (window->tokens > WINDOW_MOST)
		window->tokens = WINDOW_MOST;
	share(window);
}

void window_learn(struct window *window, uint64_t bytes, uint64_t tokens)
{
	uint64_t seen = bytes ? tokens * 1000 / bytes : 0;

	/*
	 * Add a margin: the next text may be denser. Ignore implausible ratios: some servers do not
	 * count cached tokens.
	 */
	if (seen < 50 || seen > 1500)
		return;
	seen += seen / 8;
	window->permille = seen > LEAST_PERMILLE ? seen : LEAST_PERMILLE;
}

void window_shrink(struct window *window, uint64_t bytes)
{
	uint64_t tokens = bytes * window->permille / 1000;

	if (tokens < window->tokens)
		window->tokens = tokens;
	window->tokens = window->tokens * 7 / 10;
	if (window->tokens < WINDOW_LEAST)
		window->tokens = WINDOW_LEAST;
	share(window);
}

bool window_fits(const struct window *window, uint64_t bytes)
{
	return bytes * window->permille / 1000 + window->output <= window->tokens;
}

static size_t drop_text(struct conversation_block *block, const char *what)
{
	size_t had = block->text.used;

	if (block->dropped || had < WORTH)
		return 0;
	buffer_release(&block->text);
	block->text = BUFFER_INIT(CONVERSATION_BLOCK);
	buffer_printf(&block->text,
		      "[%zu bytes of %s removed to save space; repeat the call if you need them]",
		      had, what);
	block->dropped = true;
	return had - block->text.used;
}

/* Removes the long texts from a call's arguments. */
static size_t drop_arguments(struct conversation_block *block)
{
	size_t had = block->text.used;
	json_t *object = had >= WORTH && !block->dropped
				 ? json_loadb(block->text.data, had, 0, NULL)
				 : NULL;
	void *entry = json_object_iter(object);
	AUTO_FREE char *text = NULL;

	for (; entry; entry = json_object_iter_next(object, entry))
		if (json_string_length(json_object_iter_value(entry)) >= WORTH)
			json_object_iter_set_new(object, entry,
						 json_string("[removed to save space]"));
	text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	json_decref(object);
	if (!text || strlen(text) >= had)
		return 0;
	buffer_release(&block->text);
	block->text = BUFFER_INIT(CONVERSATION_BLOCK);
	buffer_add_text(&block->text, text);
	block->dropped = true;
	return had - block->text.used;
}

/*
 * Returns the index of the first recent message: the last `most` messages with results are recent.
 */
static size_t old_before(const struct conversation *conversation, size_t most)
{
	size_t recent = 0;

	for (size_t i = conversation->count; i-- > 1;) {
		recent += !conversation->items[i].model;
		if (recent == most)
			return i;
	}
	return 1;
}

static size_t drop_before(struct conversation *conversation, size_t stop,
			  enum conversation_block_kind kind, size_t wanted)
{
	size_t saved = 0;

	for (size_t i = 1; i < stop; i++)
		for (size_t k = 0; k < conversation->items[i].count && saved < wanted; k++) {
			struct conversation_block *block = &conversation->items[i].blocks[k];

			if (block->kind != kind)
				continue;
			saved += kind == BLOCK_RESULT ? drop_text(block, "output")
						      : drop_arguments(block);
		}
	return saved;
}

size_t window_drop(struct conversation *conversation, size_t wanted)
{
	size_t old = old_before(conversation, WINDOW_RECENT);
	size_t saved = drop_before(conversation, old, BLOCK_RESULT, wanted);

	if (saved < wanted)
		saved += drop_before(conversation, old, BLOCK_CALL, wanted - saved);
	if (saved == 0)
		saved = drop_before(conversation, old_before(conversation, 1), BLOCK_RESULT,
				    wanted);
	return saved;
}

static void trim(struct conversation_block *block, size_t most)
{
	struct buffer cut = BUFFER_INIT(CONVERSATION_BLOCK);
	size_t half = most / 2;
	size_t had = block->text.used;

	if (had <= most)
		return;
	buffer_add(&cut, block->text.data, half);
	buffer_printf(&cut, "\n[... %zu bytes omitted to save space ...]\n", had - 2 * half);
	buffer_add(&cut, block->text.data + had - half, half);
	buffer_release(&block->text);
	block->text = cut;
}

void window_trim(const struct window *window, struct conversation_message *results)
{
	uint64_t most = (window->tokens - window->output) * 1000 / window->permille / 2;
	uint64_t sum = 0;
	uint64_t share;
	size_t large = results->count;

	for (size_t i = 0; i < results->count; i++)
		sum += results->blocks[i].text.used;
	if (sum <= most || !results->count)
		return;
	/* Large results share what the small ones leave. */
	share = most / results->count;
	for (size_t i = 0; i < results->count; i++)
		if (results->blocks[i].text.used <= share) {
			most -= results->blocks[i].text.used;
			large--;
		}
	share = large ? most / large : share;
	for (size_t i = 0; i < results->count; i++)
		trim(&results->blocks[i], (size_t)share);
}

int window_summarize(struct conversation *conversation, const char *summary, size_t size,
		     struct error *err)
{
	static const char start[] =
		"Your summary of the work so far (the conversation was shortened "
		"to save space):\n\n";
	static const char end[] = "\n\nContinue from here.";
	struct conversation_block *block;

	if (conversation->items[0].count == CONVERSATION_BLOCKS)
		return error_set(err, "the first message has no room for a summary");
	conversation_remove(conversation, 1, conversation->count);
	/* The new summary includes an older one. */
	while (conversation->items[0].count > 1 &&
	       strncmp(buffer_text(&conversation->items[0]
					    .blocks[conversation->items[0].count - 1]
					    .text),
		       start, sizeof start - 1) == 0) {
		struct conversation_block *last =
			&conversation->items[0].blocks[--conversation->items[0].count];

		buffer_release(&last->text);
		free(last->id);
		free(last->name);
		free(last->raw);
	}
	block = conversation_message_add(&conversation->items[0], BLOCK_TEXT);
	buffer_add_text(&block->text, start);
	buffer_add(&block->text, summary, size);
	buffer_add_text(&block->text, end);
	return 0;
}

bool window_forget(struct conversation *conversation)
{
	size_t cut = 1 + (conversation->count - 1) / 2;

	/*
	 * The remaining messages must start with one from the model, to keep calls and results
	 * together.
	 */
	while (cut < conversation->count && !conversation->items[cut].model)
		cut++;
	if (cut <= 1 || cut >= conversation->count)
		return false;
	conversation_remove(conversation, 1, cut);
	return true;
}
