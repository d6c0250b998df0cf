/* A command's output for a terminal: see terminal_filter.h. */
#include "fence/run/terminal_filter.h"

#include <string.h>

enum state {
	GROUND,
	ESCAPE,              /* after ESC */
	ESCAPE_INTERMEDIATE, /* after ESC and bytes from 0x20 to 0x2f, which are held */
	CSI,                 /* after ESC [, with what follows held */
	CSI_IGNORED,         /* the same, too long or malformed */
	STRING,              /* in an OSC, DCS, APC, PM or SOS, which is dropped */
	STRING_LINE          /* the same, introduced by a C1 control: text in another character set
			      * can look like one, so it ends with the line */
};

enum { BEL = 0x07, SO = 0x0e, SI = 0x0f, CAN = 0x18, SUB = 0x1a, ESC = 0x1b, DEL = 0x7f };

/* The code of every character that needs no closer look. */
enum { CHARACTER = 0xfffd };

/* Something that stays on in a terminal until it is turned off. */
struct feature {
	unsigned int mode; /* of CSI ? h and CSI ? l, or 0 */
	bool usual;        /* the mode is usually set */
	const char *leave; /* turns it off, or NULL: nothing stays on */
	const char *back;  /* turns it on again; empty: left to the program */
};

enum { ON_INSERT = 18, ON_KEYPAD, ON_G0, ON_G1, ON_SHIFT, ON_REGION, ON_STYLE, ON_COLOUR };

#define MODE(number)                                                      \
	{                                                                 \
		number, false, "\033[?" #number "l", "\033[?" #number "h" \
	}
#define USUAL_MODE(number)                                               \
	{                                                                \
		number, true, "\033[?" #number "h", "\033[?" #number "l" \
	}

/* In the order in which they are turned off. */
static const struct feature features[] = {
	MODE(2026), /* synchronized output */
	MODE(9),    /* mouse, in five forms */
	MODE(1000),
	MODE(1002),
	MODE(1003),
	MODE(1004), /* focus */
	MODE(1005), /* how the mouse is reported */
	MODE(1006),
	MODE(1015),
	MODE(1016),
	MODE(2004),    /* bracketed paste */
	MODE(1),       /* cursor keys */
	MODE(5),       /* reverse video */
	USUAL_MODE(7), /* wrapping */
	MODE(47),      /* the alternate screen, in three forms */
	MODE(1047),
	MODE(1049),
	USUAL_MODE(25), /* the cursor is visible */
	[ON_INSERT] = { 0, false, "\033[4l", "\033[4h" },
	[ON_KEYPAD] = { 0, false, "\033>", "\033=" },
	[ON_G0] = { 0, false, "\033(B", "\033(0" },
	[ON_G1] = { 0, false, "\033)B", "\033)0" },
	[ON_SHIFT] = { 0, false, "\017", "\016" },
	[ON_REGION] = { 0, false, "\0337\033[r\0338", "" }, /* without moving the cursor */
	[ON_STYLE] = { 0, false, "\033[0 q", "" },
	[ON_COLOUR] = { 0, false, "\033[m", "" },
	{ 1048, false, NULL, NULL }, /* the saved cursor */
	{ 12, false, NULL, NULL },   /* blinking */
};

enum { FEATURES = sizeof features / sizeof *features };

_Static_assert(FEATURES <= 32, "a bit for each feature");

/* Control characters that pass: BEL, BS, HT, LF, VT, FF, CR, SO, SI. */
static const uint32_t passing_controls = 1U << BEL | 1U << '\b' | 1U << '\t' | 1U << '\n' |
					 1U << '\v' | 1U << '\f' | 1U << '\r' | 1U << SO | 1U << SI;

/* Output that is being written. */
struct sink {
	struct terminal_filter *filter;
	char *out;
	size_t used;
};

static void put(struct sink *sink, const char *bytes, size_t size)
{
	memcpy(sink->out + sink->used, bytes, size);
	sink->used += size;
}

static void put_text(struct sink *sink, const char *text)
{
	put(sink, text, strlen(text));
}

static void mark(struct terminal_filter *filter, unsigned int feature, bool on)
{
	if (on)
		filter->on |= UINT32_C(1) << feature;
	else
		filter->on &= ~(UINT32_C(1) << feature);
}

