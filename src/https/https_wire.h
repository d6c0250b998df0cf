/*
 * The messages between ringfence and ringfence-https: an object in JSON, a line feed, and the bytes
 * of a body. docs/protocols.md has their members.
 */
#ifndef HTTPS_HTTPS_WIRE_H
#define HTTPS_HTTPS_WIRE_H

#include "https/https_message.h"
#include "util/buffer.h"
#include "util/error.h"

#include <jansson.h>

enum { HTTPS_WIRE_MOST = HTTPS_BODY + 8 * HTTPS_HEAD };

/* A request with what the environment adds. Empty texts mean none. */
struct https_wire_order {
	struct https_request request;
	const char *proxy;
	const char *no_proxy;
	const char *ca_bundle; /* instead of the system's */

	/* Set by https_wire_read_order(), with the texts above in them. */
	json_t *json;
	struct list headers, secrets;
};

/* Returns 0, or -1 with err set if the order cannot be carried or is malformed. */
int https_wire_write_order(struct buffer *out, const struct https_wire_order *order,
			   struct error *err);

/* Reads an order, whose body remains in `bytes`. Returns 0, or -1 with err set. */
int https_wire_read_order(const char *bytes, size_t size, struct https_wire_order *ret_order,
			  struct error *err);
void https_wire_release_order(struct https_wire_order *order);

void https_wire_write_response(struct buffer *out, const struct https_response *response);
void https_wire_write_failure(struct buffer *out, const struct error *failure);

/* Reads a response into *ret, which the caller releases. Returns 0, or -1 with err set to the
 * failure that the message reports, or to ERROR_PROTOCOL. */
int https_wire_read_response(const char *bytes, size_t size, struct https_response *ret,
			     struct error *err);

#endif
