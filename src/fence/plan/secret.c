/* Secrets by their content: see secret.h. */
#include "fence/plan/secret.h"

#include "util/buffer.h"
#include "util/file/fd.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool contains(const char *text, size_t size, const char *part)
{
	return memmem(text, size, part, strlen(part));
}

/* ---- keys ---- */

static bool has_private_key(const char *text, size_t size)
{
	static const char *const marks[] = { "PRIVATE KEY", "PrivateKey", "AGE-SECRET-KEY-",
					     "PuTTY-User-Key-File", "OpenVPN Static key" };

	for (size_t i = 0; i < COUNT(marks); i++)
		if (contains(text, size, marks[i]))
			return true;
	return false;
}

static bool is_public(const char *text, size_t size)
{
	return contains(text, size, "-----BEGIN CERTIFICATE-----") &&
	       !contains(text, size, "PRIVATE");
}

/* Returns whether a text begins as UTF-16 does: the look reads only ASCII. */
static bool is_wide(const char *text, size_t size)
{
	return size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
}

/* ---- credentials ---- */

/* The part of a text that is still to be read. */
struct rest {
	const char *at;
	size_t left;
};

static void skip(struct rest *rest, size_t count)
{
	rest->at += count;
	rest->left -= count;
}

static bool begins(const struct rest *rest, const char *word)
{
	size_t size = strlen(word);

	return rest->left >= size && strncasecmp(rest->at, word, size) == 0;
}

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static void skip_set(struct rest *rest, const char *set)
{
	while (rest->left && is_one_of(*rest->at, set))
		skip(rest, 1);
}

static bool is_identifier(char c)
{
	return isalnum((unsigned char)c) || is_one_of(c, "_-.");
}

/* Returns whether a value begins with a variable that more of a secret follows: ${A}0123. */
static bool continues_variable(struct rest value)
{
	enum { SHORTEST = 8, LONGEST_NAME = 64 };
	const char *end = memchr(value.at, '}',
				 value.left < LONGEST_NAME ? value.left : LONGEST_NAME);
	size_t size = 0;

	if (!begins(&value, "${") || !end)
		return false;
	skip(&value, (size_t)(end + 1 - value.at));
	while (size < value.left && size < SHORTEST && is_identifier(value.at[size]))
		size++;
	return size == SHORTEST;
}

/* Returns whether a value is not a secret, or refers to one elsewhere. */
static bool is_placeholder(const struct rest *value)
{
	static const char *const starts[] = { "${", "{", "[", "<", "http:", "https:" };
	static const char *const words[] = { "null", "none", "true", "false" };

	if (continues_variable(*value))
		return false;
	for (size_t i = 0; i < COUNT(starts); i++)
		if (begins(value, starts[i]))
			return true;
	for (size_t i = 0; i < COUNT(words); i++)
		if (begins(value, words[i]) && (value->left == strlen(words[i]) ||
						!is_identifier(value->at[strlen(words[i])])))
			return true;
	return false;
}

static bool is_number(const struct rest *value)
{
	size_t digits = 0;

	while (digits < value->left && isdigit((unsigned char)value->at[digits]))
		digits++;
	return digits > 0 && digits <= 5 &&
	       (digits == value->left || !is_identifier(value->at[digits]));
}

/* Returns whether the rest begins with a literal value: after the end of a key, as in `key=value`,
 * `"key": "value"`, `"key" "value"`, `<key>value` and `key="key" value="value"`. */
static bool has_value(struct rest rest)
{
	enum { LONGEST_KEY = 64 };

	for (int i = 0; i < LONGEST_KEY && rest.left && is_identifier(*rest.at); i++)
		skip(&rest, 1);
	if (!rest.left || !is_one_of(*rest.at, "\"'=:> \t"))
		return false;
	skip_set(&rest, "\"' \t");
	if (begins(&rest, "value"))
		skip(&rest, strlen("value"));
	skip_set(&rest, "=:>\"' \t");
	return rest.left && !is_one_of(*rest.at, "\r\n,;#/})") && *rest.at &&
	       !is_placeholder(&rest) && !is_number(&rest);
}

static bool has_assignment(const struct rest *rest)
{
	static const char *const keys[] = { "password",   "passwd",     "passphrase", "secret",
					    "token",      "_auth",      "authident",  "apikey",
					    "api_key",    "api-key",    "accesskey",  "access_key",
					    "access-key", "private_key" };

	for (size_t i = 0; i < COUNT(keys); i++)
		if (begins(rest, keys[i]))
			return has_value((struct rest){ rest->at + strlen(keys[i]),
							rest->left - strlen(keys[i]) });
	return false;
}

