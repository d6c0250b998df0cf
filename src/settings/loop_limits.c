/* The limits of a loop: see loop_limits.h. */
#include "settings/loop_limits.h"

#include "settings/effective.h"

static const char *const keys[SETTING_ID_COUNT] = {
	[SETTING_MAX_ITERATIONS] = "max_iterations",
	[SETTING_MAX_TIME] = "max_time_ms",
	[SETTING_CHECK_VIEW] = "check_view",
	[SETTING_FINAL_TRIES] = "final_tries",
	[SETTING_MUTATE] = "mutate",
	[SETTING_TIMEOUT] = "timeout_ms",
	[SETTING_IDLE_TIMEOUT] = "idle_ms",
	[SETTING_CHECK_TIMEOUT] = "check_timeout_ms",
	[SETTING_BUDGET] = "budget_nusd",
	[SETTING_REVIEW_BUDGET] = "review_nusd",
	[SETTING_REVIEW_ROUNDS] = "review_rounds",
	[SETTING_PATIENCE] = "patience_ms",
	[SETTING_ESCALATE_AFTER] = "climb_after",
	[SETTING_DAILY_BUDGET] = "daily_nusd",
	[SETTING_MAX_COST] = "max_cost_nusd",
	[SETTING_WARN_COST] = "warn_cost_nusd",
	[SETTING_PAUSE_ON_WARNING] = "pause_on_warning",
	[SETTING_MAX_ERRORS] = "max_errors",
	[SETTING_MAX_SAME_ERROR] = "max_same_error",
	[SETTING_MAX_NO_PROGRESS] = "max_no_progress",
	[SETTING_MAX_INTERRUPTED] = "max_interrupted",
	[SETTING_MAX_UNREACHABLE] = "max_unreachable",
	[SETTING_PROGRESS] = "progress",
	[SETTING_EARLY_STOP] = "early_stop",
	[SETTING_EARLY_STOP_AFTER] = "early_stop_after",
	[SETTING_PROMPT_HISTORY] = "prompt_history",
	[SETTING_PROMPT_MESSAGES] = "prompt_messages",
	[SETTING_PROMPT_MESSAGE_SIZE] = "prompt_message_bytes",
	[SETTING_PROMPT_OUTPUT_SIZE] = "prompt_output_bytes",
	[SETTING_CHECKPOINTS] = "checkpoints",
	[SETTING_CHECKPOINT_EVERY] = "checkpoint_ms",
	[SETTING_CHECKPOINT_IGNORED] = "checkpoint_ignored",
	[SETTING_CHECKPOINT_SIZE] = "checkpoint_bytes",
	[SETTING_CHECKPOINT_AGE] = "checkpoint_age_ms",
	[SETTING_GIT] = "git",
	[SETTING_GIT_SIZE] = "git_bytes",
	[SETTING_LOOP_DISK] = "loop_disk_bytes",
	[SETTING_MIN_FREE] = "min_free_bytes",
};

bool loop_limits_has(const struct setting *setting)
{
	return keys[setting->id];
}

void loop_limits_set(json_t *limits, const struct setting *setting, uint64_t number)
{
	json_object_set_new(limits, keys[setting->id],
			    setting->type == SETTING_SWITCH ? json_boolean(number)
							    : json_integer((json_int_t)number));
}

void loop_limits_set_all(json_t *limits, const struct config *config)
{
	for (int i = 0; i < SETTING_ID_COUNT; i++)
		if (keys[i])
			loop_limits_set(limits, setting_at(i),
					effective_loop_number(config, (enum setting_id)i));
}
