/* The messages between ringfence and ringfence-https. */
#include "https/https_wire.h"

#include "util/text/jsonget.h"

#include <string.h>

enum { MINUTE_MS = 60000, USUAL_BYTES = 1 << 20 };

/* Visible ASCII; spaces only where allowed. */
static bool is_visible(const char *text, bool spaces)
{
	for (; *text; text++)
		if (*text <= ' ' ? !spaces || *text != ' ' : *text > '~')
			return false;
	return true;
}

static bool is_token(const char *text, size_t size)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < size; i++) {
		char c = text[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!letter && !(c >= '0' && c <= '9') && (!c || !strchr(others, c)))
			return false;
	}
	return size > 0;
}

static bool is_header(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && is_token(text, (size_t)(colon - text)) && is_visible(text, true);
}

static bool are_headers(const struct list *list)
{
	if (list->count > HTTPS_HEADERS)
		return false;
	for (size_t i = 0; i < list->count; i++)
		if (!is_header(list->items[i]))
			return false;
	return true;
}

static int check_order(const struct https_wire_order *order, struct error *err)
{
	const struct https_request *request = &order->request;

	if (!request->url || !*request->url || !is_visible(request->url, false))
		return error_with(err, ERROR_INVALID, "invalid URL");
	if (!is_token(request->method, strlen(request->method)))
		return error_with(err, ERROR_INVALID, "invalid method of an HTTP request");
	if (!are_headers(request->headers) || !are_headers(request->secrets))
		return error_with(err, ERROR_INVALID, "invalid header of an HTTP request");
	if (request->size > HTTPS_BODY || request->most_bytes > HTTPS_BODY ||
	    request->timeout_ms > HTTPS_TIMEOUT_MS)
		return error_with(err, ERROR_INVALID, "an HTTP request is above its limits");
	return 0;
}

static json_t *list_json(const struct list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(array, json_string(list->items[i]));
	return array;
}

/* Appends the object, a line feed and the body, and releases the object. */
static void add_message(struct buffer *out, json_t *object, const char *body, size_t size)
{
	char *text = json_dumps(object, JSON_COMPACT);

	buffer_add_text(out, text ? text : "{}");
	buffer_add_text(out, "\n");
	if (size > 0)
		buffer_add(out, body, size);
	free(text);
	json_decref(object);
}

/* Fills in the defaults. */
static struct https_wire_order complete(const struct https_wire_order *order,
					const struct list *none)
{
	struct https_wire_order whole = *order;
	struct https_request *request = &whole.request;

	request->method = request->method ? request->method : "GET";
	request->headers = request->headers ? request->headers : none;
	request->secrets = request->secrets ? request->secrets : none;
	request->timeout_ms = request->timeout_ms ? request->timeout_ms : MINUTE_MS;
	request->most_bytes = request->most_bytes ? request->most_bytes : USUAL_BYTES;
	return whole;
}

int https_wire_write_order(struct buffer *out, const struct https_wire_order *order,
			   struct error *err)
{
	static const struct list none;
	struct https_wire_order whole = complete(order, &none);
	const struct https_request *request = &whole.request;

	if (check_order(&whole, err) < 0)
		return -1;
	add_message(out,
		    json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:b, s:s*, s:s*, s:s*, s:s*, s:b}",
			      "method", request->method, "url", request->url, "headers",
			      list_json(request->headers), "secrets", list_json(request->secrets),
			      "timeout_ms", (json_int_t)request->timeout_ms, "most_bytes",
			      (json_int_t)request->most_bytes, "keep_end", (int)request->keep_end,
			      "ca_file", request->ca_file, "proxy", whole.proxy, "no_proxy",
			      whole.no_proxy, "ca_bundle", whole.ca_bundle, "body",
			      request->body != NULL),
		    request->body, request->body ? request->size : 0);
	if (buffer_overflowed(out))
		return error_with(err, ERROR_INVALID, "an HTTP request is too long");
	return 0;
}

static int read_list(const json_t *array, struct list *list)
{
	size_t i;
	json_t *item;

	if (json_array_size(array) > HTTPS_HEADERS)
		return -1;
	json_array_foreach(array, i, item)
	{
		if (!json_is_string(item))
			return -1;
		list_add(list, json_string_value(item));
	}
	return 0;
}

