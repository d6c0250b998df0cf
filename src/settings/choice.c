/* The agent of a loop: see choice.h. */
#include "settings/choice.h"

#include "fence/fence_spec.h"
#include "settings/effective_models.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

bool choice_is_variable(const char *entry, const char *name)
{
	size_t size = strlen(name);

	return strncmp(entry, name, size) == 0 && (!entry[size] || entry[size] == '=');
}

/* Whether `env` (entries as of --env) holds a key that the agent can log in with. */
static bool has_key(const struct adapter *agent, const struct list *env)
{
	for (const char *const *key = agent->keys; *key; key++)
		for (size_t i = 0; i < env->count; i++)
			if (choice_is_variable(env->items[i], *key))
				return true;
	return false;
}

/* With the gateway, the agent needs only a token. */
static bool is_routed(const struct effective *effective, const struct adapter *agent)
{
	for (const char *const *key = agent->keys; *key; key++)
		if (effective_models_has_key(&effective->spec.models, *key))
			return true;
	return false;
}

static bool uses_login_file(const struct effective *effective)
{
	return strcmp(config_get(&effective->config, SETTING_AGENT_LOGIN)->text, "file") == 0;
}

/* Whether the agent can reach a plain http:// server without the gateway. */
static bool has_plain_server(const struct effective *effective, const struct adapter *agent)
{
	if (model_access_is_set(&effective->spec.models) ||
	    (effective->spec.net != FENCE_NET_OPEN &&
	     !(effective->spec.accepted_weaker & FENCE_WEAKER_NO_FENCE)))
		return false;
	for (const char *const *name = agent->passes; *name; name++) {
		const char *place = env_get(*name);

		if (place && strncmp(place, "http://", 7) == 0)
			return true;
	}
	return false;
}

static bool can_log_in(const struct effective *effective, const struct adapter *agent,
		       const struct adapter_found *found)
{
	if (agent->own && !uses_login_file(effective))
		return is_routed(effective, agent) || has_plain_server(effective, agent);
	return uses_login_file(effective)
		       ? found->credentials != NULL
		       : has_key(agent, &effective->spec.env) || is_routed(effective, agent);
}

/* Looks for an agent where it will run: an image has its own agents, found in the PATH there. */
static void look(const struct effective *effective, const struct adapter *agent,
		 struct adapter_found *ret_found)
{
	adapter_look(agent, effective->place.identity.home, ret_found);
	if (!effective->spec.image || !agent->program || agent->own)
		return;
	mem_replace(&ret_found->program, agent->program);
	mem_replace(&ret_found->folder, NULL);
	mem_replace(&ret_found->version, NULL);
	ret_found->tested = false;
}

/* The first agent that is installed and can log in, or NULL. */
static const struct adapter *pick_installed(const struct effective *effective)
{
	const struct adapter *agent;

	for (size_t i = 0; (agent = adapter_at(i)); i++) {
		struct adapter_found found;
		bool fits;

		look(effective, agent, &found);
		fits = found.program && can_log_in(effective, agent, &found);
		adapter_found_release(&found);
		if (fits)
			return agent;
	}
	return NULL;
}

/* An agent as the user names it. The texts are borrowed, except for the name. */
struct wish {
	char *name;            /* NULL: any */
	const char *model;     /* NULL: its default */
	const char *command;   /* of the agent "command", or NULL */
	const char *arguments; /* more options for it, or NULL */
	const char *option;    /* that named it */
};

/* Parses AGENT[:MODEL], or command:LINE. */
static struct wish parse_wish(const char *text, const char *option)
{
	const char *colon = strchr(text, ':');
	struct wish wish = { .name = colon ? mem_format("%.*s", (int)(colon - text), text)
					   : mem_dup(text),
			     .option = option };
	const char *rest = colon && colon[1] ? colon + 1 : NULL;

	if (strcmp(wish.name, agent_adapter_command.name) == 0)
		wish.command = rest;
	else
		wish.model = rest;
	return wish;
}

