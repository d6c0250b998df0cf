// sources: src/fence/after/sweep.c src/fence/plan/scan.c src/gitconfig/gitconfig.c
// sources: src/gitconfig/gitdir.c src/gitconfig/gitprograms.c
// sources: src/gitconfig/gitrelated.c src/fence/plan/defaults.c src/fence/run/wire.c
/* A run record, as a later start reads it. */
#include "fuzz.h"

#include "fence/after/sweep.h"
#include "fence/run/run_record.h"

void fuzz_record(const uint8_t *data, size_t size)
{
	sweep_concerns((const char *)data, size, "/p");
}

FUZZ_TARGET(fuzz_record)
