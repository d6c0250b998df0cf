// sources: src/lfs/lfs_rules.c
/* A .gitattributes that an agent committed. Each question ends within its steps. */
#include "fuzz.h"

#include "lfs/lfs_rules.h"

#include <stdlib.h>

static void ask(const struct lfs_rules *rules)
{
	static const char *const paths[] = { "a", "a b", "src/kept.bin", "deep/er/and/deeper.bin" };

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		uint64_t steps = LFS_RULES_STEPS;

		if (lfs_rules_match(rules, paths[i], &steps) == LFS_RULES_YES &&
		    !lfs_rules_matter(rules))
			abort();
	}
}

void fuzz_lfs_rules(const uint8_t *data, size_t size)
{
	struct lfs_rules *rules = lfs_rules_read((const char *)data, size, NULL);
	struct lfs_rules *below = lfs_rules_read((const char *)data, size, rules);

	ask(rules);
	ask(below);
	lfs_rules_free(below);
	lfs_rules_free(rules);
}

FUZZ_TARGET(fuzz_lfs_rules)
