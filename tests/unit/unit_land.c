/* Landing: URLs of remotes, answers of forges, the text of a request, credentials in patches. */
#include "unit.h"

#include "land/land_body.h"
#include "land/land_forge.h"
#include "land/land_gh.h"
#include "land/land_patch.h"
#include "land/land_wait.h"
#include "util/mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* "origin path kind", or "refused". */
static bool remote_is(const char *url, const char *expected)
{
	static const char *const kinds[] = { "unknown", "github", "gitlab", "gitea" };
	struct land_remote remote = { 0 };
	struct error err;
	AUTO_FREE char *got = land_remote_read(url, &remote, &err) < 0
				      ? mem_dup("refused")
				      : mem_format("%s %s %s", remote.origin, remote.path,
						   kinds[land_remote_kind(&remote)]);
	bool same = strcmp(got, expected) == 0;

	if (!same)
		printf("# got %s\n", got);
	land_remote_release(&remote);
	return same;
}

static void check_remotes(void)
{
	CHECK("an HTTPS URL is read without its password",
	      remote_is("https://u:pw@GitHub.com/acme/widget.git",
			"https://github.com acme/widget github"));
	CHECK("an SSH URL leads to the web server without the port of SSH",
	      remote_is("ssh://git@gitlab.com:2222/g/sub/widget",
			"https://gitlab.com g/sub/widget gitlab"));
	CHECK("the short form of SSH is read", remote_is("git@codeberg.org:acme/widget.git",
							 "https://codeberg.org acme/widget gitea"));
	CHECK("a port of the web server stays",
	      remote_is("http://127.0.0.1:3000/acme/widget/",
			"http://127.0.0.1:3000 acme/widget unknown"));
	CHECK("a host with the name of a forge is known",
	      remote_is("https://gitlab.example.org/a/b", "https://gitlab.example.org a/b gitlab"));
	CHECK("a part of a name does not tell a forge",
	      remote_is("https://notgithub.com/a/b", "https://notgithub.com a/b unknown"));
	CHECK("nor does the beginning of another domain",
	      remote_is("https://github.com.evil.example/a/b",
			"https://github.com.evil.example a/b unknown"));
	CHECK("a path on this machine is refused", remote_is("/srv/git/a.git", "refused"));
	CHECK("one name is not a repository", remote_is("https://github.com/acme", "refused"));
	CHECK("a path that climbs is refused",
	      remote_is("https://github.com/a/../../b", "refused"));
	CHECK("a path with a query is refused", remote_is("https://github.com/a/b?x=1", "refused"));
	CHECK("other schemes are refused", remote_is("ext::sh -c x", "refused"));
	CHECK("a host with other characters is refused",
	      remote_is("https://exa mple/a/b", "refused"));
}

static bool masked(const char *text, const char *expected)
{
	AUTO_FREE char *copy = mem_dup(text);

	land_remote_mask(copy);
	return strcmp(copy, expected) == 0;
}

static void check_masks(void)
{
	CHECK("a password in a URL is masked", masked("fatal: 'https://u:p@w@h/x' and http://t@h",
						      "fatal: 'https://*@h/x' and http://*@h"));
	CHECK("an address without one stays", masked("https://h/a@b", "https://h/a@b"));
}

static bool api_is(enum land_kind kind, const char *url, const char *expected)
{
	struct land_remote remote;
	struct error err;

	if (land_remote_read(url, &remote, &err) < 0)
		return false;

	AUTO_FREE char *api = land_forge_api(land_forge_of(kind), &remote);
	bool same = strcmp(api, expected) == 0;

	land_remote_release(&remote);
	return same;
}

static void check_apis(void)
{
	CHECK("GitHub's API has a host of its own",
	      api_is(LAND_KIND_github, "git@github.com:a/b", "https://api.github.com"));
	CHECK("so has that of a company's GitHub",
	      api_is(LAND_KIND_github, "https://acme.ghe.com/a/b", "https://api.acme.ghe.com"));
	CHECK("a server of one's own has it below a path",
	      api_is(LAND_KIND_github, "https://git.acme.org/a/b", "https://git.acme.org/api/v3"));
	CHECK("GitLab has it below a path",
	      api_is(LAND_KIND_gitlab, "https://gitlab.com/a/b", "https://gitlab.com/api/v4"));
}

static json_t *json_of(const char *text)
{
	return json_loads(text, 0, NULL);
}

/* Finds the request of the branch "b" in a list. */
static int64_t found_in(const struct land_forge *forge, const char *text)
{
	json_t *answer = json_of(text);
	struct land_request request = { 0 };
	int found = land_forge_find(forge, "a/w", answer, "b", &request);
	int64_t number = found == 1 ? request.number : found;

	land_request_release(&request);
	json_decref(answer);
	return number;
}

