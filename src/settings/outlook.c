/* The outlook of a loop: see outlook.h. */
#include "settings/outlook.h"

#include "loop/client.h"
#include "settings/prices.h"
#include "snapshot/generated.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/word.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- past loops ---- */

/*
 * The line of a loop in this index: "AGENT MODEL ITERATIONS COST_NUSD MS"; ITERATIONS is 0 if the
 * loop says nothing about the next one.
 */
#define INDEX ".paces"

/* Loops without a line are read from their journals, a few at each start. */
enum { MOST_READ = 20 };

struct search {
	const char *state;
	char *agent, *model; /* as words */
	struct estimate_past *past;
	size_t count;
	size_t read;
};

static char *line_of(const struct client_loop *loop)
{
	const struct loop_state *state = &loop->state;
	const struct loop_options *options = &state->options;
	AUTO_FREE char *agent = word_from(options->agents[0].agent ? options->agents[0].agent : "");
	AUTO_FREE char *model = word_from(options->agents[0].model ? options->agents[0].model : "");
	int64_t ms = state->step_ms - state->created_ms - state->rested_ms;
	bool counts = state->step == LOOP_STEP_finished && !options->replay && ms > 0;

	return mem_format("%s %s %u %lld %lld", agent, model, counts ? state->used : 0,
			  (long long)state->spent_nusd, (long long)(ms > 0 ? ms : 0));
}

static bool is_word(const char **line, const char *wanted)
{
	size_t size;
	const char *word = word_take(line, &size);

	return word && strlen(wanted) == size && memcmp(word, wanted, size) == 0;
}

static void add_line(struct search *at, const char *line)
{
	struct estimate_past past;

	if (!is_word(&line, at->agent) || !is_word(&line, at->model) ||
	    word_take_number(&line, &past.iterations) < 0 ||
	    word_take_number(&line, &past.cost_nusd) < 0 || word_take_number(&line, &past.ms) < 0 ||
	    !past.iterations)
		return;
	at->past = mem_extend(at->past, at->count, sizeof *at->past);
	at->past[at->count++] = past;
}

static int add_loop(void *context, const char *loops, const char *id, const char *line,
		    char **ret_line, struct error *err)
{
	struct search *at = context;
	struct client_loop loop;

	(void)loops;
	if (line) {
		add_line(at, line);
		return 0;
	}
	if (at->read++ >= MOST_READ || client_find(at->state, id, NULL, &loop, err) < 0)
		return 0;
	if (!loop.damaged) {
		*ret_line = line_of(&loop);
		if (!loop.alive)
			add_line(at, *ret_line);
	}
	client_loop_release(&loop);
	return 0;
}

/* ---- the repository ---- */

struct sources {
	uint64_t entries, most, bytes;
	bool cut;
};

static enum dirwalk_verdict add_source(void *context, const struct dirwalk_entry *entry)
{
	enum { FILE_BYTES = 256 << 10 }; /* agents read no more of a file */
	struct sources *sources = context;
	struct stat status;

	if (++sources->entries > sources->most) {
		sources->cut = true;
		return DIRWALK_STOP;
	}
	if (entry->type == DT_DIR)
		return generated_is(entry->name) ? DIRWALK_PAST : DIRWALK_ON;
	if (entry->type == DT_REG &&
	    fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		sources->bytes += (uint64_t)(status.st_size < FILE_BYTES ? status.st_size
									 : FILE_BYTES);
	return DIRWALK_ON;
}

static struct sources count_sources(const char *project, uint64_t most)
{
	struct sources sources = { .most = most };
	const struct dirwalk walk = {
		.visit = add_source, .context = &sources, .deepest = DIRWALK_DEPTH, .no_paths = true
	};
	AUTO_FD fd = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error ignored;

	if (fd >= 0)
		dirwalk_tree(&walk, fd, NULL, &ignored);
	return sources;
}

/* ---- the model ---- */

/* Finds the provider that the agent would use; PROVIDER_COUNT: none that is known. */
static enum provider_id provider_of(const struct adapter *agent, const struct model_access *access)
{
	enum provider_id possible = PROVIDER_COUNT;

	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		bool fits = !agent->keys[0];

		for (const char *const *key = agent->keys; *key; key++)
			fits = fits || provider_has_variable(provider_at(i), *key);
		if (fits && access->upstreams[i].set)
			return i;
		/* An agent with its own login uses the provider of its first key. */
		if (agent->keys[0] && possible == PROVIDER_COUNT &&
		    provider_has_variable(provider_at(i), agent->keys[0]))
			possible = i;
	}
	return possible;
}

