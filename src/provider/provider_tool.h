/* Things that a model provider does on its own, outside the fence, for its client. Each kind
 * is refused unless the setting `provider-tools` names it. */
#ifndef PROVIDER_PROVIDER_TOOL_H
#define PROVIDER_PROVIDER_TOOL_H

enum provider_tool {
	PROVIDER_TOOL_WEB_SEARCH, /* searches the web */
	PROVIDER_TOOL_WEB_FETCH,  /* fetches a page, an image or a document by its URL */
	PROVIDER_TOOL_MCP,        /* calls the tools of an MCP server */
	PROVIDER_TOOL_FILES,      /* reads files and conversations that are stored there */
	PROVIDER_TOOL_OTHER,      /* fields and tools that this version does not know */
	PROVIDER_TOOL_COUNT
};

#define PROVIDER_TOOL_BIT(tool) (1U << (tool))

extern const char *const provider_tool_names[PROVIDER_TOOL_COUNT]; /* as in the setting */

/* Finds a kind by its name, or returns PROVIDER_TOOL_COUNT. */
enum provider_tool provider_tool_find(const char *name);

#endif