#define PULL(number, state, ref, from)                                                 \
	"{\"number\":" number ",\"html_url\":\"u\",\"title\":\"t\",\"state\":\"" state \
	"\",\"head\":{\"ref\":\"" ref "\",\"repo\":{\"full_name\":\"" from "\"}}}"

static void check_requests(void)
{
	CHECK("the open request of a branch is found",
	      found_in(&land_forge_github,
		       "[" PULL("1", "open", "c", "a/w") "," PULL("2", "open", "b", "A/W") "]") ==
		      2);
	CHECK("that of a fork is not",
	      found_in(&land_forge_gitea, "[" PULL("1", "open", "b", "x/w") "]") == 0);
	CHECK("a closed one is not",
	      found_in(&land_forge_github, "[" PULL("1", "closed", "b", "a/w") "]") == 0);
	CHECK("an object is not a list", found_in(&land_forge_github, "{\"message\":\"x\"}") == -1);
	CHECK("a request without a number is passed over",
	      found_in(&land_forge_github,
		       "[{\"html_url\":\"u\",\"head\":{\"ref\":\"b\",\"repo\":{\"full_name\":\"a/"
		       "w\"}}}]") == 0);
}

/* Reads an answer about CI: "passed", "failed 2", with the number of jobs that failed. */
static bool ci_is(const struct land_forge *forge, const char *text, enum land_ci_state state,
		  size_t jobs)
{
	json_t *answer = json_of(text);
	struct land_ci ci = { 0 };
	bool same = forge->read_ci("a/w", answer, &ci) == 0;

	land_ci_settle(&ci);
	same = same && land_ci_state(&ci) == state && ci.count == jobs;
	if (!same)
		printf("# state %d, %zu jobs\n", (int)land_ci_state(&ci), ci.count);
	land_ci_release(&ci);
	json_decref(answer);
	return same;
}

static void check_ci(void)
{
	CHECK("a run that has not ended is pending",
	      ci_is(&land_forge_github,
		    "{\"check_runs\":[{\"status\":\"queued\",\"conclusion\":null},{\"status\":"
		    "\"completed\",\"conclusion\":\"failure\"}]}",
		    LAND_CI_PENDING, 2));
	CHECK("a suite with runs that has not ended is pending",
	      ci_is(&land_forge_github,
		    "{\"check_suites\":[{\"status\":\"in_progress\",\"latest_check_runs_count\":1},"
		    "{\"status\":\"queued\",\"latest_check_runs_count\":0}]}",
		    LAND_CI_PENDING, 1));
	CHECK("a run that was skipped has passed",
	      ci_is(&land_forge_github,
		    "{\"check_runs\":[{\"status\":\"completed\",\"conclusion\":\"skipped\"}]}",
		    LAND_CI_PASSED, 1));
	CHECK("a run that timed out has failed",
	      ci_is(&land_forge_github,
		    "{\"check_runs\":[{\"status\":\"completed\",\"conclusion\":\"timed_out\"}]}",
		    LAND_CI_FAILED, 1));
	CHECK("an error of a commit status has failed",
	      ci_is(&land_forge_github, "{\"statuses\":[{\"state\":\"error\"}]}", LAND_CI_FAILED,
		    1));
	CHECK("only the newest pipeline of a source counts",
	      ci_is(&land_forge_gitlab,
		    "[{\"id\":3,\"status\":\"success\",\"source\":\"push\"},{\"id\":2,\"status\":"
		    "\"failed\",\"source\":\"push\"}]",
		    LAND_CI_PASSED, 1));
	CHECK("a job that may fail does not count",
	      ci_is(&land_forge_gitlab,
		    "[{\"id\":3,\"stage\":\"t\",\"status\":\"failed\",\"allow_failure\":true}]",
		    LAND_CI_PASSED, 0));
	CHECK("a pipeline that was canceled has failed",
	      ci_is(&land_forge_gitlab, "[{\"id\":3,\"status\":\"canceled\",\"source\":\"x\"}]",
		    LAND_CI_FAILED, 1));
	CHECK("the status of a job that is known is dropped",
	      ci_is(&land_forge_gitea,
		    "{\"jobs\":[{\"id\":1,\"conclusion\":\"success\"}],\"statuses\":[{\"status\":"
		    "\"success\",\"target_url\":\"/a/w/actions/runs/1/jobs/0\"},{\"status\":"
		    "\"success\",\"target_url\":\"https://other/\"}]}",
		    LAND_CI_PASSED, 2));
}

