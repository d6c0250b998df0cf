/* Finding credentials: see credential.h. */
#include "credential/credential.h"

#include "credential/credential_shape.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
	LONGEST_VALUE = 512, /* of an assignment; longer ones are data */
	SHORTEST_VALUE = 20, /* of an assignment */
	SHORTEST_HEX = 32,   /* of one that has only hexadecimal digits */
	LONGEST_NAME = 64,
	KEY_BODY = 400, /* bytes after the head of a private key in which its body begins */
	KEY_RUN = 40,   /* base64 characters in one line of a private key */
	BITS = 256,     /* entropy is in 1/256 bit per character */
};

struct span {
	const char *at;
	size_t size;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Reports whether a set such as "A-Za-z0-9_" has the character. A final "-" stands for itself. */
static bool in_set(const char *set, char c)
{
	for (; *set; set++) {
		if (set[1] == '-' && set[2]) {
			if (c >= set[0] && c <= set[2])
				return true;
			set += 2;
		} else if (*set == c) {
			return true;
		}
	}
	return false;
}

static size_t run_of(const char *set, const char *at, const char *end)
{
	size_t size = 0;

	while (at + size < end && in_set(set, at[size]))
		size++;
	return size;
}

/* Returns the end of at most `most` bytes. Long runs that begin again and again cost too much. */
static const char *nearest(const char *at, size_t most, const char *end)
{
	return (size_t)(end - at) > most ? at + most : end;
}

/* ---- randomness ---- */

/* Returns 256 * log2(x) for 1 <= x <= LONGEST_VALUE. */
static uint32_t log2_of(uint32_t x)
{
	uint32_t whole = 0;
	uint64_t rest = (uint64_t)x << 16;
	uint32_t result;

	for (; rest >= 2 << 16; rest >>= 1)
		whole++;
	result = whole * BITS;
	for (uint32_t bit = BITS / 2; bit; bit /= 2) {
		rest = rest * rest >> 16;
		if (rest >= 2 << 16) {
			rest >>= 1;
			result += bit;
		}
	}
	return result;
}

/* Returns the Shannon entropy of its characters, per character. */
static uint32_t entropy(struct span text)
{
	uint32_t counts[256] = { 0 };
	uint32_t size = (uint32_t)(text.size < LONGEST_VALUE ? text.size : LONGEST_VALUE);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < size; i++)
		counts[(unsigned char)text.at[i]]++;
	for (size_t i = 0; i < 256; i++)
		if (counts[i])
			sum += (uint64_t)counts[i] * log2_of(counts[i]);
	return size ? log2_of(size) - (uint32_t)(sum / size) : 0;
}

/* 0: something else, 1: a digit, 2: a small letter, 3: a capital. */
static int class_of(char c)
{
	return isdigit((unsigned char)c)   ? 1
	       : islower((unsigned char)c) ? 2
	       : isupper((unsigned char)c) ? 3
					   : 0;
}

/* Counts places where digits, small letters and capitals alternate: in words they rarely do. */
static size_t changes_in(struct span text)
{
	size_t changes = 0;

	for (size_t i = 1; i < text.size; i++)
		changes += class_of(text.at[i]) != class_of(text.at[i - 1]);
	return changes;
}

static bool has_word(struct span text, const char *word)
{
	size_t size = strlen(word);

	for (size_t i = 0; i + size <= text.size; i++)
		if (strncasecmp(text.at + i, word, size) == 0)
			return true;
	return false;
}

/* People write these where a secret belongs; by chance they hardly occur. */
static bool is_placeholder(struct span text)
{
	static const char *const words[] = { "example", "placeholder", "redacted", "changeme",
					     "your",    "dummy",       "sample",   "fake",
					     "test",    "xxxx",        "0000000",  "1234567",
					     "abcdef",  "password",    "secret",   "deadbeef" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (has_word(text, words[i]))
			return true;
	return false;
}

static bool is_uuid(struct span text)
{
	static const size_t dashes[] = { 8, 13, 18, 23 };

	if (text.size != 36)
		return false;
	for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++)
		if (text.at[dashes[i]] != '-')
			return false;
	return true;
}

