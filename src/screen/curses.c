/* The terminal, by ncurses: see curses.h. */
#include "screen/curses.h"

#include "screen/keymap.h"
#include "util/env.h"

#include <ctype.h>
#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
	ESCAPE_MS = 100, /* after Esc, for the rest of a key's sequence */
	WHEEL_LINES = 3,
	PASTE_BEGIN = 0x7f00, /* codes of our own for the sequences around a paste */
	PASTE_END = 0x7f01,
};

#define PASTE_ON  "\033[?2004h"
#define PASTE_OFF "\033[?2004l"

/* The colours of a style on a terminal with 8 colours, and with 256; -1: its own. */
static const struct {
	short color, rich;
	attr_t attributes, bare; /* bare: without colours */
} styles[CANVAS_STYLE_COUNT] = {
	[CANVAS_plain] = { -1, -1, A_NORMAL, A_NORMAL },
	[CANVAS_bold] = { -1, -1, A_BOLD, A_BOLD },
	[CANVAS_dim] = { -1, 245, A_NORMAL, A_NORMAL },
	[CANVAS_good] = { COLOR_GREEN, 71, A_NORMAL, A_NORMAL },
	[CANVAS_bad] = { COLOR_RED, 167, A_NORMAL, A_BOLD },
	[CANVAS_warning] = { COLOR_YELLOW, 178, A_NORMAL, A_BOLD },
	[CANVAS_info] = { COLOR_CYAN, 74, A_NORMAL, A_NORMAL },
	[CANVAS_title] = { -1, -1, A_BOLD, A_BOLD },
	[CANVAS_chosen] = { -1, -1, A_BOLD | A_UNDERLINE, A_BOLD | A_UNDERLINE },
	[CANVAS_key] = { COLOR_CYAN, 74, A_BOLD, A_BOLD },
	[CANVAS_escaped] = { COLOR_MAGENTA, 133, A_NORMAL, A_UNDERLINE },
	[CANVAS_added] = { COLOR_GREEN, 71, A_NORMAL, A_NORMAL },
	[CANVAS_removed] = { COLOR_RED, 167, A_NORMAL, A_NORMAL },
	[CANVAS_hunk] = { COLOR_CYAN, 74, A_NORMAL, A_NORMAL },
	[CANVAS_urgent] = { COLOR_YELLOW, 214, A_BOLD, A_BOLD | A_REVERSE },
};

/* The marked row is light on dark, whatever the terminal's own colours are. */
enum {
	MARKED = CANVAS_STYLE_COUNT,
	MARKED_BACKGROUND = 237,
	MARKED_PLAIN = 255,
	MARKED_DIM = 250,
};

static short marked_color(int style)
{
	if (style == CANVAS_dim)
		return MARKED_DIM;
	return styles[style].rich < 0 ? MARKED_PLAIN : styles[style].rich;
}

static bool colors, rich, pasting;
static SCREEN *terminal;

/* Pair 1 + STYLE; the same on the marked row from 1 + MARKED on. */
static void begin_colors(void)
{
	colors = !env_has("NO_COLOR") && has_colors() && start_color() == OK &&
		 use_default_colors() == OK;
	rich = colors && COLORS >= 256 && COLOR_PAIRS > 2 * MARKED;
	for (int i = 0; colors && i < CANVAS_STYLE_COUNT; i++) {
		short color = rich ? styles[i].rich : styles[i].color;

		init_pair((short)(1 + i), color, -1);
		if (rich)
			init_pair((short)(1 + MARKED + i), marked_color(i), MARKED_BACKGROUND);
	}
}

static void begin_modes(void)
{
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0);
	define_key("\033[200~", PASTE_BEGIN);
	define_key("\033[201~", PASTE_END);
	fputs(PASTE_ON, stdout);
	fflush(stdout);
}

static bool has_capability(const char *name)
{
	const char *value = tigetstr(name);

	return value && value != (const char *)-1 && *value;
}

int curses_begin(struct error *err)
{
	const char *type = env_get("TERM");

	/* It is built in: a static program may not find the files of others. On a terminal without
	 * UTF-8, the canvas has only ASCII. */
	setlocale(LC_CTYPE, "C.UTF-8");
	terminal = type ? newterm(type, stdout, stdin) : NULL;
	if (!terminal)
		return error_set(err,
				 "the terminal type '%s' is unknown (TERM): set TERM to one that "
				 "infocmp knows, such as xterm-256color",
				 type ? type : "");
	if (!has_capability("cup") || !has_capability("clear")) {
		endwin();
		return error_set(err, "a terminal of the type '%s' cannot place the cursor (TERM)",
				 type);
	}
	begin_colors();
	begin_modes();
	return 0;
}

