/* Rules: see rule.h. */
#include "gateway/proxy/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 253, LONGEST_LABEL = 63 };

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

static bool label_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* Normalises a name: lower case, without the final dot. Returns its number of labels, or 0 if it
 * is invalid. */
static unsigned int normalise(const char *text, size_t size, char ret_name[GATEWAY_HOST])
{
	unsigned int labels = 1;
	size_t label = 0;

	if (size > 1 && text[size - 1] == '.')
		size--;
	if (size == 0 || size > LONGEST_NAME)
		return 0;
	for (size_t i = 0; i < size; i++) {
		char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i];

		if (c == '.') {
			if (i == label || text[i - 1] == '-' || i - label > LONGEST_LABEL)
				return 0;
			label = i + 1;
			labels++;
		} else if (!label_byte(c) || (c == '-' && i == label)) {
			return 0;
		}
		ret_name[i] = c;
	}
	if (size == label || text[size - 1] == '-' || size - label > LONGEST_LABEL)
		return 0;
	ret_name[size] = '\0';
	return labels;
}

/* 1 to 65535, without leading zeros. */
static int parse_port(const char *text, uint16_t *ret_port)
{
	size_t digits = strspn(text, "0123456789");
	long number = strtol(text, NULL, 10);

	if (digits == 0 || digits > 5 || text[digits] || text[0] == '0' || number > 65535)
		return -1;
	*ret_port = (uint16_t)number;
	return 0;
}

static int parse_address(const char *text, struct rule_target *target, struct error *err)
{
	if (address_parse(text, &target->address) < 0)
		return error_set(err,
				 "'%.100s' is not an address in its usual spelling (such as "
				 "192.0.2.1 or [2001:db8::1])",
				 text);
	if (target->address.family == 6 &&
	    memcmp(target->address.bytes, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) == 0)
		return error_set(err, "'%.100s': write the IPv4 address itself", text);
	snprintf(target->host, sizeof target->host, "%s", text);
	return 0;
}

/* Splits host and port: copies the host (without brackets), and returns the port as text or
 * NULL. */
static int split(const char *text, char *host, size_t room, const char **ret_port, bool *ret_braced,
		 struct error *err)
{
	const char *end = text[0] == '[' ? strchr(text, ']') : NULL;
	const char *begin = text;

	*ret_braced = text[0] == '[';
	if (text[0] == '[') {
		if (!end || (end[1] && end[1] != ':'))
			return error_set(err, "'%.300s': write [ADDRESS] or [ADDRESS]:PORT", text);
		begin = text + 1;
		*ret_port = end[1] ? end + 2 : NULL;
	} else {
		const char *colon = strchr(text, ':');

		if (colon && strchr(colon + 1, ':'))
			return error_set(
				err,
				"'%.300s': an IPv6 address needs brackets, as in [2001:db8::1]:443",
				text);
		end = colon ? colon : text + strlen(text);
		*ret_port = colon ? colon + 1 : NULL;
	}
	if ((size_t)(end - begin) >= room)
		return error_set(err, "'%.60s...' is too long for a host", text);
	memcpy(host, begin, (size_t)(end - begin));
	host[end - begin] = '\0';
	return 0;
}

static int parse_name(const char *text, const char *host, struct rule *rule, struct error *err)
{
	rule->below = strncmp(host, "*.", 2) == 0;
	host += rule->below ? 2 : 0;
	if (strchr(host, '*'))
		return error_set(
			err,
			"'%.300s': a star is only allowed for whole labels in front, as in "
			"*.example.com (to reach everything: --net open)",
			text);

	unsigned int labels = normalise(host, strlen(host), rule->target.host);

	if (labels == 0)
		return error_set(err,
				 "'%.300s' is not a valid host: expected a name, an address or "
				 "*.name, with :PORT if it is neither 443 nor 80",
				 text);
	if (rule->below && labels < 2)
		return error_set(err,
				 "'%.300s' would allow a whole top-level domain; be more specific",
				 text);
	if (rule->below && address_like(rule->target.host))
		return error_set(err, "'%.300s': an address has no subdomains", text);
	return 0;
}

