/*
 * The agents that Ringfence knows: one file and one table entry each. An entry describes how the
 * agent is found, started, resumed and read, how it logs in, and what it needs in its private home.
 * It holds data, not code; all that is built from it is a command line for `sh -c`, which runs in
 * the fence.
 *
 * An agent's settings are the user's choice. Hooks, MCP servers, permissions and plugins that the
 * project brings are switched off by an option, or hidden in the fence if there is no such option.
 */
#ifndef AGENT_ADAPTER_H
#define AGENT_ADAPTER_H

#include "agent/agent.h"
#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * One agent. Lists end in NULL and are empty if the agent has nothing to list. ADAPTER_COMPLETE
 * makes the compiler refuse an entry with a missing field.
 */
struct adapter {
	const char *name;
	const char *title;
	const char *program; /* searched in PATH; NULL if the agent has no program of its own */
	const char *install; /* how to install it */
	const char *tested_from, *tested_below; /* versions; NULL: not covered by our tests */
	const struct agent_format *format;
	const char *const *words;  /* arguments after the program */
	const char *const *bypass; /* further arguments, only in a fence */
	const char *const *model;  /* option before the model's name */
	/* option before the session id; NULL: sessions cannot be resumed */
	const char *const *resume;
	const char *const *last;        /* last arguments; the prompt is on stdin */
	const char *const *environment; /* NAME=VALUE */
	const char *const *bypass_env;  /* further variables, only in a fence */
	const char *const *keys;        /* variables that hold a login; one is enough */
	const char *const *passes;      /* variables with endpoints; passed on if set */
	const char *credentials;        /* login file below home, used without a key; or NULL */
	/* servers of that login: of requests first, then those that renew it; may be unknown */
	const char *const *login_hosts;
	const char *const *hides;    /* project settings that no option switches off */
	const char *const *sessions; /* folders below home that hold its sessions */
	const char *setup;           /* shell code run first; home is private and empty. Or NULL */
	const char *launch; /* shell code that starts it, with all words in "$@"; NULL: exec */
	const char *caveat; /* a warning for the user, or NULL */
	/* our own program, installed beside this one; it talks only to the gateway */
	bool own;
};

#define ADAPTER_COMPLETE _Pragma("GCC diagnostic error \"-Wmissing-field-initializers\"")

/* In the order in which `auto` tries them. */
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

/* Returns the adapter with this name, or with this index from 0; NULL if there is none. */
const struct adapter *adapter_find(const char *name);
const struct adapter *adapter_at(size_t index);

/* Returns all names, separated by commas, for a message; the caller frees. */
char *adapter_names(void);

/* The user's choices for one agent. */
struct adapter_order {
	const char *program;   /* a real path */
	const char *model;     /* NULL: the agent's default */
	const char *arguments; /* more arguments, in shell syntax; or NULL */
	bool fenced; /* without a fence the agent must ask for permission, and nobody answers */
};

/*
 * Appends the command line, for `sh -c` in the fence. It reads three variables there:
 * RINGFENCE_SESSION, the session to resume; RINGFENCE_KEEP, a folder for its sessions;
 * RINGFENCE_LOGIN, the contents of its credential file.
 */
void adapter_command(const struct adapter *adapter, const struct adapter_order *order,
		     struct buffer *out);

/* An agent's installation and login on this machine. */
struct adapter_found {
	char *program;     /* a real path; NULL: not installed */
	char *folder;      /* must be readable for it to run; NULL: a system path */
	char *version;     /* NULL: unknown */
	bool tested;       /* this version is covered by our tests */
	const char *key;   /* a login variable that is set, or NULL */
	char *credentials; /* its credential file, if it exists */
};

/* Inspects the machine without starting anything. The login is searched in home; "" skips that. */
void adapter_look(const struct adapter *adapter, const char *home, struct adapter_found *ret_found);
void adapter_found_release(struct adapter_found *found);

/* Compares dotted versions number by number; returns as strcmp() does. */
int adapter_version_compare(const char *a, const char *b);

#endif