static int choose_agent(const struct effective *effective, const struct wish *wish,
			const struct adapter **ret_agent, struct error *err)
{
	const char *name = wish->name;

	if (!name || strcmp(name, "auto") == 0) {
		*ret_agent = pick_installed(effective);
		if (*ret_agent)
			return 0;
		return error_set(
			err,
			"no installed agent can log in (ringfence agents): set a key such as " PROVIDER_ANTHROPIC_KEY
			", or name "
			"a local model server (--upstream openai=local:URL) or a command (--agent-command COMMAND)");
	}
	*ret_agent = adapter_find(name);
	if (*ret_agent)
		return 0;

	AUTO_FREE char *known = adapter_names();

	return error_set(err, "there is no agent '%.100s' (--%s); choose one of auto, %s", name,
			 wish->option, known);
}

static int choose_command(const struct effective *effective, const struct wish *wish,
			  struct choice *choice, struct error *err)
{
	const char *format = config_text(&effective->config, SETTING_AGENT_FORMAT);

	if (!wish->command && strcmp(wish->option, "agent") == 0)
		return error_set(
			err,
			"run needs a command that reads the prompt from stdin: --agent-command COMMAND");
	if (!wish->command)
		return error_set(err,
				 "--%s command needs a command that reads the prompt from stdin: "
				 "--%s 'command:LINE'",
				 wish->option, wish->option);
	choice->format = format ? format : "plain";
	if (!agent_format_find(choice->format)) {
		AUTO_FREE char *known = agent_format_names();

		return error_set(err, "--agent-format must be one of %s, not '%.100s'", known,
				 choice->format);
	}
	choice->command = mem_dup(wish->command);
	return 0;
}

/* Adds a variable, unless the user has set it. */
static void add_variable(struct fence_spec *spec, const char *variable)
{
	AUTO_FREE char *name = strndup(variable, strcspn(variable, "="));

	for (size_t i = 0; name && i < spec->env.count; i++)
		if (choice_is_variable(spec->env.items[i], name))
			return;
	list_add(&spec->env, variable);
}

static void add_variables(struct fence_spec *spec, const char *const *variables)
{
	for (; *variables; variables++)
		add_variable(spec, *variables);
}

static void hide_settings(struct fence_spec *spec, const struct adapter *agent)
{
	struct fence_patterns *patterns = &spec->patterns;

	for (const char *const *name = agent->hides; *name; name++) {
		patterns->items = mem_resize(patterns->items, patterns->count + 1,
					     sizeof *patterns->items);
		patterns->items[patterns->count++] = (struct fence_pattern){
			.glob = { .text = mem_dup(*name), .rooted = true },
			.origin = mem_format("settings for %s in the project", agent->title),
		};
	}
}

/* Tells the built-in agent which providers are local and whether its commands can reach hosts. */
static void describe_models(struct fence_spec *spec)
{
	AUTO_BUFFER struct buffer local = BUFFER_INIT(256);

	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		if (spec->models.upstreams[i].local)
			buffer_printf(&local, "%s%s", local.used ? " " : "", provider_at(i)->name);
	if (local.used) {
		AUTO_FREE char *variable = mem_format("RINGFENCE_LOCAL_MODELS=%s",
						      buffer_text(&local));

		add_variable(spec, variable);
	}
	if (spec->allow.count)
		add_variable(spec, "RINGFENCE_HOSTS=1");
}

static void prepare_spec(struct effective *effective, const struct adapter *agent,
			 const struct adapter_found *found, bool fenced)
{
	struct fence_spec *spec = &effective->spec;

	/* Folders in the project are visible already, and must stay writable. */
	if (found->folder && !path_within(found->folder, effective->place.project))
		fence_paths_add(&spec->read, found->folder, "--agent");
	add_variables(spec, agent->environment);
	if (fenced)
		add_variables(spec, agent->bypass_env);
	for (const char *const *name = agent->passes; *name; name++)
		if (env_get(*name) &&
		    !model_access_is_set(&spec->models)) /* the gateway sets its own address */
			add_variable(spec, *name);
	if (agent->own)
		describe_models(spec);
	hide_settings(spec, agent);
}

