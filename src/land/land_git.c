/* Pushing: see land_git.h. */
#include "land/land_git.h"

#include "land/land_remote.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { QUICK_MS = 30000, REMOTE_MS = 120000, PUSH_MS = 1800000, OUTPUT_BYTES = 64 << 10 };

void land_git_close(struct land_git *git)
{
	land_program_release(&git->program);
}

/* Returns what git said last, on one line, without passwords; the caller frees it. */
static char *last_words(struct buffer *errors)
{
	const char *text = buffer_text(errors);
	size_t size = strlen(text);
	AUTO_FREE char *end = NULL;

	while (size && strchr(" \n\r\t", text[size - 1]))
		size--;
	end = mem_format("%.*s", (int)size, text);
	for (char *at = end; *at; at++)
		if (*at == '\n' || *at == '\r')
			*at = ';';
	land_remote_mask(end);
	return mem_dup(end + text_last(end, strlen(end), 600));
}

/* Runs git with these words, which end with NULL. Returns its exit status, or -1 with err set. */
static int ask(const struct land_git *git, uint64_t most_ms, struct buffer *output,
	       struct buffer *errors, struct error *err, const char *const *words)
{
	struct list arguments = { 0 };
	struct land_program_run run = { .arguments = &arguments,
					.most_ms = most_ms,
					.asks = git->asks && most_ms != QUICK_MS,
					.output = output,
					.errors = errors };
	int code;

	list_add(&arguments, "--no-pager");
	list_add(&arguments, "-C");
	list_add(&arguments, git->project);
	list_add(&arguments, "-c");
	list_add(&arguments, "core.hooksPath=/dev/null");
	list_add(&arguments, "-c");
	list_add(&arguments, "core.fsmonitor=false");
	list_add(&arguments, "-c");
	list_add(&arguments, "protocol.ext.allow=never");
	for (; *words; words++)
		list_add(&arguments, *words);
	code = land_program_run(&git->program, &run, err);
	list_release(&arguments);
	return code;
}

/* Returns the first line of what git prints, or NULL with err set; ERROR_NOT_FOUND if git says no.
 * The caller frees it. */
static char *line(const struct land_git *git, uint64_t most_ms, struct error *err,
		  const char *const *words)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(OUTPUT_BYTES);
	AUTO_BUFFER struct buffer errors = BUFFER_INIT(OUTPUT_BYTES);
	int code = ask(git, most_ms, &output, &errors, err, words);
	const char *text = buffer_text(&output);

	if (code == 0)
		return mem_format("%.*s", (int)strcspn(text, "\n"), text);
	if (code > 0) {
		AUTO_FREE char *why = last_words(&errors);

		error_with(err, ERROR_NOT_FOUND, "%s",
			   *why ? why : "git ended with an error and said nothing");
	}
	return NULL;
}

#define LINE(git, most_ms, err, ...) \
	line(git, most_ms, err, (const char *const[]){ __VA_ARGS__, NULL })

/* ---- programs that git runs ---- */

/* Checks one entry, "key\nvalue", of a list. A helper for credentials may begin with "!". */
static int check_entry(const struct land_git *git, const char *entry, struct error *err)
{
	const char *value = strchr(entry, '\n');
	struct error why;

	if (!value || taint_check_line(git->taint, value + 1 + (value[1] == '!'), &why) == 0)
		return 0;
	return error_with(err, why.status, "git's setting '%.*s': %s", (int)(value - entry), entry,
			  why.text);
}

/* The fence keeps an agent from changing the configuration, but not a script that it names. */
static int check_programs(const struct land_git *git, struct error *err)
{
	static const char keys[] =
		"^(core\\.(sshcommand|gitproxy|askpass|alternaterefscommand)|"
		"credential\\.(.*\\.)?helper|gpg\\.(.*\\.)?(program|defaultkeycommand)|"
		"remote\\..*\\.(receivepack|uploadpack))$";
	static const char *const words[] = { "config", "-z", "--get-regexp", keys, NULL };
	AUTO_BUFFER struct buffer output = BUFFER_INIT(OUTPUT_BYTES);
	AUTO_BUFFER struct buffer errors = BUFFER_INIT(OUTPUT_BYTES);
	const char *text;

	/* Status 1: there are none. */
	if (ask(git, QUICK_MS, &output, &errors, err, words) < 0)
		return -1;
	if (buffer_overflowed(&output))
		return error_with(err, ERROR_NO_SPACE,
				  "git's configuration names too many programs");
	text = buffer_text(&output);
	for (const char *at = text; at < text + output.used; at += strlen(at) + 1)
		if (check_entry(git, at, err) < 0)
			return -1;
	return 0;
}

int land_git_open(const char *project, const struct taint *taint, bool asks,
		  struct land_git *ret_git, struct error *err)
{
	struct land_git git = { .project = project, .taint = taint, .asks = asks };

	if (land_program_find("git", taint, &git.program, err) < 0)
		return -1;
	if (check_programs(&git, err) < 0) {
		land_git_close(&git);
		return -1;
	}
	*ret_git = git;
	return 0;
}

/* ---- the remote ---- */

static char *configured(const struct land_git *git, const char *key)
{
	struct error none;
	char *value = LINE(git, QUICK_MS, &none, "config", "--get", key);

	if (value && !*value) {
		free(value);
		value = NULL;
	}
	return value;
}

