/* Identifiers: see id.h. */
#include "util/id.h"

#include "util/mem.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

char *id_new(void)
{
	static const char letters[] = "abcdefghjkmnpqrstuvwxyz23456789";
	unsigned char random[4] = { 0 };
	time_t now = time(NULL);
	struct tm parts;
	char day[32];

	if (getrandom(random, sizeof random, 0) < 0)
		random[0] = (unsigned char)getpid();
	gmtime_r(&now, &parts);
	strftime(day, sizeof day, "%Y%m%d-%H%M%S", &parts);
	return mem_format("%s-%c%c%c%c", day, letters[random[0] % (sizeof letters - 1)],
			  letters[random[1] % (sizeof letters - 1)],
			  letters[random[2] % (sizeof letters - 1)],
			  letters[random[3] % (sizeof letters - 1)]);
}
