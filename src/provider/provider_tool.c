/* Kinds of provider tools: see provider_tool.h. */
#include "provider/provider_tool.h"

#include <string.h>

const char *const provider_tool_names[PROVIDER_TOOL_COUNT] = {
	[PROVIDER_TOOL_WEB_SEARCH] = "web-search",
	[PROVIDER_TOOL_WEB_FETCH] = "web-fetch",
	[PROVIDER_TOOL_MCP] = "mcp",
	[PROVIDER_TOOL_FILES] = "files",
	[PROVIDER_TOOL_OTHER] = "other",
};

enum provider_tool provider_tool_find(const char *name)
{
	enum provider_tool tool = 0;

	while (tool < PROVIDER_TOOL_COUNT && strcmp(provider_tool_names[tool], name) != 0)
		tool++;
	return tool;
}
