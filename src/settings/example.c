/* Example prompts: see example.h. */
#include "settings/example.h"

#include "util/mem.h"

#include <string.h>

#define PROMPT "\n## Prompt\n\n"

/* The first one is what most people come for. */
static const struct example examples[] = {
	{
		"fix-tests",
		NULL,
#include "prompt_fix_tests.inc"
	},
	{
		"add-feature",
		"where its specification is",
#include "prompt_add_feature.inc"
	},
	{
		"refactor",
		"what to refactor, and how",
#include "prompt_refactor.inc"
	},
	{
		"migrate",
		"what to migrate, and to what",
#include "prompt_migrate.inc"
	},
	{
		"port",
		"what to port, and to which language",
#include "prompt_port.inc"
	},
	{
		"raise-coverage",
		NULL,
#include "prompt_raise_coverage.inc"
	},
	{
		"calculator",
		NULL,
#include "prompt_calculator.inc"
	},
	{
		"todo-api",
		NULL,
#include "prompt_todo_api.inc"
	},
};

const struct example *example_at(size_t index)
{
	return index < sizeof examples / sizeof *examples ? &examples[index] : NULL;
}

const struct example *example_find(const char *name, struct error *err)
{
	const struct example *example;

	for (size_t i = 0; (example = example_at(i)); i++)
		if (strcmp(example->name, name) == 0)
			return example;
	error_with(err, ERROR_NOT_FOUND, "there is no example '%.100s' (see: ringfence prompts)",
		   name);
	return NULL;
}

char *example_title(const struct example *example)
{
	const char *title = example->page + strspn(example->page, "# ");

	return mem_format("%.*s", (int)strcspn(title, "\n"), title);
}

const char *example_prompt(const struct example *example)
{
	const char *prompt = strstr(example->page, PROMPT);

	return prompt ? prompt + strlen(PROMPT) : example->page;
}
