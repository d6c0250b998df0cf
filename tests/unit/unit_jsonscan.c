/* The scanner of JSON: its grammar, the texts that it keeps, odd keys, and values that it skips. */
#include "unit.h"

#include "meter/jsonscan.h"

#include <string.h>

enum { ROOT = JSONSCAN_ROOT, KEY, NESTED, INNER, ITEMS, ITEM, MAX_TOKENS, MAX_TOKENS_2, ROWS };

static const struct jsonscan_node nodes[ROWS] = {
	[KEY] = JSONSCAN_NODE(ROOT, "key"),
	[NESTED] = JSONSCAN_NODE(ROOT, "nested"),
	[INNER] = JSONSCAN_NODE(NESTED, "key"),
	[ITEMS] = JSONSCAN_NODE(ROOT, "items"),
	[ITEM] = JSONSCAN_NODE(ITEMS, "[]"),
	[MAX_TOKENS] = JSONSCAN_NODE(ROOT, "maxTokens"),
	[MAX_TOKENS_2] = JSONSCAN_NODE(ROOT, "max_tokens"),
};

static struct jsonscan scan;
static char log_text[4096]; /* the reported values */
static char unknown_key[256];

static void report(void *context, const struct jsonscan_value *value)
{
	static const char kinds[] = "{[sntf0e";
	size_t used = strlen(log_text);

	(void)context;
	snprintf(log_text + used, sizeof log_text - used, "%zu%c", value->node, kinds[value->kind]);
	used = strlen(log_text);
	if (value->kind == JSONSCAN_STRING)
		snprintf(log_text + used, sizeof log_text - used, "=%s", value->text);
	if (value->kind == JSONSCAN_NUMBER || value->kind == JSONSCAN_END)
		snprintf(log_text + used, sizeof log_text - used, "=%llu",
			 (unsigned long long)value->number);
	strncat(log_text, ";", sizeof log_text - strlen(log_text) - 1);
}

static void note_unknown(void *context, size_t parent, const char *key)
{
	(void)context;
	(void)parent;
	snprintf(unknown_key, sizeof unknown_key, "%s", key);
}

static void begin(void)
{
	scan = (struct jsonscan){
		.nodes = nodes, .count = ROWS, .report = report, .unknown = note_unknown
	};
	jsonscan_reset(&scan);
	log_text[0] = unknown_key[0] = '\0';
}

/* Whether a text is complete and valid, whole and byte by byte. */
static bool is_valid(const char *text)
{
	bool whole;

	begin();
	for (size_t i = 0; text[i]; i++)
		jsonscan_feed(&scan, text + i, 1);
	whole = jsonscan_done(&scan) && !scan.wrong;
	begin();
	jsonscan_feed(&scan, text, strlen(text));
	if (whole != (jsonscan_done(&scan) && !scan.wrong))
		printf("# it depends on how '%s' is split\n", text);
	return jsonscan_done(&scan) && !scan.wrong;
}

static bool reports(const char *text, const char *expected)
{
	bool valid = is_valid(text);

	if (strcmp(log_text, expected) != 0)
		printf("# %s: %s\n", text, log_text);
	return valid && strcmp(log_text, expected) == 0;
}

/* --- the grammar */

static bool all_valid(const char *const *texts, size_t count, bool expected)
{
	bool held = true;

	for (size_t i = 0; i < count; i++)
		if (is_valid(texts[i]) != expected) {
			printf("# %s\n", texts[i]);
			held = false;
		}
	return held;
}

#define ALL(texts, expected) all_valid(texts, sizeof(texts) / sizeof *(texts), expected)

static void grammar(void)
{
	static const char *const valid[] = {
		"{}",
		"[]",
		" \t\r\n{ \"key\" : 1 , \"x\" : [ 1 , 2 ] } ",
		"[0]",
		"[-0]",
		"[10]",
		"[19]",
		"[90]",
		"[1.5]",
		"[0.0]",
		"[1e5]",
		"[1E+05]",
		"[1.25e-9]",
		"[-1]",
		"[true]",
		"[false]",
		"[null]",
		"[\"\"]",
		"[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]",
		"[\"\\u00e4\"]",
		"[[],{}]",
		"{\"x\":{\"y\":[1,{\"z\":\"]}\"}]}}",
		"{\"x\":\"\\\\\"}",
	};
	static const char *const invalid[] = {
		"",
		"{",
		"[",
		"}",
		"{]",
		"[}",
		"{\"a\"}",
		"{\"a\":}",
		"{\"a\":1,}",
		"{,}",
		"[,]",
		"[1,]",
		"[1 2]",
		"{1:2}",
		"{\"a\" 1}",
		"{} {}",
		"[] x",
		"[01]",
		"[00]",
		"[-]",
		"[-x]",
		"[+1]",
		"[.5]",
		"[1.]",
		"[1.e5]",
		"[1e]",
		"[1e+]",
		"[1e5x]",
		"[0x1]",
		"[1.5.5]",
		"[tru]",
		"[truee]",
		"[True]",
		"[nul]",
		"[falsey]",
		"[n]",
		"['a']",
		"[\"a]",
		"[\"\n\"]",
		"[\"\t\"]",
		"[\"\\x\"]",
		"[\"\\u12\"]",
		"[\"\\u12g4\"]",
		"{\"x\":[1}}",
		"{\"x\":{]}",
		"[--1]",
		"[-01]",
	};

	CHECK("all that RFC 8259 allows is valid", ALL(valid, true));
	CHECK("nothing else is", ALL(invalid, false));
	CHECK("a number at the top is never complete", !is_valid("5"));
}

