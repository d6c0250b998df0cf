/* The boxes of a task list: see boxes.h. */
#include "decision/boxes.h"

#include "decision/lines.h"

struct fence {
	char mark; /* of the open fence, or 0 */
	size_t size;
};

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
static bool read_fence(struct fence *fence, const char *at, const char *end)
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
		*fence = (struct fence){ .mark = mark, .size = size };
	} else if (mark == fence->mark && size >= fence->size && skip_blanks(at, end) == end) {
		*fence = (struct fence){ 0 };
	} else {
		return false;
	}
	return true;
}

static void count_line(struct boxes *boxes, const char *at, const char *end)
{
	uint32_t *counter;

	if (end - at < 3 || at[0] != '[' || at[2] != ']')
		return;
	if (end - at > 3 && at[3] != ' ' && at[3] != '\t')
		return;
	if (at[1] == ' ')
		counter = &boxes->open;
	else if (at[1] == 'x' || at[1] == 'X')
		counter = &boxes->ticked;
	else
		return;
	*counter += *counter < UINT32_MAX;
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
	struct fence fence = { 0 };
	struct lines_line line;

	while (lines_next(&at, text + size, &line)) {
		const char *end = line.text + line.size;
		const char *item = skip_blanks(line.text, end);
		bool listed = false;

		for (const char *next; item < end && (next = after_marker(item, end)); item = next)
			listed = true;
		if (item == end)
			continue;
		if (!(fence.mark && listed) && read_fence(&fence, item, end))
			hidden = (struct boxes){ 0 };
		else if (listed)
			count_line(fence.mark ? &hidden : &shown, item, end);
	}
	*ret_boxes = (struct boxes){ .open = sum(shown.open, hidden.open),
				     .ticked = sum(shown.ticked, hidden.ticked) };
}
