/* Answers of the web page's server. All of them carry the headers that keep other sites, caches and
 * injected scripts away. */
#ifndef SERVE_WEB_REPLY_H
#define SERVE_WEB_REPLY_H

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

/* Queues a response and releases it. */
enum MHD_Result web_reply_send(struct MHD_Connection *connection, unsigned int code,
			       struct MHD_Response *response);

/* Returns a response with a copy of these bytes. */
struct MHD_Response *web_reply_bytes(const char *type, const void *bytes, size_t size);

/* Answers with an error: {"error": {"status", "message"}}. */
enum MHD_Result web_reply_error(struct MHD_Connection *connection, unsigned int code,
				const char *status, const char *message);

/* Answers a person who is not logged in, with a page that says what to do. */
enum MHD_Result web_reply_login(struct MHD_Connection *connection);

/* Answers with a file: a status line "CODE TYPE", then the body. Takes ownership of the
 * descriptor. A file without such a line is an error. */
enum MHD_Result web_reply_file(struct MHD_Connection *connection, int fd);

#endif
