// sources: src/land/land_patch.c src/credential/credential.c src/credential/credential_shape.c
/* Patches: whatever comes before it, a token in a file that is added is found. */
#include "fuzz.h"

#include "land/land_patch.h"
#include "util/file/fd.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TOKEN                         \
	"\nFrom 01 Mon\n\n+++ b/k\n+" \
	"ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8\n"

void fuzz_land_patch(const uint8_t *data, size_t size)
{
	AUTO_FD file = memfd_create("patch", MFD_CLOEXEC);
	struct land_patch patch;
	struct error err;
	bool found = false;

	if (file < 0 || fd_write_all(file, data, size) < 0 ||
	    fd_write_all(file, TOKEN, strlen(TOKEN)) < 0 || land_patch_scan(file, &patch, &err) < 0)
		abort();
	for (size_t i = 0; i < patch.count; i++)
		found = found || strcmp(patch.findings[i].path, "k") == 0;
	if (!found && patch.count < LAND_PATCH_FINDINGS)
		abort();
	land_patch_release(&patch);
}

FUZZ_TARGET(fuzz_land_patch)
