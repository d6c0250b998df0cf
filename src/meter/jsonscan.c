/* The JSON scanner: see jsonscan.h. */
#include "meter/jsonscan.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum state {
	START, /* of the input; like BEFORE_VALUE */
	BEFORE_VALUE,
	BEFORE_FIRST, /* of a list: a value or the closing bracket */
	BEFORE_KEY,
	BEFORE_FIRST_KEY, /* or the closing bracket */
	IN_KEY,
	BEFORE_COLON,
	IN_STRING,
	IN_WORD, /* a number, true, false or null */
	AFTER_VALUE,
	SKIPPING,
	DONE,
};

void jsonscan_reset(struct jsonscan *scan)
{
	const size_t from = offsetof(struct jsonscan, wrong);

	memset((char *)scan + from, 0, offsetof(struct jsonscan, small) - from);
}

bool jsonscan_done(const struct jsonscan *scan)
{
	return scan->state == DONE && !scan->wrong;
}

uint64_t jsonscan_pending(const struct jsonscan *scan, size_t node)
{
	return !scan->wrong && scan->state == IN_STRING && scan->node == node ? scan->bytes : 0;
}

/* The text of the current key or value. */
static char *text_of(struct jsonscan *scan)
{
	return scan->room ? scan->room : scan->small;
}

/* How many of its bytes are kept. */
static size_t most_of(const struct jsonscan *scan)
{
	return (scan->room ? scan->room_size : sizeof scan->small) - 1;
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/* The row whose children the innermost open value has. */
static uint8_t parent_row(const struct jsonscan *scan)
{
	uint8_t row = scan->stack[scan->depth - 1];

	return scan->nodes[row].like ? scan->nodes[row].like : row;
}

/* Sets a flag, and keeps the key that is the reason for the first one. */
static void flag(struct jsonscan *scan, bool *ret_flag, const char *key, size_t size)
{
	if (!scan->folded && !scan->twice && !scan->deep) {
		size_t kept = size < sizeof scan->odd ? size : sizeof scan->odd - 1;

		memcpy(scan->odd, key, kept);
		scan->odd[kept] = '\0';
	}
	*ret_flag = true;
}

/* Returns true for two spellings of one key: maxTokens and max_tokens. */
static bool is_same(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += *a == '_';
		b += *b == '_';
		if ((*a ^ *b) & ~0x20)
			return false;
		if (!*a || !*b)
			return *a == *b;
	}
}

static bool is_ascii(const char *key, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (key[i] & 0x80)
			return false;
	return true;
}

/* Finds the row of a key of the innermost open value. *ret_place is its place among them; two
 * spellings have the same one. */
static uint8_t child(struct jsonscan *scan, const char *key, size_t size, size_t *ret_place)
{
	uint8_t parent = parent_row(scan);
	const struct jsonscan_node *last = NULL;
	size_t place = 0;

	for (size_t i = (size_t)parent + 1; i < scan->count; i++) {
		const struct jsonscan_node *node = &scan->nodes[i];

		if (node->parent != parent)
			continue;
		*ret_place = place++;
		if (node->size == size && !((node->key[0] ^ key[0]) & ~0x20)) {
			if (memcmp(node->key, key, size) == 0) {
				*ret_place -= last && is_same(last->key, node->key);
				return (uint8_t)i;
			}
			if (strncasecmp(node->key, key, size) == 0)
				flag(scan, &scan->folded, key, size);
		}
		last = node;
	}
	if (last && !is_ascii(key, size))
		flag(scan, &scan->folded, key, size);
	return JSONSCAN_NONE;
}

static uint8_t element(struct jsonscan *scan)
{
	size_t ignored;

	return child(scan, "[]", 2, &ignored);
}

/* The key of a member is complete. A key longer than the buffer is not in the table. */
static void end_key(struct jsonscan *scan)
{
	bool whole = scan->used == scan->bytes;
	size_t place = 0;

	text_of(scan)[scan->used] = '\0';
	scan->node = whole ? child(scan, text_of(scan), scan->used, &place) : JSONSCAN_NONE;
	if (scan->node != JSONSCAN_NONE && place < JSONSCAN_KEYS) {
		uint64_t bit = UINT64_C(1) << place % 64;
		uint64_t *seen = &scan->seen[scan->depth - 1][place / 64];

		if (*seen & bit)
			flag(scan, &scan->twice, text_of(scan), scan->used);
		*seen |= bit;
	}
}

