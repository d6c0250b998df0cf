/* The screen's two processes: see screen.h. */
#include "screen/screen.h"

#include "screen/app.h"
#include "screen/curses.h"
#include "util/clock.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum {
	TICK_MS = 1000, /* what has changed is read this often */
	POLL_MS = 200,  /* whether a log has grown is looked at this often */
	FAILED = 125,   /* the child's exit status if the terminal cannot be used */
};

/* Ends the modes that the screen sets, for a child that could not: bracketed paste, the mouse, the
 * hidden cursor, colours, the other screen. */
static const char restore[] = "\033[?2004l\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[?25h"
			      "\033[?1l\033>\033[m\033[?1049l\r";

/* ---- the child ---- */

struct loop {
	struct app app;
	struct canvas canvas;
	int signals;
	uint64_t tick_at_ms;
	bool ends;
	bool dirty;
};

/* Stops this process; the parent stops itself, and continues both. */
static void suspend(struct loop *loop)
{
	loop->app.suspends = false;
	curses_leave();
	kill(getpid(), SIGSTOP);
	curses_return();
	loop->dirty = true;
}

static void fit(struct loop *loop)
{
	int rows, cols;

	curses_size(&rows, &cols);
	canvas_resize(&loop->canvas, rows, cols);
	loop->dirty = true;
}

static void read_signals(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo == SIGWINCH)
			fit(loop);
		else if (info.ssi_signo == SIGTSTP)
			loop->app.suspends = true;
		else
			loop->ends = true;
	}
}

static void read_keys(struct loop *loop)
{
	struct curses_event event;

	while ((event = curses_read()).kind != CURSES_NONE) {
		loop->dirty = true;
		if (event.kind == CURSES_KEY || event.kind == CURSES_PASTE)
			app_key(&loop->app, event.key, event.kind == CURSES_PASTE);
		else if (event.kind == CURSES_CLICK)
			app_click(&loop->app, event.row, event.col);
		else if (event.kind == CURSES_WHEEL)
			app_wheel(&loop->app, event.lines);
		if (loop->app.quits)
			return;
	}
}

static int wait_ms(const struct loop *loop)
{
	int64_t left = (int64_t)(loop->tick_at_ms - clock_steady_ms());

	if (loop->app.place == APP_LOOP && left > POLL_MS)
		return POLL_MS;
	return left > 0 ? (int)left : 0;
}

enum { KEYS, SIGNALS, JOB, CHANGES, SOURCES };

static void wait_for_news(struct loop *loop)
{
	struct pollfd sources[SOURCES] = {
		[KEYS] = { .fd = STDIN_FILENO, .events = POLLIN },
		[SIGNALS] = { .fd = loop->signals, .events = POLLIN },
		[JOB] = { .fd = app_act_fd(&loop->app), .events = POLLIN },
		[CHANGES] = { .fd = watched_fd(&loop->app.watched), .events = POLLIN },
	};

	if (poll(sources, SOURCES, wait_ms(loop)) < 0)
		return;
	if (sources[SIGNALS].revents)
		read_signals(loop);
	/* A terminal that is gone is readable as well, for ever. */
	if (sources[KEYS].revents & (POLLHUP | POLLERR | POLLNVAL))
		loop->ends = true;
	else if (sources[KEYS].revents)
		read_keys(loop);
	/* A key may have ended the work. */
	if (sources[JOB].revents && sources[JOB].fd == app_act_fd(&loop->app))
		app_act_read(&loop->app), loop->dirty = true;
	if (sources[CHANGES].revents && sources[CHANGES].fd == watched_fd(&loop->app.watched))
		watched_read(&loop->app.watched), loop->dirty = true;
}

static void tick(struct loop *loop)
{
	loop->dirty |= app_poll(&loop->app);
	if (clock_steady_ms() < loop->tick_at_ms && !loop->app.news)
		return;
	app_tick(&loop->app, clock_wall_ms());
	loop->tick_at_ms = clock_steady_ms() + TICK_MS;
	loop->dirty = true;
}

static void show(struct loop *loop)
{
	if (loop->app.redraws)
		curses_redraw();
	loop->app.redraws = false;
	app_draw(&loop->app, &loop->canvas);
	curses_show(&loop->canvas);
	loop->dirty = false;
}

