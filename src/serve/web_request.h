/* A request to the web page's server: the callbacks of the library. A request is judged by its head
 * (web_guard.h), then read, then answered: at once, by a job, or by a stream. */
#ifndef SERVE_WEB_REQUEST_H
#define SERVE_WEB_REQUEST_H

#include "serve/web_site.h"

#include <microhttpd.h>

enum { WEB_REQUEST_BODY = 64 << 10 };

/* For MHD_OPTION_URI_LOG_CALLBACK: begins a request. */
void *web_request_begin(void *site, const char *target, struct MHD_Connection *connection);

/* For MHD_start_daemon(). */
enum MHD_Result web_request_handle(void *site, struct MHD_Connection *connection, const char *url,
				   const char *method, const char *version, const char *upload,
				   size_t *upload_size, void **request_place);

/* For MHD_OPTION_NOTIFY_COMPLETED. */
void web_request_complete(void *site, struct MHD_Connection *connection, void **request,
			  enum MHD_RequestTerminationCode code);

/* Answers all requests that wait: the server ends. */
void web_request_end_all(struct web_site *site);

#endif
