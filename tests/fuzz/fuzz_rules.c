// sources: src/snapshot/look/rules.c
/* Ignore rules of a baseline, as they are kept, and as a project writes them. */
#include "fuzz.h"

#include "snapshot/look/rules.h"

#include <stdlib.h>
#include <string.h>

static void ask(const struct rules *rules)
{
	static const char *const paths[] = { "a", "src/kept.o", "src/x/y.o", "deep/er/and/deeper" };

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		rules_ignore(rules, paths[i], i & 1);
		rules_tracked(rules, paths[i]);
	}
}

void fuzz_rules(const uint8_t *data, size_t size)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 24);
	struct rules *rules = rules_new();
	struct rules *again = NULL;
	struct error err;

	rules_add(rules, "", (const char *)data, size);
	rules_ready(rules);
	ask(rules);
	rules_write(rules, &out);
	/* What was written can be read. */
	if (rules_read(buffer_text(&out), out.used, &again, &err) < 0)
		abort();
	rules_free(again);
	rules_free(rules);
	if (rules_read((const char *)data, size, &rules, &err) == 0) {
		ask(rules);
		rules_free(rules);
	}
}

FUZZ_TARGET(fuzz_rules)
