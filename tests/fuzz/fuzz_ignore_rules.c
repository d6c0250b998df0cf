// sources: src/snapshot/look/ignore_rules.c
/* Ignore rules as a baseline stores them and as a project writes them. */
#include "fuzz.h"

#include "snapshot/look/ignore_rules.h"

#include <stdlib.h>
#include <string.h>

static void ask(const struct ignore_rules *rules)
{
	static const char *const paths[] = { "a", "src/kept.o", "src/x/y.o", "deep/er/and/deeper" };

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		ignore_rules_match(rules, paths[i], i & 1);
		ignore_rules_tracked(rules, paths[i]);
	}
}

void fuzz_ignore_rules(const uint8_t *data, size_t size)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 24);
	struct ignore_rules *rules = ignore_rules_new();
	struct ignore_rules *again = NULL;
	struct error err;

	ignore_rules_add(rules, "", (const char *)data, size);
	ignore_rules_ready(rules);
	ask(rules);
	ignore_rules_write(rules, &out);
	/* Written rules can be read back. */
	if (ignore_rules_read(buffer_text(&out), out.used, &again, &err) < 0)
		abort();
	ignore_rules_free(again);
	ignore_rules_free(rules);
	if (ignore_rules_read((const char *)data, size, &rules, &err) == 0) {
		ask(rules);
		ignore_rules_free(rules);
	}
}

FUZZ_TARGET(fuzz_ignore_rules)
