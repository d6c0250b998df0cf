/*
 * A caller of ringfence-https, for tests:
 *
 * https_caller URL [NAME=VALUE...]
 *
 * NAME is `method`, `header`, `secret`, `body`, `timeout_ms`, `most_bytes`, `keep_end` or `ca`. It
 * prints the status of the response, its headers, an empty line and its body; or `failed STATUS`
 * and the message.
 */
#include "https/https.h"
#include "util/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct list headers, secrets;
static struct https_request request = { .headers = &headers, .secrets = &secrets };

static int set_option(const char *name, const char *value)
{
	if (strcmp(name, "method") == 0)
		request.method = value;
	else if (strcmp(name, "header") == 0)
		list_add(&headers, value);
	else if (strcmp(name, "secret") == 0)
		list_add(&secrets, value);
	else if (strcmp(name, "timeout_ms") == 0)
		request.timeout_ms = strtoull(value, NULL, 10);
	else if (strcmp(name, "most_bytes") == 0)
		request.most_bytes = strtoul(value, NULL, 10);
	else if (strcmp(name, "keep_end") == 0)
		request.keep_end = true;
	else if (strcmp(name, "ca") == 0)
		request.ca_file = value;
	else if (strcmp(name, "body") == 0)
		request.body = value, request.size = strlen(value);
	else
		return -1;
	return 0;
}

static int read_options(char **words)
{
	for (; *words; words++) {
		char *equals = strchr(*words, '=');

		if (!equals)
			return -1;
		*equals = '\0';
		if (set_option(*words, equals + 1) < 0)
			return -1;
	}
	return 0;
}

static void print_response(const struct https_response *response)
{
	printf("%u%s\n", response->status, response->cut ? " cut" : "");
	for (size_t i = 0; i < response->headers.count; i++)
		printf("%s\n", response->headers.items[i]);
	printf("\n%.*s", (int)response->body.used, response->body.data);
}

int main(int count, char **words)
{
	struct https_response response;
	struct error err;

	env_init();
	if (count < 2 || read_options(words + 2) < 0)
		return 2;
	request.url = words[1];
	if (https_send(&request, &response, &err) < 0) {
		printf("failed %s\n%s\n", error_status_name(err.status), err.text);
		return 1;
	}
	print_response(&response);
	https_message_release(&response);
	list_release(&headers);
	list_release(&secrets);
	return 0;
}