/* Reports whether the value of an assignment looks random. */
static bool is_random(struct span text)
{
	bool hex = run_of("a-f0-9", text.at, text.at + text.size) == text.size ||
		   run_of("A-F0-9", text.at, text.at + text.size) == text.size;
	size_t digits = 0;

	for (size_t i = 0; i < text.size; i++)
		digits += class_of(text.at[i]) == 1;
	if (text.size < (hex ? SHORTEST_HEX : SHORTEST_VALUE) || text.size > LONGEST_VALUE ||
	    digits < 2 || digits == text.size || changes_in(text) * 4 < text.size)
		return false;
	return entropy(text) >= (hex ? BITS * 32 / 10 : BITS * 36 / 10) && !is_uuid(text) &&
	       !is_placeholder(text);
}

/* ---- findings ---- */

static void show(struct credential_finding *finding, const char *what, struct span prefix,
		 const char *after)
{
	finding->what = what;
	snprintf(finding->shown, sizeof finding->shown, "%.*s%s",
		 (int)(prefix.size < CREDENTIAL_SHOWN - 8 ? prefix.size : CREDENTIAL_SHOWN - 8),
		 prefix.at, after);
}

/* ---- shapes ---- */

/* Reports whether the token that begins here has this shape. */
static bool has_shape(const struct credential_shape *shape, const char *at, const char *end)
{
	size_t prefix = strlen(shape->prefix);
	struct span rest;

	if ((size_t)(end - at) < prefix || memcmp(at, shape->prefix, prefix) != 0)
		return false;
	at += prefix;
	rest = (struct span){ at, run_of(shape->letters, at,
					 shape->most ? nearest(at, shape->most + 1, end) : end) };
	if (rest.size < shape->least || (shape->most && rest.size > shape->most) ||
	    (rest.at + rest.size < end && is_word(rest.at[rest.size])))
		return false;
	if (shape->contains &&
	    !memmem(rest.at, rest.size, shape->contains, strlen(shape->contains)))
		return false;
	return entropy(rest) >= 3 * BITS && !is_placeholder(rest);
}

static bool find_shape(const char *at, const char *end, struct credential_finding *finding)
{
	for (const struct credential_shape *shape = credential_shapes; shape->what; shape++) {
		/* Two letters rule out nearly every word. */
		if (at[0] != shape->prefix[0] || end - at < 2 || at[1] != shape->prefix[1] ||
		    !has_shape(shape, at, end))
			continue;
		show(finding, shape->what, (struct span){ shape->prefix, strlen(shape->prefix) },
		     "...");
		return true;
	}
	return false;
}

/* The head of a private key, if a body follows: documents show heads alone. */
static bool find_private_key(const char *at, const char *end, const char *file_end,
			     struct credential_finding *finding)
{
	static const char head[] = "-----BEGIN ";
	static const char tail[] = "PRIVATE KEY";
	const char *name = at + sizeof head - 1;
	const char *found;
	size_t kind;

	if ((size_t)(end - at) < sizeof head - 1 || memcmp(at, head, sizeof head - 1) != 0)
		return false;
	kind = run_of("A-Z0-9 ", name, end);
	found = memmem(name, kind, tail, sizeof tail - 1);
	if (!found)
		return false;
	file_end = nearest(found, KEY_BODY, file_end);
	for (at = name + kind; at < file_end; at++) {
		struct span run = { at, run_of("A-Za-z0-9+/", at, file_end) };

		if (run.size >= KEY_RUN && entropy(run) >= 3 * BITS && !is_placeholder(run)) {
			show(finding, "private key", (struct span){ name, kind }, "...");
			return true;
		}
		at += run.size;
	}
	return false;
}

/* ---- assignments ---- */

static bool ends_with(struct span text, const char *word)
{
	size_t size = strlen(word);

	return text.size >= size && strncasecmp(text.at + text.size - size, word, size) == 0;
}

static bool is_secret_name(struct span name)
{
	static const char *const ends[] = { "key",    "token",    "secret",
					    "passwd", "password", "credential" };
	static const char *const harmless[] = { "public", "publishable", "cache" };

	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		if (has_word(name, harmless[i]))
			return false;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ends_with(name, ends[i]))
			return true;
	return false;
}

/* Returns the name before the sign of an assignment: API_KEY =, "apiKey":, token :=. */
static struct span name_before(const char *line, const char *sign)
{
	const char *end = sign;
	const char *at;

	while (end > line && strchr(" \t\"':]", end[-1]))
		end--;
	for (at = end; at > line && end - at < LONGEST_NAME && (is_word(at[-1]) || at[-1] == '-');)
		at--;
	return (struct span){ at, (size_t)(end - at) };
}

