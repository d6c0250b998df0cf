/* Terminal forwarding: see terminal.h. */
#include "fence/run/terminal.h"

#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void terminal_init(struct terminal *terminal)
{
	memset(terminal, 0, sizeof *terminal);
	terminal->outer = terminal->inner = -1;
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

void terminal_restore(struct terminal *terminal)
{
	if (terminal->raw)
		tcsetattr(0, TCSADRAIN, &terminal->saved);
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

static void forward_output(struct terminal *terminal)
{
	ssize_t n = read(terminal->inner, terminal->out, sizeof terminal->out);

	if (n > 0)
		fd_write_all(terminal->outer, terminal->out, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		fd_close(&terminal->inner); /* the last process inside has closed it */
}

void terminal_serve(struct terminal *terminal, const struct pollfd watched[2])
{
	if (watched[0].revents) {
		ssize_t n = read(0, terminal->in, sizeof terminal->in);

		if (n > 0)
			terminal->in_to = (size_t)n;
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

	terminal_restore(terminal);
	raise(SIGSTOP);
	if (raw)
		make_raw(terminal);
	terminal_resize(terminal);
}
