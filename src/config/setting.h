/*
 * The table of settings: one row each. Options, keys of a file, help, the reference and the rules
 * of trust all come from it.
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
	SETTING_WORDS,  /* a list of texts; of a few words if there are choices */
	SETTING_SIZE,   /* bytes: 512M, 4G; none */
	SETTING_COUNT,  /* a number; none */
	SETTING_CPUS,   /* 1.5, held in thousandths; none */
	SETTING_TIME,   /* 30s, 10m, 2h, held in milliseconds; none */
	SETTING_MONEY,  /* US$ 2 or 2.50, held in nano-dollars; none */
	SETTING_TEXT,   /* any; held as a number that tells texts apart; none */
};

/* How far a project's own file may set it without being trusted. */
enum setting_trust {
	SETTING_FREE,    /* it can only tighten the fence */
	SETTING_TIGHTER, /* so far as it tightens what was set before */
	SETTING_TRUSTED, /* not at all */
};

/* Bytes of an entry of a list: what fits into a path. */
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
	SETTING_CHECK,
	SETTING_AGENT,
	SETTING_AGENT_COMMAND,
	SETTING_AGENT_FORMAT,
	SETTING_AGENT_ARGS,
	SETTING_AGENT_LOGIN,
	SETTING_MODEL,
	SETTING_MODELS,
	SETTING_MODEL_KEY,
	SETTING_UPSTREAM,
	SETTING_UPSTREAM_CA,
	SETTING_UPSTREAM_PROXY,
	SETTING_UNKNOWN_MODEL,
	SETTING_RECORD,
	SETTING_REPLAY,
	SETTING_REPLAY_PACE,
	SETTING_DAILY_BUDGET,
	SETTING_SESSION,
	SETTING_PROMISE,
	SETTING_TASKS,
	SETTING_MAX_ITERATIONS,
	SETTING_MAX_TIME,
	SETTING_IDLE_TIMEOUT,
	SETTING_CHECK_TIMEOUT,
	SETTING_BUDGET,
	SETTING_MAX_COST,
	SETTING_WARN_COST,
	SETTING_PAUSE_ON_WARNING,
	SETTING_MAX_ERRORS,
	SETTING_MAX_SAME_ERROR,
	SETTING_MAX_NO_PROGRESS,
	SETTING_MAX_INTERRUPTED,
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
	const char *key; /* in a file; as an option with two dashes in front */
	enum setting_type type;
	enum setting_trust trust;
	const char *fallback; /* the built-in value; NULL: an empty list */
	const char *in_loop;  /* what holds in a loop if nobody says anything; NULL: the same */
	const char *value;    /* what a value is called */
	const char *const *choices; /* of a choice, or of words; NULL: anything */
	const char *former;         /* an old name of the last choice, still accepted; or NULL */
	const char *help;           /* one line */
	const char *more;           /* for the reference */
	const char *example;        /* as it stands in a file, behind the key */
	uint64_t (*unset)(void); /* of a limit: what holds where none is set; NULL: nothing does */
	const char *widens;      /* what a widening value means: the value goes behind it */
};

/* The tables, in the order of the ids: of the fence, of agents (from SETTING_CHECK on), of a loop (from
 * SETTING_SESSION on). */
extern const struct setting setting_fence_rows[], setting_agent_rows[], setting_loop_rows[];

/* The row of an id. */
const struct setting *setting_at(size_t id);

/* The setting with this key; else NULL, and *ret_nearest (may be NULL) is the key that is nearest,
 * or NULL. */
const struct setting *setting_find(const char *key, const char **ret_nearest);

bool setting_is_list(const struct setting *setting);

/* Judges one value. Returns 0 with what it means as a number (of a choice: which one; of a limit: 0
 * is none), or -1 with a sentence that begins with the key. */
int setting_parse(const struct setting *setting, const char *text, uint64_t *ret_number,
		  struct error *err);

/* Does a number let more through than another? For what is no list. */
bool setting_widens(const struct setting *setting, uint64_t number, uint64_t before);

/* What is allowed, as a part of a sentence: "none, list or open". The caller frees. */
char *setting_allowed(const struct setting *setting);

/* How a repository may set it, as a sentence. */
const char *setting_trust_text(const struct setting *setting);

#endif