void curses_leave(void)
{
	/* A terminal with one screen keeps what is on it; the shell goes on at the bottom. */
	if (!has_capability("rmcup")) {
		erase();
		refresh();
	}
	fputs(PASTE_OFF, stdout);
	fflush(stdout);
	endwin();
}

void curses_return(void)
{
	clearok(curscr, TRUE);
	refresh();
	fputs(PASTE_ON, stdout);
	fflush(stdout);
}

void curses_end(void)
{
	if (!terminal)
		return;
	curses_leave();
	delscreen(terminal);
	terminal = NULL;
}

void curses_size(int *ret_rows, int *ret_cols)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col &&
	    (size.ws_row != LINES || size.ws_col != COLS))
		resizeterm(size.ws_row, size.ws_col);
	*ret_rows = LINES;
	*ret_cols = COLS;
}

static void show_cell(const struct canvas *canvas, int row, int col)
{
	const struct canvas_cell *cell = canvas_at(canvas, row, col);
	attr_t attributes = colors ? styles[cell->style].attributes : styles[cell->style].bare;
	short pair = colors ? (short)(1 + (int)cell->style) : 0;
	cchar_t shown;

	if (!cell->text[0])
		return; /* the right half of the character before */
	if (cell->marked && rich)
		pair = (short)(pair + MARKED);
	else if (cell->marked)
		attributes |= A_REVERSE;
	if (setcchar(&shown, cell->text, attributes, pair, NULL) == OK)
		mvadd_wch(row, col, &shown);
}

void curses_show(const struct canvas *canvas)
{
	erase();
	for (int row = 0; row < canvas->rows && row < LINES; row++)
		for (int col = 0; col < canvas->cols && col < COLS; col++)
			show_cell(canvas, row, col);
	curs_set(canvas->cursor_row >= 0);
	if (canvas->cursor_row >= 0)
		move(canvas->cursor_row, canvas->cursor_col);
	refresh();
}

void curses_redraw(void)
{
	clearok(curscr, TRUE);
}

/* The keys of ncurses. */
static uint32_t key_of(wint_t code)
{
	static const struct {
		int code;
		uint32_t key;
	} keys[] = {
		{ KEY_UP, KEYMAP_UP },         { KEY_DOWN, KEYMAP_DOWN },
		{ KEY_LEFT, KEYMAP_LEFT },     { KEY_RIGHT, KEYMAP_RIGHT },
		{ KEY_PPAGE, KEYMAP_PAGE_UP }, { KEY_NPAGE, KEYMAP_PAGE_DOWN },
		{ KEY_HOME, KEYMAP_HOME },     { KEY_END, KEYMAP_END },
		{ KEY_BTAB, KEYMAP_BACK_TAB }, { KEY_DC, KEYMAP_DELETE },
		{ KEY_ENTER, KEYMAP_ENTER },   { KEY_BACKSPACE, KEYMAP_BACKSPACE },
	};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if ((wint_t)keys[i].code == code)
			return keys[i].key;
	return 0;
}

static struct curses_event mouse_event(void)
{
	MEVENT mouse;
	struct curses_event event = { CURSES_OTHER };

	if (getmouse(&mouse) != OK)
		return event;
	event.row = mouse.y;
	event.col = mouse.x;
	if (mouse.bstate & BUTTON1_PRESSED) {
		event.kind = CURSES_CLICK;
	} else if (mouse.bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED)) {
		event.kind = CURSES_WHEEL;
		event.lines = mouse.bstate & BUTTON4_PRESSED ? -WHEEL_LINES : WHEEL_LINES;
	}
	return event;
}

static struct curses_event code_event(wint_t code)
{
	struct curses_event event = { CURSES_KEY };

	if (code == KEY_MOUSE)
		return mouse_event();
	if (code == PASTE_BEGIN || code == PASTE_END) {
		pasting = code == PASTE_BEGIN;
		event.kind = CURSES_OTHER;
		return event;
	}
	event.key = key_of(code);
	if (!event.key)
		event.kind = CURSES_OTHER;
	return event;
}

struct curses_event curses_read(void)
{
	struct curses_event event = { CURSES_KEY };
	wint_t code;
	int result = get_wch(&code);

	if (result == ERR)
		return (struct curses_event){ CURSES_NONE };
	if (result == KEY_CODE_YES)
		return code_event(code);
	event.key = code == '\r' ? KEYMAP_ENTER : code == '\b' ? KEYMAP_BACKSPACE : (uint32_t)code;
	event.kind = pasting ? CURSES_PASTE : CURSES_KEY;
	return event;
}
