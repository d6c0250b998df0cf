/* The filter between a command and the caller's terminal. */
#include "unit.h"

#include "fence/run/terminal_filter.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* Input, and what the terminal gets; NULL: the same. */
struct sample {
	const char *in, *out;
};

static const struct sample samples[] = {
	{ "plain text\r\n\t\b\a", NULL },
	{ "\xc3\xa4\xe2\x94\x80\xf0\x9f\x98\x80", NULL },
	{ "\033[31;1mred\033[0m\033[m\033[38:2::1:2:3m", NULL },
	{ "\033[2J\033[3J\033[H\033[12;40H\033[K\033[1;24r\033[r", NULL },
	{ "\033[?1049h\033[?25l\033[?2004h\033[?2026h\033[?1006h", NULL },
	{ "\0337\0338\033(0\033(B\033)0\033=\033>\033M\033c", NULL },
	{ "\033[4h\033[4l\033[2 q\033[!p\033[s\033[u", NULL },
	/* Strings, however they begin and end. */
	{ "a\033]52;c;eA==\ab", "ab" },
	{ "a\033]0;title\033\\b", "ab" },
	{ "a\033]0;\xc3\x9c title\033\\b", "ab" }, /* a byte of a letter does not end it */
	{ "a\xc2\x9d"
	  "52;c;eA==\xc2\x9c"
	  "b",
	  "ab" },
	{ "a\x9d"
	  "52;c;eA==\x9c"
	  "b",
	  "ab" },
	{ "a\033Ptmux;\033\033]52;c;eA==\a\033\\b", "ab" },
	{ "a\033_Gi=1;x\033\\\033^x\033\\\033Xx\033\\\033kx\033\\b", "ab" },
	{ "a\033]0;x\030b\033]0;x\032c", "abc" },
	{ "a\033]0;x\033[31mb", "a\033[31mb" },
	{ "a\x9d in another set\nb", "a\nb" },
	/* Questions, windows, keys, printing, other protocols. */
	{ "a\033[c\033[>c\033[5n\033[?6n\033[21t\033[8;1;1t\033[x\033[?u\033[>1u\033[5i\033Zb",
	  "ab" },
	{ "a\033%@\033 F\033[?2l\033[62\"p\033[1;1;1;1;1;1*y\033[?1$p\005\023b", "ab" },
	{ "a\x9a\x90q\x9c\x9b"
	  "21tb",
	  "ab" },
	/* Only the known modes of a list. */
	{ "\033[?3;25;9001;1049h", "\033[?25;1049h" },
	{ "\033[?3;40h\033[2h\033[20h", "" },
	/* Tab stops, which nothing could restore. */
	{ "a\033[3g\033[g\033[0g\033Hb\x88", "ab" },
	/* Broken, in the plainest form, too long. */
	{ "\033[3\033[31m", "\033[31m" },
	{ "\033[3\n1m", "\n\033[31m" },
	{ "\x9b"
	  "31m\xc2\x9b"
	  "32m",
	  "\033[31m\033[32m" },
	{ "\033[1\xc3\xa4m", "\xc3\xa4m" },
	{ "\033[1?5h\033[1 5m\033[1234567890Ax", "x" },
	{ "\xc0\x9b\xe0\x82\x9b", "\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xe2\x94[\xff\xf8", "\xef\xbf\xbd[\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\177a\001b\033\033\033b", "ab" },
};

static size_t feed(struct terminal_filter *filter, const char *in, size_t size, char *out)
{
	AUTO_FREE char *exact = mem_alloc(TERMINAL_FILTER_ROOM(size));
	size_t used = terminal_filter_feed(filter, in, size, exact);

	memcpy(out, exact, used);
	return used;
}

/* Whether the sample, fed in these pieces, gives what it should. */
static bool holds(const struct sample *sample, size_t first, size_t piece)
{
	const char *wanted = sample->out ? sample->out : sample->in;
	size_t size = strlen(sample->in);
	struct terminal_filter filter;
	char out[4096];
	size_t used;

	terminal_filter_init(&filter, false);
	used = feed(&filter, sample->in, first, out);
	for (size_t at = first; at < size; at += piece)
		used += feed(&filter, sample->in + at, size - at < piece ? size - at : piece,
			     out + used);
	return used == strlen(wanted) && memcmp(out, wanted, used) == 0;
}