/* The terminal saves the character sets and colours with the cursor. */
static void save_cursor(struct terminal_filter *filter)
{
	const uint32_t with_cursor = UINT32_C(1) << ON_G0 | UINT32_C(1) << ON_G1 |
				     UINT32_C(1) << ON_SHIFT | UINT32_C(1) << ON_COLOUR;

	filter->saved |= filter->on & with_cursor;
}

void terminal_filter_init(struct terminal_filter *filter, bool eight_bit)
{
	*filter = (struct terminal_filter){ .eight_bit = eight_bit };
}

static void control(struct sink *sink, unsigned char byte)
{
	if (byte >= 0x20 || !(passing_controls >> byte & 1))
		return;
	if (byte == SO || byte == SI)
		mark(sink->filter, ON_SHIFT, byte == SO);
	sink->out[sink->used++] = (char)byte;
}

/* Control sequences. */

/* A sequence, as held: a private marker, parameters, intermediate bytes, and the final byte. */
struct sequence {
	char marker; /* one of <=>?, or 0 */
	const char *parameters;
	size_t size; /* of the parameters */
	char intermediate;
	char final;
};

enum { LONGEST_NUMBER = 9 };

/* Whether the parameters are numbers that every terminal can read. */
static bool are_numbers(const struct sequence *sequence)
{
	size_t digits = 0;

	for (size_t i = 0; i < sequence->size; i++) {
		char byte = sequence->parameters[i];

		digits = byte >= '0' && byte <= '9' ? digits + 1 : 0;
		if (digits > LONGEST_NUMBER || byte > ';' ||
		    (byte == ':' && sequence->final != 'm'))
			return false;
	}
	return true;
}

/* Splits what is held. Returns false if the sequence is malformed. */
static bool split(const struct terminal_filter *filter, char final, struct sequence *ret)
{
	const char *at = filter->held;
	size_t size = filter->held_used;
	struct sequence sequence = { .final = final };

	if (size && *at >= '<') {
		sequence.marker = *at++;
		size--;
	}
	if (size && at[size - 1] < '0')
		sequence.intermediate = at[--size];
	if (size && at[size - 1] < '0')
		return false; /* two intermediate bytes: nothing that passes */
	sequence.parameters = at;
	sequence.size = size;
	*ret = sequence;
	return are_numbers(&sequence);
}

static bool is(const struct sequence *sequence, const char *parameters)
{
	return strlen(parameters) == sequence->size &&
	       memcmp(sequence->parameters, parameters, sequence->size) == 0;
}

/* No parameter, or zero: the default. */
static bool is_default(const struct sequence *sequence)
{
	return sequence->size == 0 || is(sequence, "0");
}

static void pass(struct sink *sink, const struct sequence *sequence)
{
	put_text(sink, "\033[");
	put(sink, sequence->parameters, sequence->size);
	if (sequence->intermediate)
		put(sink, &sequence->intermediate, 1);
	put(sink, &sequence->final, 1);
}

static void answer(struct terminal_filter *filter, const char *text)
{
	size_t size = strlen(text);

	if (size > sizeof filter->answers - filter->answers_used)
		return;
	memcpy(filter->answers + filter->answers_used, text, size);
	filter->answers_used += size;
}

static void handle_simple(struct sink *sink, const struct sequence *sequence)
{
	pass(sink, sequence);
}

static void handle_without_parameters(struct sink *sink, const struct sequence *sequence)
{
	if (sequence->size == 0)
		pass(sink, sequence);
}

/* Five parameters would track the mouse. */
static void handle_scroll(struct sink *sink, const struct sequence *sequence)
{
	if (!memchr(sequence->parameters, ';', sequence->size))
		pass(sink, sequence);
}

static void handle_save(struct sink *sink, const struct sequence *sequence)
{
	if (sequence->size > 0)
		return;
	save_cursor(sink->filter);
	pass(sink, sequence);
}

static void handle_colour(struct sink *sink, const struct sequence *sequence)
{
	mark(sink->filter, ON_COLOUR, !is_default(sequence));
	pass(sink, sequence);
}

static void handle_region(struct sink *sink, const struct sequence *sequence)
{
	mark(sink->filter, ON_REGION, sequence->size > 0);
	pass(sink, sequence);
}

