/*
 * A second opinion: the findings in the final message of a reviewer.
 *
 * The message is untrusted. It must hold one JSON object, alone or in its last fenced block
 * (between lines of three backticks, the first one with or without "json"):
 *
 *   {"findings": [{"severity": "blocking", "file": "src/a.c", "line": 12, "text": "leaks fd"}]}
 *
 * `severity` is "blocking" or "advice". `file` and `line` may be null or missing; a line needs a
 * file. Any other key, type or size makes the whole answer unreadable.
 */
#ifndef DECISION_REVIEW_H
#define DECISION_REVIEW_H

#include "util/error.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum {
	REVIEW_FINDINGS_MAX = 20,
	REVIEW_TEXT_MAX = 1000, /* bytes */
	REVIEW_FILE_MAX = 400,
};

/*
 * Reads the findings: an array of objects with `severity`, `text`, and `file` and `line` if known,
 * blocking ones first. The caller releases it. Returns NULL with err set to a sentence that tells
 * the reviewer what is wrong.
 */
json_t *review_read(const char *message, size_t size, struct error *err);

/* Counts the findings with this severity. */
uint32_t review_count(const json_t *findings, const char *severity);

#endif
