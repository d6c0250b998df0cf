/* Answers: see web_reply.h. */
#include "serve/web_reply.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const headers[][2] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
	  "require-trusted-types-for 'script'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Permissions-Policy", "camera=(), geolocation=(), microphone=()" },
};

enum MHD_Result web_reply_send(struct MHD_Connection *connection, unsigned int code,
			       struct MHD_Response *response)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	if (!MHD_get_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL))
		MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	result = MHD_queue_response(connection, code, response);
	MHD_destroy_response(response);
	return result;
}

struct MHD_Response *web_reply_bytes(const char *type, const void *bytes, size_t size)
{
	/* The library copies the bytes; it only reads them. */
	struct MHD_Response *response = MHD_create_response_from_buffer(size, (void *)bytes,
									MHD_RESPMEM_MUST_COPY);

	if (response)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return response;
}

enum MHD_Result web_reply_error(struct MHD_Connection *connection, unsigned int code,
				const char *status, const char *message)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(16384);
	struct MHD_Response *response;

	buffer_printf(&text, "{\"error\":{\"status\":\"%s\",\"message\":", status);
	text_json(&text, message);
	buffer_add_text(&text, "}}\n");
	response = web_reply_bytes("application/json", text.data, text.used);
	if (response && code == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
	if (response && code == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, POST");
	return web_reply_send(connection, code, response);
}

enum MHD_Result web_reply_login(struct MHD_Connection *connection)
{
	static const char page[] =
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<meta name=\"viewport\" content=\"width=device-width\">"
		"<meta name=\"color-scheme\" content=\"dark light\">"
		"<title>Ringfence: log in</title></head>\n<body><h1>Ringfence</h1>\n"
		"<p>You are not logged in, or the link was used before.</p>\n"
		"<p>Run this command on this machine, and open the link that it prints:</p>\n"
		"<pre>ringfence serve --link</pre></body></html>\n";

	return web_reply_send(connection, MHD_HTTP_UNAUTHORIZED,
			      web_reply_bytes("text/html; charset=utf-8", page, sizeof page - 1));
}

enum { LINE = 160 };

/* Reads the status line: "200 TYPE". Returns its size, or 0 if there is none. */
static size_t read_line(int fd, char line[static LINE], unsigned int *ret_code,
			const char **ret_type)
{
	ssize_t n = pread(fd, line, LINE - 1, 0);
	char *end = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;
	char *type = NULL;

	if (!end)
		return 0;
	*end = '\0';
	*ret_code = (unsigned int)strtoul(line, &type, 10);
	if (*ret_code < 200 || *ret_code > 599 || *type != ' ')
		return 0;
	*ret_type = type + 1;
	return (size_t)(end - line) + 1;
}

enum MHD_Result web_reply_file(struct MHD_Connection *connection, int fd)
{
	AUTO_FD file = fd;
	unsigned int code;
	char line[LINE];
	const char *type;
	size_t start = read_line(file, line, &code, &type);
	struct stat info;
	struct MHD_Response *response;

	if (!start || fstat(file, &info) < 0)
		return web_reply_error(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "failed",
				       "the process that should have answered died");
	response = MHD_create_response_from_fd_at_offset64((uint64_t)info.st_size - start, file,
							   start);
	if (!response)
		return MHD_NO;
	fd_steal(&file); /* the response closes it */
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (strncmp(type, "text/html", strlen("text/html")) ==
	    0) /* a page of its own: to be saved */
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION,
					"attachment");
	return web_reply_send(connection, code, response);
}
