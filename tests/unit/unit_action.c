/* Actions of a person on a loop: when each is offered, its question, and what a yes covers. */
#include "journal/journal.h"
#include "loop/state/loop_accepted.h"
#include "ops/op_action.h"
#include "unit.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <ftw.h>
#include <string.h>

static char state[UNIT_PATH];

static const char created[] =
	"{\"config\": {\"project\": \"/w/tree\", \"origin\": \"/w/p\", \"objective\": \"do it\", "
	"\"agent_command\": \"true\", \"fence\": {}}}";

static void write_loop(const char *id, const char *event, const char *data)
{
	AUTO_FREE char *folder = mem_format("%s/loops/%s", state, id);
	AUTO_FREE char *path = mem_format("%s/journal.db", folder);
	struct journal *store = NULL;
	struct error err;

	if (state_folder_make(folder, 0700) < 0 ||
	    journal_open(path, JOURNAL_CREATE, &store, &err) < 0 ||
	    journal_append(store, JOURNAL_NOW, 1000, "created", created, &err) < 0)
		abort();
	if (event && journal_append(store, JOURNAL_NOW, 1001, event, data, &err) < 0)
		abort();
	journal_close(store);
}

/* Of a loop that has run: without a lock, it would be one whose creation was cut off. */
static void damage(const char *id)
{
	AUTO_FREE char *path = mem_format("%s/loops/%s/journal.db", state, id);
	AUTO_FREE char *lock = mem_format("%s/loops/%s/lock", state, id);
	FILE *made = fopen(lock, "w");

	if (!made || fclose(made) != 0 || truncate(path, 0) < 0)
		abort();
}

static bool loop_exists(const char *id)
{
	AUTO_FREE char *folder = mem_format("%s/loops/%s", state, id);

	return access(folder, F_OK) == 0;
}

/* ---- the table ---- */

static void forms(void)
{
	bool named = true, keys = true, found = true;

	for (int i = 0; i < OP_ACTION_COUNT; i++) {
		const struct op_action_form *form = op_action_form((enum op_action)i);
		enum op_action same = OP_ACTION_COUNT;

		named = named && form->name && form->title && form->about && form->key;
		found = found && op_action_find(form->name, &same) == 0 && (int)same == i;
		for (int k = 0; k < i; k++)
			keys = keys && op_action_form((enum op_action)k)->key != form->key;
	}
	CHECK("every action has a name, a title, a sentence and a key", named);
	CHECK("no two actions have the same key", keys);
	CHECK("every action is found by its name", found);

	enum op_action none = OP_ACTION_COUNT;

	CHECK("no action is found by another name",
	      op_action_find("format", &none) < 0 && none == OP_ACTION_COUNT);
}

/* A loop in a status, with everything that an action may need. */
struct situation {
	const char *status; /* as client_status() says */
	enum loop_step step;
	const char *end;
	bool alive, restarting;
	pid_t supervisor;
	const char *offered; /* the keys of the actions that are offered, sorted */
};

static const struct situation situations[] = {
	{ "starting", LOOP_STEP_agent, NULL, true, true, 0, "ptx" },
	{ "restarting", LOOP_STEP_agent, NULL, true, true, 7, "ptx" },
	{ "running", LOOP_STEP_agent, NULL, true, false, 7, "ptx" },
	{ "waiting", LOOP_STEP_waiting, NULL, true, false, 7, "ptx" },
	{ "paused", LOOP_STEP_paused, NULL, false, false, 7, "abfrtxy" },
	{ "interrupted", LOOP_STEP_agent, NULL, false, false, 7, "brtxy" },
	{ "completed", LOOP_STEP_finished, "completed", false, false, 7, "bdy" },
	{ "limit", LOOP_STEP_finished, "limit", false, false, 7, "bdrty" },
	{ "failed", LOOP_STEP_finished, "failed", false, false, 7, "bdrty" },
	{ "aborted", LOOP_STEP_finished, "aborted", false, false, 7, "bdrty" },
};

static struct client_loop loop_in(const struct situation *situation)
{
	struct client_loop loop = { .id = (char *)"x",
				    .alive = situation->alive,
				    .restarting = situation->restarting };

	loop.state.step = situation->step;
	loop.state.status = (char *)situation->end;
	loop.state.supervisor = situation->supervisor;
	loop.state.blocked = (char *)"needs a key";
	loop.state.only_findings = true;
	loop.state.checkpoint = 3;
	loop.state.options.draft = "/draft";
	return loop;
}

static bool offers(const struct client_loop *loop, const char *keys)
{
	for (int i = 0; i < OP_ACTION_COUNT; i++) {
		char key = op_action_form((enum op_action)i)->key;

		if (op_action_is_offered((enum op_action)i, loop) != (strchr(keys, key) != NULL))
			return false;
	}
	return true;
}

static void every_cell(void)
{
	for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
		struct client_loop loop = loop_in(&situations[i]);
		AUTO_FREE char *sentence = mem_format("a loop that is %s offers exactly: %s",
						      situations[i].status, situations[i].offered);

		CHECK(sentence, strcmp(client_status(&loop), situations[i].status) == 0 &&
					offers(&loop, situations[i].offered));
	}
}

