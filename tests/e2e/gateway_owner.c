/*
 * A gateway's owner, for tests and benchmarks:
 *
 * gateway_owner PROGRAM UID FD[,FD...] [NAME=VALUE...] [-- RULE...]
 *
 * NAME is a cap, `upstream` (as the option: PROVIDER=URL), `key` (PROVIDER=KEY) or `ledger` (the
 * folder of the ledgers). The descriptors are listening sockets. It prints a line for every event,
 * and obeys commands on stdin, one per line: `hosts` (print the table), `hold` (stop answering
 * refusals), `quit`. The end of stdin also ends it.
 */
#include "gateway/owner/gateway.h"
#include "gateway/owner/keys.h"
#include "gateway/owner/ledger.h"
#include "util/list.h"
#include "util/mem.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool hold;

static int set_cap(struct caps *caps, const char *text)
{
	const char *equals = strchr(text, '=');
	size_t size = equals ? (size_t)(equals - text) : 0;

#define X(name, value, least, most, sentence)                           \
	if (size == strlen(#name) && strncmp(text, #name, size) == 0) { \
		caps->name = strtoull(equals + 1, NULL, 10);            \
		return 0;                                               \
	}
	GATEWAY_CAPS(X)
#undef X
	return -1;
}

static struct model_access access_given;
static struct keys keys_given;

/* Sets the upstream or the key of a provider. */
static int set_provider(struct gateway_options *options, const char *text, struct error *err)
{
	enum provider_id id;
	const char *value = provider_split(strchr(text, '=') + 1, &id);

	options->models = &access_given;
	options->keys = &keys_given;
	if (!value)
		return error_set(err, "what provider is %s?", text);
	if (strncmp(text, "upstream=", 9) == 0)
		return model_access_upstream_parse(value, &access_given.upstreams[id], err);
	keys_given.values[id] = mem_dup(value);
	return 0;
}

/* Sets a cap or a value for models. */
static int set(struct gateway_options *options, const char *text, struct error *err)
{
	if (strncmp(text, "upstream=", 9) == 0 || strncmp(text, "key=", 4) == 0)
		return set_provider(options, text, err);
	if (strncmp(text, "ledger=", 7) == 0) {
		const struct ledger_options wanted = { .folder = text + 7 };

		return ledger_open(&wanted, &options->ledger, err);
	}
	return set_cap(&options->caps, text) < 0 ? error_set(err, "what is %s?", text) : 0;
}

static void show_refusal(const struct gateway_refusal *refusal)
{
	char address[64] = "?";
	unsigned int port = 0;

	if (refusal->client.ss_family == AF_INET) {
		const struct sockaddr_in *client = (const void *)&refusal->client;

		inet_ntop(AF_INET, &client->sin_addr, address, sizeof address);
		port = ntohs(client->sin_port);
	} else if (refusal->client.ss_family == AF_INET6) {
		const struct sockaddr_in6 *client = (const void *)&refusal->client;

		inet_ntop(AF_INET6, &client->sin6_addr, address, sizeof address);
		port = ntohs(client->sin6_port);
	}
	printf("refused\t%u\t%s\t%u\t%s\t%u\t%s\t%s\n", refusal->id, address, port, refusal->host,
	       refusal->port, refusal->reason, refusal->remedy);
}

static void show_hosts(const struct gateway *gateway)
{
	static struct outlet_host hosts[OUTLET_HOSTS];
	size_t count = gateway_hosts(gateway, hosts, OUTLET_HOSTS);

	for (size_t i = 0; i < count; i++)
		printf("host\t%s\t%u\t%llu\t%llu\t%llu\t%llu\t%s\n", hosts[i].host, hosts[i].port,
		       (unsigned long long)hosts[i].connections,
		       (unsigned long long)hosts[i].bytes_in,
		       (unsigned long long)hosts[i].bytes_out,
		       (unsigned long long)hosts[i].refusals, hosts[i].verdict);
	printf("end\n");
}

static void take_all(struct gateway *gateway)
{
	struct gateway_refusal refusal;
	struct error err;
	pid_t before = gateway_pid(gateway);

	for (;;) {
		int got = gateway_take(gateway, &refusal, &err);

		if (got == 0)
			break;
		if (got < 0) {
			printf("died\t%d\t%s\n", gateway_fd(gateway) < 0, err.text);
			break;
		}
		show_refusal(&refusal);
		if (!hold)
			gateway_answer(gateway, refusal.id);
	}
	if (gateway_pid(gateway) > 0 && gateway_pid(gateway) != before)
		printf("started\t%d\n", gateway_pid(gateway));
}

static bool obey(const struct gateway *gateway, const char *word)
{
	if (strcmp(word, "hosts") == 0)
		show_hosts(gateway);
	else if (strcmp(word, "hold") == 0)
		hold = true;
	return strcmp(word, "quit") != 0;
}

static void serve(struct gateway *gateway)
{
	char line[64];

	for (;;) {
		struct pollfd watched[2] = { { .fd = 0, .events = POLLIN },
					     { .fd = gateway_fd(gateway), .events = POLLIN } };

		poll(watched, 2, -1);
		if (watched[1].revents)
			take_all(gateway);
		if (watched[0].revents) {
			ssize_t n = read(0, line, sizeof line - 1);

			if (n <= 0)
				return;
			line[n] = '\0';
			for (char *word = strtok(line, "\n"); word; word = strtok(NULL, "\n"))
				if (!obey(gateway, word))
					return;
		}
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	struct gateway_options options = { .caps = GATEWAY_CAPS_DEFAULT };
	struct gateway *gateway;
	struct error err;
	int at = 4;

	if (argc < 4)
		return 2;
	options.program = argv[1];
	options.uid = options.gid = (uid_t)strtoul(argv[2], NULL, 10);
	for (; at < argc && strcmp(argv[at], "--") != 0; at++)
		if (set(&options, argv[at], &err) < 0) {
			printf("failed\t%s\n", err.text);
			return 2;
		}
	for (at++; at < argc; at++)
		list_add(&options.rules, argv[at]);
	if (gateway_start(&options, &gateway, &err) < 0) {
		printf("failed\t%s\n", err.text);
		return 1;
	}
	for (char *fd = strtok(argv[3], ","); fd; fd = strtok(NULL, ","))
		if (gateway_listen(gateway, (int)strtol(fd, NULL, 10), &err) < 0)
			printf("failed\t%s\n", err.text);
	printf("ready\t%d\t%s\t%s\n", gateway_pid(gateway), gateway_token(gateway),
	       gateway_warnings(gateway)[0] ? gateway_warnings(gateway) : "-");
	fflush(stdout);
	serve(gateway);
	gateway_stop(gateway);
	ledger_close(options.ledger);
	list_release(&options.rules);
	return 0;
}
