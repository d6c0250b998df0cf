/* A second opinion: see review.h. */
#include "decision/review.h"

#include "decision/lines.h"
#include "util/text/jsonget.h"

#include <string.h>

static const char *const severities[] = { "blocking", "advice" };

/* A piece of the message. */
struct piece {
	const char *text;
	size_t size;
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct piece trim(struct piece piece)
{
	while (piece.size && is_blank(piece.text[0])) {
		piece.text++;
		piece.size--;
	}
	while (piece.size && is_blank(piece.text[piece.size - 1]))
		piece.size--;
	return piece;
}

static bool is_word(struct piece piece, const char *word)
{
	return piece.size == strlen(word) && memcmp(piece.text, word, piece.size) == 0;
}

/* Is this line a fence? *ret_language: the rest of the line. */
static bool is_fence(const struct lines_line *line, struct piece *ret_language)
{
	struct piece piece = trim((struct piece){ line->text, line->size });

	if (piece.size < 3 || memcmp(piece.text, "```", 3) != 0)
		return false;
	*ret_language = trim((struct piece){ piece.text + 3, piece.size - 3 });
	return true;
}

/* Returns the last fenced block that may be JSON, or the whole message if there is none. A fence
 * that names a language always opens a block: the beginning of a long message is missing. */
static struct piece find_block(const char *message, size_t size)
{
	const char *at = message;
	const char *inner = NULL; /* of the block that is open */
	struct piece found = { message, size };
	struct lines_line line;
	struct piece language;
	bool inside = false;

	while (lines_next(&at, message + size, &line)) {
		if (!is_fence(&line, &language))
			continue;
		if (inside && inner && !language.size)
			found = (struct piece){ inner, (size_t)(line.text - inner) };
		inside = language.size || !inside;
		inner = inside && (!language.size || is_word(language, "json")) ? at : NULL;
	}
	return trim(found);
}

static int check_keys(const json_t *object, const char *const *known, const char *what,
		      struct error *err)
{
	const char *key;
	const json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		size_t i = 0;

		while (known[i] && strcmp(known[i], key) != 0)
			i++;
		if (!known[i])
			return error_set(err, "%s has the unknown key \"%.40s\"", what, key);
	}
	return 0;
}

/* Copies a text of at most so many bytes. Returns 0, or -1 with err set. */
static int take_text(const json_t *from, const char *key, size_t most, json_t *to,
		     struct error *err)
{
	const json_t *value = json_object_get(from, key);
	size_t size = json_string_length(value);

	if (!json_is_string(value) || !size)
		return error_set(err, "\"%s\" must be a text that is not empty", key);
	if (size > most)
		return error_set(err, "\"%s\" has more than %zu bytes", key, most);
	json_object_set(to, key, (json_t *)value);
	return 0;
}

static int take_severity(const json_t *from, json_t *to, struct error *err)
{
	const char *word = jsonget_string(from, "severity");

	for (size_t i = 0; i < sizeof severities / sizeof *severities; i++)
		if (word && strcmp(word, severities[i]) == 0)
			return json_object_set_new(to, "severity", json_string(severities[i]));
	return error_set(err, "\"severity\" must be \"blocking\" or \"advice\"");
}

static int take_place(const json_t *from, json_t *to, struct error *err)
{
	json_t *file = json_object_get(from, "file");
	json_t *line = json_object_get(from, "line");

	if (file && !json_is_null(file) && take_text(from, "file", REVIEW_FILE_MAX, to, err) < 0)
		return -1;
	if (!line || json_is_null(line))
		return 0;
	if (!json_is_integer(line) || json_integer_value(line) < 1 ||
	    json_integer_value(line) > INT32_MAX)
		return error_set(err, "\"line\" must be a number from 1");
	if (!json_object_get(to, "file"))
		return error_set(err, "a \"line\" needs a \"file\"");
	json_object_set(to, "line", line);
	return 0;
}

static int read_finding(const json_t *from, json_t *to, struct error *err)
{
	static const char *const keys[] = { "severity", "file", "line", "text", NULL };

	if (!json_is_object(from))
		return error_set(err, "each finding must be an object");
	if (check_keys(from, keys, "a finding", err) < 0 || take_severity(from, to, err) < 0 ||
	    take_place(from, to, err) < 0)
		return -1;
	return take_text(from, "text", REVIEW_TEXT_MAX, to, err);
}

/* Reads the findings of one severity after those before. */
static int read_findings(const json_t *list, const char *severity, json_t *findings,
			 struct error *err)
{
	size_t index;
	const json_t *entry;

	json_array_foreach(list, index, entry)
	{
		json_t *finding = json_object();

		if (read_finding(entry, finding, err) < 0) {
			json_decref(finding);
			return -1;
		}
		if (strcmp(jsonget_text(finding, "severity"), severity) == 0)
			json_array_append(findings, finding);
		json_decref(finding);
	}
	return 0;
}

static json_t *read_answer(const json_t *answer, struct error *err)
{
	static const char *const keys[] = { "findings", NULL };
	const json_t *list = json_object_get(answer, "findings");
	json_t *findings;

	if (!json_is_object(answer) || !json_is_array(list)) {
		error_set(err, "the answer must be an object with the list \"findings\"");
		return NULL;
	}
	if (check_keys(answer, keys, "the answer", err) < 0)
		return NULL;
	if (json_array_size(list) > REVIEW_FINDINGS_MAX) {
		error_set(err, "there are more than %d findings", REVIEW_FINDINGS_MAX);
		return NULL;
	}
	findings = json_array();
	for (size_t i = 0; i < sizeof severities / sizeof *severities; i++)
		if (read_findings(list, severities[i], findings, err) < 0) {
			json_decref(findings);
			return NULL;
		}
	return findings;
}

json_t *review_read(const char *message, size_t size, struct error *err)
{
	struct piece block = find_block(message, size);
	json_error_t why = { 0 };
	json_t *answer = json_loadb(block.text, block.size, JSON_REJECT_DUPLICATES, &why);
	json_t *findings;

	if (!answer) {
		error_set(err, "it does not end with a block of JSON (%.100s)",
			  block.size ? why.text : "it is empty");
		return NULL;
	}
	findings = read_answer(answer, err);
	json_decref(answer);
	return findings;
}

uint32_t review_count(const json_t *findings, const char *severity)
{
	uint32_t count = 0;
	size_t index;
	const json_t *finding;

	json_array_foreach(findings, index, finding)
		count += strcmp(jsonget_text(finding, "severity"), severity) == 0;
	return count;
}
