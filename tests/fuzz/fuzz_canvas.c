// sources: src/screen/canvas.c src/screen/scroll.c src/screen/sheet.c
/* Untrusted text on the screen: nothing that a terminal obeys reaches a cell, and no column is
 * drawn outside. */
#include "fuzz.h"

#include "screen/canvas.h"
#include "screen/sheet.h"
#include "util/text/text.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 6, COLS = 20 };

static void check(const struct canvas *canvas)
{
	for (int row = 0; row < ROWS; row++)
		for (int col = 0; col < COLS; col++)
			for (const wchar_t *at = canvas_at(canvas, row, col)->text; *at; at++)
				if (text_is_unsafe((uint32_t)*at))
					abort();
}

void fuzz_canvas(const uint8_t *data, size_t size)
{
	struct canvas canvas = { .utf8 = size % 2 == 0 };
	struct sheet sheet = { 0 };
	struct scroll scroll = { 0 };
	char *text = strndup((const char *)data, size);

	setlocale(LC_CTYPE, "C.UTF-8");
	canvas_resize(&canvas, ROWS, COLS);
	if (canvas_put(&canvas, 0, 0, COLS, CANVAS_plain, text) > COLS)
		abort();
	canvas_put_right(&canvas, 1, 3, COLS, CANVAS_plain, text);
	sheet_clear(&sheet, COLS);
	sheet_block(&sheet, 1, CANVAS_plain, "* ", 2, text);
	scroll_fit(&scroll, sheet.count, ROWS - 2);
	sheet_draw(&sheet, &scroll, &canvas, 2, ROWS - 2, 0, COLS);
	check(&canvas);
	sheet_search(&sheet, "x", 0, true);
	sheet_release(&sheet);
	canvas_release(&canvas);
	free(text);
}

FUZZ_TARGET(fuzz_canvas)
