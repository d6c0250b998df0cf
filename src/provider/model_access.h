/*
 * A run's way to models: which providers it reaches, at which servers, where their keys are, and
 * which tape is recorded or replayed. It holds no key, so a journal can keep it. The gateway's
 * owner reads the keys when a run begins (gateway/owner/keys.h).
 */
#ifndef PROVIDER_MODEL_ACCESS_H
#define PROVIDER_MODEL_ACCESS_H

#include "provider/key_source.h"
#include "provider/provider.h"
#include "provider/url.h"
#include "util/error.h"

#include <stdbool.h>

/* The server that gets the requests to a provider. */
struct model_access_upstream {
	bool set;   /* false: this provider cannot be reached */
	bool local; /* a server of the user's own: its tokens are counted, and cost nothing */
	struct url url;
	struct key_source key;
};

enum model_access_mode { MODEL_ACCESS_LIVE, MODEL_ACCESS_RECORD, MODEL_ACCESS_REPLAY };

/* All zero: there is no way to models. Strings are owned; NULL means that there is none. */
struct model_access {
	struct model_access_upstream upstreams[PROVIDER_COUNT];
	struct url proxy;    /* is asked to CONNECT; without a host: there is none */
	char *ca;            /* a file or folder of certificates, instead of the system's */
	char *prices;        /* the user's own table (price/price.h) */
	bool refuse_unknown; /* models without a price */
	struct model_access_tape {
		enum model_access_mode mode;
		char *path;
		char *project, *home; /* folders that have other names elsewhere */
		bool paced;           /* answers of a replay take the time that they took */
	} tape;
};

/* Is there a way to models, or to a tape? */
bool model_access_is_set(const struct model_access *access);

/* Reads a server as a person writes it, "URL" or "local:URL"; the key stays as it is. Returns 0, or
 * -1 with err set. */
int model_access_upstream_parse(const char *text, struct model_access_upstream *ret_upstream,
				struct error *err);

/* The tape, if it is used in this way; else NULL. */
const char *model_access_tape(const struct model_access *access, enum model_access_mode mode);

void model_access_release(struct model_access *access);

#endif