static int check_login(const struct effective *effective, const struct adapter *agent,
		       const struct adapter_found *found, struct error *err)
{
	if (can_log_in(effective, agent, found))
		return 0;
	if (uses_login_file(effective))
		return agent->credentials
			       ? error_set(
					 err,
					 "%s is not logged in on this machine: there is no '~/%s'",
					 agent->title, agent->credentials)
			       : error_set(err,
					   "%s has no credential file; pass its key with --env",
					   agent->title);
	if (agent->own)
		return error_set(
			err,
			"%s has no model: set %s or %s, which the gateway adds outside the "
			"fence, or name a local model server (--upstream openai=local:URL)",
			agent->title, agent->keys[0], agent->keys[1]);
	return error_set(
		err,
		"%s cannot log in: set %s, which the gateway adds outside the fence (--models auto); --env %s passes it "
		"into the fence, where the agent can read it%s",
		agent->title, agent->keys[0], agent->keys[0],
		agent->credentials
			? "; --agent-login file gives it a copy of your login instead (docs/agents.md)"
			: "");
}

/* With the gateway, or with the host's network, there is nothing to check. */
static int check_reach(const struct effective *effective, const struct adapter *agent, bool fenced,
		       struct error *err)
{
	if (!fenced || agent->own || effective->spec.net == FENCE_NET_OPEN ||
	    is_routed(effective, agent))
		return 0;
	return choice_check_reach(effective, agent, uses_login_file(effective), err);
}

static void add_notices(const struct adapter *agent, const struct adapter_found *found,
			const char *image, bool fenced, struct list *notices)
{
	if (image && !agent->own)
		list_printf(notices,
			    "%s is the one of the image '%s', whose version is not checked",
			    agent->title, image);
	else if (agent->tested_from && !found->tested)
		list_printf(
			notices,
			"%s %s was not tested with this version of Ringfence; versions from %s to below %s were",
			agent->title, found->version ? found->version : "of an unknown version",
			agent->tested_from, agent->tested_below);
	else if (!agent->tested_from)
		list_printf(notices, "%s is %s", agent->title, agent->caveat);
	if (!fenced)
		list_printf(
			notices,
			"NO FENCE: %s uses its own permission checks and obeys the project's settings",
			agent->title);
}

static void release_choice(struct choice *choice)
{
	free(choice->command);
	free(choice->model);
	free(choice->name);
	free(choice->login);
}

/* Chooses the agent that was asked for: see choice_make(). */
static int choose(struct effective *effective, const struct wish *wish, struct choice *ret_choice,
		  struct list *notices, struct error *err)
{
	struct choice choice = { .model = wish->model ? mem_dup(wish->model) : NULL };
	AUTO_BUFFER struct buffer command = BUFFER_INIT(1 << 16);
	bool fenced = !(effective->spec.accepted_weaker & FENCE_WEAKER_NO_FENCE);
	struct adapter_found found = { 0 };
	int result = -1;

	if (choose_agent(effective, wish, &choice.agent, err) < 0)
		goto out;
	if (!choice.agent->program) {
		result = choose_command(effective, wish, &choice, err);
		goto out;
	}
	choice.format = choice.agent->format->name;
	look(effective, choice.agent, &found);
	if (!found.program) {
		error_set(err, "%s is not installed: there is no '%s' in PATH (%s)",
			  choice.agent->title, choice.agent->program, choice.agent->install);
		goto out;
	}
	if (check_login(effective, choice.agent, &found, err) < 0 ||
	    check_reach(effective, choice.agent, fenced, err) < 0)
		goto out;
	if (uses_login_file(effective)) {
		choice.login = mem_dup(found.credentials);
		list_printf(
			notices,
			"LOGIN IN THE FENCE: %s gets a copy of '%s', which every command it runs can read and send",
			choice.agent->title, found.credentials);
	}
	add_notices(choice.agent, &found, effective->spec.image, fenced, notices);
	prepare_spec(effective, choice.agent, &found, fenced);

	const struct adapter_order order = { .program = found.program,
					     .model = choice.model,
					     .arguments = wish->arguments,
					     .fenced = fenced };

	adapter_command(choice.agent, &order, &command);
	choice.command = mem_dup(buffer_text(&command));
	result = 0;
out:
	adapter_found_release(&found);
	if (result == 0)
		*ret_choice = choice;
	else
		release_choice(&choice);
	return result;
}

/* Settings beside the words that name an agent. */
struct terms {
	const char *model, *arguments; /* or NULL */
};

