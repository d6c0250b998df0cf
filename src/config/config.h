/*
 * What is set, by whom, and what of it holds.
 *
 * Four layers, each above the one before: built in, the user's own file, the project's file, the
 * options of a command. Lists add up, other values are replaced. A project's file comes from a
 * repository, so what widens the fence in it is kept but inactive until a person has agreed to it
 * (trust.h).
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "config/ignore.h"
#include "config/setting.h"
#include "util/error.h"
#include "util/list.h"
#include "util/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CONFIG_FILE "ringfence.yml"

enum config_layer { CONFIG_BUILT_IN, CONFIG_USER, CONFIG_PROJECT, CONFIG_FLAG };

enum config_state {
	CONFIG_ACTIVE,
	CONFIG_INACTIVE, /* it widens, and nobody has agreed to it */
	CONFIG_REPLACED, /* by a value of a layer above, or cancelled by one */
};

struct config_value {
	const struct setting *setting;
	enum config_layer layer;
	enum config_state state;
	char *text;      /* as it was written */
	char *path;      /* of paths: absolute if it came from a file */
	char *origin;    /* "built-in", "ringfence.yml:4", "--net" */
	uint64_t number; /* see setting_parse() */
	bool narrows;    /* a project's own `write` in the project */
	char *meaning;   /* of a value that widens: what it does, in words; else NULL */
};

enum config_trust {
	CONFIG_NOTHING_WIDENS,
	CONFIG_UNTRUSTED,
	CONFIG_CHANGED, /* something was trusted, but not this */
	CONFIG_TRUST,
};

struct config {
	struct config_value *values; /* sorted by layer, then as they were written */
	size_t count;
	struct ignore ignore;
	struct list files;    /* that were read, as they are shown */
	struct list notices;  /* what a person should be told */
	struct list problems; /* all that is wrong with the files */
	enum config_trust trust;
	char hash[SHA256_HEX]; /* of what widens, as it is shown */
};

/* Judges a value whose form another room knows. Returns 0, or -1 with a sentence that begins with the
 * key. */
typedef int config_judge_fn(const struct setting *setting, const char *text, struct error *err);

/* Where and for whom. All borrowed. */
struct config_place {
	const char *project; /* a real path */
	const char *home;    /* empty if there is none */
	const char *state;   /* Ringfence's own folder */
	uid_t uid;
	gid_t gid;
	bool foreign;           /* the environment is somebody else's */
	config_judge_fn *judge; /* may be NULL */
};

/* Begins with what is built in. */
void config_init(struct config *config);
void config_release(struct config *config);

/* Adds the value of an option. Returns 0, or -1 with err set. */
int config_add_flag(struct config *config, const struct setting *setting, const char *text,
		    config_judge_fn *judge, struct error *err);

/* Adds a file's text as a layer; what is wrong goes to the problems. folder: what its paths are
 * relative to. Returns 0, or -1 if there are problems. */
int config_add_text(struct config *config, enum config_layer layer, const char *file,
		    const char *folder, const struct config_place *place, const char *text,
		    size_t size);

/* Decides what holds, when all layers are there; agreed: what the person has agreed to, or NULL. */
void config_settle(struct config *config, const struct config_place *place, const char *agreed);

/* Reads the files, the ignore files and the record of trust, and settles. Returns 0, or -1 with err
 * set: then config->problems, if there are any, say it in full. */
int config_load(struct config *config, const struct config_place *place, struct error *err);

/* The user's own file: ~/.config/ringfence/config.yml, or where XDG_CONFIG_HOME says, unless the environment is
 * somebody else's. The caller frees; NULL without a home. */
char *config_user_path(const char *home, bool foreign);

/* The value that holds of a setting that is no list. */
const struct config_value *config_get(const struct config *config, enum setting_id id);

/* Its text, or NULL where it is none. */
const char *config_text(const struct config *config, enum setting_id id);

/* Why it is inactive, as a line: "ringfence.yml:4 net: open is not active: ...". The caller frees. */
char *config_inactive_line(const struct config_value *value);

#endif
