// sources: src/gateway/owner/ledger_sums.c -ljansson
/* The sums of a ledger, as an index keeps them. */
#include "fuzz.h"

#include "gateway/owner/ledger_sums.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

void fuzz_ledger_sums(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_zero(size + 1);
	AUTO_FREE char *again = NULL;
	AUTO_FREE char *third = NULL;
	struct ledger_sums sums;

	memcpy(text, data, size);
	if (ledger_sums_parse(text, &sums) < 0)
		return;
	again = ledger_sums_text(&sums);
	ledger_sums_release(&sums);
	if (!again)
		return;
	if (ledger_sums_parse(again, &sums) < 0)
		abort();
	third = ledger_sums_text(&sums);
	ledger_sums_release(&sums);
	if (!third || strcmp(again, third) != 0)
		abort();
}

FUZZ_TARGET(fuzz_ledger_sums)
