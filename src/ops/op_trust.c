/* Trusting a project: see op_trust.h. */
#include "ops/op_trust.h"

#include "config/phase_text.h"
#include "config/trust.h"
#include "util/mem.h"

/* In order of risk: the riskiest settings come last, next to the question. */
static const enum setting_id by_risk[] = {
	SETTING_RAW_TERMINAL,
	SETTING_DRAFT_KIND,
	SETTING_DRAFT_SIZE,
	SETTING_DRAFTS_SIZE,
	SETTING_DRAFTS_AGE,
	SETTING_SESSION,
	SETTING_PROMISE,
	SETTING_TASKS,
	SETTING_WORKSPACE,
	SETTING_MAX_ITERATIONS,
	SETTING_MAX_TIME,
	SETTING_IDLE_TIMEOUT,
	SETTING_CHECK_TIMEOUT,
	SETTING_MAX_ERRORS,
	SETTING_MAX_SAME_ERROR,
	SETTING_MAX_NO_PROGRESS,
	SETTING_MAX_INTERRUPTED,
	SETTING_MAX_UNREACHABLE,
	SETTING_PROGRESS,
	SETTING_EARLY_STOP,
	SETTING_EARLY_STOP_AFTER,
	SETTING_PROMPT_HISTORY,
	SETTING_PROMPT_MESSAGES,
	SETTING_PROMPT_MESSAGE_SIZE,
	SETTING_PROMPT_OUTPUT_SIZE,
	SETTING_CHECKPOINT_EVERY,
	SETTING_CHECKPOINT_IGNORED,
	SETTING_CHECKPOINT_SIZE,
	SETTING_CHECKPOINT_AGE,
	SETTING_CHECKPOINTS,
	SETTING_GIT,
	SETTING_GIT_SIZE,
	SETTING_LOOP_DISK,
	SETTING_MIN_FREE,
	SETTING_ENV,
	SETTING_CHECK,
	SETTING_FINDINGS,
	SETTING_ALERT,
	SETTING_NOTIFY_ON,
	SETTING_CHECK_VIEW,
	SETTING_CHECK_CACHE,
	SETTING_PIN,
	SETTING_UNPIN,
	SETTING_FINAL_CHECK,
	SETTING_HOLD_OUT,
	SETTING_FINAL_TRIES,
	SETTING_PROVE_CHECK,
	SETTING_MUTATE,
	SETTING_DENIALS,
	SETTING_TRACE_READS,
	SETTING_MEMORY,
	SETTING_CPU_COUNT,
	SETTING_PROCESSES,
	SETTING_OPEN_FILES,
	SETTING_FILE_SIZE,
	SETTING_TMP_SIZE,
	SETTING_DISK,
	SETTING_TIMEOUT,
	SETTING_PAUSE_ON_WARNING,
	SETTING_WARN_COST,
	SETTING_PATIENCE,
	SETTING_ESCALATE_AFTER,
	SETTING_REVIEW_ROUNDS,
	SETTING_REVIEW_BUDGET,
	SETTING_BUDGET,
	SETTING_MAX_COST,
	SETTING_DAILY_BUDGET,
	SETTING_UNKNOWN_MODEL,
	SETTING_REPLAY_PACE,
	SETTING_REPLAY,
	SETTING_RECORD,
	SETTING_AGENT_FORMAT,
	SETTING_MODEL,
	SETTING_MODELS,
	SETTING_AGENT_ARGS,
	SETTING_AGENT_LOGIN,
	SETTING_REVIEW,
	SETTING_ESCALATE,
	SETTING_PHASES,
	SETTING_AGENT,
	SETTING_AGENT_COMMAND,
	SETTING_IMAGE,
	SETTING_FENCE,
	SETTING_HIDE,
	SETTING_READ_ONLY,
	SETTING_ACCEPT_WEAKER,
	SETTING_LISTEN,
	SETTING_READ,
	SETTING_WRITE,
	SETTING_NET_CONNECTIONS,
	SETTING_NET_IN,
	SETTING_NET_OUT,
	SETTING_UPSTREAM_CA,
	SETTING_UPSTREAM_PROXY,
	SETTING_PROVIDER_TOOLS,
	SETTING_ALLOW,
	SETTING_NET,
	SETTING_MODEL_KEY,
	SETTING_UPSTREAM,
	SETTING_NOTIFY,
	SETTING_FORGE_TOKEN,
};

_Static_assert(sizeof by_risk / sizeof *by_risk == SETTING_ID_COUNT,
	       "every setting must be listed");

static void add_values(struct op_question *question, const struct config *config,
		       enum setting_id id)
{
	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];
		AUTO_FREE char *phase = id == SETTING_PHASES ? phase_text_name(value->text) : NULL;
		const struct op_item item = { .name = (char *)value->setting->key,
					      .value = phase ? phase : value->text,
					      .where = value->origin,
					      .why = value->meaning };

		if (value->meaning && value->setting->id == id)
			op_question_add(question, &item);
	}
}

static void make_question(const struct config *config, struct op_question *question)
{
	for (size_t i = 0; i < SETTING_ID_COUNT; i++)
		add_values(question, config, by_risk[i]);
	op_question_set(question, OP_QUESTION_TRUST, mem_dup("Trust this?"));
}

enum op_status op_trust(const struct op_trust_request *request, struct op_trust_result *ret_result,
			struct error *err)
{
	const struct config *config = request->config;

	*ret_result = (struct op_trust_result){ .widens = config->trust != CONFIG_NOTHING_WIDENS };
	if (!ret_result->widens)
		return OP_UNCHANGED;
	make_question(config, &ret_result->question);
	if (ret_result->question.count > OP_TRUST_MOST_VALUES) {
		error_set(
			err,
			"%s widens the fence with %zu values, more than the %d that can be reviewed at "
			"once: shorten it, or move values to your own config.yml",
			CONFIG_FILE, ret_result->question.count, OP_TRUST_MOST_VALUES);
		return OP_REFUSED;
	}
	if (config->trust == CONFIG_TRUST)
		return OP_UNCHANGED;
	if (!op_agreed(&request->answer, &ret_result->question))
		return OP_ASKS;
	return trust_record(request->state, request->project, config->hash,
			    (uint64_t)request->now_s, err) < 0
		       ? OP_FAILED
		       : OP_DONE;
}

void op_trust_release(struct op_trust_result *result)
{
	op_question_release(&result->question);
}

enum op_status op_trust_forget(const char *state, const char *project, struct error *err)
{
	int was = 0;

	if (trust_forget(state, project, &was, err) < 0)
		return OP_FAILED;
	return was ? OP_DONE : OP_UNCHANGED;
}
