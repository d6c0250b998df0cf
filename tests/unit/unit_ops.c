/* Operations without a terminal: they return statuses, and questions as data. */
#include "config/trust.h"
#include "journal/journal.h"
#include "ops/op_abort.h"
#include "ops/op_clean.h"
#include "ops/op_pause.h"
#include "ops/op_resume.h"
#include "ops/op_start.h"
#include "ops/op_trust.h"
#include "unit.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char state[UNIT_PATH];

/* A loop in its own work tree, so that cleaning does not look for checkpoints in a project. */
static const char created[] =
	"{\"config\": {\"project\": \"/w/tree\", \"origin\": \"/w/p\", \"objective\": \"do it\", "
	"\"agent_command\": \"true\", \"fence\": {}}}";

static void write_loop(const char *id, int64_t at_ms, bool ended)
{
	AUTO_FREE char *folder = mem_format("%s/loops/%s", state, id);
	AUTO_FREE char *path = mem_format("%s/journal.db", folder);
	struct journal *store = NULL;
	struct error err;

	if (state_folder_make(folder, 0700) < 0 ||
	    journal_open(path, JOURNAL_CREATE, &store, &err) < 0 ||
	    journal_append(store, JOURNAL_NOW, at_ms, "created", created, &err) < 0)
		abort();
	if (ended && journal_append(store, JOURNAL_NOW, at_ms + 1, "finished",
				    "{\"status\": \"completed\", \"reason\": \"done\"}", &err) < 0)
		abort();
	journal_close(store);
}

static bool loop_exists(const char *id)
{
	AUTO_FREE char *folder = mem_format("%s/loops/%s", state, id);

	return access(folder, F_OK) == 0;
}

static enum op_status pause_loop(const char *id)
{
	const struct op_pause_request request = { { state, "/w/p", id } };
	struct op_pause_result result;
	struct error err;
	enum op_status status = op_pause(&request, &result, &err);

	op_pause_release(&result);
	return status;
}

static enum op_status abort_loop(const char *id)
{
	const struct op_abort_request request = { .target = { state, "/w/p", id } };
	struct op_abort_result result;
	struct error err;
	enum op_status status = op_abort(&request, &result, &err);

	op_abort_release(&result);
	return status;
}

static enum op_status resume_loop(const char *id)
{
	json_t *nothing = json_object();
	const struct op_resume_request request = { .target = { state, "/w/p", id },
						   .changes = nothing };
	struct op_resume_result result;
	struct error err;
	enum op_status status = op_resume(&request, &result, &err);

	op_resume_release(&result);
	json_decref(nothing);
	return status;
}

static void damage(const char *id)
{
	AUTO_FREE char *path = mem_format("%s/loops/%s/journal.db", state, id);

	if (truncate(path, 0) < 0)
		abort();
}

static void controls(void)
{
	CHECK("a loop that does not exist cannot be paused", pause_loop("none") == OP_NOT_FOUND);
	CHECK("nor can the newest loop of a project without loops",
	      pause_loop(NULL) == OP_NOT_FOUND);
	CHECK("a loop that does not exist cannot be aborted", abort_loop("none") == OP_NOT_FOUND);
	CHECK("a loop that does not exist cannot be resumed", resume_loop("none") == OP_NOT_FOUND);

	write_loop("ended", 1000, true);
	CHECK("a loop that has ended cannot be paused", pause_loop("ended") == OP_NOT_RUNNING);
	CHECK("a loop that has ended cannot be aborted", abort_loop("ended") == OP_ENDED);
	CHECK("a completed loop cannot be resumed", resume_loop("ended") == OP_REFUSED);

	write_loop("left", 2000, false);
	CHECK("a loop without a supervisor cannot be paused", pause_loop(NULL) == OP_NOT_RUNNING);
	CHECK("a loop without a supervisor can be aborted", abort_loop("left") == OP_DONE);
	CHECK("a loop can be aborted only once", abort_loop("left") == OP_ENDED);

	write_loop("broken", 3000, true);
	damage("broken");
	CHECK("a damaged journal is reported as damaged",
	      pause_loop("broken") == OP_DAMAGED && abort_loop("broken") == OP_DAMAGED &&
		      resume_loop("broken") == OP_DAMAGED);
}

static enum op_status clean(struct op_clean_request *request, struct op_clean_result *ret_result)
{
	struct error err;

	request->state = state;
	request->now_ms = 10000;
	return op_clean(request, ret_result, &err);
}

