// sources: src/gateway/rule.c src/gateway/address.c
/* A rule of the allow list, a host of a request, and an address in some spelling. */
#include "fuzz.h"

#include "gateway/rule.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* Written as it is meant, a rule means the same. */
static void check_rule(const char *text)
{
	struct gateway_rule rule;
	struct gateway_rule again;
	struct error err;
	char shown[GATEWAY_TEXT];

	if (gateway_rule_parse(text, &rule, &err) < 0)
		return;
	gateway_rule_text(&rule, shown);
	if (gateway_rule_parse(shown, &again, &err) < 0 || memcmp(&rule, &again, sizeof rule) != 0)
		abort();
	if (rule.below && gateway_rule_allows(&rule, &(struct gateway_target){ .port = 443 }))
		abort();
}

static void check_target(const char *text)
{
	struct gateway_target target;
	struct gateway_target again;
	struct gateway_rule rule;
	struct error err;
	char shown[GATEWAY_TEXT];

	if (gateway_target_parse(text, 443, &target, &err) < 0)
		return;
	for (const char *at = target.host; *at; at++)
		if (*at <= ' ' || *at > '~' || strchr("/@%*[]\\", *at))
			abort();
	/* A name that a URL parser would take for an address is one, in the one spelling. */
	if (!target.address.family && gateway_address_like(target.host))
		abort();
	if (gateway_target_parse(target.host, 443, &again, &err) < 0 ||
	    memcmp(&target, &again, sizeof target) != 0)
		abort();
	gateway_target_rule(&target, shown);
	if (gateway_rule_parse(shown, &rule, &err) < 0 || !gateway_rule_allows(&rule, &target))
		abort();
}

static void check_address(const uint8_t *data, size_t size)
{
	struct gateway_address address = { .family = size >= 16 ? 6 : 4 };
	struct gateway_address again;
	char text[GATEWAY_ADDRESS_TEXT];

	if (size < 4)
		return;
	memcpy(address.bytes, data, address.family == 6 ? 16 : 4);
	(void)gateway_address_special(&address);
	gateway_address_text(&address, text);
	if (gateway_address_parse(text, &again) < 0 || !gateway_address_equal(&address, &again))
		abort();
}

void fuzz_gateway_rule(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	check_rule(text);
	check_target(text);
	check_address(data, size);
}

FUZZ_TARGET(fuzz_gateway_rule)
