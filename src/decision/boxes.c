/* The boxes of a task list: see boxes.h. */
#include "decision/boxes.h"

#include "decision/lines.h"

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Returns the text after a list marker and its white space, or NULL if there is no marker. */
static const char *after_marker(const char *at, const char *end)
{
	const char *start = at;

	while (at < end && at - start < 9 && lines_digit(*at))
		at++;
	if (at > start) {
		if (at == end || (*at != '.' && *at != ')'))
			return NULL;
	} else if (at == end || (*at != '-' && *at != '*' && *at != '+')) {
		return NULL;
	}
	at++;
	return at < end && (*at == ' ' || *at == '\t') ? skip_blanks(at, end) : NULL;
}

/* Opens or closes a fence. Returns whether this line is one. */
static bool read_fence(struct boxes_fence *fence, const char *at, const char *end)
{
	char mark = *at;
	size_t size = 0;

	if (mark != '`' && mark != '~')
		return false;
	for (; at < end && *at == mark; at++)
		size++;
	if (size < 3)
		return false;
	if (!fence->mark) {
		for (; at < end; at++)
			if (mark == '`' && *at == '`')
				return false; /* inline code */
		*fence = (struct boxes_fence){ .mark = mark, .size = size };
	} else if (mark == fence->mark && size >= fence->size && skip_blanks(at, end) == end) {
		*fence = (struct boxes_fence){ 0 };
	} else {
		return false;
	}
	return true;
}

/* Returns whether there is a box, and whether it is ticked. */
static enum boxes_kind read_box(const char *at, const char *end)
{
	if (end - at < 3 || at[0] != '[' || at[2] != ']')
		return BOXES_NONE;
	if (end - at > 3 && at[3] != ' ' && at[3] != '\t')
		return BOXES_NONE;
	return at[1] == ' ' ? BOXES_OPEN : at[1] == 'x' || at[1] == 'X' ? BOXES_TICKED : BOXES_NONE;
}

enum boxes_kind boxes_read(struct boxes_fence *fence, const char *text, size_t size,
			   const char **ret_mark)
{
	const char *end = text + size;
	const char *item = skip_blanks(text, end);
	bool listed = false;

	for (const char *next; item < end && (next = after_marker(item, end)); item = next)
		listed = true;
	if (item == end)
		return BOXES_NONE;
	if (!(fence->mark && listed) && read_fence(fence, item, end))
		return BOXES_FENCE;
	*ret_mark = item + 1;
	return listed ? read_box(item, end) : BOXES_NONE;
}

static uint32_t sum(uint32_t a, uint32_t b)
{
	return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

void boxes_count(const char *text, size_t size, struct boxes *ret_boxes)
{
	const char *at = text;
	struct boxes shown = { 0 };
	struct boxes hidden = { 0 }; /* since the fence that is open now */
	struct boxes_fence fence = { 0 };
	struct lines_line line;

	while (lines_next(&at, text + size, &line)) {
		const char *mark;
		enum boxes_kind kind = boxes_read(&fence, line.text, line.size, &mark);
		struct boxes *boxes = fence.mark ? &hidden : &shown;

		if (kind == BOXES_FENCE)
			hidden = (struct boxes){ 0 };
		else if (kind == BOXES_OPEN)
			boxes->open += boxes->open < UINT32_MAX;
		else if (kind == BOXES_TICKED)
			boxes->ticked += boxes->ticked < UINT32_MAX;
	}
	*ret_boxes = (struct boxes){ .open = sum(shown.open, hidden.open),
				     .ticked = sum(shown.ticked, hidden.ticked) };
}