static bool next_is(const char *path, size_t entries, const char *expected)
{
	json_t *answer = json_array();

	for (size_t i = 0; i < entries; i++)
		json_array_append_new(answer, json_object());

	AUTO_FREE char *next = land_forge_next(&land_forge_github, path, answer);

	json_decref(answer);
	return expected ? next && strcmp(next, expected) == 0 : !next;
}

static void check_pages(void)
{
	CHECK("a full page has a next one", next_is("/x?a=1&page=1", 100, "/x?a=1&page=2"));
	CHECK("one that is not full is the last", next_is("/x?a=1&page=2", 99, NULL));
	CHECK("pages have an end", next_is("/x?a=1&page=40", 100, NULL));
}

static bool body_is(const char *body, const char *expected)
{
	AUTO_FREE char *got = land_body_with(body, "NEW");

	return strcmp(got, expected) == 0;
}

#define BEGIN "<!-- ringfence: begin; what follows is replaced -->"
#define END   "<!-- ringfence: end -->"

static bool title_is(const char *objective, const char *expected)
{
	AUTO_FREE char *title = land_body_title(objective);

	return strcmp(title, expected) == 0;
}

static void check_bodies(void)
{
	CHECK("an empty body becomes our part", body_is("", BEGIN "\nNEW\n" END "\n"));
	CHECK("our part follows what a person wrote",
	      body_is("Hello.\r\n", "Hello.\n\n" BEGIN "\nNEW\n" END "\n"));
	CHECK("only our part is replaced",
	      body_is("a\n" BEGIN "\nold\n" END "\nb", "a\n" BEGIN "\nNEW\n" END "\nb"));
	CHECK("a mark that the old text quotes does not end it",
	      body_is(BEGIN "\n`" END "`\nrest\n" END, BEGIN "\nNEW\n" END));
	CHECK("the first line of an objective is the title",
	      title_is("\n# Fix it\nand more", "Fix it"));
	CHECK("control characters are not in a title", title_is("a\x1b[1mb\xff", "a [1mb "));
	CHECK("a request has a title", title_is("\n", "Work of an agent"));
}

/* Scans a patch: "path" of the only finding, or NULL. */
static bool secret_in_bytes(const char *patch, size_t size, const char *expected)
{
	int file = memfd_create("patch", MFD_CLOEXEC);
	struct land_patch found = { 0 };
	struct error err;
	bool same = file >= 0 && write(file, patch, size) == (ssize_t)size &&
		    land_patch_scan(file, &found, &err) == 0;

	same = same && found.count == (expected ? 1 : 0) &&
	       (!expected || strcmp(found.findings[0].path, expected) == 0);
	land_patch_release(&found);
	close(file);
	return same;
}

static bool secret_in(const char *patch, const char *expected)
{
	return secret_in_bytes(patch, strlen(patch), expected);
}

#define KEY "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
#define HEAD \
	"From 0123 Mon Sep 17 00:00:00 2001\nSubject: x\n\n---\n--- a/k.txt\n+++ b/k.txt\n@@ -1 +1 @@\n"

static void check_patches(void)
{
	CHECK("a token in a line that is added is found", secret_in(HEAD "+" KEY "\n", "k.txt"));
	CHECK("one that is removed is not", secret_in(HEAD "-" KEY "\n", NULL));
	CHECK("nor is one that was there", secret_in(HEAD " " KEY "\n", NULL));
	CHECK("one in a message is found",
	      secret_in("From 01 Mon\nSubject: x\n\n" KEY "\n", "a message of a commit"));
	CHECK("a line that poses as a head hides nothing", secret_in(HEAD "+++ b/" KEY "\n", KEY));
	CHECK("the message of a later commit is scanned as well",
	      secret_in(HEAD "+x\n-- \n2.39\n\nFrom 02 Mon\nSubject: " KEY "\n",
			"a message of a commit"));
}

static bool secret_after(size_t letters)
{
	AUTO_BUFFER struct buffer patch = BUFFER_INIT(16 << 20);
	AUTO_FREE char *long_line = mem_zero(letters + 1);

	memset(long_line, 'x', letters);
	buffer_printf(&patch, "%s+%s %s\n", HEAD, long_line, KEY);
	return secret_in_bytes(patch.data, patch.used, "k.txt");
}

static void check_hiding_places(void)
{
	static const char nul[] = HEAD "+\0\n+" KEY "\n";

	CHECK("a NUL hides nothing in the lines around it",
	      secret_in_bytes(nul, sizeof nul - 1, "k.txt"));
	CHECK("a long line hides nothing", secret_after(6 << 20));
}

