/*
 * The gateway's configuration of models: each provider's address, key and prices.
 *
 * The owner writes it as texts and the gateway parses them; both use this module and check the
 * values. The texts are in the sealed memory file of the configuration, so keys never appear in
 * arguments or the environment.
 */
#ifndef GATEWAY_OWNER_MODEL_CONFIG_H
#define GATEWAY_OWNER_MODEL_CONFIG_H

#include "gateway/owner/keys.h"
#include "gateway/proxy/rule.h"
#include "price/price.h"
#include "provider/model_access.h"
#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>
#include <stdint.h>

enum { MODEL_CONFIG_KEY = 512, MODEL_CONFIG_TEXTS = 32 };

/* The address of a server: "https://host:port/prefix". */
struct model_config_place {
	bool set;
	bool tls;
	struct rule_target target;
	char prefix[URL_PATH]; /* prepended to each path; empty, or "/..." without a final slash */
	char credential[URL_CREDENTIAL]; /* "user:password" from a proxy's URL, or empty */
};

struct model_config_provider {
	struct model_config_place place;
	char key[MODEL_CONFIG_KEY]; /* empty if none is needed or known */
	bool free;                  /* a local model: counted but never charged */
};

/* A tape (reel.h), which the owner passes to the gateway. */
struct model_config_tape {
	enum model_access_mode mode;
	bool paced;         /* keep the recorded timing */
	uint64_t mark;      /* marks the exchanges used by this run; never 0 */
	char project[4096]; /* folders that have other names on other machines, or empty */
	char home[4096];
};

struct model_config {
	bool active; /* at least one provider is configured */
	struct model_config_provider providers[PROVIDER_COUNT];
	struct model_config_place proxy; /* an HTTP proxy that accepts CONNECT */
	/* a file or folder of CA certificates; empty: the system's */
	char ca[4096];
	bool refuse_unknown;
	unsigned int tools; /* PROVIDER_TOOL_BIT() of what a provider may do on its own */
	bool any_host;      /* the rules for hosts do not limit where it may do so */
	struct price_table prices;
	struct model_config_tape tape;
};

/* Checks the host of a URL, and removes the API prefix that the paths of requests already have.
 * Returns 0, or -1 with err set. */
int model_config_place_make(const struct url *url, struct model_config_place *ret_place,
			    struct error *err);

/* Writes the texts that the owner sends to the gateway. mark: see struct model_config_tape. The
 * texts hold keys, so the caller must wipe them with keys_wipe_texts(). */
void model_config_write(const struct model_access *access, const struct keys *keys, uint64_t mark,
			struct list *ret_texts);

/* Parses those texts; an empty list means no models. Returns 0, or -1 with err set; the error
 * never contains a key. */
int model_config_read(const struct list *texts, struct model_config *ret_models, struct error *err);

/* Releases everything and wipes the keys. */
void model_config_release(struct model_config *models);

#endif
