/* A run's access to models: which providers it can reach, at which servers, where their keys
 * are, and which tape is recorded or replayed. It holds no key, so it can be stored in a
 * journal. The gateway's owner reads the keys when a run starts (gateway/owner/keys.h). */
#ifndef PROVIDER_MODEL_ACCESS_H
#define PROVIDER_MODEL_ACCESS_H

#include "provider/key_source.h"
#include "provider/provider.h"
#include "provider/provider_tool.h"
#include "provider/url.h"
#include "util/error.h"

#include <stdbool.h>

/* The server that receives the requests to a provider. */
struct model_access_upstream {
	bool set;   /* false: this provider cannot be reached */
	bool local; /* the user's own server: tokens are counted but cost nothing */
	struct url url;
	struct key_source key;
};

enum model_access_mode { MODEL_ACCESS_LIVE, MODEL_ACCESS_RECORD, MODEL_ACCESS_REPLAY };

/* All zero: no access to models. Strings are owned and may be NULL. */
struct model_access {
	struct model_access_upstream upstreams[PROVIDER_COUNT];
	struct url proxy;    /* an HTTP proxy that accepts CONNECT, or no host */
	char *ca;            /* a file or folder of CA certificates, instead of the system's */
	char *prices;        /* the user's price table (price/price.h) */
	bool refuse_unknown; /* refuse models without a price */
	unsigned int tools;  /* PROVIDER_TOOL_BIT() of what a provider may do on its own */
	bool any_host;       /* there is no network policy that limits where it may do so */
	struct model_access_tape {
		enum model_access_mode mode;
		char *path;
		char *project, *home; /* folders that have other names on other machines */
		bool paced;           /* a replay reproduces the recorded timing */
	} tape;
};

/* Returns true if there is an upstream or a tape. */
bool model_access_is_set(const struct model_access *access);

/* Returns true if models can be reached, and none of them costs anything: all servers are the
 * user's own, or a tape is replayed. */
bool model_access_is_free(const struct model_access *access);

/* Parses a server as the user writes it, "URL" or "local:URL". Leaves the key unchanged. Returns
 * 0, or -1 with err set. */
int model_access_upstream_parse(const char *text, struct model_access_upstream *ret_upstream,
				struct error *err);

/* Returns the tape's path if the tape has this mode, or NULL. */
const char *model_access_tape(const struct model_access *access, enum model_access_mode mode);

void model_access_release(struct model_access *access);

#endif
