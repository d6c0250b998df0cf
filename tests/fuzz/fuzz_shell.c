// sources:
/* Command lines of git's configuration. */
#include "fuzz.h"

#include "util/mem.h"
#include "util/text/shell.h"

#include <stdlib.h>
#include <string.h>

/* No word is empty or longer than the line, and there are not many more than its characters. */
void fuzz_shell(const uint8_t *data, size_t size)
{
	AUTO_FREE char *line = mem_zero(size + 1);
	struct list words = { 0 };

	memcpy(line, data, size);
	shell_words(line, &words);
	if (words.count > 32 * (strlen(line) + 1))
		abort();
	for (size_t i = 0; i < words.count; i++)
		if (!*words.items[i] || strlen(words.items[i]) > strlen(line))
			abort();
	list_release(&words);

	AUTO_FREE char *program = shell_program(line, "/home/user");
}

FUZZ_TARGET(fuzz_shell)
