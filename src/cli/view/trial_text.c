/* Texts about trials with broken code: see trial_text.h. */
#include "cli/view/trial_text.h"

#include "util/mem.h"
#include "util/text/jsonget.h"

char *trial_text_proof(const json_t *data)
{
	const char *kind = jsonget_flag(data, "final") ? "final check" : "check";
	const char *command = jsonget_text(data, "command");
	long long count = (long long)jsonget_number(data, "broken");

	if (jsonget_flag(data, "before"))
		return mem_format("%s '%s' fails already, so it can fail", kind, command);
	if (jsonget_flag(data, "noticed"))
		return mem_format("%s '%s' fails when the code is broken, so it can fail", kind,
				  command);
	return mem_format("%s '%s' passes although all code is broken (%lld file%s, such as %s): "
			  "not noticed",
			  kind, command, count, count == 1 ? "" : "s",
			  jsonget_text(data, "example"));
}

char *trial_text_mutants(const json_t *data)
{
	const char *why = jsonget_text(data, "why");
	long long invalid = (long long)jsonget_number(data, "invalid");
	AUTO_FREE char *others = invalid ? mem_format(", %lld not valid code", invalid)
					 : mem_dup("");

	if (!jsonget_number(data, "tried") && !*why)
		return mem_dup("mutants: none of the agent's lines can be changed");
	return mem_format("mutants: %lld tried, %lld noticed, %lld not%s%s%s",
			  (long long)jsonget_number(data, "tried"),
			  (long long)jsonget_number(data, "noticed"),
			  (long long)jsonget_number(data, "survived"), others, *why ? "; " : "",
			  why);
}

char *trial_text_untested(const json_t *finding)
{
	const char *after = jsonget_text(finding, "after");
	AUTO_FREE char *became = *after ? mem_format(" became '%s'", after) : mem_dup("");

	return mem_format("untested: %s:%lld: no check notices that %s: '%s'%s",
			  jsonget_text(finding, "path"), (long long)jsonget_number(finding, "line"),
			  jsonget_text(finding, "change"), jsonget_text(finding, "before"), became);
}
