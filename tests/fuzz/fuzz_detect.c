// sources: src/detect/detect.c src/detect/detect_compare.c src/detect/detect_features.c
// sources: src/detect/detect_file.c src/detect/detect_finding.c src/detect/detect_lines.c
// sources: src/detect/detect_match.c
// sources: src/detect/detect_packages.c src/detect/detect_pair.c src/detect/detect_rules.c
// sources: src/detect/detect_statements.c
// sources: src/project/check_files.c src/project/path_group.c
// sources: src/detect/detect_tests.c -ljansson
/* A change: the path of a file, a NUL, its old version, a NUL, and its new version. */
#include "fuzz.h"

#include "detect/detect.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* Takes the bytes before the next NUL, or all of them. The caller frees them. */
static char *take(const char **at, size_t *size)
{
	size_t length = strnlen(*at, *size);
	char *text = mem_alloc(length + 1);

	memcpy(text, *at, length);
	text[length] = '\0';
	*at += length + (length < *size);
	*size -= length + (length < *size);
	return text;
}

void fuzz_detect(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data;
	AUTO_FREE char *path = take(&at, &size);
	AUTO_FREE char *before = take(&at, &size);
	struct detect_change change = {
		path, path, { before, strlen(before), false }, { at, size, false }
	};
	struct detect_findings findings;

	detect_run(&change, 1, &findings);
	for (size_t i = 0; i < findings.count; i++)
		if (findings.items[i].kind >= DETECT_KIND_COUNT ||
		    strcmp(findings.items[i].path, path) != 0)
			abort();
	detect_findings_release(&findings);
}

FUZZ_TARGET(fuzz_detect)
