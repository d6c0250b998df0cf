/*
 * The agents that Ringfence knows: one file each, with one table entry. An entry says how the agent is found,
 * started, fed, continued and read, how it logs in, and what it needs in its private home. It holds data and
 * no code: the one thing that is made of it is a command line for `sh -c`, which runs in the fence.
 *
 * An agent's settings are the user's choice. What the project says about hooks, MCP servers, permissions or
 * plugins is switched off by an option, or hidden in the fence where there is no such option.
 */
#ifndef AGENT_ADAPTER_H
#define AGENT_ADAPTER_H

#include "agent/agent.h"
#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * One agent. Lists end in NULL; an entry that has none of something says so. The adapters' files make the
 * compiler refuse an entry with a hole (ADAPTER_COMPLETE).
 */
struct adapter {
	const char *name;
	const char *title;
	const char *program; /* looked for in PATH; NULL: there is none of its own */
	const char *install; /* how one gets it */
	const char *tested_from, *tested_below; /* versions; NULL: never run in our tests */
	const struct agent_format *format;
	const char *const *words;  /* behind the program */
	const char *const *bypass; /* of those, the ones that need a fence */
	const char *const *model;  /* before the name of a model */
	const char *const *resume; /* before the id of a session; NULL: it cannot go on with one */
	const char *const *last;   /* behind everything: the prompt is on stdin */
	const char *const *environment; /* NAME=VALUE */
	const char *const *bypass_env;  /* of those, the ones that need a fence */
	const char *const *keys;        /* variables by which it logs in; one is enough */
	const char *const *passes;      /* variables that say where to; passed on if they are set */
	const char *credentials;     /* the file below home by which it logs in else; NULL: none */
	const char *const *hides;    /* settings in the project that no option switches off */
	const char *const *sessions; /* folders below home in which it keeps its sessions */
	const char *setup;  /* shell, before it starts; home is private and empty. NULL: none */
	const char *launch; /* shell that starts it, with all words in "$@"; NULL: exec */
	const char *caveat; /* what a user should know; NULL: nothing */
	bool own;           /* a program of ours, beside this one; it speaks to the gateway alone */
};

#define ADAPTER_COMPLETE _Pragma("GCC diagnostic error \"-Wmissing-field-initializers\"")

/* From the first that `auto` takes to the last. */
#define ADAPTER_LIST(X) \
	X(claude)       \
	X(codex)        \
	X(gemini)       \
	X(opencode)     \
	X(aider)        \
	X(patchpal)     \
	X(builtin)      \
	X(command)

#define AGENT_ADAPTER(name) extern const struct adapter agent_adapter_##name;
ADAPTER_LIST(AGENT_ADAPTER)
#undef AGENT_ADAPTER

/* The adapter with this name, or by its number from 0; NULL: there is none. */
const struct adapter *adapter_find(const char *name);
const struct adapter *adapter_at(size_t index);

/* The names of all, with commas, for a message; the caller frees. */
char *adapter_names(void);

/* What is wanted of an agent. */
struct adapter_order {
	const char *program;   /* a real path */
	const char *model;     /* NULL: the agent's own choice */
	const char *arguments; /* more words, as one writes them for a shell; NULL: none */
	bool fenced; /* without a fence it has to ask for permission, and nobody answers */
};

/*
 * Appends the command line, for `sh -c` in the fence. It reads three variables there: RINGFENCE_SESSION, the
 * session to go on with; RINGFENCE_KEEP, a folder for its sessions; RINGFENCE_LOGIN, what is to be in its
 * credential file.
 */
void adapter_command(const struct adapter *adapter, const struct adapter_order *order,
		     struct buffer *out);

/* What this machine has of an agent. */
struct adapter_found {
	char *program;     /* a real path; NULL: not installed */
	char *folder;      /* what must be readable for it to run; NULL: it is of the system */
	char *version;     /* NULL: not known */
	bool tested;       /* in this version */
	const char *key;   /* a variable that is set; NULL: none */
	char *credentials; /* the file, where there is one */
};

/* Looks without starting anything. home: whose login is meant; empty: nobody's. */
void adapter_look(const struct adapter *adapter, const char *home, struct adapter_found *ret_found);
void adapter_found_release(struct adapter_found *found);

/* Compares dotted versions by their numbers, as strcmp() does. */
int adapter_version_compare(const char *a, const char *b);

#endif