static char *remote_of_branch(const struct land_git *git)
{
	struct error none;
	AUTO_FREE char *branch = LINE(git, QUICK_MS, &none, "symbolic-ref", "--short", "-q",
				      "HEAD");
	AUTO_FREE char *push = branch ? mem_format("branch.%s.pushRemote", branch) : NULL;
	AUTO_FREE char *pull = branch ? mem_format("branch.%s.remote", branch) : NULL;
	char *found = push ? configured(git, push) : NULL;

	return found || !pull ? found : configured(git, pull);
}

int land_git_remote(const struct land_git *git, char **ret_name, struct error *err)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(OUTPUT_BYTES);
	AUTO_BUFFER struct buffer errors = BUFFER_INIT(OUTPUT_BYTES);
	static const char *const words[] = { "remote", NULL };
	char *found = remote_of_branch(git);
	const char *text;
	size_t first;

	if (!found || strcmp(found, ".") == 0) {
		free(found);
		found = configured(git, "remote.pushDefault");
	}
	if (found) {
		*ret_name = found;
		return 0;
	}
	if (ask(git, QUICK_MS, &output, &errors, err, words) < 0)
		return -1;
	text = buffer_text(&output);
	first = strcspn(text, "\n");
	if (strcmp(text, "origin\n") == 0 || strstr(text, "\norigin\n") ||
	    text_after_prefix(text, "origin\n"))
		*ret_name = mem_dup("origin");
	else if (first && !text[first + 1])
		*ret_name = mem_format("%.*s", (int)first, text);
	else
		return error_with(err, ERROR_NOT_FOUND,
				  "'%s' has %s; name one with --remote (to add one: git remote add "
				  "origin URL)",
				  git->project, first ? "several remotes" : "no git remote");
	return 0;
}

/* The repository of a path has hooks, which run on this machine. */
static int check_path(const struct land_git *git, const char *url, struct error *err)
{
	bool named = *url != '/' && *url != '.' && !strchr(url, ':');
	bool local = named || *url == '/' || *url == '.' || text_after_prefix(url, "file:");
	AUTO_FREE char *path = mem_format("%s%s", named ? "./" : "", url);

	return local ? taint_check_word(git->taint, path, err) : 0;
}

int land_git_url(const struct land_git *git, const char *remote, char **ret_url, struct error *err)
{
	struct error why;
	AUTO_FREE char *shown = mem_format("%.300s", remote);
	char *url = LINE(git, QUICK_MS, &why, "remote", "get-url", "--push", "--", remote);

	if (url && check_path(git, url, &why) == 0) {
		*ret_url = url;
		return 0;
	}
	free(url);
	/* Somebody may have given a URL, with a password, for a name. */
	land_remote_mask(shown);
	return error_with(err, why.status, "find the URL of the remote '%s': %s", shown, why.text);
}

/* ---- branches ---- */

static bool is_commit(const char *name, size_t size)
{
	return (size == 40 || size == 64) && strspn(name, "0123456789abcdef") >= size;
}

int land_git_commit(const struct land_git *git, const char *branch, char ret_commit[LAND_COMMIT],
		    struct error *err)
{
	struct error why;
	AUTO_FREE char *ref = mem_format("refs/heads/%s^{commit}", branch);
	AUTO_FREE char *name = LINE(git, QUICK_MS, &why, "rev-parse", "--verify", "-q",
				    "--end-of-options", ref);

	if (!name || !is_commit(name, strlen(name)))
		return error_with(
			err, ERROR_NOT_FOUND,
			"there is no branch %s in this repository: the loop has not "
			"committed anything (to see what it did: ringfence diff; to take its "
			"files over: ringfence apply)",
			branch);
	memcpy(ret_commit, name, strlen(name) + 1);
	return 0;
}

int land_git_there(const struct land_git *git, const char *remote, const char *branch,
		   char ret_commit[LAND_COMMIT], struct error *err)
{
	struct error why;
	AUTO_FREE char *ref = mem_format("refs/heads/%s", branch);
	AUTO_FREE char *found = LINE(git, REMOTE_MS, &why, "ls-remote", "--", remote, ref);
	size_t size = found ? strcspn(found, "\t") : 0;

	if (!found)
		return error_with(
			err, why.status,
			"cannot reach the remote '%.100s': %s (try: git ls-remote %.100s)", remote,
			why.text, remote);
	if (size && !is_commit(found, size))
		return error_with(err, ERROR_PROTOCOL, "git ls-remote %.100s printed no commit",
				  remote);
	memcpy(ret_commit, found, size);
	ret_commit[size] = '\0';
	return 0;
}

int land_git_push(const struct land_git *git, const char *remote, const char *branch,
		  const char *commit, const char *expected, struct error *err)
{
	struct error why;
	AUTO_FREE char *lease = mem_format("--force-with-lease=refs/heads/%s:%s", branch, expected);
	AUTO_FREE char *what = mem_format("%s:refs/heads/%s", commit, branch);
	AUTO_FREE char *done = LINE(git, PUSH_MS, &why, "push", "--porcelain", "--no-verify",
				    "--no-follow-tags", "--recurse-submodules=no", lease, "--",
				    remote, what);

	if (!done)
		return error_with(err, why.status, "push %s to the remote '%.100s': %s", branch,
				  remote, why.text);
	return 0;
}
