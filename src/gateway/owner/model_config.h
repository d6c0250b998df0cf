/*
 * The gateway's configuration of models: where each provider is, its key, and its prices.
 *
 * The owner writes it as texts and the gateway reads them, both with this module; both check them.
 * The texts are in the sealed memory file of the configuration: keys are in no arguments and in no
 * environment.
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

/* Where something is: "https://host:port/prefix". */
struct model_config_place {
	bool set;
	bool tls;
	struct rule_target target;
	char prefix
		[URL_PATH]; /* in front of each path; empty, or "/..." without a slash at its end */
	char credential[URL_CREDENTIAL]; /* "user:password" of a proxy's URL; empty: none */
};

struct model_config_provider {
	struct model_config_place place;
	char key[MODEL_CONFIG_KEY]; /* empty: none is needed, or none is known */
	bool free;                  /* a local model: counted, and never charged */
};

/* A tape, if there is one (reel.h): the owner hands it over. */
struct model_config_tape {
	enum model_access_mode mode;
	bool paced;         /* answers take the time that they took */
	uint64_t mark;      /* of what this run uses; never 0 */
	char project[4096]; /* folders that have other names elsewhere; empty: none */
	char home[4096];
};

struct model_config {
	bool active; /* there is at least one provider */
	struct model_config_provider providers[PROVIDER_COUNT];
	struct model_config_place proxy; /* to go through, by CONNECT */
	char ca[4096];                   /* a file or folder of certificates; empty: the system's */
	bool refuse_unknown;
	struct price_table prices;
	struct model_config_tape tape;
};

/* Checks the host of a URL, and drops the part of its path with which the paths of requests begin.
 * Returns 0, or -1 with err set. */
int model_config_place_make(const struct url *url, struct model_config_place *ret_place,
			    struct error *err);

/* Writes the texts that the owner sends to the gateway. mark: see struct model_config_tape. The texts hold
 * keys, so the caller wipes them with keys_wipe_texts(). */
void model_config_write(const struct model_access *access, const struct keys *keys, uint64_t mark,
			struct list *ret_texts);

/* Reads those texts; without any, there are no models. Returns 0, or -1 with err set, in which no key
 * appears. */
int model_config_read(const struct list *texts, struct model_config *ret_models, struct error *err);

/* Forgets it all; keys are wiped. */
void model_config_release(struct model_config *models);

#endif