/* Matches `://user:password@`. */
static bool has_url_password(struct rest rest)
{
	bool colon = false;

	if (!begins(&rest, "://"))
		return false;
	for (skip(&rest, 3); rest.left && !is_one_of(*rest.at, "/ \t\r\n\"'"); skip(&rest, 1)) {
		if (*rest.at == '@')
			return colon;
		if (colon && is_one_of(*rest.at, "${<"))
			return false;
		colon = colon || *rest.at == ':';
	}
	return false;
}

static bool is_key_character(char c)
{
	return isalnum((unsigned char)c) || is_one_of(c, "+=_-");
}

/* Returns the size of the word of a key's alphabet that the rest begins with, and whether it looks
 * random: long, with letters and digits, and not a checksum. */
static size_t key_size(const struct rest *rest, bool *ret_random)
{
	enum { RANDOM = 32, CHECKSUM = 64 };
	size_t size = 0;
	size_t digits = 0;
	size_t letters = 0;
	size_t hex = 0;

	for (; size < rest->left; size++) {
		char c = rest->at[size];

		digits += isdigit((unsigned char)c) != 0;
		letters += isalpha((unsigned char)c) != 0;
		hex += isxdigit((unsigned char)c) != 0;
		if (!is_key_character(c))
			break;
	}
	*ret_random = size >= RANDOM && digits >= 4 && letters >= 4 &&
		      (hex < size || size < CHECKSUM);
	return size;
}

/* Returns whether the characters between two places belong to a key. */
static bool is_key(const struct rest *rest, size_t from, size_t to)
{
	while (from < to && from < rest->left && is_key_character(rest->at[from]))
		from++;
	return from >= to;
}

/* Returns whether the rest begins as the tokens of well-known services do. */
static bool is_token(const struct rest *rest)
{
	static const char *const starts[] = { "npm_",  "ghp_", "gho_",        "ghu_",
					      "ghs_",  "ghr_", "github_pat_", "glpat-",
					      "pypi-", "AKIA", "ASIA",        "xoxb-",
					      "xoxp-", "AIza", "sk-",         "hvs." };
	enum { SHORTEST = 20 };

	for (size_t i = 0; i < COUNT(starts); i++)
		if (rest->left >= strlen(starts[i]) &&
		    strncmp(rest->at, starts[i], strlen(starts[i])) == 0 &&
		    is_key(rest, strlen(starts[i]), SHORTEST))
			return true;
	return false;
}

static bool has_credential(const char *text, size_t size)
{
	struct rest rest = { text, size };
	size_t word = 0; /* what is left of a word whose shape has been judged */

	for (; rest.left; skip(&rest, 1)) {
		bool random = false;

		if (word == 0)
			word = key_size(&rest, &random);
		if (random || is_token(&rest) || has_assignment(&rest) || has_url_password(rest))
			return true;
		word -= word > 0;
	}
	return false;
}

bool secret_in_text(enum names_class test, const char *text, size_t size)
{
	if (test == NAMES_SECRET_OR_CERTIFICATE)
		return !is_public(text, size);
	if (test == NAMES_SECRET_IF_KEY)
		return is_wide(text, size) || has_private_key(text, size);
	if (test == NAMES_SECRET_IF_FOUND)
		return is_wide(text, size) || memchr(text, '\0', size) ||
		       has_private_key(text, size) || has_credential(text, size);
	return true;
}

/* ---- files ---- */

static bool is_secret(enum names_class test, int folder, const char *name, uint64_t *budget)
{
	/* Certificates of all authorities together are large; credentials are not. */
	const size_t most = test == NAMES_SECRET_IF_FOUND ? 256 << 10 : 4 << 20;
	AUTO_BUFFER struct buffer text = BUFFER_INIT(*budget < most ? (size_t)*budget : most);
	bool whole = fd_read_file(folder, name, &text) == 0;

	*budget -= text.used < *budget ? text.used : *budget;
	return !whole || secret_in_text(test, buffer_text(&text), text.used);
}

bool secret_file(const struct names_found *found, int folder, const char *name, uint64_t *budget)
{
	if (found->by[NAMES_SECRET])
		return true;
	for (size_t test = NAMES_SECRET; test < NAMES_CLASSES; test++)
		if (found->by[test] && is_secret((enum names_class)test, folder, name, budget))
			return true;
	return false;
}