int rule_parse(const char *text, struct rule *ret_rule, struct error *err)
{
	struct rule rule = { 0 };
	char host[GATEWAY_TEXT];
	const char *port = NULL;
	bool braced = false;

	if (!is_ascii(text))
		return error_set(err,
				 "'%.300s': write this name as in DNS (bücher.example is "
				 "xn--bcher-kva.example)",
				 text);
	if (strstr(text, "//"))
		return error_set(
			err, "'%.300s' is a URL; write only its host, and its port if it has one",
			text);
	if (strchr(text, '/') || strchr(text, '@'))
		return error_set(err, "'%.300s': only a host and a port are allowed", text);
	if (split(text, host, sizeof host, &port, &braced, err) < 0)
		return -1;
	if (port && parse_port(port, &rule.target.port) < 0)
		return error_set(err, "'%.300s': '%.20s' is not a valid port (1 to 65535)", text,
				 port);
	if (braced || (host[0] != '*' && address_like(host))) {
		if (parse_address(host, &rule.target, err) < 0)
			return -1;
		if (braced != (rule.target.address.family == 6))
			return error_set(err, "'%.300s': brackets are for IPv6 addresses", text);
	} else if (parse_name(text, host, &rule, err) < 0) {
		return -1;
	}
	*ret_rule = rule;
	return 0;
}

static const char *opening(const struct rule_target *target)
{
	return target->address.family == 6 ? "[" : "";
}

static const char *closing(const struct rule_target *target)
{
	return target->address.family == 6 ? "]" : "";
}

void rule_text(const struct rule *rule, char ret_text[GATEWAY_TEXT])
{
	const struct rule_target *target = &rule->target;
	int n = snprintf(ret_text, GATEWAY_TEXT, "%s%s%s%s", rule->below ? "*." : "",
			 opening(target), target->host, closing(target));

	if (target->port)
		snprintf(ret_text + n, GATEWAY_TEXT - (size_t)n, ":%u", target->port);
}

void rule_target_text(const struct rule_target *target, char ret_text[GATEWAY_TEXT])
{
	snprintf(ret_text, GATEWAY_TEXT, "%s%s%s:%u", opening(target), target->host,
		 closing(target), target->port);
}

void rule_target_rule(const struct rule_target *target, char ret_text[GATEWAY_TEXT])
{
	if (target->port == 443 || target->port == 80)
		snprintf(ret_text, GATEWAY_TEXT, "%s%s%s", opening(target), target->host,
			 closing(target));
	else
		rule_target_text(target, ret_text);
}

int rule_target_parse(const char *host, uint16_t port, struct rule_target *ret_target,
		      struct error *err)
{
	struct rule_target target = { .port = port };

	if (port == 0)
		return error_set(err, "0 is not a valid port");
	if (address_like(host)) {
		if (parse_address(host, &target, err) < 0)
			return -1;
	} else if (normalise(host, strlen(host), target.host) == 0) {
		return error_set(err, "'%.100s' is not a valid host", host);
	}
	*ret_target = target;
	return 0;
}

bool rule_allows(const struct rule *rule, const struct rule_target *target)
{
	const char *host = target->host;
	size_t size = strlen(host);
	size_t tail = strlen(rule->target.host);

	if (rule->target.port ? rule->target.port != target->port
			      : target->port != 443 && target->port != 80)
		return false;
	if (rule->target.address.family || target->address.family)
		return address_equal(&rule->target.address, &target->address);
	if (!rule->below)
		return strcmp(rule->target.host, host) == 0;
	return size > tail + 1 && host[size - tail - 1] == '.' &&
	       strcmp(host + size - tail, rule->target.host) == 0;
}

int rule_list_allows(const struct list *rules, const char *host, uint16_t port, size_t *ret_index,
		     struct error *err)
{
	struct rule_target target;
	char shown[GATEWAY_TEXT];
	char remedy[GATEWAY_TEXT];

	if (rule_target_parse(host, port, &target, err) < 0)
		return -1;
	for (size_t i = 0; i < rules->count; i++) {
		struct rule rule;

		if (rule_parse(rules->items[i], &rule, err) < 0)
			return -1;
		if (rule_allows(&rule, &target)) {
			*ret_index = i;
			return 1;
		}
	}
	rule_target_text(&target, shown);
	rule_target_rule(&target, remedy);
	error_format(err, ERROR_REFUSED, "%s is " GATEWAY_NOT_LISTED "; --allow %s would allow it",
		     shown, remedy);
	return 0;
}
