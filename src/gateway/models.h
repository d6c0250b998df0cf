/*
 * What the gateway is told about models: where each provider is, the key that goes there, and what it costs.
 *
 * Written by the owner as texts and read by the gateway; the texts are checked on both sides. The whole is in
 * the sealed memory file of the configuration: keys are in no arguments and in no environment.
 */
#ifndef GATEWAY_MODELS_H
#define GATEWAY_MODELS_H

#include "gateway/proxy/rule.h"
#include "meter/request.h"
#include "price/price.h"
#include "util/error.h"
#include "util/list.h"

#include <stdbool.h>
#include <stdint.h>

enum { MODELS_PREFIX = 128, MODELS_KEY = 512, MODELS_TEXTS = 32 };

/* Where something is: "https://host:port/prefix". */
struct models_place {
	bool set;
	bool tls;
	struct rule_target target;
	char prefix
		[MODELS_PREFIX]; /* in front of each path; empty, or "/..." without a slash at its end */
	char credential[MODELS_KEY]; /* "user:password" of a proxy's URL; empty: none */
};

struct models_provider {
	struct models_place place;
	char key[MODELS_KEY]; /* empty: none is needed, or none is known */
	bool free;            /* a local model: counted, and never charged */
};

enum models_tape_mode { MODELS_NO_TAPE, MODELS_RECORD, MODELS_REPLAY };

/* A tape, if there is one (reel.h): the owner hands it over. */
struct models_tape {
	enum models_tape_mode mode;
	bool paced;         /* answers take the time that they took */
	uint64_t mark;      /* of what this run uses; never 0 */
	char project[4096]; /* folders that have other names elsewhere; empty: none */
	char home[4096];
};

struct models {
	bool active; /* there is at least one provider */
	struct models_provider providers[REQUEST_PROVIDERS];
	struct models_place proxy; /* to go through, by CONNECT */
	char ca[4096];             /* a file or folder of certificates; empty: the system's */
	bool refuse_unknown;
	struct price_table prices;
	struct models_tape tape;
};

/* Reads a URL. 0, or -1 with a sentence. */
int models_place_parse(const char *url, struct models_place *ret_place, struct error *err);

/*
 * Reads the texts: "upstream NAME URL", "key NAME KEY", "free NAME", "proxy URL", "ca PATH", "unknown refuse", "prices TEXT"
 * (the user's own table), "record PATH" or "replay PATH", "pace original", "project PATH", "home PATH", "mark NUMBER". None: there are no models. Returns 0, or -1 with err set, in which no key appears.
 */
int models_read(const struct list *texts, struct models *ret_models, struct error *err);

/* Forgets it all; keys are wiped. */
void models_release(struct models *models);

#endif
