/* What `ringfence serve` hands over to ringfence-serve: descriptors, and the secrets in one of
 * them, so that they are in no argument and no variable. */
#ifndef SERVE_WEB_HANDOVER_H
#define SERVE_WEB_HANDOVER_H

#include "serve/web_keys.h"
#include "util/error.h"

enum web_handover_fd {
	WEB_HANDOVER_LISTENER = 3,
	WEB_HANDOVER_SECRETS,
	WEB_HANDOVER_CONTROL,
	WEB_HANDOVER_PROGRAM,
	WEB_HANDOVER_LOCK,
	WEB_HANDOVER_END
};

struct web_handover {
	char secret[WEB_KEYS_SECRET];
	char token[WEB_KEYS_TOKEN]; /* of the first link */
};

/* Returns a memory file with the secrets, or -1 with err set. */
int web_handover_write(const struct web_handover *secrets, struct error *err);

/* Reads and closes it. Returns 0, or -1 with err set. */
int web_handover_read(int fd, struct web_handover *ret_secrets, struct error *err);

#endif
