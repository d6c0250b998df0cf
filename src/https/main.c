/*
 * ringfence-https: one HTTP request, in a separate process, because libcurl and its libraries
 * cannot be linked statically.
 *
 * It reads an order from descriptor 0 and writes the response to descriptor 1. The client is
 * https.h.
 */
#include "https/https_confine.h"
#include "https/https_transfer.h"
#include "https/https_wire.h"
#include "util/file/fd.h"

#include <curl/curl.h>
#include <unistd.h>

/* After its time limit, a request has this long to fail by itself. */
enum { GRACE_S = 10 };

static int carry_out(const struct buffer *bytes, struct buffer *answer, struct error *err)
{
	struct https_wire_order order;
	struct https_response response;
	int result;

	if (https_wire_read_order(bytes->data, bytes->used, &order, err) < 0)
		return -1;
	alarm((unsigned int)(order.request.timeout_ms / 1000) + GRACE_S);
	result = https_transfer(&order, &response, err);
	https_wire_release_order(&order);
	if (result < 0)
		return -1;
	https_wire_write_response(answer, &response);
	https_message_release(&response);
	return 0;
}

static int serve(struct buffer *answer, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(HTTPS_WIRE_MOST);

	if (https_confine(err) < 0)
		return -1;
	if (fd_read_all(0, &bytes) < 0)
		return error_sys(err, "read the order");
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return error_set(err, "libcurl does not start");
	return carry_out(&bytes, answer, err);
}

int main(void)
{
	AUTO_BUFFER struct buffer answer = BUFFER_INIT(HTTPS_WIRE_MOST);
	struct error err;

	if (serve(&answer, &err) < 0)
		https_wire_write_failure(&answer, &err);
	return fd_write_all(1, answer.data, answer.used) < 0;
}