static void find_model(const struct loop_request *request, struct outlook *outlook)
{
	const struct model_access *access = &request->effective->spec.models;
	enum provider_id provider = provider_of(request->agents.items[0].agent, access);
	const char *model = request->agents.items[0].model;

	outlook->replay = model_access_tape(access, MODEL_ACCESS_REPLAY);
	outlook->local = outlook->replay ||
			 (provider < PROVIDER_COUNT && access->upstreams[provider].local);
	if (!model && provider < PROVIDER_COUNT && !outlook->local) {
		model = provider_at(provider)->usual_model;
		outlook->model_assumed = true;
	}
	outlook->model = model ? mem_dup(model) : NULL;
}

/* ---- the whole ---- */

static void set_limits(const struct config *config, struct estimate_facts *facts)
{
	facts->most_iterations = effective_loop_number(config, SETTING_MAX_ITERATIONS);
	facts->most_ms = effective_loop_number(config, SETTING_MAX_TIME);
	facts->iteration_ms = effective_loop_number(config, SETTING_TIMEOUT);
	facts->iteration_nusd = effective_loop_number(config, SETTING_BUDGET);
	facts->most_nusd = effective_loop_number(config, SETTING_MAX_COST);
}

int outlook_make(const struct loop_request *request, const char *objective, uint64_t most_entries,
		 struct outlook *ret_outlook, struct error *err)
{
	const struct fence_place *place = &request->effective->place;
	const char *model = request->agents.items[0].model;
	struct outlook outlook = { .prompt_bytes = objective ? strlen(objective) : 0 };
	struct search search = { .state = place->state,
				 .agent = word_from(request->agents.items[0].agent->name),
				 .model = word_from(model ? model : "") };
	struct estimate_facts facts = { 0 };
	struct sources sources = count_sources(place->project, most_entries);
	struct price_table prices;
	struct error ignored;
	int result = prices_load(place, &prices, err);

	if (result == 0) {
		find_model(request, &outlook);
		client_each(place->state, INDEX, add_loop, &search, &ignored);
		outlook.source_bytes = sources.bytes;
		outlook.source_cut = sources.cut;
		outlook.past_count = search.count;
		memcpy(outlook.prices_dated, prices.dated, sizeof outlook.prices_dated);
		facts = (struct estimate_facts){
			.prices = &prices,
			.model = outlook.model && !outlook.local
					 ? price_find(&prices, outlook.model)
					 : NULL,
			.local = outlook.local,
			.prompt_bytes = outlook.prompt_bytes,
			.source_bytes = outlook.source_bytes,
			.past = search.past,
			.past_count = search.count,
		};
		set_limits(&request->effective->config, &facts);
		outlook.estimate = estimate_loop(&facts);
		price_table_release(&prices);
		*ret_outlook = outlook;
	}
	free(search.agent);
	free(search.model);
	free(search.past);
	return result;
}

void outlook_release(struct outlook *outlook)
{
	free(outlook->model);
	outlook->model = NULL;
}

bool outlook_is_known(const struct outlook *outlook)
{
	return !outlook->replay && (outlook->estimate.priced || outlook->estimate.from_past);
}

static json_t *levels(const uint64_t values[ESTIMATE_LEVELS])
{
	return json_pack("{s:I, s:I, s:I}", "low", (json_int_t)values[ESTIMATE_LOW], "likely",
			 (json_int_t)values[ESTIMATE_LIKELY], "high",
			 (json_int_t)values[ESTIMATE_HIGH]);
}

json_t *outlook_json(const struct outlook *outlook)
{
	const struct estimate *estimate = &outlook->estimate;

	return json_pack("{s:o, s:o, s:o, s:s, s:I, s:s?, s:b, s:b, s:I, s:I, s:b, s:b}",
			 "iterations", levels(estimate->iterations), "cost_nusd",
			 estimate->priced ? levels(estimate->nusd) : json_null(), "time_ms",
			 levels(estimate->ms), "based_on",
			 estimate->from_past ? "past loops" : "assumptions", "past_loops",
			 (json_int_t)outlook->past_count, "model", outlook->model, "model_assumed",
			 outlook->model_assumed, "local", outlook->local, "prompt_bytes",
			 (json_int_t)outlook->prompt_bytes, "source_bytes",
			 (json_int_t)outlook->source_bytes, "cost_capped", estimate->capped_nusd,
			 "time_capped", estimate->capped_ms);
}