/* Chooses an agent by the user's words, AGENT[:MODEL]. */
static int choose_text(struct effective *effective, const char *option, const char *text,
		       const struct terms *terms, struct choice *ret_choice, struct list *notices,
		       struct error *err)
{
	struct wish wish = parse_wish(text, option);
	int result;

	if (!wish.model)
		wish.model = terms->model;
	wish.arguments = terms->arguments;
	if (!wish.command && strcmp(option, "agent") == 0)
		wish.command = config_text(&effective->config, SETTING_AGENT_COMMAND);
	result = choose(effective, &wish, ret_choice, notices, err);
	if (result == 0)
		ret_choice->name = ret_choice->model ? mem_format("%s:%s", ret_choice->agent->name,
								  ret_choice->model)
						     : mem_dup(ret_choice->agent->name);
	free(wish.name);
	return result;
}

static int check_room(const struct choice_list *list, const char *option, struct error *err)
{
	if (list->total < CHOICE_AGENTS_MAX)
		return 0;
	return error_set(err, "--%s: a loop has at most %d agents", option, CHOICE_AGENTS_MAX);
}

/* Chooses the agents that are named, with commas between them. The terms are for the first. */
static int choose_agents(struct effective *effective, const char *text, const struct terms *terms,
			 struct choice_list *list, struct list *notices, struct error *err)
{
	const struct terms none = { 0 };

	for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		AUTO_FREE char *one = mem_format("%.*s", (int)strcspn(at, ","), at);

		if (check_room(list, "agent", err) < 0 ||
		    choose_text(effective, "agent", one, at == text ? terms : &none,
				&list->items[list->total], notices, err) < 0)
			return -1;
		list->total++;
	}
	return 0;
}

/* Chooses the stronger agents. */
static int choose_rungs(struct effective *effective, struct choice_list *list, struct list *notices,
			struct error *err)
{
	const struct config *config = &effective->config;
	const struct terms none = { 0 };

	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];

		if (value->setting->id != SETTING_ESCALATE || value->state != CONFIG_ACTIVE)
			continue;
		if (check_room(list, "escalate", err) < 0 ||
		    choose_text(effective, "escalate", value->text, &none,
				&list->items[list->total], notices, err) < 0)
			return -1;
		list->rungs++;
		list->total++;
	}
	return 0;
}

/* Returns the words that name the agents of the loop. */
static const char *named_agents(const struct config *config)
{
	const char *agents = config_text(config, SETTING_AGENT);

	return agents                                       ? agents
	       : config_text(config, SETTING_AGENT_COMMAND) ? agent_adapter_command.name
							    : "auto";
}

/* Model and options of the settings are for the first agent of a loop. */
static struct terms terms_of(const struct config *config)
{
	return (struct terms){ config_text(config, SETTING_MODEL),
			       config_text(config, SETTING_AGENT_ARGS) };
}

int choice_make(struct effective *effective, struct choice_list *ret_list, struct list *notices,
		struct error *err)
{
	const struct config *config = &effective->config;
	const struct terms terms = terms_of(config);
	const struct terms none = { 0 };
	const char *review = config_text(config, SETTING_REVIEW);

	*ret_list = (struct choice_list){ 0 };
	if (choose_agents(effective, named_agents(config), &terms, ret_list, notices, err) < 0)
		return -1;
	ret_list->count = ret_list->total;
	if (choose_rungs(effective, ret_list, notices, err) < 0)
		return -1;
	return review ? choose_text(effective, "review", review, &none, &ret_list->review, notices,
				    err)
		      : 0;
}

int choice_add_team(const struct choice_team_request *request, struct choice_list *list,
		    struct choice_team *ret_team, struct list *notices, struct error *err)
{
	const struct config *config = &request->effective->config;
	struct terms terms = request->agents ? (struct terms){ 0 } : terms_of(config);
	const char *agents = request->agents ? request->agents : named_agents(config);
	size_t first = list->total;

	if (request->model)
		terms.model = request->model;
	if (choose_agents(request->effective, agents, &terms, list, notices, err) < 0)
		return -1;
	*ret_team = (struct choice_team){ first, list->total - first };
	return 0;
}

void choice_release(struct choice_list *list)
{
	for (size_t i = 0; i < list->total; i++)
		release_choice(&list->items[i]);
	release_choice(&list->review);
	*list = (struct choice_list){ 0 };
}
