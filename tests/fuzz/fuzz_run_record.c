// sources: src/fence/after/baseline.c src/fence/plan/known.c src/fence/plan/ruleset.c
// sources: src/fence/plan/defaults.c src/fence/run/wire.c
/* A run record, as a later start reads it. */
#include "fuzz.h"

#include "fence/after/baseline.h"

#include <fcntl.h>

void fuzz_run_record(const uint8_t *data, size_t size)
{
	struct fence_known known = { .path = (char *)"/p/missing/entry" };
	struct fence_link link = { (char *)"/p/link", (char *)"target" };
	struct baseline baseline;
	struct error err;

	if (baseline_read((const char *)data, size, &baseline, &err) < 0)
		return;
	baseline_overlaps(&baseline, "/p");
	baseline_vouches(&baseline, &known);
	baseline_vouches_link(&baseline, &link);
	for (size_t i = 0; i < baseline.root_count; i++) {
		baseline_knows(&baseline, &baseline.roots[i], AT_FDCWD, "/", "/p/x");
		baseline_has_secret(&baseline, &baseline.roots[i], AT_FDCWD, "/");
	}
	baseline_release(&baseline);
}

FUZZ_TARGET(fuzz_run_record)
