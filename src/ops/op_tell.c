/* Telling a loop: see op_tell.h. */
#include "ops/op_tell.h"

#include "util/buffer.h"
#include "util/text/text.h"

#include <string.h>

enum { MOST_NAMED = 8, OBJECTIVE_BYTES = 60 };

static bool runs(const struct client_loop *loop, const char *project)
{
	return loop->alive && !loop->damaged && client_is_of(loop, project);
}

static void name_loop(struct buffer *out, const struct client_loop *loop)
{
	const char *objective = loop->state.options.objective ? loop->state.options.objective : "";
	size_t size = strcspn(objective, "\n");

	buffer_printf(out, "%s%s: %.*s", out->used ? "; " : "", loop->id,
		      (int)text_first(objective, size, OBJECTIVE_BYTES), objective);
}

/* Refuses to choose one of several loops. */
static enum op_status refuse_several(const struct client_loops *loops, const char *project,
				     size_t running, struct error *err)
{
	AUTO_BUFFER struct buffer names = BUFFER_INIT(4096);
	size_t named = 0;

	for (size_t i = loops->count; i-- > 0 && named < MOST_NAMED;)
		if (runs(&loops->items[i], project)) {
			name_loop(&names, &loops->items[i]);
			named++;
		}
	error_with(err, ERROR_INVALID,
		   "%zu loops run in this project, and the message is for one; name it: ringfence "
		   "tell LOOP TEXT (%s%s)",
		   running, buffer_text(&names), running > named ? "; ..." : "");
	return OP_INVALID;
}

/* Without a name, a message is for the loop that runs, or else for the newest one. */
static enum op_status find_unnamed(const struct op_target *target, struct client_loop *ret_loop,
				   struct error *err)
{
	const struct client_query query = { .project = target->project, .newest = 0 };
	struct client_loops loops;
	struct client_loop *found = NULL;
	enum op_status status = OP_DONE;
	size_t running = 0;

	if (client_list(target->state, &query, &loops, err) < 0)
		return op_status_of(err);
	for (size_t i = 0; i < loops.count; i++)
		if (runs(&loops.items[i], target->project)) {
			found = &loops.items[i];
			running++;
		}
	if (running > 1) {
		status = refuse_several(&loops, target->project, running, err);
	} else if (found) {
		*ret_loop = *found;
		*found = (struct client_loop){ 0 };
	} else {
		status = op_find(target, ret_loop, err);
	}
	client_loops_release(&loops);
	return status;
}

static enum op_tell_fate fate_of(const struct client_loop *loop, bool now)
{
	enum loop_step step = loop->state.step;

	if (!loop->alive || step == LOOP_STEP_paused || step == LOOP_STEP_finished)
		return OP_TELL_STOPPED;
	return now && step == LOOP_STEP_agent ? OP_TELL_AGAIN : OP_TELL_NEXT;
}

enum op_status op_tell(const struct op_tell_request *request, struct op_tell_result *ret_result,
		       struct error *err)
{
	struct client_loop *loop = &ret_result->loop;
	enum op_status status;

	*ret_result = (struct op_tell_result){ 0 };
	status = request->target.loop ? op_find(&request->target, loop, err)
				      : find_unnamed(&request->target, loop, err);
	if (status != OP_DONE)
		return status;
	if (client_tell(loop, request->text, request->now, err) < 0)
		return op_status_of(err);
	ret_result->fate = fate_of(loop, request->now);
	return OP_DONE;
}

void op_tell_release(struct op_tell_result *result)
{
	client_loop_release(&result->loop);
}
