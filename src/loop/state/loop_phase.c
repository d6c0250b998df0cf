/* Phases of a loop: see loop_phase.h. */
#include "loop/state/loop_phase.h"

#include "util/text/jsonget.h"

#include <string.h>

static const char *const kinds[] = {
#define LOOP_PHASE_KIND(name) [LOOP_PHASE_##name] = #name,
	LOOP_PHASE_CONDITIONS(LOOP_PHASE_KIND)
#undef LOOP_PHASE_KIND
};

static int read_condition(const json_t *json, struct loop_phase_condition *ret_condition,
			  struct error *err)
{
	const char *kind = jsonget_text(json, "kind");

	for (int i = 0; i < LOOP_PHASE_KINDS; i++) {
		if (strcmp(kinds[i], kind) != 0)
			continue;
		*ret_condition = (struct loop_phase_condition){
			.kind = (enum loop_phase_kind)i,
			.text = jsonget_text(json, "text"),
			.count = (uint32_t)jsonget_number(json, "count"),
		};
		return 0;
	}
	return error_set(err, "the journal names the unknown condition '%.100s' of a phase", kind);
}

static int read_until(const json_t *list, struct loop_phase *phase, struct error *err)
{
	size_t index;
	const json_t *entry;

	if (!json_array_size(list) || json_array_size(list) > LOOP_PHASE_CONDITIONS_MAX)
		return error_set(err, "the journal has a phase with no condition, or more than %d",
				 (int)LOOP_PHASE_CONDITIONS_MAX);
	json_array_foreach(list, index, entry)
	{
		if (read_condition(entry, &phase->until[phase->until_count], err) < 0)
			return -1;
		phase->until_count++;
	}
	return 0;
}

int64_t loop_phase_tighter(int64_t loop, int64_t phase)
{
	return !loop || (phase && phase < loop) ? phase : loop;
}

int loop_phase_read(const json_t *json, struct loop_phase *ret_phase, struct error *err)
{
	struct loop_phase phase = {
		.name = jsonget_string(json, "name"),
		.prompt = jsonget_string(json, "prompt"),
		.write = json_object_get(json, "write"),
		.iterations = (uint32_t)jsonget_number(json, "max_iterations"),
		.cost_nusd = jsonget_number(json, "max_cost_nusd"),
		.budget_nusd = jsonget_number(json, "budget_nusd"),
		.timeout_ms = jsonget_number(json, "timeout_ms"),
		.skips = jsonget_flag(json, "skips"),
	};

	if (!phase.name)
		return error_set(err, "the journal has a phase without a name");
	if (read_until(json_object_get(json, "until"), &phase, err) < 0)
		return -1;
	*ret_phase = phase;
	return 0;
}

bool loop_phase_has(const struct loop_phase *phase, enum loop_phase_kind kind)
{
	for (uint32_t i = 0; i < phase->until_count; i++)
		if (phase->until[i].kind == kind)
			return true;
	return false;
}

size_t loop_phase_checks(const struct loop_phase *phase)
{
	size_t count = 0;

	for (uint32_t i = 0; i < phase->until_count; i++)
		count += phase->until[i].kind == LOOP_PHASE_check;
	return count;
}

const char *loop_phase_check(const struct loop_phase *phase, size_t index)
{
	for (uint32_t i = 0; i < phase->until_count; i++)
		if (phase->until[i].kind == LOOP_PHASE_check && index-- == 0)
			return phase->until[i].text;
	return NULL;
}