static void handle_style(struct sink *sink, const struct sequence *sequence)
{
	mark(sink->filter, ON_STYLE, !is_default(sequence));
	pass(sink, sequence);
}

static void handle_insert(struct sink *sink, const struct sequence *sequence)
{
	if (!is(sequence, "4"))
		return;
	mark(sink->filter, ON_INSERT, sequence->final == 'h');
	pass(sink, sequence);
}

static void handle_attributes(struct sink *sink, const struct sequence *sequence)
{
	if (is_default(sequence))
		answer(sink->filter, "\033[?6c"); /* a VT102 */
}

static void handle_status(struct sink *sink, const struct sequence *sequence)
{
	struct terminal_filter *filter = sink->filter;

	if (is(sequence, "5"))
		answer(filter, "\033[0n");
	if (!is(sequence, "6") || !filter->can_ask || filter->asked >= TERMINAL_FILTER_ASKED)
		return;
	filter->asked++;
	pass(sink, sequence);
}

static const struct feature *find_mode(const char *digits, size_t size)
{
	unsigned int number = 0;

	for (size_t i = 0; i < size; i++)
		number = 10 * number + (unsigned int)(digits[i] - '0');
	for (size_t i = 0; number && i < FEATURES; i++)
		if (features[i].mode == number)
			return &features[i];
	return NULL;
}

/* The modes of the table remain. */
static void handle_modes(struct sink *sink, const struct sequence *sequence)
{
	const char *end = sequence->parameters + sequence->size;
	const char *before = "\033[?";

	for (const char *at = sequence->parameters, *next; at < end; at = next + 1) {
		const char *semicolon = memchr(at, ';', (size_t)(end - at));
		const struct feature *feature;

		next = semicolon ? semicolon : end;
		feature = find_mode(at, (size_t)(next - at));
		if (!feature)
			continue;
		put_text(sink, before);
		put(sink, at, (size_t)(next - at));
		before = ";";
		if (feature->mode == 1048 || feature->mode == 1049)
			save_cursor(sink->filter);
		if (feature->leave)
			mark(sink->filter, (unsigned int)(feature - features),
			     (sequence->final == 'h') != feature->usual);
	}
	if (*before == ';')
		put(sink, &sequence->final, 1);
}

/* The control sequences that pass, or are answered; see handle_csi(). */
static const struct {
	const char *finals;
	char marker, intermediate;
	void (*handle)(struct sink *sink, const struct sequence *sequence);
} passing_sequences[] = {
	{ "@ABCDEFGHIJKLMPSXZ`abdef", 0, 0, handle_simple },
	{ "s", 0, 0, handle_save },
	{ "u", 0, 0, handle_without_parameters },
	{ "T", 0, 0, handle_scroll },
	{ "m", 0, 0, handle_colour },
	{ "r", 0, 0, handle_region },
	{ "hl", 0, 0, handle_insert },
	{ "c", 0, 0, handle_attributes },
	{ "n", 0, 0, handle_status },
	{ "hl", '?', 0, handle_modes },
	{ "q", 0, ' ', handle_style },
	{ "p", 0, '!', handle_without_parameters }, /* a soft reset */
};

static void handle_csi(struct sink *sink, char final)
{
	struct sequence sequence;

	if (!split(sink->filter, final, &sequence))
		return;
	for (size_t i = 0; i < sizeof passing_sequences / sizeof *passing_sequences; i++)
		if (strchr(passing_sequences[i].finals, final) &&
		    passing_sequences[i].marker == sequence.marker &&
		    passing_sequences[i].intermediate == sequence.intermediate)
			passing_sequences[i].handle(sink, &sequence);
}

/* Escape sequences. */

static const struct {
	const char *text; /* after ESC */
	int feature;      /* that it turns on or off, or -1 */
	bool on;
} passing_escapes[] = {
	{ "7", -1, false },        { "8", -1, false },     { "D", -1, false },
	{ "E", -1, false },        { "M", -1, false },     { "=", ON_KEYPAD, true },
	{ ">", ON_KEYPAD, false }, { "(0", ON_G0, true },  { "(B", ON_G0, false },
	{ ")0", ON_G1, true },     { ")B", ON_G1, false },
};

