/*
 * The configuration: values, their origins, and which of them are active.
 *
 * There are four layers, from low to high: built-in, the user's own file, the project's file, the
 * options of a command. Lists are concatenated, other values are replaced. A project's file comes
 * with the repository, so its values that widen the fence are inactive until the user has agreed to
 * them (trust.h).
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "config/ignore.h"
#include "config/setting.h"
#include "util/error.h"
#include "util/list.h"
#include "util/text/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CONFIG_FILE "ringfence.yml"

enum config_layer { CONFIG_BUILT_IN, CONFIG_USER, CONFIG_PROJECT, CONFIG_FLAG };

enum config_state {
	CONFIG_ACTIVE,
	CONFIG_INACTIVE, /* it widens the fence and is not trusted */
	CONFIG_REPLACED, /* replaced or cancelled by another layer */
};

struct config_value {
	const struct setting *setting;
	enum config_layer layer;
	enum config_state state;
	char *text;      /* as it was written */
	char *path;      /* for SETTING_PATHS: absolute if it is from a file */
	char *origin;    /* "built-in", "ringfence.yml:4", "--net" */
	uint64_t number; /* see setting_parse() */
	bool narrows;    /* a `write` of the project's file in the project: it only narrows */
	char *meaning;   /* the effect of a widening value, in words, maybe lines; else NULL */
};

enum config_trust {
	CONFIG_NOTHING_WIDENS,
	CONFIG_UNTRUSTED,
	CONFIG_CHANGED, /* the file has changed since it was trusted */
	CONFIG_TRUST,
};

struct config {
	struct config_value *values; /* sorted by layer, then in the order of the file */
	size_t count;
	struct ignore ignore;
	struct list files;    /* the files that were read, as shown to the user */
	struct list notices;  /* to print before a run */
	struct list problems; /* all mistakes in the files */
	enum config_trust trust;
	char hash[SHA256_HEX]; /* of the widening values, as shown by trust */
};

/* Validates a value whose syntax another module defines. Returns 0, or -1 with an error that starts
 * with the key. */
typedef int config_validate_fn(const struct setting *setting, const char *text, struct error *err);

/* The project and its user. All strings are borrowed. */
struct config_place {
	const char *project; /* a real path */
	const char *home;    /* or empty */
	const char *state;   /* the state folder */
	uid_t uid;
	bool foreign;                 /* the environment belongs to another user */
	config_validate_fn *validate; /* may be NULL */
};

/* Starts with the built-in values. */
void config_init(struct config *config);
void config_release(struct config *config);

/* Adds the value of an option. Returns 0, or -1 with err set. */
int config_add_flag(struct config *config, const struct setting *setting, const char *text,
		    config_validate_fn *validate, struct error *err);

/* Adds the text of a file as a layer; its paths are relative to `folder`. Returns 0, or -1 with the
 * mistakes added to config->problems. */
int config_add_text(struct config *config, enum config_layer layer, const char *file,
		    const char *folder, const struct config_place *place, const char *text,
		    size_t size);

/* Decides which values are active, after all layers were added. `agreed` is the hash that the user
 * has agreed to, or NULL. */
void config_settle(struct config *config, const struct config_place *place, const char *agreed);

/* Reads the files, the ignore files and the trust record, and settles. Returns 0, or -1 with err
 * set; config->problems then holds all mistakes in the files, if any. */
int config_load(struct config *config, const struct config_place *place, struct error *err);

/* The path of the user's own file, by XDG_CONFIG_HOME unless the environment is foreign. Returns
 * NULL without a home; the caller frees. */
char *config_user_path(const char *home, bool foreign);

/* The active value of a setting that is not a list. */
const struct config_value *config_get(const struct config *config, enum setting_id id);

/* The text of that value, or NULL if it is `none`. */
const char *config_text(const struct config *config, enum setting_id id);

/* One line that says why a value is inactive. The caller frees. */
char *config_inactive_line(const struct config_value *value);

#endif
