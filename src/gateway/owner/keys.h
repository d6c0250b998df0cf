/* Reads the keys of providers for the gateway's owner, each from its key_source. */
#ifndef GATEWAY_OWNER_KEYS_H
#define GATEWAY_OWNER_KEYS_H

#include "provider/model_access.h"
#include "util/error.h"
#include "util/list.h"

struct keys {
	char *values[PROVIDER_COUNT]; /* NULL: there is none */
};

/* The caller wipes *ret_keys. Returns 0, or -1 with err set, in which no key appears. */
int keys_read(const struct model_access *access, struct keys *ret_keys, struct error *err);
void keys_wipe(struct keys *keys);

/* Wipes and releases texts in which a key may stand. */
void keys_wipe_texts(struct list *texts);

#endif
