/* Whether an agent with its own login can reach its provider: see choice.h. */
#include "provider/provider.h"
#include "settings/choice.h"
#include "settings/reach.h"
#include "util/env.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* The value of a variable in the fence, or NULL. */
static const char *value_inside(const struct fence_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->env.count; i++) {
		const char *value = strchr(spec->env.items[i], '=');

		if (choice_is_variable(spec->env.items[i], name))
			return value ? value + 1 : env_get(name);
	}
	return NULL;
}

static bool has_address(const char *text)
{
	return text && strstr(text, "://");
}

/* Returns the setting with an address that replaces the provider's, or NULL. */
static const char *other_server(const struct effective *effective, const struct adapter *agent)
{
	const char *arguments = config_text(&effective->config, SETTING_AGENT_ARGS);
	const char *value;

	for (const char *const *name = agent->passes; *name; name++) {
		value = value_inside(&effective->spec, *name);
		value = value ? value : env_get(*name);
		if (has_address(value))
			return value;
	}
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		value = value_inside(&effective->spec, provider_at(i)->base_variable);
		if (has_address(value))
			return value;
	}
	return has_address(arguments) ? arguments : NULL;
}

/* Returns the option that is missing to reach a URL, or NULL. Text that only contains an address,
 * and a server in the fence, need nothing. The caller frees. */
static char *missing_for_url(const struct fence_spec *spec, const char *url)
{
	struct fence_explanation explanation = { .subject = mem_dup(url) };
	char *missing = NULL;

	if (strncmp(url, "http", 4) == 0)
		reach_explain(spec, &explanation);
	if (explanation.change_key && strcmp(explanation.change_key, "allow") == 0)
		missing = mem_format("--allow %s", explanation.change_value);
	fence_explanation_release(&explanation);
	return missing;
}

/* The hosts of a provider that is not in the table are unknown: any rule will do. */
static char *missing_for_unknown(const struct fence_spec *spec)
{
	return spec->allow.count == 0 ? mem_dup("--allow HOST") : NULL;
}

static const struct provider *provider_of(const char *variable)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		if (provider_has_variable(provider_at(i), variable))
			return provider_at(i);
	return NULL;
}

/* One key whose provider can be reached is enough. */
static char *missing_for_keys(const struct fence_spec *spec, const struct adapter *agent)
{
	char *missing = NULL;

	for (const char *const *key = agent->keys; *key; key++) {
		const struct provider *provider = provider_of(*key);

		if (!value_inside(spec, *key))
			continue;
		free(missing);
		missing = provider ? missing_for_url(spec, provider->base_url)
				   : missing_for_unknown(spec);
		if (!missing)
			return NULL;
	}
	return missing;
}

/* The first host is needed for every request, the others to renew the login. */
static char *missing_for_login(const struct fence_spec *spec, const struct adapter *agent)
{
	char *missing = NULL;

	if (!agent->login_hosts[0])
		return missing_for_unknown(spec);
	if (reach_allows(spec, agent->login_hosts[0]))
		return NULL;
	for (const char *const *host = agent->login_hosts; *host; host++) {
		AUTO_FREE char *before = missing;

		missing = mem_format("%s%s--allow %s", before ? before : "", before ? " " : "",
				     *host);
	}
	return missing;
}

int choice_check_reach(const struct effective *effective, const struct adapter *agent,
		       bool login_file, struct error *err)
{
	const struct fence_spec *spec = &effective->spec;
	const char *other = other_server(effective, agent);
	AUTO_FREE char *missing = other        ? missing_for_url(spec, other)
				  : login_file ? missing_for_login(spec, agent)
					       : missing_for_keys(spec, agent);

	if (!missing)
		return 0;
	return error_set(
		err,
		"%s could not reach its provider from the fence: add %s (or set %s without "
		"--env and --agent-login: the gateway then reaches it from outside)",
		agent->title, missing, agent->keys[0]);
}