static int open_signals(void)
{
	sigset_t wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGWINCH);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGHUP);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGTSTP);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	return signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void run(struct loop *loop)
{
	fit(loop);
	while (!loop->ends && !loop->app.quits) {
		if (loop->app.suspends)
			suspend(loop);
		tick(loop);
		if (loop->dirty)
			show(loop);
		wait_for_news(loop);
	}
}

/* The child's main function. Returns its exit status; a failure is written to `out`. */
static int show_screen(const char *state, const char *loop_id, int out)
{
	struct loop loop = { .signals = open_signals() };
	AUTO_FREE char *text = NULL;
	struct error err;

	if (app_open(&loop.app, state, loop_id, clock_wall_ms(), &err) < 0 ||
	    curses_begin(&err) < 0) {
		fd_write_all(out, err.text, strlen(err.text));
		return FAILED;
	}
	loop.canvas.utf8 = env_is_utf8();
	loop.tick_at_ms = clock_steady_ms() + TICK_MS;
	run(&loop);
	curses_end();
	text = app_farewell(&loop.app);
	app_close(&loop.app);
	canvas_release(&loop.canvas);
	fd_close(&loop.signals);
	fd_write_all(out, text, strlen(text));
	return 0;
}

/* ---- the parent ---- */

static pid_t child;

/* A signal that would end the parent ends the child first, which gives the terminal back. */
static void pass_on(int number)
{
	kill(child, number);
}

/* Waits until the child ends, and stops and continues with it. Returns its status. */
static int wait_for_child(void)
{
	int status = 0;

	for (;;) {
		if (waitpid(child, &status, WUNTRACED) < 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		if (!WIFSTOPPED(status))
			return status;
		kill(getpid(), SIGSTOP);
		kill(child, SIGCONT);
	}
}

static int check_terminal(struct error *err)
{
	const char *type = env_get("TERM");
	struct winsize size;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_with(err, ERROR_REFUSED,
				  "the screen needs a terminal for its input and output (for text: "
				  "ringfence status)");
	if (!type || !*type || strcmp(type, "dumb") == 0)
		return error_with(err, ERROR_REFUSED,
				  "the terminal cannot show a screen (TERM is '%s'; for text: "
				  "ringfence status)",
				  type ? type : "");
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row &&
	    (size.ws_row < APP_ROWS_LEAST || size.ws_col < APP_COLS_LEAST))
		return error_with(
			err, ERROR_REFUSED,
			"the terminal has %d columns and %d rows, and the screen needs %d "
			"and %d: make it larger",
			size.ws_col, size.ws_row, APP_COLS_LEAST, APP_ROWS_LEAST);
	return 0;
}

static void watch_signals(void)
{
	static const int passed[] = { SIGTERM, SIGHUP, SIGINT };
	struct sigaction action = { .sa_handler = pass_on };

	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
		sigaction(passed[i], &action, NULL);
	signal(SIGTSTP, SIG_IGN); /* the child stops, then this process does */
	signal(SIGTTOU, SIG_IGN);
}

/* Restores the terminal if the child was killed. Returns 0, or -1 with err set if it
 * failed. */
static int report_end(int status, struct buffer *said, const struct termios *modes,
		      struct error *err)
{
	if (WIFSIGNALED(status)) {
		fd_write_all(STDOUT_FILENO, restore, sizeof restore - 1);
		tcsetattr(STDIN_FILENO, TCSANOW, modes);
		return error_with(err, ERROR_DIED,
				  "the screen died (%s); loops go on (see: ringfence status)",
				  strsignal(WTERMSIG(status)));
	}
	if (WEXITSTATUS(status) == FAILED)
		return error_set(err, "%s", buffer_text(said));
	return 0;
}

int screen_run(const char *state, const char *loop, char **ret_farewell, struct error *err)
{
	AUTO_BUFFER struct buffer said = BUFFER_INIT(4096);
	struct termios modes;
	pid_t parent = getpid();
	int ends[2];
	int result;

	if (check_terminal(err) < 0)
		return -1;
	if (tcgetattr(STDIN_FILENO, &modes) < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "prepare the terminal");
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
		_exit(getppid() == parent ? show_screen(state, loop, ends[1]) : FAILED);
	}
	close(ends[1]);
	result = child < 0 ? error_sys(err, "start the screen") : 0;
	if (result == 0) {
		int status;

		watch_signals();
		status = wait_for_child();
		fd_read_all(ends[0], &said);
		result = report_end(status, &said, &modes, err);
	}
	close(ends[0]);
	if (result == 0)
		*ret_farewell = mem_dup(buffer_text(&said));
	return result;
}
