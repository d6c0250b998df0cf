/* Identifiers: see id.h. */
#include "util/id.h"

#include "util/mem.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static const char letters[] = "abcdefghjkmnpqrstuvwxyz23456789";

char *id_new(void)
{
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

bool id_matches(const char *id, const char *word)
{
	enum { LEAST = 4, LETTERS = 4 };
	size_t size = strlen(id);

	if (strlen(word) < LEAST)
		return false;
	return strncmp(id, word, strlen(word)) == 0 ||
	       (size > LETTERS && strcmp(id + size - LETTERS, word) == 0);
}

bool id_is_name(const char *text)
{
	enum { MOST = 40 };
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789._-");

	return size && size <= MOST && !text[size] && !strchr("0123456789._-", *text);
}

bool id_is_valid(const char *text)
{
	static const char form[] = "########-######-****";

	for (size_t i = 0; i < sizeof form - 1; i++)
		if (form[i] == '-'   ? text[i] != '-'
		    : form[i] == '#' ? text[i] < '0' || text[i] > '9'
				     : !text[i] || !strchr(letters, text[i]))
			return false;
	return text[sizeof form - 1] == '\0';
}
