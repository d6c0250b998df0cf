/* How a loop ended: see outcome_text.h. */
#include "cli/view/outcome_text.h"

#include "util/mem.h"
#include "util/text/jsonget.h"

#include <string.h>

/* Returns how the loop ended, or NULL if there is nothing to say. */
static const char *ending_of(const char *status)
{
	static const struct {
		const char *status, *words;
	} endings[] = {
		{ "limit", "ended at a limit" },      { "failed", "failed" },
		{ "aborted", "was aborted" },         { "paused", "is paused" },
		{ "interrupted", "was interrupted" },
	};

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (strcmp(endings[i].status, status) == 0)
			return endings[i].words;
	return NULL;
}

/* Returns the results of the checks, which have all run. The caller frees it. */
static char *results_text(const json_t *outcome)
{
	long long checks = (long long)jsonget_number(outcome, "checks");
	long long failing = (long long)jsonget_number(outcome, "failing");
	long long count = failing ? failing : checks;
	AUTO_FREE char *which = checks == 1 ? mem_dup("its check")
					    : mem_format("%lld of %lld checks", count, checks);
	const char *verb = failing ? "fail" : "pass";

	if (jsonget_flag(outcome, "outdated"))
		return mem_format("; %s %sed when %s last ran", which, verb,
				  checks == 1 ? "it" : "they");
	return mem_format("; %s %s%s", which, verb, count > 1 ? "" : failing ? "s" : "es");
}

static char *checks_text(const json_t *outcome)
{
	long long checks = (long long)jsonget_number(outcome, "checks");

	if (!checks)
		return mem_dup("");
	if (jsonget_number(outcome, "ran") < checks)
		return mem_dup("; its checks have not run");
	return results_text(outcome);
}

char *outcome_text_sentence(const json_t *outcome)
{
	const char *ending = ending_of(jsonget_text(outcome, "status"));
	AUTO_FREE char *checks = ending ? checks_text(outcome) : NULL;

	if (!ending)
		return NULL;
	return mem_format("the loop %s%s%s", ending, checks,
			  jsonget_flag(outcome, "final_failing") ? "; a final check fails" : "");
}
