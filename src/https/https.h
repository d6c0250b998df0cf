/*
 * The client of ringfence-https: HTTP requests from the host to a forge, or to a service that the
 * user wants to be notified by.
 *
 * Each request is a process of its own, which links libcurl. The request reaches it as a file in
 * memory: no URL, header or body is ever in arguments or in the environment, because URLs of
 * webhooks are secrets as well. For the same reason, messages name the host of a URL and no more.
 *
 * Only HTTPS is spoken, and HTTP to this machine (localhost, 127.0.0.0/8, ::1). HTTPS_PROXY,
 * ALL_PROXY and NO_PROXY are honoured, and so is SSL_CERT_FILE.
 *
 * Failures have these statuses:
 *   ERROR_INVALID    the request is malformed
 *   ERROR_REFUSED    plain HTTP to another machine, or a redirect to it
 *   ERROR_NOT_FOUND  no such host
 *   ERROR_IO         no connection, or it broke
 *   ERROR_BUSY       the time limit is over
 *   ERROR_DENIED     TLS failed, or its certificate is not trusted
 *   ERROR_NO_SPACE   the response is longer than most_bytes, or its head than the limits
 *   ERROR_PROTOCOL   the response is not valid HTTP
 *   ERROR_DIED       ringfence-https died
 * A response with any HTTP status, such as 404, is not a failure.
 */
#ifndef HTTPS_HTTPS_H
#define HTTPS_HTTPS_H

#include "https/https_message.h"
#include "util/error.h"

#include <sys/types.h>

/* A request on its way. */
struct https_job {
	pid_t pid;  /* 0 if nothing is running */
	int answer; /* becomes readable when the response is there, or the request failed */
	char host[256];
};

#define HTTPS_JOB_INIT ((struct https_job){ .answer = -1 })

/*
 * Sends a request and waits for the response. GET and HEAD follow up to five redirects. The caller
 * releases *ret with https_message_release(). Returns 0, or -1 with err set.
 */
int https_send(const struct https_request *request, struct https_response *ret, struct error *err);

/* Does the same in two steps; in between, the caller can wait for `answer` with others. */
int https_start(const struct https_request *request, struct https_job *ret_job, struct error *err);
int https_end(struct https_job *job, struct https_response *ret, struct error *err);

/* Kills the request if it is running. */
void https_cancel(struct https_job *job);

/* Returns the value of a header, or NULL. name: in lower case. */
const char *https_header(const struct https_response *response, const char *name);

#endif
