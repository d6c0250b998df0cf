/*
 * TLS to servers with OpenSSL: non-blocking, and always with verification of the certificate.
 *
 * CA certificates are loaded one by one when needed from the system's folder, since reading the
 * whole bundle would dominate the start-up time, or from the given file or folder. The last session
 * of each server is resumed.
 */
#ifndef GATEWAY_MODEL_TLS_H
#define GATEWAY_MODEL_TLS_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tls;         /* shared by all connections */
struct tls_link;    /* one connection */
struct tls_memory { /* of one server, across connections; initially zero */
	void *session;
};

/* ca: a file or folder; empty: the system's. Returns 0, or -1 with err set. */
int tls_new(const char *ca, struct tls **ret_tls, struct error *err);

/* host: the name or address that the certificate must be valid for. The caller keeps the
 * descriptor. */
struct tls_link *tls_link_new(struct tls *tls, int fd, const char *host, bool is_address,
			      struct tls_memory *memory);
/* also sends close_notify, if that is possible at once */
void tls_link_free(struct tls_link *link);

enum { TLS_AGAIN = -1, TLS_BROKEN = -2 };

/* Returns 1 when done; TLS_AGAIN: wait for *ret_events; TLS_BROKEN: see tls_wrong(). */
int tls_handshake(struct tls_link *link, uint32_t *ret_events);

/* Return the number of bytes; 0 (for a read) if the peer closed the connection; otherwise as
 * above. */
ssize_t tls_read(struct tls_link *link, void *bytes, size_t size, uint32_t *ret_events);
ssize_t tls_write(struct tls_link *link, const void *bytes, size_t size, uint32_t *ret_events);

/* Returns true if there is buffered data to read that epoll does not report. */
bool tls_pending(const struct tls_link *link);

const char *tls_wrong(const struct tls_link *link);

#endif
