// sources: src/decision/review.c src/decision/lines.c
/*
 * The final message of a reviewer: every finding that is read keeps the limits, and reading the
 * result again changes nothing.
 */
#include "fuzz.h"

#include "decision/review.h"

#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

static void check(const json_t *finding)
{
	const char *severity = jsonget_string(finding, "severity");
	const char *text = jsonget_string(finding, "text");
	const char *file = jsonget_string(finding, "file");

	if (!severity || (strcmp(severity, "blocking") != 0 && strcmp(severity, "advice") != 0))
		abort();
	if (!text || !*text || strlen(text) > REVIEW_TEXT_MAX)
		abort();
	if (file && (!*file || strlen(file) > REVIEW_FILE_MAX))
		abort();
	if (json_object_get(finding, "line") && (!file || jsonget_number(finding, "line") < 1))
		abort();
}

void fuzz_review(const uint8_t *data, size_t size)
{
	struct error err = { 0 };
	json_t *findings = review_read((const char *)data, size, &err);
	json_t *again;
	size_t index;
	const json_t *finding;

	if (!findings) {
		if (!err.text[0])
			abort();
		return;
	}
	if (json_array_size(findings) > REVIEW_FINDINGS_MAX ||
	    review_count(findings, "blocking") + review_count(findings, "advice") !=
		    json_array_size(findings))
		abort();
	json_array_foreach(findings, index, finding) check(finding);

	json_t *answer = json_pack("{s:O}", "findings", findings);
	AUTO_FREE char *text = json_dumps(answer, JSON_COMPACT);

	again = text ? review_read(text, strlen(text), &err) : NULL;
	if (!again || !json_equal(again, findings))
		abort();
	json_decref(again);
	json_decref(answer);
	json_decref(findings);
}

FUZZ_TARGET(fuzz_review)