static struct land_ci jobs_of(size_t count, enum land_ci_state state)
{
	const struct land_job job = { .state = state };
	struct land_ci ci = { 0 };

	for (size_t i = 0; i < count; i++)
		land_ci_add(&ci, &job);
	return ci;
}

/* Returns the step after a reading of CI with so many jobs, all in this state. */
static enum land_wait_step step_of(struct land_wait *wait, size_t count, enum land_ci_state state,
				   uint64_t now_ms)
{
	struct land_ci ci = jobs_of(count, state);
	uint64_t pause_ms = 0;
	enum land_wait_step step = land_wait_next(wait, &ci, false, now_ms, &pause_ms);

	land_ci_release(&ci);
	return step;
}

static void check_waiting(void)
{
	enum { NOW = 1000000, HOUR = 3600000 };
	struct land_wait wait;

	land_wait_begin(&wait, NOW, HOUR, false);
	CHECK("CI has time to begin, from when it is waited for",
	      step_of(&wait, 0, 0, NOW + LAND_WAIT_START_MS - 1) == LAND_WAIT_AGAIN);
	CHECK("CI that does not begin is not waited for",
	      step_of(&wait, 0, 0, NOW + LAND_WAIT_START_MS) == LAND_WAIT_OVER);
	CHECK("pending jobs are waited for",
	      step_of(&wait, 1, LAND_CI_PENDING, NOW + HOUR - 1) == LAND_WAIT_AGAIN);
	CHECK("but not longer than was said",
	      step_of(&wait, 1, LAND_CI_PENDING, NOW + HOUR) == LAND_WAIT_LATE);
	CHECK("what has passed is over", step_of(&wait, 1, LAND_CI_PASSED, NOW) == LAND_WAIT_OVER);
	land_wait_begin(&wait, NOW, HOUR, true);
	CHECK("before a merge, a pass is read twice",
	      step_of(&wait, 1, LAND_CI_PASSED, NOW) == LAND_WAIT_AGAIN);
	CHECK("and again if there are more jobs",
	      step_of(&wait, 2, LAND_CI_PASSED, NOW) == LAND_WAIT_AGAIN);
	CHECK("until two readings agree", step_of(&wait, 2, LAND_CI_PASSED, NOW) == LAND_WAIT_OVER);
	CHECK("a failure is certain at once",
	      step_of(&wait, 2, LAND_CI_FAILED, NOW) == LAND_WAIT_OVER);
}

/* Returns the pause after so many readings without a change, and one more. */
static uint64_t pause_after(int readings, bool changed, uint64_t most_ms)
{
	struct land_ci ci = jobs_of(1, LAND_CI_PENDING);
	struct land_wait wait;
	uint64_t pause_ms = 0;

	land_wait_begin(&wait, 0, most_ms, false);
	for (int i = 0; i < readings; i++)
		land_wait_next(&wait, &ci, false, 0, &pause_ms);
	land_wait_next(&wait, &ci, changed, 0, &pause_ms);
	land_ci_release(&ci);
	return pause_ms;
}

static void check_pauses(void)
{
	enum { HOUR = 3600000 };

	CHECK("the first pause is short", pause_after(0, false, HOUR) == LAND_WAIT_FIRST_MS);
	CHECK("pauses become longer", pause_after(1, false, HOUR) > LAND_WAIT_FIRST_MS);
	CHECK("up to a minute", pause_after(20, false, HOUR) == LAND_WAIT_LAST_MS);
	CHECK("they are short again after a change",
	      pause_after(20, true, HOUR) == LAND_WAIT_FIRST_MS);
	CHECK("no pause is longer than the time that is left", pause_after(20, false, 7) == 7);
}

static void check_gh(void)
{
	static const char text[] = "HTTP/2.0 404 Not Found\nRetry-After: 7\r\n\r\n{}";
	struct https_response response;
	bool read = land_gh_read(text, strlen(text), &response) == 0;

	CHECK("what gh prints has a status, headers and a body",
	      read && response.status == 404 && list_has(&response.headers, "retry-after: 7") &&
		      strcmp(buffer_text(&response.body), "{}") == 0);
	https_message_release(&response);
	CHECK("other output is not an answer", land_gh_read("error: x\n", 9, &response) < 0);
	CHECK("nor is a head without an end",
	      land_gh_read("HTTP/2.0 200 OK\nA: b\r\n", 22, &response) < 0);
}

int main(void)
{
	check_remotes();
	check_masks();
	check_apis();
	check_requests();
	check_ci();
	check_pages();
	check_bodies();
	check_patches();
	check_hiding_places();
	check_waiting();
	check_pauses();
	check_gh();
	return unit_failures != 0;
}
