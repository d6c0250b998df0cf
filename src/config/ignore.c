/* Patterns of files to hide: see ignore.h. */
#include "config/ignore.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static int add_line(struct ignore *ignore, const char *file, unsigned int line, char *text,
		    size_t *negated, struct list *notices, struct list *problems)
{
	const struct problem_position at = { line, 1 };
	struct glob glob;

	switch (glob_read(text, &glob)) {
	case GLOB_NOTHING:
		return 0;
	case GLOB_NEGATED:
		if ((*negated)++ == 0)
			list_printf(
				notices,
				"%s:%u: '%.200s' is skipped: this file can only hide (to show a file, use read: in ringfence.yml)",
				file, line, text);
		return 0;
	case GLOB_WRONG:
		problem_add(
			problems, file, at,
			"'%.60s' is not a valid pattern (at most %d bytes, with a name between slashes)",
			text, (int)GLOB_LONGEST);
		return -1;
	case GLOB_PATTERN:
		break;
	}
	if (ignore->count >= IGNORE_MOST_PATTERNS) {
		glob_release(&glob);
		problem_add(problems, file, at, "more than %d patterns; hide whole folders instead",
			    (int)IGNORE_MOST_PATTERNS);
		return -1;
	}
	ignore->items = mem_resize(ignore->items, ignore->count + 1, sizeof *ignore->items);
	ignore->items[ignore->count++] = (struct ignore_pattern){
		.glob = glob, .text = mem_dup(text), .origin = mem_format("%s:%u", file, line)
	};
	return 0;
}

int ignore_read(struct ignore *ignore, const char *file, const char *text, size_t size,
		struct list *notices, struct list *problems)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t start = size >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
	unsigned int line = 0;
	size_t negated = 0;
	int result = 0;

	while (start < size) {
		const char *end = memchr(text + start, '\n', size - start);
		size_t stop = end ? (size_t)(end - text) : size;
		size_t length = stop - start;
		AUTO_FREE char *copy = mem_zero(length + 1);

		line++;
		memcpy(copy, text + start, length);
		if (strlen(copy) != length) {
			problem_add(problems, file, (struct problem_position){ line, 1 },
				    "a NUL byte; this is not a text file");
			return -1;
		}
		if (length && copy[length - 1] == '\r')
			copy[length - 1] = '\0';
		if (add_line(ignore, file, line, copy, &negated, notices, problems) < 0)
			result = -1;
		if (problems->count >= PROBLEMS_MOST)
			return -1;
		start = stop + 1;
	}
	if (negated > 1)
		list_printf(notices, "%s: %zu more such lines are skipped", file, negated - 1);
	return result;
}

void ignore_release(struct ignore *ignore)
{
	for (size_t i = 0; i < ignore->count; i++) {
		glob_release(&ignore->items[i].glob);
		free(ignore->items[i].text);
		free(ignore->items[i].origin);
	}
	free(ignore->items);
	*ignore = (struct ignore){ 0 };
}
