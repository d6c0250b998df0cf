/* One HTTP request with libcurl. */
#include "https/https_transfer.h"

#include "https/https_origin.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <ctype.h>
#include <curl/curl.h>
#include <string.h>

enum {
	REDIRECTS = 5,
	CONNECT_MS = 20000,
	CERTIFICATES = 16 << 20, /* bytes of a bundle */
};

/* A request and its redirects. */
struct transfer {
	const struct https_wire_order *order;
	struct https_response *response;
	size_t head_bytes;
	uint64_t deadline_ms;
	char *url; /* of this step */
	struct https_origin first, now;
	CURL *curl;
	struct curl_slist *lines;
	struct buffer certificates;
	bool long_head, long_body;
	char why[CURL_ERROR_SIZE];
};

/* Drops the first bytes of a body that grew to twice its limit. */
static void keep_end(struct buffer *body, size_t most)
{
	if (body->used <= most)
		return;
	memmove(body->data, body->data + (body->used - most), most);
	body->used = most;
}

static size_t on_body(char *bytes, size_t one, size_t size, void *context)
{
	struct transfer *transfer = context;
	struct buffer *body = &transfer->response->body;
	size_t most = transfer->order->request.most_bytes;

	(void)one;
	if (body->used + size > most && !transfer->order->request.keep_end) {
		transfer->long_body = true;
		return 0;
	}
	buffer_add(body, bytes, size);
	if (body->used > most)
		transfer->response->cut = true;
	if (body->used >= 2 * most)
		keep_end(body, most);
	return size;
}

/* Adds a header with its name in lower case. */
static void add_header(struct list *headers, const char *line, size_t size)
{
	AUTO_FREE char *text = mem_format("%.*s", (int)size, line);

	text[strcspn(text, "\r\n")] = '\0';
	for (char *at = text; *at && *at != ':'; at++)
		*at = (char)tolower((unsigned char)*at);

	AUTO_FREE char *safe = text_escaped(text);

	if (strchr(safe, ':'))
		list_add(headers, safe);
}

static size_t on_header(char *line, size_t one, size_t size, void *context)
{
	struct transfer *transfer = context;
	struct list *headers = &transfer->response->headers;

	(void)one;
	if (size >= 5 && memcmp(line, "HTTP/", 5) == 0) { /* an interim head came before */
		list_release(headers);
		transfer->head_bytes = 0;
	}
	transfer->head_bytes += size;
	if (transfer->head_bytes > HTTPS_HEAD || headers->count >= HTTPS_HEADERS) {
		transfer->long_head = true;
		return 0;
	}
	add_header(headers, line, size);
	return size;
}

static void add_lines(struct transfer *transfer, const struct list *headers)
{
	for (size_t i = 0; i < headers->count; i++)
		transfer->lines = curl_slist_append(transfer->lines, headers->items[i]);
}

/* libcurl reads one bundle, so the system's and the user's are joined. */
static int read_certificates(struct transfer *transfer, struct error *err)
{
	const struct https_wire_order *order = transfer->order;
	const char *system = order->ca_bundle ? order->ca_bundle
					      : curl_version_info(CURLVERSION_NOW)->cainfo;
	const char *extra = order->request.ca_file;

	if (!order->ca_bundle && !extra)
		return 0;
	transfer->certificates = BUFFER_INIT(CERTIFICATES);
	if (system && fd_read_path(system, &transfer->certificates) < 0)
		return error_sys(err, "read certificates from '%s'", system);
	buffer_add_text(&transfer->certificates, "\n");
	if (extra && fd_read_path(extra, &transfer->certificates) < 0)
		return error_sys(err, "read certificates from '%s'", extra);
	return 0;
}

static void set_method(struct transfer *transfer)
{
	const struct https_request *request = &transfer->order->request;

	if (request->body) {
		curl_easy_setopt(transfer->curl, CURLOPT_POST, 1L);
		curl_easy_setopt(transfer->curl, CURLOPT_POSTFIELDS, request->body);
		curl_easy_setopt(transfer->curl, CURLOPT_POSTFIELDSIZE, (long)request->size);
	} else if (strcmp(request->method, "HEAD") == 0) {
		curl_easy_setopt(transfer->curl, CURLOPT_NOBODY, 1L);
	}
	curl_easy_setopt(transfer->curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static void set_route(struct transfer *transfer)
{
	const struct https_wire_order *order = transfer->order;

	curl_easy_setopt(transfer->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(transfer->curl, CURLOPT_PROXY, transfer->now.tls ? order->proxy : "");
	curl_easy_setopt(transfer->curl, CURLOPT_NOPROXY, order->no_proxy);
	curl_easy_setopt(transfer->curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(transfer->curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (transfer->certificates.used) {
		struct curl_blob blob = { transfer->certificates.data, transfer->certificates.used,
					  CURL_BLOB_NOCOPY };

		curl_easy_setopt(transfer->curl, CURLOPT_CAINFO_BLOB, &blob);
		curl_easy_setopt(transfer->curl, CURLOPT_CAPATH, NULL);
		curl_easy_setopt(transfer->curl, CURLOPT_PROXY_CAINFO_BLOB, &blob);
	}
}

static void set_transfer(struct transfer *transfer, uint64_t left_ms)
{
	CURL *curl = transfer->curl;

	curl_easy_setopt(curl, CURLOPT_URL, transfer->url);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, transfer->lines);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "ringfence/" RINGFENCE_VERSION);
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)left_ms);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
			 (long)(left_ms < CONNECT_MS ? left_ms : CONNECT_MS));
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->why);
}