/* Splits a message. Returns its object, or NULL. */
static json_t *read_message(const char *bytes, size_t size, const char **ret_body, size_t *ret_size)
{
	const char *end = size ? memchr(bytes, '\n', size) : NULL;
	json_t *object = end ? json_loadb(bytes, (size_t)(end - bytes), 0, NULL) : NULL;

	if (!json_is_object(object)) {
		json_decref(object);
		return NULL;
	}
	*ret_body = end + 1;
	*ret_size = size - (size_t)(end + 1 - bytes);
	return object;
}

static void read_texts(struct https_wire_order *order)
{
	const json_t *json = order->json;
	struct https_request *request = &order->request;

	request->method = jsonget_text(json, "method");
	request->url = jsonget_string(json, "url");
	request->headers = &order->headers;
	request->secrets = &order->secrets;
	request->timeout_ms = jsonget_index(json, "timeout_ms", HTTPS_TIMEOUT_MS + 1);
	request->most_bytes = jsonget_index(json, "most_bytes", HTTPS_BODY + 1);
	request->keep_end = jsonget_flag(json, "keep_end");
	request->ca_file = jsonget_string(json, "ca_file");
	order->proxy = jsonget_text(json, "proxy");
	order->no_proxy = jsonget_text(json, "no_proxy");
	order->ca_bundle = jsonget_string(json, "ca_bundle");
	if (!jsonget_flag(json, "body")) {
		request->body = NULL;
		request->size = 0;
	}
}

int https_wire_read_order(const char *bytes, size_t size, struct https_wire_order *ret_order,
			  struct error *err)
{
	struct https_wire_order order = { 0 };

	order.json = read_message(bytes, size, &order.request.body, &order.request.size);
	if (!order.json)
		return error_with(err, ERROR_PROTOCOL, "the order of an HTTP request is not JSON");
	read_texts(&order);
	if (read_list(json_object_get(order.json, "headers"), &order.headers) < 0 ||
	    read_list(json_object_get(order.json, "secrets"), &order.secrets) < 0) {
		https_wire_release_order(&order);
		return error_with(err, ERROR_PROTOCOL, "invalid headers in an order");
	}
	if (check_order(&order, err) < 0) {
		https_wire_release_order(&order);
		return -1;
	}
	*ret_order = order;
	ret_order->request.headers = &ret_order->headers;
	ret_order->request.secrets = &ret_order->secrets;
	return 0;
}

void https_wire_release_order(struct https_wire_order *order)
{
	list_release(&order->headers);
	list_release(&order->secrets);
	json_decref(order->json);
	*order = (struct https_wire_order){ 0 };
}

void https_wire_write_response(struct buffer *out, const struct https_response *response)
{
	add_message(out,
		    json_pack("{s:i, s:o, s:b}", "status", (int)response->status, "headers",
			      list_json(&response->headers), "cut", (int)response->cut),
		    response->body.data, response->body.used);
}

void https_wire_write_failure(struct buffer *out, const struct error *failure)
{
	add_message(out,
		    json_pack("{s:s, s:s}", "error", failure->text, "status",
			      error_status_name(failure->status)),
		    NULL, 0);
}

static int read_head(const json_t *json, struct https_response *response, struct error *err)
{
	const char *failed = jsonget_string(json, "error");

	if (failed)
		return error_with(err, error_status_named(jsonget_string(json, "status")), "%s",
				  failed);
	response->status = jsonget_index(json, "status", 1000);
	response->cut = jsonget_flag(json, "cut");
	if (response->status < 100 ||
	    read_list(json_object_get(json, "headers"), &response->headers) < 0)
		return error_with(err, ERROR_PROTOCOL, "invalid answer of ringfence-https");
	return 0;
}

int https_wire_read_response(const char *bytes, size_t size, struct https_response *ret,
			     struct error *err)
{
	struct https_response response = { .body = BUFFER_INIT(HTTPS_BODY + 1) };
	const char *body;
	size_t left;
	json_t *json = read_message(bytes, size, &body, &left);
	int result = json ? read_head(json, &response, err)
			  : error_with(err, ERROR_PROTOCOL, "invalid answer of ringfence-https");

	json_decref(json);
	if (result == 0)
		buffer_add(&response.body, body, left);
	if (result == 0 && buffer_overflowed(&response.body))
		result = error_with(err, ERROR_NO_SPACE, "the response is too long");
	if (result == 0)
		*ret = response;
	else
		https_message_release(&response);
	return result;
}