static void report(struct jsonscan *scan, enum jsonscan_kind kind, uint64_t end)
{
	struct jsonscan_value value = { .node = scan->node,
					.kind = kind,
					.text = text_of(scan),
					.kept = scan->used,
					.bytes = scan->bytes,
					.start = scan->start,
					.end = end };

	if (scan->node == JSONSCAN_NONE || scan->node == JSONSCAN_ROOT)
		return;
	text_of(scan)[scan->used] = '\0';
	if (kind == JSONSCAN_END)
		value.number = scan->members[scan->depth];
	if (kind == JSONSCAN_NUMBER) {
		const double most = 9007199254740992.0;
		double number = strtod(text_of(scan), NULL);
		uint64_t whole = number > 0 ? (uint64_t)(number < most ? number : most) : 0;

		value.number = number > 0 && number < most && (double)whole < number ? whole + 1
										     : whole;
	}
	scan->report(scan->context, &value);
}

static void after_value(struct jsonscan *scan)
{
	scan->state = scan->depth > 0 ? AFTER_VALUE : DONE;
}

static void skip_open(struct jsonscan *scan, bool list)
{
	uint64_t bit = UINT64_C(1) << scan->skipped % 64;
	uint64_t *word = &scan->kinds[scan->skipped / 64 % (JSONSCAN_NEST / 64)];

	scan->wrong = scan->skipped == JSONSCAN_NEST;
	*word = list ? *word | bit : *word & ~bit;
	scan->skipped += !scan->wrong;
}

/* Brackets must match in kind: input that two parsers could read differently is invalid. */
static void skip_close(struct jsonscan *scan, bool list)
{
	scan->skipped--;
	scan->wrong = (scan->kinds[scan->skipped / 64] >> scan->skipped % 64 & 1) != list;
}

/* An element has the name of its list. */
static void flag_deep(struct jsonscan *scan)
{
	const struct jsonscan_node *node = &scan->nodes[scan->node];

	while (node->key[0] == '[')
		node = &scan->nodes[node->parent];
	flag(scan, &scan->deep, node->key, node->size);
}

static void open_bracket(struct jsonscan *scan, bool list)
{
	/* Each element of a list at the top level is handled like a value at the top level. */
	if (scan->node == JSONSCAN_NONE || scan->depth == JSONSCAN_DEPTH) {
		if (scan->node != JSONSCAN_NONE)
			flag_deep(scan);
		scan->skipped = 0;
		skip_open(scan, list);
		scan->skipping_string = scan->escaped = false;
		scan->state = SKIPPING;
		return;
	}
	scan->used = 0;
	scan->bytes = 0;
	report(scan, list ? JSONSCAN_LIST : JSONSCAN_OBJECT, scan->start);
	scan->stack[scan->depth] = scan->node;
	scan->members[scan->depth] = 0;
	memset(scan->seen[scan->depth], 0, sizeof scan->seen[scan->depth]);
	scan->list[scan->depth++] = list;
	scan->state = list ? BEFORE_FIRST : BEFORE_FIRST_KEY;
	if (list)
		scan->node = scan->node == JSONSCAN_ROOT && scan->depth == 1 ? JSONSCAN_ROOT
									     : element(scan);
}

static void close_bracket(struct jsonscan *scan, bool list)
{
	if (scan->depth == 0 || scan->list[scan->depth - 1] != list) {
		scan->wrong = true;
		return;
	}
	scan->depth--;
	scan->node = scan->stack[scan->depth];
	scan->start = scan->offset;
	scan->used = 0;
	report(scan, JSONSCAN_END, scan->offset + 1);
	after_value(scan);
}

static void begin_text(struct jsonscan *scan, enum state state)
{
	scan->used = 0;
	scan->bytes = 0;
	scan->escaped = false;
	scan->hex = 0;
	scan->unit = 0;
	scan->state = state;
}

static void begin_value(struct jsonscan *scan, char byte, uint64_t at)
{
	scan->start = at;
	/* The key is still in `text`. Only null begins with this letter. */
	if (scan->node == JSONSCAN_NONE && scan->unknown && !scan->list[scan->depth - 1] &&
	    byte != 'n')
		scan->unknown(scan->context, parent_row(scan), text_of(scan));
	if (scan->depth > 0 && scan->members[scan->depth - 1] < UINT32_MAX)
		scan->members[scan->depth - 1]++;
	if (byte == '{' || byte == '[') {
		open_bracket(scan, byte == '[');
	} else if (byte == '"') {
		begin_text(scan, IN_STRING);
	} else if (strchr("-0123456789tfn", byte) && byte) {
		begin_text(scan, IN_WORD);
		text_of(scan)[scan->used++] = byte;
	} else {
		scan->wrong = true;
	}
}

static void add_byte(struct jsonscan *scan, char byte)
{
	scan->bytes++;
	if (scan->used < most_of(scan))
		text_of(scan)[scan->used++] = byte;
}

