/* Reads the providers' keys for the gateway's owner, each from its key_source. */
#ifndef GATEWAY_OWNER_KEYS_H
#define GATEWAY_OWNER_KEYS_H

#include "provider/model_access.h"
#include "util/error.h"
#include "util/list.h"
#include "util/taint.h"

struct keys {
	char *values[PROVIDER_COUNT]; /* or NULL */
};

/* Refuses a command or a file that an agent can change (provider/key_read.h). The caller wipes
 * *ret_keys. Returns 0, or -1 with err set; the error never contains a key. */
int keys_read(const struct model_access *access, const struct taint *taint, struct keys *ret_keys,
	      struct error *err);
void keys_wipe(struct keys *keys);

/* Wipes and releases texts that may contain a key. */
void keys_wipe_texts(struct list *texts);

#endif
