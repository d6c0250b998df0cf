/* Words for completions: see candidates.h. */
#include "cli/candidates.h"

#include "agent/adapter.h"
#include "batch/batch_client.h"
#include "draft/draft_record.h"
#include "loop/client.h"

#include <string.h>

enum { MOST = 100 };

/* Commands whose arguments the help does not tell apart. */
static const struct {
	const struct cli_command *command;
	unsigned kinds;
} arguments[] = {
	{ &cmd_diff, CANDIDATES_CHECKPOINTS },
	{ &cmd_rollback, CANDIDATES_CHECKPOINTS },
	{ &cmd_exec, 0 },
	{ &cmd_gateway, 0 },
	{ &cmd_work, CANDIDATES_BATCHES },
};

/* The kinds that a placeholder of the help means. */
static unsigned kinds_of(const char *placeholder)
{
	unsigned kinds = 0;

	if (strstr(placeholder, "LOOP"))
		kinds |= CANDIDATES_LOOPS;
	if (strstr(placeholder, "DRAFT")) /* a loop may have one */
		kinds |= CANDIDATES_LOOPS | CANDIDATES_DRAFTS;
	if (strncmp(placeholder, "AGENT", strlen("AGENT")) == 0)
		kinds |= CANDIDATES_AGENTS;
	return kinds;
}

static unsigned kinds_of_option(const struct cli_command *command, const char *name)
{
	for (const struct cli_option *at = command->options; at->name; at++) {
		if (strcmp(at->name, name) != 0)
			continue;
		return !at->value                                         ? 0
		       : command == &cmd_restore && !strcmp(name, "from") ? CANDIDATES_CHECKPOINTS
									  : kinds_of(at->value);
	}
	for (size_t i = 0; i < SETTING_ID_COUNT; i++)
		if (cli_has_setting(command, setting_at(i)) &&
		    strcmp(setting_at(i)->key, name) == 0)
			return i == SETTING_AGENT ? CANDIDATES_AGENTS
						  : kinds_of(setting_at(i)->value);
	return 0;
}

unsigned candidates_kinds(const struct cli_command *command, const char *option)
{
	if (option)
		return kinds_of_option(command, option);
	for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
		if (arguments[i].command == command)
			return arguments[i].kinds;
	return kinds_of(command->args);
}

static void add_drafts(const struct fence_place *place, struct list *words)
{
	struct draft_records all;
	struct error ignored;

	if (draft_record_list(place->state, &all, &ignored) < 0)
		return;
	for (size_t i = all.count; i-- > 0 && words->count < MOST;)
		if (strcmp(all.items[i].project, place->project) == 0)
			list_add(words, all.items[i].id);
	draft_records_release(&all);
}

/* Old ones may be gone; only the snapshot program knows, and it would take too long. */
static void add_checkpoints(const struct fence_place *place, struct list *words)
{
	struct client_loop loop;
	struct error ignored;

	if (client_find(place->state, NULL, place->project, &loop, &ignored) < 0)
		return;
	for (int64_t i = loop.state.checkpoint; i >= 0 && words->count < MOST; i--)
		list_printf(words, "%lld", (long long)i);
	client_loop_release(&loop);
}

static void add_batches(const struct fence_place *place, struct list *words)
{
	struct batch_clients all;
	struct error ignored;

	if (batch_client_list(place->state, &all, &ignored) < 0)
		return;
	for (size_t i = all.count; i-- > 0 && words->count < MOST;)
		if (all.items[i].state.project &&
		    strcmp(all.items[i].state.project, place->project) == 0)
			list_add(words, all.items[i].id);
	batch_clients_release(&all);
}

static void add_agents(struct list *words)
{
	for (size_t i = 0; adapter_at(i); i++)
		list_add(words, adapter_at(i)->name);
}

void candidates_list(const struct fence_place *place, unsigned kinds, struct list *words)
{
	struct error ignored;

	if (kinds & CANDIDATES_LOOPS)
		(void)client_words(place->state, place->project, MOST, words, &ignored);
	if (kinds & CANDIDATES_DRAFTS)
		add_drafts(place, words);
	if (kinds & CANDIDATES_CHECKPOINTS)
		add_checkpoints(place, words);
	if (kinds & CANDIDATES_BATCHES)
		add_batches(place, words);
	if (kinds & CANDIDATES_AGENTS)
		add_agents(words);
}
