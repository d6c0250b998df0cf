/* Command lines: see shell.h. */
#include "util/text/shell.h"

#include "util/buffer.h"
#include "util/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const char blanks[] = " \t\n";
static const char ends[] = " \t\n;&|<>"; /* characters that end a word */

/* Reports whether the word is NAME=VALUE without quotes or expansions. */
static bool is_assignment(const char *word, size_t size)
{
	const char *sign = memchr(word, '=', size);

	if (!sign || sign == word || isdigit((unsigned char)*word))
		return false;
	for (const char *at = word; at < sign; at++)
		if (!isalnum((unsigned char)*at) && *at != '_')
			return false;
	return true;
}

char *shell_program(const char *line, const char *home)
{
	for (;;) {
		size_t size;

		line += strspn(line, blanks);
		/* The word must end at a word boundary; any other special character needs a
		 * shell. */
		size = strcspn(line, " \t\n;&|<>()\"'`$\\*?[]{}#!");
		if (!size || (line[size] && !strchr(ends, line[size])))
			return NULL;
		if (is_assignment(line, size)) {
			line += size;
			continue;
		}
		if (line[0] != '~')
			return strndup(line, size);
		return line[1] == '/' && home && *home
			       ? mem_format("%s%.*s", home, (int)(size - 1), line + 1)
			       : NULL;
	}
}

static void end_word(struct buffer *word, struct list *words)
{
	const char *text = buffer_text(word);

	if (*text)
		list_add(words, text);
	if (strpbrk(text, ends)) /* terminates, because each level has fewer quotes */
		shell_words(text, words);
	word->used = 0;
}

void shell_words(const char *line, struct list *words)
{
	AUTO_BUFFER struct buffer word = BUFFER_INIT(strlen(line) + 1);
	char quote = '\0';

	for (; *line; line++) {
		if (!quote && strchr(ends, *line)) {
			end_word(&word, words);
		} else if (*line == quote) {
			quote = '\0';
		} else if (!quote && (*line == '\'' || *line == '"')) {
			quote = *line;
		} else {
			if (*line == '\\' && quote != '\'' && line[1])
				line++;
			buffer_add(&word, line, 1);
		}
	}
	end_word(&word, words);
}

char *shell_quoted(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "./_~-=:@%+,";
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);

	if (*word && strspn(word, plain) == strlen(word))
		return mem_dup(word);
	buffer_add_text(&out, "'");
	for (; *word; word++)
		buffer_printf(&out, *word == '\'' ? "'\\%c'" : "%c", *word);
	buffer_add_text(&out, "'");
	return mem_dup(buffer_text(&out));
}