/* Surrogates are encoded one by one: a pair is only ever compared with itself. */
static void add_unit(struct jsonscan *scan)
{
	uint32_t unit = scan->unit;

	if (unit < 0x80) {
		add_byte(scan, (char)unit);
		return;
	}
	if (unit < 0x800) {
		add_byte(scan, (char)(0xc0 | unit >> 6));
	} else {
		add_byte(scan, (char)(0xe0 | unit >> 12));
		add_byte(scan, (char)(0x80 | (unit >> 6 & 0x3f)));
	}
	add_byte(scan, (char)(0x80 | (unit & 0x3f)));
}

static void in_escape(struct jsonscan *scan, char byte)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const char *digits = "0123456789abcdef";
	const char *found;

	if (scan->hex > 0) {
		found = byte ? strchr(digits, byte >= 'A' && byte <= 'F' ? byte + 32 : byte) : NULL;
		scan->wrong = !found;
		scan->unit = found ? scan->unit << 4 | (uint32_t)(found - digits) : 0;
		scan->escaped = --scan->hex > 0;
		if (!scan->escaped && !scan->wrong)
			add_unit(scan);
		return;
	}
	if (byte == 'u') {
		scan->hex = 4;
		scan->unit = 0;
		return;
	}
	found = byte ? strchr(from, byte) : NULL;
	scan->wrong = !found;
	if (found)
		add_byte(scan, to[found - from]);
	scan->escaped = false;
}

/* Returns the number of leading bytes that are not a quote, backslash or control character.
 * Works on eight bytes at a time, because most of a request is such text. */
static size_t plain(const char *bytes, size_t size)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	const uint64_t tops = UINT64_C(0x8080808080808080);
	size_t i = 0;

	for (; size - i >= 8; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, sizeof word);

		uint64_t quote = word ^ ones * '"';
		uint64_t slash = word ^ ones * '\\';

		/* Sets the top bit of each matching byte. A borrow from a neighbour can only set
		 * a bit if another one is set already. */
		if ((((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
		     ((word - ones * 0x20) & ~word)) &
		    tops)
			break;
	}
	while (i < size && bytes[i] != '"' && bytes[i] != '\\' && (unsigned char)bytes[i] >= 0x20)
		i++;
	return i;
}

/* Reads a part of a key or string. Returns the number of bytes consumed; *ret_end is true if the
 * last one was the closing quote. */
static size_t in_text(struct jsonscan *scan, const char *bytes, size_t size, bool *ret_end)
{
	size_t i = 0;

	*ret_end = false;
	while (i < size && !scan->wrong) {
		size_t run;
		char byte;

		if (scan->escaped) {
			in_escape(scan, bytes[i++]);
			continue;
		}
		run = plain(bytes + i, size - i);
		if (run > 0) {
			size_t room = most_of(scan) - scan->used;
			size_t kept = run < room ? run : room;

			memcpy(text_of(scan) + scan->used, bytes + i, kept);
			scan->used += kept;
			scan->bytes += run;
			i += run;
			continue;
		}
		byte = bytes[i++];
		if (byte == '\\') {
			scan->escaped = true;
		} else if (byte == '"') {
			*ret_end = true;
			return i;
		} else {
			scan->wrong = true;
		}
	}
	return i;
}

static bool is_word(struct jsonscan *scan, const char *word)
{
	return scan->used == strlen(word) && memcmp(text_of(scan), word, scan->used) == 0;
}

/* The strict grammar of RFC 8259: other spellings are read differently by other parsers. */
static bool is_number(const char *at)
{
	at += *at == '-';
	if (*at == '0')
		at++;
	else if (*at >= '1' && *at <= '9')
		at += strspn(at, "0123456789");
	else
		return false;
	if (*at == '.') {
		if (strspn(at + 1, "0123456789") == 0)
			return false;
		at += 1 + strspn(at + 1, "0123456789");
	}
	if (*at == 'e' || *at == 'E') {
		at += at[1] == '+' || at[1] == '-' ? 2 : 1;
		if (strspn(at, "0123456789") == 0)
			return false;
		at += strspn(at, "0123456789");
	}
	return !*at;
}

static void end_word(struct jsonscan *scan, uint64_t at)
{
	text_of(scan)[scan->used] = '\0';
	if (is_word(scan, "true"))
		report(scan, JSONSCAN_TRUE, at);
	else if (is_word(scan, "false"))
		report(scan, JSONSCAN_FALSE, at);
	else if (is_word(scan, "null"))
		report(scan, JSONSCAN_NULL, at);
	else if (is_number(text_of(scan)))
		report(scan, JSONSCAN_NUMBER, at);
	else
		scan->wrong = true;
	after_value(scan);
}

