/* The sizes of a prompt's parts: see prompt_text.h. */
#include "cli/view/prompt_text.h"

#include <stdio.h>

static void print_size(const char *name, size_t bytes)
{
	printf("  %-10s %7zu  %7zu\n", name, bytes, prompt_tokens(bytes));
}

void prompt_text_print_sizes(const struct prompt *prompt)
{
	printf("  %-10s %7s  %7s\n", "part", "bytes", "tokens");
	for (int i = 0; i < PROMPT_PARTS; i++)
		if (prompt->bytes[i])
			print_size(prompt_part_name((enum prompt_part)i), prompt->bytes[i]);
	print_size("all", prompt->text.used);
	puts("\nTokens are estimated, by four bytes each.");
}

json_t *prompt_text_sizes(const struct prompt *prompt)
{
	json_t *list = json_array();

	for (int i = 0; i < PROMPT_PARTS; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:I, s:I}", "part",
						prompt_part_name((enum prompt_part)i), "bytes",
						(json_int_t)prompt->bytes[i], "tokens",
						(json_int_t)prompt_tokens(prompt->bytes[i])));
	return list;
}
