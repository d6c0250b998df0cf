/* A cursor in a list: see scroll.h. */
#include "screen/scroll.h"

static size_t last_of(const struct scroll *scroll)
{
	return scroll->count ? scroll->count - 1 : 0;
}

static size_t last_top(const struct scroll *scroll)
{
	return scroll->count > scroll->rows ? scroll->count - scroll->rows : 0;
}

static size_t moved(size_t from, long lines, size_t last)
{
	if (lines < 0)
		return from > (size_t)-lines ? from - (size_t)-lines : 0;
	return last - from > (size_t)lines ? from + (size_t)lines : last;
}

/* Scrolls as little as possible to show the cursor. */
static void show(struct scroll *scroll)
{
	if (scroll->at < scroll->top)
		scroll->top = scroll->at;
	if (scroll->at >= scroll->top + scroll->rows)
		scroll->top = scroll->at - scroll->rows + 1;
	if (scroll->top > last_top(scroll))
		scroll->top = last_top(scroll);
}

void scroll_fit(struct scroll *scroll, size_t count, int rows)
{
	scroll->count = count;
	scroll->rows = rows > 0 ? (size_t)rows : 1;
	if (scroll->at > last_of(scroll))
		scroll->at = last_of(scroll);
	show(scroll);
}

void scroll_to(struct scroll *scroll, size_t at)
{
	scroll->at = at < scroll->count ? at : last_of(scroll);
	show(scroll);
}

void scroll_move(struct scroll *scroll, long lines)
{
	scroll_to(scroll, moved(scroll->at, lines, last_of(scroll)));
}

void scroll_wheel(struct scroll *scroll, long lines)
{
	scroll->top = moved(scroll->top < last_top(scroll) ? scroll->top : last_top(scroll), lines,
			    last_top(scroll));
	if (scroll->at < scroll->top)
		scroll->at = scroll->top;
	if (scroll->at >= scroll->top + scroll->rows)
		scroll->at = scroll->top + scroll->rows - 1;
	scroll_to(scroll, scroll->at);
}

bool scroll_at_end(const struct scroll *scroll)
{
	return scroll->at >= last_of(scroll);
}