/* Returns the value after the sign, or nothing if it is not a literal. */
static struct span value_after(const char *sign, const char *end)
{
	const char *at = sign + 1;
	struct span value;
	char quote = '\0';

	if (at < end && *at == '>') /* Ruby, PHP */
		at++;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (at < end && strchr("\"'`", *at))
		quote = *at++;
	value = (struct span){ at,
			       run_of("A-Za-z0-9+/_.~-", at, nearest(at, LONGEST_VALUE + 1, end)) };
	value.size += run_of("=", at + value.size, nearest(at + value.size, 2, end));
	at += value.size;
	if (!value.size || *value.at == '/' || *value.at == '.')
		return (struct span){ 0 };
	if (quote)
		return at < end && *at == quote ? value : (struct span){ 0 };
	/* Without quotes it may be code. */
	return memchr(value.at, '.', value.size) || (at < end && !strchr(" \t\r;,#", *at))
		       ? (struct span){ 0 }
		       : value;
}

static bool find_assignment(const char *line, const char *sign, const char *end,
			    struct credential_finding *finding)
{
	struct span name = name_before(line, sign);
	struct span value = name.size && is_secret_name(name) ? value_after(sign, end)
							      : (struct span){ 0 };

	if (!value.size || !is_random(value))
		return false;
	/* A shape says more. */
	if (!find_shape(value.at, end, finding))
		show(finding, "high-entropy value", name, "=...");
	return true;
}

/* A password in a URL: scheme://user:password@host. */
static bool find_url_password(const char *line, const char *colon, const char *end,
			      struct credential_finding *finding)
{
	const char *at = colon + 3;
	struct span scheme = { colon, 0 };
	struct span password;
	size_t user;

	if (end - colon < 4 || colon[1] != '/' || colon[2] != '/')
		return false;
	while (scheme.at > line && scheme.size < 16 && is_word(scheme.at[-1]))
		scheme = (struct span){ scheme.at - 1, scheme.size + 1 };
	user = run_of("A-Za-z0-9_.%+-", at, end);
	at += user;
	if (!user || at >= end || *at != ':')
		return false;
	password = (struct span){ at + 1, run_of("A-Za-z0-9_.%+!~*=-", at + 1, end) };
	at += 1 + password.size;
	if (password.size < 10 || at >= end || *at != '@' || entropy(password) < 3 * BITS ||
	    changes_in(password) * 4 < password.size || is_placeholder(password))
		return false;
	show(finding, "password in a URL", scheme, "://...");
	return true;
}

/* ---- lines ---- */

static bool scan_line(const char *line, const char *end, const char *file_end,
		      struct credential_finding *finding)
{
	for (const char *at = line; at < end; at++) {
		char before = at > line ? at[-1] : ' ';
		bool found = false;

		if (*at == '=' || *at == ':')
			found = find_assignment(line, at, end, finding) ||
				find_url_password(line, at, end, finding);
		else if (*at == '-')
			found = find_private_key(at, end, file_end, finding);
		else if (is_word(*at) && !is_word(before) && before != '-')
			found = find_shape(at, end, finding);
		if (found)
			return true;
	}
	return false;
}

size_t credential_scan(const char *bytes, size_t size, struct credential_finding *ret_findings,
		       size_t most)
{
	const char *end = bytes + size;
	uint32_t number = 1;
	size_t count = 0;

	if (!size || memchr(bytes, '\0', size < CREDENTIAL_BINARY ? size : CREDENTIAL_BINARY))
		return 0;
	for (const char *line = bytes; line < end && count < most; number++) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *line_end = newline ? newline : end;

		if (scan_line(line, line_end, end, &ret_findings[count]))
			ret_findings[count++].line = number;
		line = line_end + 1;
	}
	return count;
}

bool credential_is_likely_name(const char *name)
{
	static const char *const parts[] = { "secret", "credential", "token", "passw", "env",
					     "config", "setting",    "auth",  "key",   "deploy" };
	static const char *const ends[] = { ".json", ".yml", ".yaml",       ".toml",   ".ini",
					    ".conf", ".cfg", ".properties", ".tfvars", ".tfstate",
					    ".sh",   ".sql", ".ipynb" };
	const struct span text = { name, strlen(name) };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (has_word(text, parts[i]))
			return true;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ends_with(text, ends[i]))
			return true;
	return false;
}
