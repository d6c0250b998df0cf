/* Reachable hosts: see reach.h. */
#include "settings/reach.h"

#include "gateway/proxy/rule.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* Parses "host", "host:port" or "[v6]:port", optionally after "user@". */
static int parse_target(const char *text, uint16_t default_port, struct rule_target *ret_target,
			struct error *err)
{
	const char *at = strrchr(text, '@');
	struct rule rule;

	if (rule_parse(at ? at + 1 : text, &rule, err) < 0)
		return -1;
	if (rule.below)
		return error_set(err, "'%s' is a rule, not a host", text);
	*ret_target = rule.target;
	if (!ret_target->port)
		ret_target->port = default_port;
	return 0;
}

/* The first rule that allows the target, or NULL. */
static const struct fence_path *find_rule(const struct fence_spec *spec,
					  const struct rule_target *target)
{
	for (size_t i = 0; i < spec->allow.count; i++) {
		struct rule rule;
		struct error ignored;

		if (rule_parse(spec->allow.items[i].path, &rule, &ignored) == 0 &&
		    rule_allows(&rule, target))
			return &spec->allow.items[i];
	}
	return NULL;
}

static void explain_open(const struct fence_spec *spec, struct fence_explanation *ret)
{
	ret->verdict = "allowed";
	ret->rule = mem_dup("net open");
	ret->origin = mem_dup(spec->net_origin ? spec->net_origin : "built-in");
	ret->note = mem_dup("the fence shares the host's network, including loopback");
	ret->change_key = "net";
	ret->change_value = mem_dup("none");
}

static void explain_allowed(const struct fence_path *rule, const struct rule_target *target,
			    struct fence_explanation *ret)
{
	const char *special = target->address.family ? address_special(&target->address) : NULL;

	ret->verdict = "allowed";
	ret->rule = mem_format("allow %s", rule->path);
	ret->origin = mem_dup(rule->origin);
	ret->note = target->address.family
			    ? (special ? mem_format("the address is not public: %s", special)
				       : NULL)
			    : mem_dup("if the name resolves to public addresses, or to addresses "
				      "that are allowed themselves");
}

/* A loopback address inside is the fence's own; a port of the host comes in as a unix socket. */
static bool is_loopback(const struct rule_target *target)
{
	const char *special = target->address.family ? address_special(&target->address) : NULL;

	return strcmp(target->host, "localhost") == 0 ||
	       (special && strcmp(special, "loopback") == 0);
}

static void explain_loopback(const struct rule_target *target, struct fence_explanation *ret)
{
	free(ret->note);
	ret->note = mem_dup(
		"the fence has its own loopback; --listen forwards one of its ports to a "
		"unix socket of the host");
	ret->change_key = "listen";
	ret->change_value =
		mem_format(strchr(target->host, ':') ? "[%s]:%u=SOCKET" : "%s:%u=SOCKET",
			   target->address.family ? target->host : "127.0.0.1", target->port);
}

static void explain_refused(const struct fence_spec *spec, const struct rule_target *target,
			    struct fence_explanation *ret)
{
	char rule[GATEWAY_TEXT];

	rule_target_rule(target, rule);
	ret->verdict = "refused";
	ret->rule = mem_dup(spec->net == FENCE_NET_LIST ? "net list" : "net none");
	ret->origin = mem_dup(spec->net_origin ? spec->net_origin : "built-in");
	ret->note = mem_dup(spec->net == FENCE_NET_LIST ? "no rule of the list allows it"
							: "there is no network");
	if (is_loopback(target)) {
		explain_loopback(target, ret);
		return;
	}
	ret->change_key = "allow";
	ret->change_value = mem_dup(rule);
}

void reach_explain(const struct fence_spec *spec, struct fence_explanation *explanation)
{
	const bool plain = strncmp(explanation->subject, "http://", 7) == 0;
	const char *scheme = strstr(explanation->subject, "://");
	struct rule_target target;
	const struct fence_path *rule;
	struct error err;

	if (scheme) {
		char *host = strndup(scheme + 3, strcspn(scheme + 3, "/?#"));

		free(explanation->subject);
		explanation->subject = host;
	}
	if (spec->net == FENCE_NET_OPEN) {
		explain_open(spec, explanation);
	} else if (parse_target(explanation->subject, plain ? 80 : 443, &target, &err) < 0) {
		explanation->verdict = "refused";
		explanation->rule = mem_dup(spec->net == FENCE_NET_LIST ? "net list" : "net none");
		explanation->origin = mem_dup(spec->net_origin ? spec->net_origin : "built-in");
		explanation->note = mem_dup(err.text);
	} else if (spec->net == FENCE_NET_LIST && (rule = find_rule(spec, &target))) {
		explain_allowed(rule, &target, explanation);
	} else {
		explain_refused(spec, &target, explanation);
	}
}

bool reach_allows(const struct fence_spec *spec, const char *text)
{
	struct rule_target target;
	struct error ignored;

	if (spec->net == FENCE_NET_OPEN)
		return true;
	return spec->net == FENCE_NET_LIST && parse_target(text, 443, &target, &ignored) == 0 &&
	       find_rule(spec, &target);
}

bool reach_rule_allows(const char *text, const char *asked)
{
	struct rule_target target;
	struct rule rule;
	struct error ignored;

	return rule_parse(text, &rule, &ignored) == 0 &&
	       parse_target(asked, 443, &target, &ignored) == 0 && rule_allows(&rule, &target);
}

bool reach_offer(const char *text, const char *refused_by, struct fence_offer *ret_offer)
{
	char rule[GATEWAY_TEXT];
	struct rule_target target;
	struct error err;

	*ret_offer = (struct fence_offer){ 0 };
	if (parse_target(text, 443, &target, &err) < 0)
		ret_offer->risk = mem_dup(err.text);
	else if (target.address.family)
		ret_offer->risk = mem_dup(
			target.port == 53
				? "a name was looked up, but which one is unknown; --allow HOST"
				: "a bare address is never suggested; allow its host name");
	else if (!strchr(target.host, '.'))
		ret_offer->risk =
			mem_dup("a name without a dot is a different host on every network");
	else if (strcmp(refused_by, GATEWAY_NOT_LISTED) != 0)
		ret_offer->risk = mem_dup(refused_by);
	if (ret_offer->risk)
		return false;
	rule_target_rule(&target, rule);
	*ret_offer = (struct fence_offer){
		.key = "allow",
		.path = mem_dup(rule),
		.risk = mem_dup("anything that a command can read can be sent there"),
	};
	return true;
}