static size_t in_word(struct jsonscan *scan, const char *bytes, size_t size)
{
	size_t i = 0;

	for (; i < size; i++) {
		char byte = bytes[i];

		if (is_blank(byte) || byte == ',' || byte == '}' || byte == ']') {
			end_word(scan, scan->offset + i);
			return i; /* this byte is not part of the word */
		}
		if (scan->used == JSONSCAN_TEXT - 1) {
			scan->wrong = true; /* too long for a number */
			return i;
		}
		text_of(scan)[scan->used++] = byte;
	}
	return i;
}

/* Skips up to the bracket that closes the skipped value. */
static size_t in_skipped(struct jsonscan *scan, const char *bytes, size_t size)
{
	static const bool special[256] = {
		['"'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true
	};
	size_t i = 0;

	while (i < size && !scan->wrong) {
		if (scan->skipping_string) {
			if (!scan->escaped)
				i += plain(bytes + i, size - i);
			if (i == size)
				break;
			if ((unsigned char)bytes[i] < 0x20) {
				scan->wrong = true;
				break;
			}
			if (scan->escaped)
				scan->escaped = false;
			else if (bytes[i] == '\\')
				scan->escaped = true;
			else
				scan->skipping_string = false;
			i++;
			continue;
		}
		while (i < size && !special[(unsigned char)bytes[i]] && bytes[i] &&
		       strchr(" \t\r\n,:0123456789-+.eEtrufalsn", bytes[i]))
			i++;
		if (i == size)
			break;
		if (!special[(unsigned char)bytes[i]]) {
			scan->wrong = true;
			break;
		}
		char byte = bytes[i++];

		if (byte == '"') {
			scan->skipping_string = true;
		} else if (byte == '{' || byte == '[') {
			skip_open(scan, byte == '[');
		} else {
			skip_close(scan, byte == ']');
			if (scan->skipped == 0 && !scan->wrong) {
				after_value(scan);
				break;
			}
		}
	}
	return i;
}

static void at_structure(struct jsonscan *scan, char byte)
{
	uint64_t at = scan->offset;

	if (is_blank(byte))
		return;
	switch (scan->state) {
	case START:
		scan->node = JSONSCAN_ROOT;
		begin_value(scan, byte, at);
		break;
	case BEFORE_FIRST:
		if (byte == ']') {
			close_bracket(scan, true);
			break;
		}
		begin_value(scan, byte, at);
		break;
	case BEFORE_VALUE:
		begin_value(scan, byte, at);
		break;
	case BEFORE_FIRST_KEY:
	case BEFORE_KEY:
		if (byte == '"')
			begin_text(scan, IN_KEY);
		else if (byte == '}' && scan->state == BEFORE_FIRST_KEY)
			close_bracket(scan, false);
		else
			scan->wrong = true;
		break;
	case BEFORE_COLON:
		scan->wrong = byte != ':';
		scan->state = BEFORE_VALUE;
		break;
	case AFTER_VALUE:
		if (byte != ',') {
			scan->wrong = byte != ']' && byte != '}';
			if (!scan->wrong)
				close_bracket(scan, byte == ']');
		} else if (scan->list[scan->depth - 1]) {
			scan->state = BEFORE_VALUE;
			scan->node = scan->depth == 1 && scan->stack[0] == JSONSCAN_ROOT
					     ? JSONSCAN_ROOT
					     : element(scan);
		} else {
			scan->state = BEFORE_KEY;
		}
		break;
	default: /* data after the end */
		scan->wrong = true;
		break;
	}
}

void jsonscan_feed(struct jsonscan *scan, const char *bytes, size_t size)
{
	while (size > 0 && !scan->wrong) {
		size_t consumed = 1;
		bool end;

		switch (scan->state) {
		case IN_KEY:
			consumed = in_text(scan, bytes, size, &end);
			if (!end)
				break;
			end_key(scan);
			scan->state = BEFORE_COLON;
			break;
		case IN_STRING:
			consumed = in_text(scan, bytes, size, &end);
			if (!end)
				break;
			report(scan, JSONSCAN_STRING, scan->offset + consumed);
			after_value(scan);
			break;
		case IN_WORD:
			consumed = in_word(scan, bytes, size);
			break;
		case SKIPPING:
			consumed = in_skipped(scan, bytes, size);
			break;
		default:
			at_structure(scan, *bytes);
			break;
		}
		scan->offset += consumed;
		bytes += consumed;
		size -= consumed;
	}
	scan->offset += size;
}