static void handle_escape(struct sink *sink, char final)
{
	struct terminal_filter *filter = sink->filter;
	char text[] = { filter->held_used ? filter->held[0] : final, final, '\0' };

	if (filter->held_used > 1)
		return;
	text[1] = filter->held_used ? final : '\0';
	for (size_t i = 0; i < sizeof passing_escapes / sizeof *passing_escapes; i++)
		if (strcmp(text, passing_escapes[i].text) == 0) {
			if (passing_escapes[i].feature >= 0)
				mark(filter, (unsigned int)passing_escapes[i].feature,
				     passing_escapes[i].on);
			put_text(sink, "\033");
			put_text(sink, text);
		}
	if (strcmp(text, "7") == 0)
		save_cursor(filter);
	if (strcmp(text, "c") == 0) { /* a full reset */
		filter->on = filter->saved = 0;
		put_text(sink, "\033c");
	}
}

/* Starts a longer sequence after ESC: CSI, or a string (k is the title of screen). */
static bool introduces(struct terminal_filter *filter, uint32_t code, enum state string)
{
	filter->held_used = 0;
	if (code == '[')
		filter->state = CSI;
	else if (code < DEL && code && strchr("]PX^_k", (int)code))
		filter->state = string;
	else
		return false;
	return true;
}

/* The parser. */

static void hold(struct terminal_filter *filter, uint32_t code, enum state overflow)
{
	if (filter->held_used < sizeof filter->held)
		filter->held[filter->held_used++] = (char)code;
	else
		filter->state = overflow;
}

static void step_escape(struct sink *sink, uint32_t code)
{
	struct terminal_filter *filter = sink->filter;

	if (filter->state == ESCAPE && introduces(filter, code, STRING))
		return;
	if (code < 0x30) {
		hold(filter, code, ESCAPE_INTERMEDIATE);
		filter->state = ESCAPE_INTERMEDIATE;
		return;
	}
	filter->state = GROUND;
	handle_escape(sink, (char)code);
}

static void step_csi(struct sink *sink, uint32_t code)
{
	struct terminal_filter *filter = sink->filter;
	bool intermediate = filter->held_used && filter->held[filter->held_used - 1] < 0x30;
	bool known = filter->state == CSI;

	if (code >= 0x40) {
		filter->state = GROUND;
		if (known)
			handle_csi(sink, (char)code);
	} else if (known) {
		hold(filter, code, CSI_IGNORED);
		if (intermediate && code >= 0x30)
			filter->state = CSI_IGNORED;
	}
}

/* Handles a control, in any state. Returns false for all other codes. */
static bool step_control(struct sink *sink, uint32_t code)
{
	struct terminal_filter *filter = sink->filter;
	bool in_string = filter->state >= STRING;

	if (code == ESC) {
		filter->state = ESCAPE;
		filter->held_used = 0;
	} else if (code == CAN || code == SUB || (in_string && code == BEL)) {
		filter->state = GROUND;
	} else if (code < 0x20) {
		if (filter->state == STRING_LINE && code == '\n')
			filter->state = GROUND;
		if (filter->state < STRING)
			control(sink, (unsigned char)code);
	} else if (code >= 0x80 && code < 0xa0) {
		if (!introduces(filter, code - 0x40, STRING_LINE))
			filter->state = GROUND;
	} else {
		return code == DEL;
	}
	return true;
}

static void step(struct sink *sink, uint32_t code, const char *bytes, size_t size)
{
	struct terminal_filter *filter = sink->filter;

	if (step_control(sink, code) || filter->state >= STRING)
		return;
	if (code >= 0x80)
		filter->state = GROUND; /* the sequence is broken */
	if (filter->state == GROUND)
		put(sink, bytes, size);
	else if (filter->state == CSI || filter->state == CSI_IGNORED)
		step_csi(sink, code);
	else
		step_escape(sink, code);
}

/* Characters. */

/* How many bytes a UTF-8 character with this first byte has; 0 if there is none. */
static size_t character_size(unsigned char first)
{
	return first < 0x80   ? 1
	       : first < 0xc2 ? 0
	       : first < 0xe0 ? 2
	       : first < 0xf0 ? 3
	       : first < 0xf5 ? 4
			      : 0;
}

