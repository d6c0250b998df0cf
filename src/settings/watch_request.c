/* Alerts and notifications of a loop: see watch_request.h. */
#include "settings/watch_request.h"

#include "notify/notify_record.h"
#include "notify/notify_target.h"
#include "util/env.h"
#include "util/taint.h"

static int check_target(const char *text, const struct taint *taint, struct error *err)
{
	struct notify_target target;
	struct error why;
	int result = notify_target_read(text, env_home(), &target, &why);

	if (result == 0) {
		result = notify_target_check(&target, taint, &why);
		notify_target_release(&target);
	}
	return result < 0 ? error_with(err, why.status, "notify: %s", why.text) : 0;
}

static int check_targets(const json_t *targets, const struct taint *taint, struct error *err)
{
	size_t index;
	const json_t *text;

	if (json_array_size(targets) > NOTIFY_RECORD_TARGETS)
		return error_set(err, "notify has %zu targets; the maximum is %d",
				 json_array_size(targets), (int)NOTIFY_RECORD_TARGETS);
	json_array_foreach(targets, index, text)
	{
		if (check_target(json_string_value(text), taint, err) < 0)
			return -1;
	}
	return 0;
}

int watch_request_make(const struct effective *effective, struct watch_request *ret_watch,
		       struct error *err)
{
	const struct config *config = &effective->config;
	struct watch_request watch = { .alerts = effective_words(config, SETTING_ALERT),
				       .targets = effective_words(config, SETTING_NOTIFY),
				       .events = effective_words(config, SETTING_NOTIFY_ON) };
	struct taint taint;
	int result;

	effective_taint(effective, &taint);
	result = check_targets(watch.targets, &taint, err);
	taint_release(&taint);
	if (result == 0)
		*ret_watch = watch;
	else
		watch_request_release(&watch);
	return result;
}

void watch_request_release(struct watch_request *watch)
{
	json_decref(watch->alerts);
	json_decref(watch->targets);
	json_decref(watch->events);
	*watch = (struct watch_request){ 0 };
}
