// sources: src/fence/sweep.c src/fence/scan.c src/fence/walk.c src/fence/builtin.c src/fence/wire.c
/* The record of a run, as a later start reads it. */
#include "fuzz.h"

#include "fence/run.h"
#include "fence/sweep.h"

void fuzz_record(const uint8_t *data, size_t size)
{
	sweep_concerns((const char *)data, size, "/p");
}

FUZZ_TARGET(fuzz_record)
