/* Operations without a terminal: they return statuses, and questions as data. */
#include "config/trust.h"
#include "journal/journal.h"
#include "ops/op_abort.h"
#include "ops/op_clean.h"
#include "ops/op_pause.h"
#include "ops/op_resume.h"
#include "ops/op_start.h"
#include "ops/op_tell.h"
#include "ops/op_trust.h"
#include "project/path_group.h"
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

static enum op_status tell(const char *id, enum op_tell_fate *ret_fate)
{
	const struct op_tell_request request = { .target = { state, "/w/p", id }, .text = "hurry" };
	struct op_tell_result result;
	struct error err;
	enum op_status status = op_tell(&request, &result, &err);

	*ret_fate = result.fate;
	op_tell_release(&result);
	return status;
}

static enum op_status answer(const char *id, struct error *err)
{
	json_t *nothing = json_object();
	const struct op_resume_request request = { .target = { state, "/w/p", id },
						   .changes = nothing,
						   .answer = "done" };
	struct op_resume_result result;
	enum op_status status = op_resume(&request, &result, err);

	op_resume_release(&result);
	json_decref(nothing);
	return status;
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

/* Without a supervisor, the message is recorded at once. */
static void messages(void)
{
	enum op_tell_fate fate;
	struct error err;

	CHECK("a loop that does not exist is told nothing", tell("none", &fate) == OP_NOT_FOUND);
	CHECK("nor is one that is completed", tell("ended", &fate) == OP_REFUSED);
	CHECK("a loop without a supervisor is told something for later",
	      tell("left", &fate) == OP_DONE && fate == OP_TELL_STOPPED);
	for (int i = 1; i < TOLD_MOST; i++)
		tell("left", &fate);
	CHECK("but not without end", tell("left", &fate) == OP_REFUSED);
	CHECK("an agent that is not blocked gets no answer, and the error says what there is",
	      answer("left", &err) == OP_REFUSED && strstr(err.text, "ringfence tell left TEXT") &&
		      strstr(err.text, "ringfence resume left"));
}

static void controls(void)
{
	enum op_tell_fate fate;

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
	messages();
	CHECK("a loop without a supervisor cannot be paused", pause_loop(NULL) == OP_NOT_RUNNING);
	CHECK("a loop without a supervisor can be aborted", abort_loop("left") == OP_DONE);
	CHECK("a loop can be aborted only once", abort_loop("left") == OP_ENDED);

	write_loop("broken", 3000, true);
	damage("broken");
	CHECK("a damaged journal is reported as damaged",
	      pause_loop("broken") == OP_DAMAGED && abort_loop("broken") == OP_DAMAGED &&
		      resume_loop("broken") == OP_DAMAGED && tell("broken", &fate) == OP_DAMAGED);
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

static const struct {
	enum path_group group;
	const char *path;
} named[] = {
	{ PATH_GROUP_DEPENDENCIES, "package.json" },
	{ PATH_GROUP_DEPENDENCIES, "web/package-lock.json" },
	{ PATH_GROUP_DEPENDENCIES, "yarn.lock" },
	{ PATH_GROUP_DEPENDENCIES, "pnpm-lock.yaml" },
	{ PATH_GROUP_DEPENDENCIES, "bun.lockb" },
	{ PATH_GROUP_DEPENDENCIES, "pyproject.toml" },
	{ PATH_GROUP_DEPENDENCIES, "requirements.txt" },
	{ PATH_GROUP_DEPENDENCIES, "requirements-dev.txt" },
	{ PATH_GROUP_DEPENDENCIES, "requirements/base.txt" },
	{ PATH_GROUP_DEPENDENCIES, "Pipfile.lock" },
	{ PATH_GROUP_DEPENDENCIES, "poetry.lock" },
	{ PATH_GROUP_DEPENDENCIES, "uv.lock" },
	{ PATH_GROUP_DEPENDENCIES, "environment.yml" },
	{ PATH_GROUP_DEPENDENCIES, "crates/a/Cargo.toml" },
	{ PATH_GROUP_DEPENDENCIES, "Cargo.lock" },
	{ PATH_GROUP_DEPENDENCIES, "go.mod" },
	{ PATH_GROUP_DEPENDENCIES, "go.sum" },
	{ PATH_GROUP_DEPENDENCIES, "build.zig.zon" },
	{ PATH_GROUP_DEPENDENCIES, "Gemfile" },
	{ PATH_GROUP_DEPENDENCIES, "thing.gemspec" },
	{ PATH_GROUP_DEPENDENCIES, "composer.lock" },
	{ PATH_GROUP_DEPENDENCIES, "cpanfile" },
	{ PATH_GROUP_DEPENDENCIES, "mix.exs" },
	{ PATH_GROUP_DEPENDENCIES, "rebar.lock" },
	{ PATH_GROUP_DEPENDENCIES, "pubspec.yaml" },
	{ PATH_GROUP_DEPENDENCIES, "Package.swift" },
	{ PATH_GROUP_DEPENDENCIES, "ios/Podfile.lock" },
	{ PATH_GROUP_DEPENDENCIES, "pom.xml" },
	{ PATH_GROUP_DEPENDENCIES, "app/build.gradle.kts" },
	{ PATH_GROUP_DEPENDENCIES, "gradle/libs.versions.toml" },
	{ PATH_GROUP_DEPENDENCIES, "build.sbt" },
	{ PATH_GROUP_DEPENDENCIES, "deps.edn" },
	{ PATH_GROUP_DEPENDENCIES, "App/App.csproj" },
	{ PATH_GROUP_DEPENDENCIES, "conanfile.txt" },
	{ PATH_GROUP_DEPENDENCIES, "vcpkg.json" },
	{ PATH_GROUP_DEPENDENCIES, "lib.cabal" },
	{ PATH_GROUP_DEPENDENCIES, "stack.yaml" },
	{ PATH_GROUP_DEPENDENCIES, "x.opam" },
	{ PATH_GROUP_DEPENDENCIES, "renv.lock" },
	{ PATH_GROUP_DEPENDENCIES, "flake.lock" },
	{ PATH_GROUP_DEPENDENCIES, ".terraform.lock.hcl" },
	{ PATH_GROUP_DEPENDENCIES, ".gitmodules" },
	{ PATH_GROUP_DEPENDENCIES, "vendor/github.com/x/y.go" },
	{ PATH_GROUP_DEPENDENCIES, "node_modules/a/index.js" },
	{ PATH_GROUP_DEPENDENCIES, "tests/fixtures/package.json" },
	{ PATH_GROUP_TESTS, "tests/helper.c" },
	{ PATH_GROUP_TESTS, "pkg/server_test.go" },
	{ PATH_GROUP_TESTS, "test_app.py" },
	{ PATH_GROUP_TESTS, "app/tests.py" },
	{ PATH_GROUP_TESTS, "src/button.test.tsx" },
	{ PATH_GROUP_TESTS, "src/__tests__/a.js" },
	{ PATH_GROUP_TESTS, "src/__snapshots__/a.js.snap" },
	{ PATH_GROUP_TESTS, "spec/models/user_spec.rb" },
	{ PATH_GROUP_TESTS, "lib/a_spec.lua" },
	{ PATH_GROUP_TESTS, "src/test/java/a/UserTest.java" },
	{ PATH_GROUP_TESTS, "src/lexer/tests.rs" },
	{ PATH_GROUP_TESTS, "base/file_unittest.cc" },
	{ PATH_GROUP_TESTS, "e2e/login.yaml" },
	{ PATH_GROUP_TESTS, "pkg/testdata/in.json" },
	{ PATH_GROUP_TESTS, "features/a.feature" },
	{ PATH_GROUP_TESTS, "run.bats" },
	{ PATH_GROUP_TESTS, "Tests/AppTests/AppTests.swift" },
	{ PATH_GROUP_CONFIGURATION, "tsconfig.json" },
	{ PATH_GROUP_CONFIGURATION, "packages/a/tsconfig.build.json" },
	{ PATH_GROUP_CONFIGURATION, "config/app.yaml" },
	{ PATH_GROUP_CONFIGURATION, "ruff.toml" },
	{ PATH_GROUP_CONFIGURATION, "webpack.config.js" },
	{ PATH_GROUP_CONFIGURATION, "Makefile" },
	{ PATH_GROUP_CONFIGURATION, "src/CMakeLists.txt" },
	{ PATH_GROUP_CONFIGURATION, "meson.build" },
	{ PATH_GROUP_CONFIGURATION, "Dockerfile.dev" },
	{ PATH_GROUP_CONFIGURATION, ".gitignore" },
	{ PATH_GROUP_CONFIGURATION, ".dockerignore" },
	{ PATH_GROUP_CONFIGURATION, ".editorconfig" },
	{ PATH_GROUP_CONFIGURATION, ".clang-format" },
	{ PATH_GROUP_CONFIGURATION, "main.tf" },
	{ PATH_GROUP_CONFIGURATION, "appsettings.Development.json" },
	{ PATH_GROUP_CONFIGURATION, "application.properties" },
	{ PATH_GROUP_CONFIGURATION, "App.sln" },
	{ PATH_GROUP_SOURCE, "src/main.c" },
	{ PATH_GROUP_SOURCE, "lib/index.ts" },
	{ PATH_GROUP_SOURCE, "app/models/user.rb" },
	{ PATH_GROUP_SOURCE, "cmd/tool/main.go" },
	{ PATH_GROUP_SOURCE, "src/lib.rs" },
	{ PATH_GROUP_TESTS, "UserTest.java" },
	{ PATH_GROUP_TESTS, "UserIT.java" },
	{ PATH_GROUP_TESTS, "conftest.py" },
	{ PATH_GROUP_SOURCE, "Main.java" },
	{ PATH_GROUP_SOURCE, "Latest.java" },
	{ PATH_GROUP_SOURCE, "Audit.java" },
	{ PATH_GROUP_SOURCE, "README.md" },
	{ PATH_GROUP_SOURCE, "latest.py" },
	{ PATH_GROUP_SOURCE, "contest/a.c" },
	{ PATH_GROUP_SOURCE, "src/testify.go" },
	{ PATH_GROUP_SOURCE, "attestation.go" },
	{ PATH_GROUP_SOURCE, "vendors.c" },
	{ PATH_GROUP_SOURCE, "data.json" },
	{ PATH_GROUP_SOURCE, "" },
	{ PATH_GROUP_SOURCE, "[" },
	{ PATH_GROUP_SOURCE, "a\\" },
};

static bool are_named(enum path_group group)
{
	const struct path_group_facts plain = { 0 };
	bool held = true;

	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		if (named[i].group == group && path_group_of(named[i].path, &plain) != group) {
			printf("# %s: %s\n", named[i].path,
			       path_group_name(path_group_of(named[i].path, &plain)));
			held = false;
		}
	return held;
}

/* Checks that these facts decide about every name that is in none of the groups before. */
static bool decides(const struct path_group_facts *facts, enum path_group group,
		    enum path_group except)
{
	bool held = true;

	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		held = held && path_group_of(named[i].path, facts) ==
				       (named[i].group == except ? except : group);
	return held;
}

static void grouping(void)
{
	CHECK("manifests and lockfiles of many languages are dependencies",
	      are_named(PATH_GROUP_DEPENDENCIES));
	CHECK("tests of many languages are tests", are_named(PATH_GROUP_TESTS));
	CHECK("settings and build files are configuration", are_named(PATH_GROUP_CONFIGURATION));
	CHECK("everything else is source", are_named(PATH_GROUP_SOURCE));
	CHECK("a file that this machine executes is in that group, whatever else it is",
	      decides(&(struct path_group_facts){ true, true, true, true, true, true, UINT64_MAX },
		      PATH_GROUP_EXECUTED, PATH_GROUP_COUNT));
	CHECK("a file that CI runs comes next",
	      decides(&(struct path_group_facts){ false, true, true, true, true, true, UINT64_MAX },
		      PATH_GROUP_CI, PATH_GROUP_COUNT));
	CHECK("then a pinned file", decides(&(struct path_group_facts){ false, false, true, true,
									true, true, UINT64_MAX },
					    PATH_GROUP_PINNED, PATH_GROUP_COUNT));
	CHECK("then a file with a name of secrets",
	      decides(&(struct path_group_facts){ false, false, false, true, true, true,
						  UINT64_MAX },
		      PATH_GROUP_SECRET, PATH_GROUP_COUNT));
	CHECK("then an ignored file", decides(&(struct path_group_facts){ .ignored = true,
									  .binary = true,
									  .bytes = UINT64_MAX },
					      PATH_GROUP_IGNORED, PATH_GROUP_COUNT));
	CHECK("a large file is large, also a binary one, unless it is a dependency",
	      decides(&(struct path_group_facts){ .binary = true, .bytes = 1 << 20 },
		      PATH_GROUP_LARGE, PATH_GROUP_DEPENDENCIES));
	CHECK("a binary file is binary, unless it is a dependency",
	      decides(&(struct path_group_facts){ .binary = true, .bytes = (1 << 20) - 1 },
		      PATH_GROUP_BINARY, PATH_GROUP_DEPENDENCIES));
	for (int i = 0; i < PATH_GROUP_COUNT; i++)
		CHECK(path_group_title((enum path_group)i),
		      path_group_asks((enum path_group)i) == (i <= PATH_GROUP_PINNED));
}

static void answers(void)
{
	struct op_question question = { 0 };
	struct op_answer answer = { .no = true };

	op_question_add(&question, &(struct op_item){ .name = (char *)"a" });
	op_question_set(&question, OP_QUESTION_EXECUTED, mem_dup("Really?"));
	CHECK("no answer is neither a yes nor a no",
	      !op_agreed(&answer, &question) && !op_declined(&answer, &question));
	answer.token = question.token;
	CHECK("a no to exactly this question is a no",
	      !op_agreed(&answer, &question) && op_declined(&answer, &question));
	answer.token = "another";
	CHECK("a no to another question does not count",
	      !op_agreed(&answer, &question) && !op_declined(&answer, &question));
	op_question_release(&question);
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
	grouping();
	answers();
	nftw(state, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return unit_failures != 0;
}
