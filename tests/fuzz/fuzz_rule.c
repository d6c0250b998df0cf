// sources: src/gateway/proxy/rule.c src/gateway/proxy/address.c
/* A rule of the allow list, the host of a request, and addresses in any spelling. */
#include "fuzz.h"

#include "gateway/proxy/rule.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* A rule in its canonical form means the same. */
static void check_rule(const char *text)
{
	struct rule rule;
	struct rule again;
	struct error err;
	char shown[GATEWAY_TEXT];

	if (rule_parse(text, &rule, &err) < 0)
		return;
	rule_text(&rule, shown);
	if (rule_parse(shown, &again, &err) < 0 || memcmp(&rule, &again, sizeof rule) != 0)
		abort();
	if (rule.below && rule_allows(&rule, &(struct rule_target){ .port = 443 }))
		abort();
}

static void check_target(const char *text)
{
	struct rule_target target;
	struct rule_target again;
	struct rule rule;
	struct error err;
	char shown[GATEWAY_TEXT];

	if (rule_target_parse(text, 443, &target, &err) < 0)
		return;
	for (const char *at = target.host; *at; at++)
		if (*at <= ' ' || *at > '~' || strchr("/@%*[]\\", *at))
			abort();
	/* A name that a URL parser would take for an address is an address, in canonical form. */
	if (!target.address.family && address_like(target.host))
		abort();
	if (rule_target_parse(target.host, 443, &again, &err) < 0 ||
	    memcmp(&target, &again, sizeof target) != 0)
		abort();
	rule_target_rule(&target, shown);
	if (rule_parse(shown, &rule, &err) < 0 || !rule_allows(&rule, &target))
		abort();
}

static void check_address(const uint8_t *data, size_t size)
{
	struct address address = { .family = size >= 16 ? 6 : 4 };
	struct address again;
	char text[ADDRESS_TEXT];

	if (size < 4)
		return;
	memcpy(address.bytes, data, address.family == 6 ? 16 : 4);
	(void)address_special(&address);
	address_text(&address, text);
	if (address_parse(text, &again) < 0 || !address_equal(&address, &again))
		abort();
}

void fuzz_rule(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	check_rule(text);
	check_target(text);
	check_address(data, size);
}

FUZZ_TARGET(fuzz_rule)