static enum error_status status_of(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return ERROR_NOT_FOUND;
	case CURLE_OPERATION_TIMEDOUT:
		return ERROR_BUSY;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return ERROR_DENIED;
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_BAD_CONTENT_ENCODING:
		return ERROR_PROTOCOL;
	default:
		return ERROR_IO;
	}
}

static int fail(const struct transfer *transfer, CURLcode code, struct error *err)
{
	AUTO_FREE char *why = text_escaped(*transfer->why ? transfer->why
							  : curl_easy_strerror(code));

	if (transfer->long_head)
		return error_with(err, ERROR_NO_SPACE,
				  "the head of the response is longer than %d headers or %d bytes",
				  HTTPS_HEADERS, HTTPS_HEAD);
	if (transfer->long_body)
		return error_with(err, ERROR_NO_SPACE, "the response is longer than %zu bytes",
				  transfer->order->request.most_bytes);
	return error_with(err, status_of(code), "%s", why);
}

/* Sends the request to this step's URL. */
static int send_once(struct transfer *transfer, struct error *err)
{
	uint64_t now_ms = clock_steady_ms();
	bool home = https_origin_same(&transfer->first, &transfer->now);

	if (now_ms >= transfer->deadline_ms)
		return error_with(err, ERROR_BUSY, "the time limit is over");
	curl_easy_reset(transfer->curl);
	add_lines(transfer, transfer->order->request.headers);
	if (home)
		add_lines(transfer, transfer->order->request.secrets);
	transfer->lines = curl_slist_append(transfer->lines, "Expect:");
	set_transfer(transfer, transfer->deadline_ms - now_ms);
	set_method(transfer);
	set_route(transfer);
	transfer->response->body.used = 0;
	transfer->response->cut = false;

	CURLcode code = curl_easy_perform(transfer->curl);
	long status = 0;

	curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
	transfer->response->status = (unsigned int)status;
	curl_slist_free_all(transfer->lines);
	transfer->lines = NULL;
	return code == CURLE_OK ? 0 : fail(transfer, code, err);
}

/* Returns the URL that the response redirects to, if it should be followed, or NULL. */
static const char *redirect(const struct transfer *transfer)
{
	const char *method = transfer->order->request.method;
	char *url = NULL;

	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return NULL;
	curl_easy_getinfo(transfer->curl, CURLINFO_REDIRECT_URL, &url);
	return url;
}

/* Goes to the next URL. An encrypted request never continues without encryption. */
static int step(struct transfer *transfer, const char *url, struct error *err)
{
	char *next = mem_dup(url);

	mem_free_pointer(&transfer->url);
	transfer->url = next;
	if (https_origin_read(next, &transfer->now, err) < 0)
		return -1;
	if (transfer->first.tls && !transfer->now.tls)
		return error_with(err, ERROR_REFUSED, "the server redirects to plain HTTP");
	return 0;
}

static int follow(struct transfer *transfer, struct error *err)
{
	const char *url;

	for (int redirects = 0;; redirects++) {
		if (send_once(transfer, err) < 0)
			return -1;
		url = redirect(transfer);
		if (!url)
			return 0;
		if (redirects == REDIRECTS)
			return error_with(err, ERROR_PROTOCOL, "more than %d redirects", REDIRECTS);
		if (step(transfer, url, err) < 0)
			return -1;
	}
}

int https_transfer(const struct https_wire_order *order, struct https_response *ret,
		   struct error *err)
{
	size_t most = order->request.most_bytes;
	struct https_response response = { .body = BUFFER_INIT(2 * most + CURL_MAX_WRITE_SIZE) };
	struct transfer transfer = { .order = order,
				     .response = &response,
				     .deadline_ms = clock_steady_ms() + order->request.timeout_ms,
				     .url = mem_dup(order->request.url),
				     .curl = curl_easy_init() };
	int result = transfer.curl ? https_origin_read(transfer.url, &transfer.first, err)
				   : error_set(err, "libcurl does not start");

	transfer.now = transfer.first;
	if (result == 0)
		result = read_certificates(&transfer, err);
	if (result == 0)
		result = follow(&transfer, err);
	curl_easy_cleanup(transfer.curl);
	mem_free_pointer(&transfer.url);
	buffer_release(&transfer.certificates);
	keep_end(&response.body, most);
	if (result == 0)
		*ret = response;
	else
		https_message_release(&response);
	return result;
}
