/* The changed files of a change, read and compared line by line. */
#ifndef DETECT_DETECT_PAIR_H
#define DETECT_DETECT_PAIR_H

#include "detect/detect_file.h"
#include "detect/detect_finding.h"
#include "detect/detect_lines.h"
#include "detect/detect_tests.h"
#include "util/textset.h"

#include <stdbool.h>
#include <stdint.h>

/* The two versions of a file. */
struct detect_pair {
	const struct detect_change *change;
	struct detect_file was, is;
	struct detect_lines before, after;
	bool *removed, *added; /* for each line: no other changed file has it now, or had it */
	struct detect_tests old_tests, new_tests;
};

struct detect_pairs {
	struct detect_pair *items;
	size_t count;
	struct detect_findings *findings;
	uint64_t steps;       /* what is left of the work that a change may cause */
	struct textset words; /* of the lines that were added to tests */
};

/* Reads all files. Findings are added to `findings`. */
void detect_pairs_read(const struct detect_change *changes, size_t count,
		       struct detect_findings *findings, struct detect_pairs *ret_pairs);
void detect_pairs_release(struct detect_pairs *pairs);

/* Adds a finding at a line of the new version (from 0), or of the old one if `old` is set. */
void detect_pair_report(struct detect_pairs *pairs, const struct detect_pair *pair,
			enum detect_kind kind, bool old, size_t line);

/* Adds a finding with evidence of its own; the line counts from 1, and 0 is the file. */
void detect_pair_report_text(struct detect_pairs *pairs, const struct detect_pair *pair,
			     enum detect_kind kind, size_t line, const char *evidence);

/* Returns the removed line with the shape of an added one, or SIZE_MAX: what it replaces. */
size_t detect_pair_replaced(struct detect_pairs *pairs, const struct detect_pair *pair,
			    size_t added);

/* Takes a step of a search. Returns false if the change has caused too much work: a search then
 * ends without a result, which is never in favour of the change. */
bool detect_pairs_step(struct detect_pairs *pairs);

#endif
