/*
 * The table of settings, one row each. Options, keys of files, help, the reference and the trust
 * rules are all generated from it.
 */
#ifndef CONFIG_SETTING_H
#define CONFIG_SETTING_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting_type {
	SETTING_SWITCH, /* true or false */
	SETTING_CHOICE, /* one of a few words */
	SETTING_PATHS,  /* a list of paths */
	SETTING_WORDS,  /* a list of texts, or of the choices if there are any */
	SETTING_SIZE,   /* bytes: 512M, 4G; none */
	SETTING_COUNT,  /* a number; none */
	SETTING_CPUS,   /* 1.5, stored in thousandths; none */
	SETTING_SHARE,  /* above 0, at most 1: 0.95, stored in thousandths; none */
	SETTING_TIME,   /* 30s, 10m, 2h, stored in milliseconds; none */
	SETTING_MONEY,  /* US$ 2 or 2.50, stored in nano-dollars; none */
	SETTING_TEXT,   /* any text, stored as a hash; none */
	SETTING_MAPS,   /* a list of phases (phase_text.h); as an option, their names */
};

/* Whether a project file that is not trusted may set it. */
enum setting_trust {
	SETTING_FREE,    /* yes: it can only tighten the fence */
	SETTING_TIGHTER, /* only to a tighter value than lower layers */
	SETTING_TRUSTED, /* no */
	SETTING_OWN,     /* no, and neither may a trusted one */
};

/* The longest entry of a list in bytes: the longest path. */
enum { SETTING_LONGEST = 4095 };

enum setting_id {
	SETTING_WRITE,
	SETTING_READ,
	SETTING_HIDE,
	SETTING_READ_ONLY,
	SETTING_ENV,
	SETTING_NET,
	SETTING_ALLOW,
	SETTING_NET_CONNECTIONS,
	SETTING_NET_IN,
	SETTING_NET_OUT,
	SETTING_LISTEN,
	SETTING_TIMEOUT,
	SETTING_FENCE,
	SETTING_IMAGE,
	SETTING_ACCEPT_WEAKER,
	SETTING_MEMORY,
	SETTING_CPU_COUNT,
	SETTING_PROCESSES,
	SETTING_OPEN_FILES,
	SETTING_FILE_SIZE,
	SETTING_TMP_SIZE,
	SETTING_DISK,
	SETTING_DENIALS,
	SETTING_TRACE_READS,
	SETTING_RAW_TERMINAL,
	SETTING_DRAFT_KIND,
	SETTING_DRAFT_SIZE,
	SETTING_DRAFTS_SIZE,
	SETTING_DRAFTS_AGE,
	SETTING_CHECK,
	SETTING_AGENT,
	SETTING_AGENT_COMMAND,
	SETTING_AGENT_FORMAT,
	SETTING_AGENT_ARGS,
	SETTING_AGENT_LOGIN,
	SETTING_MODEL,
	SETTING_REVIEW,
	SETTING_ESCALATE,
	SETTING_PHASES,
	SETTING_MODELS,
	SETTING_MODEL_KEY,
	SETTING_UPSTREAM,
	SETTING_UPSTREAM_CA,
	SETTING_UPSTREAM_PROXY,
	SETTING_UNKNOWN_MODEL,
	SETTING_PROVIDER_TOOLS,
	SETTING_RECORD,
	SETTING_REPLAY,
	SETTING_REPLAY_PACE,
	SETTING_DAILY_BUDGET,
	SETTING_SESSION,
	SETTING_WORKSPACE,
	SETTING_PROMISE,
	SETTING_FINDINGS,
	SETTING_ALERT,
	SETTING_NOTIFY,
	SETTING_NOTIFY_ON,
	SETTING_FORGE_TOKEN,
	SETTING_CHECK_VIEW,
	SETTING_CHECK_CACHE,
	SETTING_PIN,
	SETTING_UNPIN,
	SETTING_FINAL_CHECK,
	SETTING_HOLD_OUT,
	SETTING_FINAL_TRIES,
	SETTING_PROVE_CHECK,
	SETTING_MUTATE,
	SETTING_TASKS,
	SETTING_MAX_ITERATIONS,
	SETTING_MAX_TIME,
	SETTING_IDLE_TIMEOUT,
	SETTING_CHECK_TIMEOUT,
	SETTING_BUDGET,
	SETTING_REVIEW_BUDGET,
	SETTING_REVIEW_ROUNDS,
	SETTING_PATIENCE,
	SETTING_ESCALATE_AFTER,
	SETTING_MAX_COST,
	SETTING_WARN_COST,
	SETTING_PAUSE_ON_WARNING,
	SETTING_MAX_ERRORS,
	SETTING_MAX_SAME_ERROR,
	SETTING_MAX_NO_PROGRESS,
	SETTING_MAX_INTERRUPTED,
	SETTING_MAX_UNREACHABLE,
	SETTING_PROGRESS,
	SETTING_EARLY_STOP,
	SETTING_EARLY_STOP_AFTER,
	SETTING_PROMPT_HISTORY,
	SETTING_PROMPT_MESSAGES,
	SETTING_PROMPT_MESSAGE_SIZE,
	SETTING_PROMPT_OUTPUT_SIZE,
	SETTING_CHECKPOINTS,
	SETTING_CHECKPOINT_EVERY,
	SETTING_CHECKPOINT_IGNORED,
	SETTING_CHECKPOINT_SIZE,
	SETTING_CHECKPOINT_AGE,
	SETTING_GIT,
	SETTING_GIT_SIZE,
	SETTING_LOOP_DISK,
	SETTING_MIN_FREE,
	SETTING_ID_COUNT
};

struct setting {
	enum setting_id id;
	bool loop_only;  /* an option only of commands for loops */
	const char *key; /* in a file; the option is --KEY */
	enum setting_type type;
	enum setting_trust trust;
	const char *fallback;       /* the built-in value; NULL: an empty list */
	const char *in_loop;        /* the default in a loop; NULL: the same */
	const char *value;          /* the name of a value in help */
	const char *const *choices; /* the allowed words; NULL: any */
	const char *former;         /* an old name of the last choice, still accepted; or NULL */
	const char *help;           /* one line */
	const char *more;           /* for the reference */
	const char *example;        /* as in a file, after the key */
	uint64_t most;              /* the largest number that is accepted; 0: any */
	uint64_t (*unset)(void);    /* the limit that applies if none is set; NULL: no limit */
	const char *widens;         /* the effect of a widening value, which is appended */
};

/* The tables, in the order of the ids: for the fence, for agents (from SETTING_CHECK on), for loops
 * (from SETTING_SESSION on). */
extern const struct setting setting_fence_rows[], setting_agent_rows[], setting_loop_rows[];

/* The row of an id. */
const struct setting *setting_at(size_t id);

/* The setting with this key, or NULL. In that case *ret_nearest, unless ret_nearest is NULL, is set
 * to the most similar key or NULL. */
const struct setting *setting_find(const char *key, const char **ret_nearest);

bool setting_is_list(const struct setting *setting);

/* Parses a value. Returns 0 with its number (a choice: its index; a limit: 0 for none), or -1 with
 * an error that starts with the key. */
int setting_parse(const struct setting *setting, const char *text, uint64_t *ret_number,
		  struct error *err);

/* Whether `number` is wider than `before`. Not for lists. */
bool setting_widens(const struct setting *setting, uint64_t number, uint64_t before);

/* The allowed values as part of a sentence: "none, list or open". The caller frees. */
char *setting_allowed(const struct setting *setting);

/* A sentence on whether a project's file may set it. */
const char *setting_trust_text(const struct setting *setting);

#endif
