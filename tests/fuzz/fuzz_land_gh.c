// sources: src/land/land_gh.c src/https/https_message.c
/* The output of gh: a head that was read has a status, and header lines without line breaks. */
#include "fuzz.h"

#include "land/land_gh.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

void fuzz_land_gh(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);
	struct https_response response;

	memcpy(text, data, size);
	text[size] = '\0';
	if (land_gh_read(text, size, &response) < 0)
		return;
	if (response.status > 999 || response.body.used > size)
		abort();
	for (size_t i = 0; i < response.headers.count; i++)
		if (strpbrk(response.headers.items[i], "\r\n"))
			abort();
	https_message_release(&response);
}

FUZZ_TARGET(fuzz_land_gh)