static void needs(void)
{
	struct client_loop paused = loop_in(&situations[4]);
	struct client_loop running = loop_in(&situations[2]);
	struct client_loop damaged = { .id = (char *)"x", .damaged = true };

	paused.state.blocked = NULL;
	paused.state.only_findings = false;
	CHECK("an agent that is not blocked gets no answer, and without findings nothing is "
	      "accepted",
	      offers(&paused, "brtxy"));
	paused.state.checkpoint = 0;
	CHECK("a loop that has only its first checkpoint has nothing to apply",
	      offers(&paused, "brtx"));
	paused.state.checkpoint = -1;
	CHECK("a loop without a checkpoint cannot be rolled back", offers(&paused, "rtx"));
	paused.state.findings = json_pack("[{s:s, s:s, s:s, s:s}]", "kind", "test-deleted", "path",
					  "tests/a.py", "evidence", "test_add", "action", "stop");
	CHECK("findings that keep a loop from its end can be accepted, also if more is missing",
	      offers(&paused, "frtx"));
	loop_accepted_add(&paused.state.accepted, paused.state.findings);
	CHECK("what is accepted is not offered again", offers(&paused, "rtx"));
	json_decref(paused.state.accepted);
	json_decref(paused.state.findings);
	running.state.wish = LOOP_WISH_PAUSE;
	CHECK("a loop that is about to pause is not paused again", offers(&running, "tx"));
	CHECK("a damaged loop can only be removed", offers(&damaged, "d"));
}

/* ---- running ---- */

static enum op_status run(struct op_action_request *request, struct op_action_result *ret_result)
{
	struct error err;

	request->state = state;
	return op_action_run(request, ret_result, &err);
}

static void questions(void)
{
	struct op_action_request request = { .loop = "left", .action = OP_ACTION_abort };
	struct op_action_result asked, done;

	write_loop("left", NULL, NULL);
	CHECK("aborting asks first, and does nothing",
	      run(&request, &asked) == OP_ASKS && !asked.text &&
		      strstr(asked.question.text, "Abort loop left?"));
	request.token = asked.question.token;
	request.now = true;
	CHECK("a yes to one question does not count for another", run(&request, &done) == OP_ASKS);
	op_action_release(&done);
	request.now = false;
	CHECK("a yes to the question aborts, and says so",
	      run(&request, &done) == OP_DONE && done.text && !done.question.count &&
		      strstr(done.text, "was aborted"));
	op_action_release(&done);
	CHECK("an operation that refuses has no text",
	      run(&request, &done) == OP_ENDED && !done.text);
	op_action_release(&done);
	op_action_release(&asked);
}

static void texts(void)
{
	struct op_action_request request = { .loop = "open", .action = OP_ACTION_tell };
	struct op_action_result result;

	write_loop("open", NULL, NULL);
	CHECK("a message without text is refused", run(&request, &result) == OP_INVALID);
	op_action_release(&result);
	request.text = "\x1b\x07 \n";
	CHECK("so is one of control characters", run(&request, &result) == OP_INVALID);
	op_action_release(&result);
	request.text = "hurry";
	CHECK("a typed text is a decision: there is no question",
	      run(&request, &result) == OP_DONE && result.text);
	op_action_release(&result);
	request.now = true;
	CHECK("to stop the agent for it needs a yes", run(&request, &result) == OP_ASKS);
	op_action_release(&result);
}

static void removal(void)
{
	struct op_action_request request = { .loop = "ended", .action = OP_ACTION_clean };
	struct op_action_result asked, done;

	write_loop("ended", "finished", "{\"status\": \"completed\", \"reason\": \"done\"}");
	CHECK("removing asks with the question of the operation itself",
	      run(&request, &asked) == OP_ASKS && asked.question.kind == OP_QUESTION_REMOVE &&
		      asked.question.count == 1 && loop_exists("ended"));
	request.token = asked.question.token;
	CHECK("one yes is enough", run(&request, &done) == OP_DONE && !loop_exists("ended"));
	op_action_release(&done);
	op_action_release(&asked);

	write_loop("broken", NULL, NULL);
	damage("broken");
	request = (struct op_action_request){ .loop = "broken", .action = OP_ACTION_pause };
	CHECK("a damaged loop cannot be paused", run(&request, &done) == OP_DAMAGED);
	op_action_release(&done);
	request.action = OP_ACTION_clean;
	CHECK("but it can be removed", run(&request, &asked) == OP_ASKS);
	request.token = asked.question.token;
	CHECK("after one yes", run(&request, &done) == OP_DONE && !loop_exists("broken"));
	op_action_release(&done);
	op_action_release(&asked);
}

static void missing(void)
{
	bool all = true;

	for (int i = 0; i < OP_ACTION_COUNT; i++) {
		struct op_action_request request = { .loop = "none",
						     .action = (enum op_action)i,
						     .text = "x" };
		struct op_action_result result;

		all = all && run(&request, &result) == OP_NOT_FOUND && !result.text;
		op_action_release(&result);
	}
	CHECK("no action finds a loop that does not exist", all);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

int main(void)
{
	if (!unit_temp(state))
		return 1;
	forms();
	every_cell();
	needs();
	questions();
	texts();
	removal();
	missing();
	nftw(state, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return unit_failures != 0;
}
