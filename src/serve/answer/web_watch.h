/*
 * The process that watches loops for open pages: once a second it looks for what has changed, and
 * writes a line for each state:
 *
 *	row ID JSON	a row of the overview that is new or has changed
 *	gone ID		a row that is gone
 *	complete	all rows were written once
 *	loop ID JSON	a watched loop that has changed
 *	lost ID		a watched loop that does not exist
 *
 * It reads lines "watch ID ID ..." that name the loops to watch, and ends when there are no more.
 */
#ifndef SERVE_ANSWER_WEB_WATCH_H
#define SERVE_ANSWER_WEB_WATCH_H

#include "util/error.h"

/* state: the state folder. Returns 0, or -1 with err set. */
int web_watch_run(const char *state, int input, int output, struct error *err);

#endif