/* Whether this byte can follow: not in a longer form than necessary, a surrogate, or too high. */
static bool can_follow(const struct terminal_filter *filter, unsigned char byte)
{
	unsigned char first = filter->character[0];

	if ((byte & 0xc0) != 0x80)
		return false;
	if (filter->character_used > 1)
		return true;
	return !(first == 0xe0 && byte < 0xa0) && !(first == 0xed && byte > 0x9f) &&
	       !(first == 0xf0 && byte < 0x90) && !(first == 0xf4 && byte > 0x8f);
}

static void step_invalid(struct sink *sink, unsigned char byte)
{
	if (byte >= 0x80 && byte < 0xa0)
		step(sink, byte, NULL, 0); /* a C1 control as one byte */
	else
		step(sink, CHARACTER, "\xef\xbf\xbd", 3);
}

/* Shows an incomplete character as terminals do. */
static void break_character(struct sink *sink)
{
	struct terminal_filter *filter = sink->filter;
	filter->character_used = 0;
	step_invalid(sink, 0xff);
}

static void end_character(struct sink *sink)
{
	struct terminal_filter *filter = sink->filter;
	const unsigned char *character = filter->character;
	size_t size = filter->character_used;
	uint32_t code = size == 2 ? (uint32_t)(character[0] & 0x1f) << 6 | (character[1] & 0x3f)
				  : CHARACTER;

	filter->character_used = 0;
	step(sink, code, (const char *)character, size);
}

static void step_byte(struct sink *sink, unsigned char byte)
{
	struct terminal_filter *filter = sink->filter;

	if (filter->eight_bit) {
		step(sink, byte, (const char *)&byte, 1);
		return;
	}
	if (filter->character_used && !can_follow(filter, byte))
		break_character(sink);
	if (!filter->character_used && character_size(byte) < 2) {
		if (byte < 0x80)
			step(sink, byte, (const char *)&byte, 1);
		else
			step_invalid(sink, byte);
		return;
	}
	filter->character[filter->character_used++] = byte;
	if (filter->character_used == character_size(filter->character[0]))
		end_character(sink);
}

/* The length of the plain text at the beginning, which nothing needs to look at. */
static size_t plain(const char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && ((bytes[at] >= 0x20 && bytes[at] < DEL) || bytes[at] == '\n' ||
			     bytes[at] == '\r' || bytes[at] == '\t'))
		at++;
	return at;
}

size_t terminal_filter_feed(struct terminal_filter *filter, const char *bytes, size_t size,
			    char *out)
{
	struct sink sink = { .filter = filter };

	sink.out = out;
	for (size_t at = 0; at < size;) {
		size_t run = 0;

		if (!filter->character_used && filter->state == GROUND)
			run = plain(bytes + at, size - at);
		put(&sink, bytes + at, run);
		at += run;
		if (at < size)
			step_byte(&sink, (unsigned char)bytes[at++]);
	}
	return sink.used;
}

/* ESC [ numbers R. */
void terminal_filter_typed(struct terminal_filter *filter, const char *bytes, size_t size)
{
	for (size_t i = 0; filter->asked && i < size; i++) {
		char byte = bytes[i];

		if (byte == ESC)
			filter->answered = 1;
		else if (filter->answered == 1)
			filter->answered = byte == '[' ? 2 : 0;
		else if (filter->answered == 2 && (byte < '0' || byte > ';'))
			filter->answered = byte == 'R' ? 3 : 0;
		if (filter->answered == 3) {
			filter->asked--;
			filter->answered = 0;
		}
	}
}

size_t terminal_filter_leave(struct terminal_filter *filter, char *out)
{
	struct sink sink = { .filter = filter };

	sink.out = out;
	for (unsigned int i = 0; i < FEATURES; i++)
		if ((filter->on | filter->saved) >> i & 1)
			put_text(&sink, features[i].leave);
	if (filter->saved)
		put_text(&sink, "\0337"); /* over the saved cursor */
	filter->state = GROUND;
	filter->character_used = filter->held_used = 0;
	return sink.used;
}

size_t terminal_filter_return(const struct terminal_filter *filter, char *out)
{
	struct sink sink = { 0 };

	sink.out = out;
	for (unsigned int i = 0; i < FEATURES; i++)
		if (filter->on >> i & 1)
			put_text(&sink, features[i].back);
	return sink.used;
}
