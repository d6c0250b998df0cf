/* Ctrl-C in the foreground: see interrupt.h. */
#include "cli/view/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupts; /* number of Ctrl-C */
static volatile sig_atomic_t hung_up;    /* SIGTERM or SIGHUP: detach without a question */

static volatile sig_atomic_t stops; /* Ctrl-Z */
static volatile sig_atomic_t continued;

static void note_signal(int number)
{
	if (number == SIGINT)
		interrupts++;
	else if (number == SIGTSTP)
		stops = 1;
	else if (number == SIGCONT)
		continued = 1;
	else
		hung_up = 1;
}

static void set_all(void (*handler)(int))
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT };
	struct sigaction action = { .sa_handler = handler };

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, NULL);
}

void interrupt_catch(void)
{
	set_all(note_signal);
}

void interrupt_release(void)
{
	set_all(SIG_DFL);
}

bool interrupt_is_stop_pending(void)
{
	return stops;
}

void interrupt_stop(void)
{
	stops = 0;
	raise(SIGSTOP);
}

bool interrupt_was_continued(void)
{
	bool was = continued;

	continued = 0;
	return was;
}

bool interrupt_is_pending(void)
{
	return interrupts || hung_up;
}

/* Waits for a key or a signal. Signals are blocked until ppoll(), so that none is lost. */
static bool await_key(void)
{
	struct pollfd keys = { .fd = 0, .events = POLLIN };
	sigset_t held;
	sigset_t before;
	int ready = 0;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	sigprocmask(SIG_BLOCK, &held, &before);
	if (interrupts < 2 && !hung_up)
		ready = ppoll(&keys, 1, NULL, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ready > 0;
}

static char read_answer(const char *what, bool fresh)
{
	char answer[16] = "";
	ssize_t n;

	printf("%sDetach (%s continues in the background), pause or abort? [D/p/a] ",
	       fresh ? "" : "\n", what);
	fflush(stdout);
	n = await_key() ? read(0, answer, sizeof answer - 1) : 0;
	if (n <= 0)
		puts(""); /* Enter did not end the line */
	if (interrupts > 1)
		return 'a';
	return n <= 0 || answer[0] == '\n' ? 'd' : answer[0];
}

char interrupt_ask(const char *what, bool quiet, bool fresh)
{
	char answer = hung_up || quiet || !isatty(0) || !isatty(1) ? 'd' : read_answer(what, fresh);

	interrupts = 0;
	return answer;
}
