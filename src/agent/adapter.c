/* The table of agents and the command lines built from it: see adapter.h. */
#include "agent/adapter.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static const struct adapter *const adapters[] = {
#define AGENT_ADAPTER(name) &agent_adapter_##name,
	ADAPTER_LIST(AGENT_ADAPTER)
#undef AGENT_ADAPTER
		NULL,
};

const struct adapter *adapter_at(size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!adapters[i])
			return NULL;
	return adapters[index];
}

const struct adapter *adapter_find(const char *name)
{
	for (size_t i = 0; adapters[i]; i++)
		if (strcmp(adapters[i]->name, name) == 0)
			return adapters[i];
	return NULL;
}

char *adapter_names(void)
{
	AUTO_BUFFER struct buffer names = BUFFER_INIT(1024);

	for (size_t i = 0; adapters[i]; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", adapters[i]->name);
	return mem_dup(buffer_text(&names));
}

/* Appends one word, quoted for the shell. */
static void add_word(struct buffer *out, const char *word)
{
	buffer_add_text(out, " '");
	for (const char *at = word; *at; at++) {
		if (*at == '\'')
			buffer_add_text(out, "'\\''");
		else
			buffer_add(out, at, 1);
	}
	buffer_add_text(out, "'");
}

static void add_words(struct buffer *out, const char *const *words)
{
	for (; words && *words; words++)
		add_word(out, *words);
}

static void add_sessions(struct buffer *out, const char *const *folders)
{
	if (!folders || !*folders)
		return;
	buffer_add_text(out, "if [ -n \"${RINGFENCE_KEEP:-}\" ]; then\n");
	for (; *folders; folders++) {
		const char *slash = strrchr(*folders, '/');

		buffer_printf(out,
			      "\tmkdir -p \"$HOME/%.*s\" \"$RINGFENCE_KEEP/%s\"\n"
			      "\tln -s \"$RINGFENCE_KEEP/%s\" \"$HOME/%s\"\n",
			      slash ? (int)(slash - *folders) : 0, *folders,
			      slash ? slash + 1 : *folders, slash ? slash + 1 : *folders, *folders);
	}
	buffer_add_text(out, "fi\n");
}

/* The login is passed in a variable: other users of this machine could see an argument. */
static void add_login(struct buffer *out, const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL;

	if (!slash)
		return;
	buffer_printf(out,
		      "if [ -n \"${RINGFENCE_LOGIN:-}\" ]; then\n"
		      "\tmkdir -p \"$HOME/%.*s\"\n"
		      "\t(umask 077 && printf %%s \"$RINGFENCE_LOGIN\" >\"$HOME/%s\")\n"
		      "\tunset RINGFENCE_LOGIN\n"
		      "fi\n",
		      (int)(slash - file), file, file);
}

void adapter_command(const struct adapter *adapter, const struct adapter_order *order,
		     struct buffer *out)
{
	/*
	 * In the fence, home is private and empty. Without a fence, the user's own must not be
	 * touched.
	 */
	if (!order->fenced)
		buffer_add_text(out, "HOME=$(mktemp -d) || exit 125\nexport HOME\n"
				     "trap 'rm -rf \"$HOME\"' EXIT\n");
	add_sessions(out, adapter->sessions);
	add_login(out, adapter->credentials);
	if (adapter->setup)
		buffer_printf(out, "%s\n", adapter->setup);
	buffer_add_text(out, "set --");
	add_word(out, order->program);
	add_words(out, adapter->words);
	if (order->fenced)
		add_words(out, adapter->bypass);
	if (order->model && adapter->model) {
		add_words(out, adapter->model);
		add_word(out, order->model);
	}
	if (order->arguments)
		buffer_printf(out, " %s", order->arguments);
	if (adapter->resume) {
		buffer_add_text(out,
				"\nif [ -n \"${RINGFENCE_SESSION:-}\" ]; then\n\tset -- \"$@\"");
		add_words(out, adapter->resume);
		buffer_add_text(out, " \"$RINGFENCE_SESSION\"\nfi");
	}
	buffer_printf(out, "\n%s%s", order->fenced ? "" : "(",
		      adapter->launch ? adapter->launch : "exec \"$@\"");
	add_words(out, adapter->last);
	buffer_add_text(out, order->fenced ? "\n" : ")\n");
}
