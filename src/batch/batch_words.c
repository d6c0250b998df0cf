/* Words about tasks: see batch_words.h. */
#include "batch/batch_words.h"

#include "util/buffer.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <string.h>

enum { TITLE_BYTES = 100, MS_PER_S = 1000 };

char *batch_words_title(const char *id, const char *title)
{
	const char *rest = text_after_prefix(title, id);

	if (rest && *rest == ':')
		title = rest + 1 + strspn(rest + 1, " ");
	return mem_format("%.*s", (int)text_first(title, strlen(title), TITLE_BYTES), title);
}

const char *batch_words_step(const struct batch_task *task, bool cut_off)
{
	static const char *const texts[BATCH_STEP_COUNT] = {
		[BATCH_STEP_waiting] = "waiting", [BATCH_STEP_running] = "running",
		[BATCH_STEP_held] = "needs you",  [BATCH_STEP_verified] = "verified",
		[BATCH_STEP_landed] = "done",     [BATCH_STEP_failed] = "failed",
		[BATCH_STEP_lost] = "lost",
	};

	if (task->step == BATCH_STEP_running && task->merged)
		return "merging";
	return cut_off ? "cut off" : texts[task->step];
}

char *batch_words_time(const struct batch_task *task)
{
	int64_t end_ms = task->ended_ms ? task->ended_ms : clock_wall_ms();
	AUTO_BUFFER struct buffer out = BUFFER_INIT(256);

	if (task->begun_ms && end_ms - task->begun_ms >= MS_PER_S)
		text_add_duration(&out, (uint64_t)(end_ms - task->begun_ms) / MS_PER_S * MS_PER_S);
	return mem_dup(buffer_text(&out));
}

char *batch_words_conflicts(const json_t *conflicts)
{
	enum { MOST = 10 };
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 16);
	size_t index, number;
	const json_t *conflict, *task;

	json_array_foreach(conflicts, index, conflict)
	{
		const json_t *tasks = json_object_get(conflict, "tasks");

		if (index == MOST)
			break;
		buffer_printf(&out, "%s%s", index ? ", " : "", jsonget_text(conflict, "path"));
		json_array_foreach(tasks, number, task)
		{
			buffer_printf(&out, "%s%s", number ? ", " : " (with ",
				      json_string_value(task));
		}
		buffer_add_text(&out, json_array_size(tasks) ? ")" : "");
	}
	if (json_array_size(conflicts) > MOST)
		buffer_printf(&out, " and %zu more", json_array_size(conflicts) - MOST);
	return mem_dup(buffer_text(&out));
}
