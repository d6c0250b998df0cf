/* Terminal forwarding: see terminal.h. */
#include "fence/run/terminal.h"

#include "util/clock.h"
#include "util/env.h"
#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* How long to wait for an answer that the command has asked for and not read. */
enum { ANSWER_MS = 2000 };

/* Whether the user's locale names a character set other than UTF-8, the usual one. */
static bool is_eight_bit(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *locale = NULL;
	const char *set;

	for (size_t i = 0; i < sizeof names / sizeof *names && (!locale || !*locale); i++)
		locale = env_get(names[i]);
	set = locale ? strchr(locale, '.') : NULL;
	return set && strncasecmp(set, ".utf-8", 6) != 0 && strncasecmp(set, ".utf8", 5) != 0;
}

void terminal_init(struct terminal *terminal, bool unfiltered)
{
	memset(terminal, 0, sizeof *terminal);
	terminal->outer = terminal->inner = -1;
	terminal->unfiltered = unfiltered;
	terminal_filter_init(&terminal->filter, is_eight_bit());
	for (int fd = 2; fd >= 0; fd--)
		if (isatty(fd))
			terminal->outer = fd;
	terminal->reads = isatty(0);
}

/* Only the foreground job may change the terminal; a background job would be stopped. */
static void make_raw(struct terminal *terminal)
{
	struct termios raw;

	if (!terminal->reads || tcgetpgrp(0) != getpgrp() || tcgetattr(0, &terminal->saved) < 0)
		return;
	raw = terminal->saved;
	cfmakeraw(&raw);
	if (!isatty(1) || !isatty(2)) /* another program writes whole lines to this terminal */
		raw.c_oflag = terminal->saved.c_oflag;
	terminal->raw = tcsetattr(0, TCSADRAIN, &raw) == 0;
}

/* Reads the answers that the command has asked for and not read. Returns false if some are missing
 * after ANSWER_MS. */
static bool take_answers(struct terminal *terminal)
{
	uint64_t until = clock_steady_ms() + ANSWER_MS;
	struct pollfd typed = { .fd = 0, .events = POLLIN };
	char bytes[256];

	while (terminal->filter.asked) {
		uint64_t now = clock_steady_ms();
		ssize_t n;

		if (now >= until || (poll(&typed, 1, (int)(until - now)) < 0 && errno != EINTR))
			return false;
		n = typed.revents ? read(0, bytes, sizeof bytes) : -1;
		if (n == 0 || (n < 0 && typed.revents && errno != EAGAIN && errno != EINTR))
			return false;
		if (n > 0)
			terminal_filter_typed(&terminal->filter, bytes, (size_t)n);
	}
	return true;
}

void terminal_restore(struct terminal *terminal)
{
	size_t size = terminal_filter_leave(&terminal->filter, terminal->filtered);

	if (size)
		fd_write_all(terminal->outer, terminal->filtered, size);
	if (terminal->raw)
		tcsetattr(0, take_answers(terminal) ? TCSADRAIN : TCSAFLUSH, &terminal->saved);
	terminal->filter.asked = 0;
	terminal->raw = false;
}

void terminal_attach(struct terminal *terminal, int inner)
{
	terminal->inner = inner;
	fcntl(inner, F_SETFL, fcntl(inner, F_GETFL) | O_NONBLOCK);
	make_raw(terminal);
	if (terminal->raw) /* programs inside start with the caller's settings */
		tcsetattr(inner, TCSANOW, &terminal->saved);
	terminal_resize(terminal);
}

bool terminal_waits(const struct terminal *terminal)
{
	return terminal->reads && !terminal->raw && terminal->inner >= 0;
}

void terminal_check_foreground(struct terminal *terminal)
{
	if (terminal_waits(terminal))
		make_raw(terminal);
}

void terminal_resize(struct terminal *terminal)
{
	struct winsize size;

	if (terminal->inner >= 0 && ioctl(terminal->outer, TIOCGWINSZ, &size) == 0)
		ioctl(terminal->inner, TIOCSWINSZ, &size);
}

void terminal_watch(const struct terminal *terminal, struct pollfd watched[2])
{
	bool can_read = terminal->raw && terminal->inner >= 0 && terminal->in_to == 0;

	watched[0] = (struct pollfd){ .fd = can_read ? 0 : -1, .events = POLLIN };
	watched[1] = (struct pollfd){
		.fd = terminal->inner,
		.events = (short)(POLLIN | (terminal->in_to ? POLLOUT : 0)),
	};
}

static void write_filtered(struct terminal *terminal, size_t size)
{
	struct terminal_filter *filter = &terminal->filter;

	filter->can_ask = terminal->raw;
	size = terminal_filter_feed(filter, terminal->out, size, terminal->filtered);
	if (size)
		fd_write_all(terminal->outer, terminal->filtered, size);
	/* A command that does not read the answers loses them. */
	if (filter->answers_used && write(terminal->inner, filter->answers, filter->answers_used))
		filter->answers_used = 0;
}

static void forward_output(struct terminal *terminal)
{
	ssize_t n = read(terminal->inner, terminal->out, sizeof terminal->out);

	if (n > 0 && terminal->unfiltered)
		fd_write_all(terminal->outer, terminal->out, (size_t)n);
	else if (n > 0)
		write_filtered(terminal, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		fd_close(&terminal->inner); /* the last process inside has closed it */
}

void terminal_serve(struct terminal *terminal, const struct pollfd watched[2])
{
	if (watched[0].revents) {
		ssize_t n = read(0, terminal->in, sizeof terminal->in);

		if (n > 0)
			terminal->in_to = (size_t)n;
		if (n > 0)
			terminal_filter_typed(&terminal->filter, terminal->in, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			terminal->raw = false; /* the caller's terminal is gone */
	}
	if (terminal->in_to && terminal->inner >= 0) {
		ssize_t n = write(terminal->inner, terminal->in + terminal->in_from,
				  terminal->in_to - terminal->in_from);

		if (n > 0)
			terminal->in_from += (size_t)n;
		if (terminal->in_from == terminal->in_to)
			terminal->in_from = terminal->in_to = 0;
	}
	if (terminal->inner >= 0 && watched[1].revents & (POLLIN | POLLHUP | POLLERR))
		forward_output(terminal);
}

void terminal_stop(struct terminal *terminal)
{
	bool raw = terminal->raw;
	size_t size;

	terminal_restore(terminal);
	raise(SIGSTOP);
	if (raw)
		make_raw(terminal);
	size = terminal_filter_return(&terminal->filter, terminal->filtered);
	if (size)
		fd_write_all(terminal->outer, terminal->filtered, size);
	terminal_resize(terminal);
}
