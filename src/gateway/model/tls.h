/*
 * TLS to servers, by OpenSSL: without blocking, and never without a look at the server's certificate.
 *
 * Certificates are looked for in the system's folder of them, one by one when they are needed (reading the whole bundle
 * takes longer than everything else at the start), or in the file or folder that was named. The last session of each
 * server is used again.
 */
#ifndef GATEWAY_MODEL_TLS_H
#define GATEWAY_MODEL_TLS_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tls;         /* what all connections share */
struct tls_link;    /* one connection */
struct tls_memory { /* of one server, between its connections; zero at first */
	void *session;
};

/* ca: a file or folder; empty: the system's. Returns 0, or -1 with err set. */
int tls_new(const char *ca, struct tls **ret_tls, struct error *err);

/* host: the name that the certificate must be for (an address, if it is one). The descriptor stays the caller's. */
struct tls_link *tls_link_new(struct tls *tls, int fd, const char *host, bool is_address,
			      struct tls_memory *memory);
void tls_link_free(struct tls_link *link); /* also says goodbye, if that is possible at once */

enum { TLS_AGAIN = -1, TLS_BROKEN = -2 };

/* 1: it is done; TLS_AGAIN: wait for *ret_events; TLS_BROKEN: tls_wrong() says why. */
int tls_handshake(struct tls_link *link, uint32_t *ret_events);

/* More than 0: bytes; 0 (of a read): the other side has said that this is all; else as above. */
ssize_t tls_read(struct tls_link *link, void *bytes, size_t size, uint32_t *ret_events);
ssize_t tls_write(struct tls_link *link, const void *bytes, size_t size, uint32_t *ret_events);

/* Is there something to read that epoll knows nothing of? */
bool tls_pending(const struct tls_link *link);

const char *tls_wrong(const struct tls_link *link);

#endif