static void check_samples(void)
{
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		size_t size = strlen(samples[i].in);
		bool held = holds(&samples[i], 0, 1);
		char sentence[80];

		for (size_t first = 0; first <= size; first++)
			held = held && holds(&samples[i], first, size + 1);
		snprintf(sentence, sizeof sentence, "sample %zu is filtered alike at every split",
			 i);
		CHECK(sentence, held);
	}
}

static const char *left(const char *in)
{
	static char out[TERMINAL_FILTER_ROOM(256) + 1];
	struct terminal_filter filter;

	terminal_filter_init(&filter, false);
	terminal_filter_feed(&filter, in, strlen(in), out);
	out[terminal_filter_leave(&filter, out)] = '\0';
	return out;
}

static void check_leave(void)
{
	CHECK("nothing is turned off after plain output", !*left("text\033[31mred\033[0m"));
	CHECK("colours end", strcmp(left("\033[31m"), "\033[m") == 0);
	CHECK("the alternate screen is left", strcmp(left("\033[?1049h"), "\033[?1049l") == 0);
	CHECK("the mouse is let go",
	      strcmp(left("\033[?1003;1006h\033[?1006l"), "\033[?1003l") == 0);
	CHECK("the cursor comes back", strcmp(left("\033[?25l"), "\033[?25h") == 0);
	CHECK("letters come back", strcmp(left("\033(0\016"), "\033(B\017") == 0);
	CHECK("a cursor that was saved with line drawing is saved again with letters",
	      strcmp(left("\033(0\0337\033(B"), "\033(B\0337") == 0 &&
		      strcmp(left("\033(0\033[s\033(B"), "\033(B\0337") == 0 &&
		      strcmp(left("\033(0\033[?1048h\033(B"), "\033(B\0337") == 0);
	CHECK("letters come back after a saved cursor",
	      strcmp(left("\033(0\0337\033(B\0338"), "\033(B\0337") == 0 &&
		      strcmp(left("\033(0\033[?1049h\033(B"), "\033[?1049l\033(B\0337") == 0);
	CHECK("a cursor that was saved plain is left alone", !*left("\0337\0338\033[s\033[u"));
	CHECK("a reset leaves nothing on", !*left("\033[?1049h\033[31m\0337\033c"));
	CHECK("an unfinished string is forgotten", !*left("\033]0;title"));
}

static void check_answers(void)
{
	struct terminal_filter filter;
	char out[TERMINAL_FILTER_ROOM(400)];
	char many[100 * 4 + 1] = "";

	for (int i = 0; i < 100; i++)
		memcpy(many + 4 * i, "\033[6n", 5);
	terminal_filter_init(&filter, false);
	CHECK("a position that nobody can read is not asked for",
	      feed(&filter, "\033[6n", 4, out) == 0 && filter.asked == 0);
	filter.can_ask = true;
	CHECK("only a few positions are asked for at once",
	      feed(&filter, many, 400, out) == 4 * (size_t)TERMINAL_FILTER_ASKED);
	terminal_filter_typed(&filter, "\033[12;4", 6);
	terminal_filter_typed(&filter, "0R\033[A\033[1;1R", 11);
	CHECK("answers are recognised among keys", filter.asked == TERMINAL_FILTER_ASKED - 2);
	feed(&filter, "\033[c\033[5n", 7, out);
	CHECK("other questions are answered here",
	      filter.answers_used == 9 && memcmp(filter.answers, "\033[?6c\033[0n", 9) == 0);
}

static void check_eight_bit(void)
{
	struct terminal_filter filter;
	char out[TERMINAL_FILTER_ROOM(32)];

	terminal_filter_init(&filter, true);
	CHECK("without UTF-8, a byte of a letter can be a control",
	      feed(&filter,
		   "\xc3\x9d"
		   "52;c;x\a\xe4",
		   10, out) == 2 &&
		      memcmp(out, "\xc3\xe4", 2) == 0);
}

int main(void)
{
	check_samples();
	check_leave();
	check_answers();
	check_eight_bit();
	return unit_failures > 0;
}