static void values(void)
{
	CHECK("values of the table are reported, with their members",
	      reports("{\"key\":\"a\",\"nested\":{\"key\":true,\"x\":1},\"items\":[1,null,false]}",
		      "2s=a;3{;4t;3e=2;5[;6n=1;60;6f;5e=3;"));
	CHECK("the same key elsewhere is not",
	      reports("{\"x\":{\"key\":1},\"items\":[{\"key\":2}]}", "5[;6{;6e=1;5e=1;"));
	CHECK("numbers are rounded up and stay within bounds",
	      reports("{\"items\":[0.1,-5,1e30,9007199254740992,9007199254740993,2.0]}",
		      "5[;6n=1;6n=0;6n=9007199254740992;6n=9007199254740992;6n=9007199254740992;"
		      "6n=2;5e=6;"));
	CHECK("escapes are decoded", reports("{\"key\":\"\\\"\\\\\\/\\n\\u0041\\u00e4\\u20ac\"}",
					     "2s=\"\\/\nA\xc3\xa4\xe2\x82\xac;"));
	CHECK("the ends of each size of a character are encoded",
	      reports("{\"key\":\"\\u007f\\u0080\\u07ff\\u0800\\uffff\"}",
		      "2s=\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf;"));
	CHECK("an unknown key is noted, unless its value is null",
	      is_valid("{\"x\":1}") && strcmp(unknown_key, "x") == 0 && is_valid("{\"y\":null}") &&
		      !unknown_key[0]);
}

/* --- texts */

static char kept[200];
static size_t kept_size;
static uint64_t kept_bytes;

static void keep(void *context, const struct jsonscan_value *value)
{
	(void)context;
	if (value->kind != JSONSCAN_STRING)
		return;
	snprintf(kept, sizeof kept, "%s", value->text);
	kept_size = value->kept;
	kept_bytes = value->bytes;
}

/* Reads a text of this many bytes. Returns how many were kept. */
static size_t kept_of(size_t size, char *room, size_t room_size)
{
	char text[300] = "{\"key\":\"";

	begin();
	scan.report = keep;
	scan.room = room;
	scan.room_size = room_size;
	memset(text + 8, 'a', size);
	strcpy(text + 8 + size, "\"}");
	jsonscan_feed(&scan, text, strlen(text));
	return strlen(kept) == kept_size && kept_bytes >= size ? kept_size : SIZE_MAX;
}

static void texts(void)
{
	char *room = malloc(10);

	CHECK("a text of 127 bytes is kept", kept_of(127, NULL, 0) == 127);
	CHECK("a longer one is cut", kept_of(128, NULL, 0) == 127 && kept_of(250, NULL, 0) == 127);
	CHECK("more room keeps as much as it has",
	      kept_of(9, room, 10) == 9 && kept_of(10, room, 10) == 9);
	free(room);
	begin();
	jsonscan_feed(&scan, "{\"key\":\"abc", 11);
	CHECK("a text that has not ended is pending",
	      jsonscan_pending(&scan, KEY) == 3 && jsonscan_pending(&scan, INNER) == 0);
	jsonscan_feed(&scan, "\"", 1);
	CHECK("one that has ended is not", jsonscan_pending(&scan, KEY) == 0);
}

/* --- keys */

static bool is_odd(const char *text, const bool *flag, const char *key)
{
	return is_valid(text) && *flag && strcmp(scan.odd, key) == 0;
}

static void keys(void)
{
	CHECK("a key that occurs twice is named",
	      is_odd("{\"key\":1,\"key\":2}", &scan.twice, "key") &&
		      is_odd("{\"key\":1,\"k\\u0065y\":2}", &scan.twice, "key"));
	CHECK("two spellings are one key",
	      is_odd("{\"maxTokens\":1,\"max_tokens\":2}", &scan.twice, "max_tokens") &&
		      is_odd("{\"max_tokens\":1,\"maxTokens\":2}", &scan.twice, "maxTokens"));
	CHECK("the same key in two objects is not twice",
	      is_valid("{\"key\":1,\"nested\":{\"key\":2}}") && !scan.twice);
	CHECK("the same unknown key may occur twice",
	      is_valid("{\"x\":1,\"x\":2}") && !scan.twice && !scan.folded);
	CHECK("a key in another case is named", is_odd("{\"KEY\":1}", &scan.folded, "KEY") &&
							is_odd("{\"keY\":1}", &scan.folded, "keY"));
	CHECK("so is a key with letters that are not ASCII",
	      is_odd("{\"\xc3\xa4\":1}", &scan.folded, "\xc3\xa4"));
	CHECK("a longer or shorter key is another one",
	      is_valid("{\"keys\":1,\"ke\":2}") && !scan.folded && !scan.twice);
	CHECK("the first odd key is the one that is named",
	      is_odd("{\"KEY\":1,\"nested\":1,\"nested\":2}", &scan.twice, "KEY"));
	CHECK("a long odd key is cut", is_odd("{\"\xc3\xa4"
					      "bcdefghijklmnopqrstuvwxyz0123456789\":1}",
					      &scan.folded,
					      "\xc3\xa4"
					      "bcdefghijklmnopqrstuvwxyz0123"));
}

/* --- depth */

static void depths(void)
{
	static char text[4 * JSONSCAN_NEST];
	char *at;

	for (int extra = 0; extra < 2; extra++) {
		at = text + sprintf(text, "{\"x\":");
		for (int i = 0; i < JSONSCAN_NEST + extra; i++)
			*at++ = '[';
		for (int i = 0; i < JSONSCAN_NEST + extra; i++)
			*at++ = ']';
		strcpy(at, "}");
		CHECK(extra ? "deeper brackets are invalid" : "1024 skipped brackets are valid",
		      is_valid(text) == !extra);
	}
}

int main(void)
{
	grammar();
	values();
	texts();
	keys();
	depths();
	return unit_failures > 0;
}