static void clean_by_age(void)
{
	struct op_clean_request request = { .project = "/w/p", .older_ms = 8500 };
	struct op_clean_result asked;
	struct op_clean_result done;

	CHECK("removing loops asks first", clean(&request, &asked) == OP_ASKS);
	CHECK("the question lists the loops that are old enough",
	      asked.question.kind == OP_QUESTION_REMOVE && asked.question.count == 1 &&
		      strcmp(asked.question.items[0].name, "ended") == 0 &&
		      strcmp(asked.question.items[0].value, "completed") == 0 &&
		      strcmp(asked.question.items[0].where, "/w/tree") == 0);
	CHECK("asking removes nothing", loop_exists("ended") && asked.removed.count == 0);

	request.answer.token = asked.question.token;
	request.older_ms = 0;
	CHECK("a yes covers exactly what was shown", clean(&request, &done) == OP_ASKS);
	CHECK("more loops than were shown make a new question", done.question.count == 2);
	op_clean_release(&done);

	request.older_ms = 8500;
	CHECK("a yes removes the loop that was shown", clean(&request, &done) == OP_DONE &&
							       done.removed.count == 1 &&
							       !loop_exists("ended"));
	CHECK("a yes removes no other loop", loop_exists("left") && loop_exists("broken"));
	op_clean_release(&done);
	CHECK("nothing is done if no loop is old enough", clean(&request, &done) == OP_UNCHANGED);
	op_clean_release(&done);
	op_clean_release(&asked);
}

static void clean_named(void)
{
	struct op_clean_request request = { .loop = "none", .answer.to_all = true };
	struct op_clean_result result;

	CHECK("a loop that does not exist cannot be removed",
	      clean(&request, &result) == OP_NOT_FOUND);
	op_clean_release(&result);
	request.loop = "broken";
	CHECK("a damaged loop can be removed, and to_all skips the question",
	      clean(&request, &result) == OP_DONE && !loop_exists("broken"));
	op_clean_release(&result);
}

static void load(struct config *config, const char *text, const char *agreed)
{
	const struct config_place place = { .project = "/w/p", .home = "/w", .state = state };

	config_init(config);
	if (config_add_text(config, CONFIG_PROJECT, "ringfence.yml", "/w/p", &place, text,
			    strlen(text)) < 0)
		abort();
	config_settle(config, &place, agreed);
}

static enum op_status trust(const struct config *config, const char *token,
			    struct op_trust_result *ret_result)
{
	const struct op_trust_request request = { .state = state,
						  .project = "/w/p",
						  .config = config,
						  .answer.token = token,
						  .now_s = 7 };
	struct error err;

	return op_trust(&request, ret_result, &err);
}

static void trusting(void)
{
	struct op_trust_result asked, again;
	struct config config, other;
	struct trust record;
	struct error err;

	load(&config, "net: open\nmax-iterations: 500\n", NULL);
	load(&other, "net: open\n", NULL);
	CHECK("trusting a file that widens the fence asks first",
	      trust(&config, NULL, &asked) == OP_ASKS && asked.question.kind == OP_QUESTION_TRUST);
	CHECK("the riskiest setting comes last",
	      asked.question.count == 2 && strcmp(asked.question.items[1].name, "net") == 0 &&
		      strcmp(asked.question.items[1].where, "ringfence.yml:1") == 0);
	CHECK("a yes to another file does not count",
	      trust(&other, asked.question.token, &again) == OP_ASKS);
	op_trust_release(&again);
	CHECK("nothing is recorded before a yes",
	      trust_find(state, "/w/p", &record, &err) == 0 && !record.path);
	CHECK("a yes to what was shown is recorded",
	      trust(&config, asked.question.token, &again) == OP_DONE &&
		      trust_find(state, "/w/p", &record, &err) == 0 && record.time == 7 &&
		      strcmp(record.hash, config.hash) == 0);
	op_trust_release(&again);
	op_trust_release(&asked);
	config_release(&config);
	load(&config, "net: open\nmax-iterations: 500\n", record.hash);
	CHECK("a trusted file is not asked about again",
	      trust(&config, NULL, &asked) == OP_UNCHANGED);
	op_trust_release(&asked);
	trust_release(&record);
	CHECK("trust can be withdrawn once",
	      op_trust_forget(state, "/w/p", &err) == OP_DONE &&
		      op_trust_forget(state, "/w/p", &err) == OP_UNCHANGED);
	config_release(&config);
	config_release(&other);
}

static void starting(void)
{
	struct fence_place place = { .project = state, .state = state };
	const struct op_start_request request = { .place = &place,
						  .here = "/",
						  .workspace = OP_START_WORKTREE,
						  .min_free_bytes = INT64_MAX };
	struct op_start_result result = OP_START_INIT;
	struct error err;

	CHECK("a loop does not start without enough disk space",
	      op_failed(op_start_prepare(&request, &result, &err)) && err.status == ERROR_NO_SPACE);
	CHECK("no work tree is created without enough disk space",
	      !result.worktree.id && !result.recovered);
	op_start_release(&request, &result);
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
	controls();
	clean_by_age();
	clean_named();
	trusting();
	starting();
	nftw(state, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return unit_failures != 0;
}
