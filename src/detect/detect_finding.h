/* The kinds of signs, what happens when one is found, and the changes in which they are sought. */
#ifndef DETECT_DETECT_FINDING_H
#define DETECT_DETECT_FINDING_H

#include <stdbool.h>
#include <stddef.h>

/* The response to a sign: none, record it, tell the agent, have a person accept it before the work
 * is done, or pause the loop unless the agent takes it back at once. */
enum detect_action {
	DETECT_OFF,
	DETECT_NOTE,
	DETECT_TELL,
	DETECT_REVIEW,
	DETECT_STOP,
	DETECT_ACTION_COUNT
};

/* Every sign: name, default action, and what it says. */
#define DETECT_KINDS(X)                                                                          \
	X(TEST_DELETED, "test-deleted", STOP, "a test was deleted")                              \
	X(TEST_SKIPPED, "test-skipped", STOP, "a test is skipped")                               \
	X(TEST_FOCUSED, "test-focused", STOP, "only some tests run")                             \
	X(TEST_EMPTIED, "test-emptied", STOP, "a test checks nothing any more")                  \
	X(ASSERTION_REMOVED, "assertion-removed", REVIEW, "a test has fewer assertions")         \
	X(ASSERTION_TRIVIAL, "assertion-trivial", STOP, "an assertion cannot fail")              \
	X(ASSERTION_WEAKENED, "assertion-weakened", REVIEW, "an assertion accepts more")         \
	X(EXPECTED_CHANGED, "expected-changed", REVIEW, "an expected value was changed")         \
	X(SNAPSHOT_REWRITTEN, "snapshot-rewritten", REVIEW, "a recorded result was replaced")    \
	X(TIMEOUT_RAISED, "timeout-raised", TELL, "a time limit was raised")                     \
	X(FAILURE_IGNORED, "failure-ignored", STOP, "a failure is ignored")                      \
	X(EXIT_FORCED, "exit-forced", STOP, "an exit status is forced")                          \
	X(TESTS_EXCLUDED, "tests-excluded", STOP, "tests are left out")                          \
	X(SUBJECT_MOCKED, "subject-mocked", REVIEW, "a test replaces what it tests")             \
	X(RESULT_HARD_CODED, "result-hard-coded", REVIEW, "results are returned by input value") \
	X(EQUALITY_FORCED, "equality-forced", STOP, "a value equals every other")                \
	X(TEST_AWARE, "test-aware", STOP, "the code behaves differently under test")             \
	X(COVERAGE_LOOSENED, "coverage-loosened", REVIEW, "coverage demands less")               \
	X(RULE_DISABLED, "rule-disabled", REVIEW, "a lint or type rule was disabled")            \
	X(SUPPRESSION_ADDED, "suppression-added", TELL, "a warning is suppressed")               \
	X(FEATURE_REMOVED, "feature-removed", REVIEW, "a public name, route or option is gone")  \
	X(DEPENDENCY_CHANGED, "dependency-changed", NOTE, "a dependency was added or changed")   \
	X(LOCKFILE_ALONE, "lockfile-alone", REVIEW, "a lockfile changed without its manifest")   \
	X(INSTALL_SCRIPT, "install-script", STOP, "a script runs when the package is installed") \
	X(NOT_EXAMINED, "not-examined", NOTE, "a large file was not examined")                   \
	X(UNTESTED, "untested", NOTE, "no check notices a change of this line")

enum detect_kind {
#define DETECT_KIND(id, name, action, says) DETECT_##id,
	DETECT_KINDS(DETECT_KIND)
#undef DETECT_KIND
		DETECT_KIND_COUNT,
};

const char *detect_kind_name(enum detect_kind kind);
const char *detect_kind_says(enum detect_kind kind);
enum detect_action detect_kind_action(enum detect_kind kind);
const char *detect_action_name(enum detect_action action);

/* One version of a file. */
struct detect_text {
	const char *data; /* NULL if the file does not exist */
	size_t size;
	bool large; /* the caller has not read it */
};

struct detect_change {
	const char *path, *old_path; /* equal, unless the file was renamed */
	struct detect_text before, after;
};

struct detect_finding {
	enum detect_kind kind;
	char *path;
	size_t line;    /* in the new version, or in the old one if it is only there; 0: the file */
	char *evidence; /* a line of the file, or the name of what is gone; may be cut */
};

struct detect_findings {
	struct detect_finding *items; /* by path, line and kind */
	size_t count;
};

void detect_findings_release(struct detect_findings *findings);

#endif
