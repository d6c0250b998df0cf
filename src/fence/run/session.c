/* A plan at work: start, watch, end, sweep. See fence.h. */
#include "fence/run/session.h"

#include "fence/after/sweep.h"
#include "fence/fence.h"
#include "fence/mechanism/mechanism.h"
#include "util/clock.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a command may take to obey TERM, and how often a terminal in the background is looked at. */
enum { GRACE_MS = 5000, FOREGROUND_MS = 300 };

static void set_result(struct fence_result *result, enum fence_exit kind, int code, const char *why)
{
	result->kind = kind;
	result->code = code;
	snprintf(result->why, sizeof result->why, "%s", why);
}

static void end_child(const struct session *session)
{
	if (!session->child_gone)
		kill(session->child, SIGKILL);
}

static void tell(struct session *session, enum wire_message_type type, int number)
{
	wire_send(session->control, &(struct wire_message){ .type = type, .a = number }, -1);
}

/* The fence is up, but for the command. Is it what was asked for, and the project what was judged? */
static int check_mounted(struct session *session, struct error *err)
{
	struct error why;

	if (fence_plan_holds(session->plan, err) < 0) {
		session->result->changed = true;
		return -1;
	}
	return limit_check(&session->limiter, session->child, &why) < 0
		       ? error_set(
				 err,
				 "the fence does not hold, nothing was run: canary 'limits' got through: %s",
				 why.text)
		       : 0;
}

static void begin_command(struct session *session)
{
	uint64_t time_ms = session->plan->spec->limits[FENCE_LIMIT_TIME];

	session->running = true;
	session->deadline_ms = time_ms ? clock_steady_ms() + time_ms : 0;
	limit_watch(&session->limiter, clock_steady_ms());
	fd_close(&session->abstract);
}

/* A listening socket of the fence has come out. */
static void take_listener(struct session *session, int index, int fd)
{
	const struct fence_spec *spec = session->plan->spec;
	AUTO_FREE char *own = NULL;
	struct error err;

	if (spec->net == FENCE_NET_LIST && (size_t)index == spec->listen_count) {
		if (way_out_serve(session->plan, fd, &err) < 0)
			list_add(&session->result->warnings, err.text);
		return;
	}
	if (index < 0 || (size_t)index >= spec->listen_count) {
		close(fd);
		return;
	}
	if (!spec->listens[index].socket)
		own = mem_format("%s/sockets/%u.sock", session->plan->state,
				 spec->listens[index].where.port);
	if (relay_add_listener(session->relay, fd, own ? own : spec->listens[index].socket, &err) <
	    0)
		list_add(&session->result->warnings, err.text);
}

static void take_message(struct session *session, const struct wire_message *message, int fd)
{
	struct fence_result *result = session->result;
	struct error err;

	switch ((enum wire_message_type)message->type) {
	case WIRE_LISTENING:
		take_listener(session, message->a, fd);
		return;
	case WIRE_TERMINAL:
		terminal_attach(&session->terminal, fd);
		return;
	case WIRE_DENIALS:
		denial_listen(&session->denials, fd);
		return;
	case WIRE_FAILED:
		if (session->ended)
			break;
		error_set(&err, "%s%s",
			  message->a ? "the fence does not hold, nothing was run: " : "no fence: ",
			  message->text);
		set_result(result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP, err.text);
		result->changed = fence_plan_holds(session->plan, &err) < 0;
		session->ended = true;
		break;
	case WIRE_MOUNTED:
		if (check_mounted(session, &err) < 0) {
			set_result(result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP, err.text);
			session->ended = true;
			end_child(session);
		} else {
			tell(session, WIRE_GO, 0);
			session->wire = wire_step(session->wire, WIRE_GO);
		}
		break;
	case WIRE_RUNNING:
		begin_command(session);
		result->canaries_held = (unsigned int)message->a;
		result->canaries_total = (unsigned int)message->b;
		if (session->plan->spec->denials && session->denials.listener < 0 &&
		    !(session->plan->weaker & FENCE_WEAKER_NO_FENCE))
			list_add(
				&result->warnings,
				"denials are not explained: that needs Linux 5.19 or newer, and no other "
				"listener of seccomp above this process");
		break;
	case WIRE_NOT_STARTED:
		error_set(&err, "%s: %s", session->plan->spec->command[0],
			  message->a == ENOENT ? "command not found in the fence"
					       : strerror(message->a));
		set_result(result, FENCE_COMMAND,
			   message->a == ENOENT || message->a == ENOTDIR
				   ? FENCE_EXIT_NOT_FOUND
				   : FENCE_EXIT_NOT_EXECUTABLE,
			   err.text);
		session->ended = true;
		break;
	case WIRE_STOPPED:
		if (session->terminal.raw) {
			terminal_stop(&session->terminal);
			tell(session, WIRE_SIGNAL, SIGCONT);
		}
		break;
	case WIRE_EXITED:
		session->exited = true;
		memcpy(&session->use, message->text, sizeof session->use);
		if (session->ended)
			break;
		session->ended = true;
		if (message->b)
			set_result(result, FENCE_SIGNALLED, FENCE_EXIT_SIGNAL + message->b, "");
		else
			set_result(result, message->a ? FENCE_COMMAND : FENCE_OK, message->a, "");
		break;
	case WIRE_COUNTERS:
		session->limiter.counters = fd;
		return;
	case WIRE_LOCK: /* never comes from inside */
	case WIRE_ORDER:
	case WIRE_GO:
	case WIRE_SIGNAL:
	case WIRE_SIGNAL_ALL:
		break;
	}
	fd_close(&fd);
}

/* Whoever breaks the protocol is not the init that was started: everything inside ends. */
static void end_liar(struct session *session)
{
	if (!session->ended)
		set_result(session->result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP,
			   "the fence broke: its first process sent a message that it must not "
			   "send, and everything inside was ended");
	session->ended = true;
	end_child(session);
}

static void take_messages(struct session *session)
{
	struct wire_message message;
	int fd = -1;
	int got;

	while ((got = wire_take(session->control, WIRE_OUTSIDE, &session->wire, &message, &fd)) > 0)
		take_message(session, &message, fd);
	if (got == 0 || errno != EAGAIN)
		session->control_gone = true;
	if (got < 0 && errno == EPROTO)
		end_liar(session);
}

/* A signal before there is a command to pass it on to ends the start. */
static void interrupt(struct session *session, int number)
{
	take_messages(session); /* it may have just been started */
	if (session->running) {
		tell(session, WIRE_SIGNAL, number);
	} else if (!session->ended) {
		set_result(session->result, FENCE_SIGNALLED, FENCE_EXIT_SIGNAL + number, "");
		session->ended = true;
		end_child(session);
	}
}

static void take_signals(struct session *session)
{
	struct signalfd_siginfo info;

	while (read(session->signals, &info, sizeof info) == sizeof info) {
		int status;

		if (info.ssi_signo == SIGWINCH) {
			terminal_resize(&session->terminal);
		} else if (info.ssi_signo != SIGCHLD) {
			interrupt(session, (int)info.ssi_signo);
		} else if (!session->child_gone && wait4(session->child, &status, WNOHANG,
							 &session->spent) == session->child) {
			session->child_gone = true;
			session->child_status = status;
			take_messages(session);
			if (!session->running) /* whoever still holds the other end is no init */
				session->control_gone = true;
		}
	}
}

static void take_complaints(struct session *session)
{
	char chunk[1024];
	ssize_t n = read(session->complaints_fd, chunk, sizeof chunk);

	if (n > 0)
		buffer_add(&session->complaints, chunk, (size_t)n);
	else if (n == 0 || errno != EAGAIN)
		fd_close(&session->complaints_fd);
}

/* The deadline has passed: of the set-up, of the command, or of its grace. */
static void expire(struct session *session)
{
	struct fence_result *result = session->result;

	if (!session->running) {
		set_result(result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP,
			   "no fence: it was not up in time");
		session->ended = true;
		end_child(session);
		session->deadline_ms = 0;
	} else if (!session->ended) {
		set_result(result, FENCE_LIMITED, FENCE_EXIT_TIMEOUT, "");
		result->tripped = FENCE_LIMIT_TIME;
		session->ended = true;
		tell(session, WIRE_SIGNAL_ALL, SIGTERM);
		tell(session, WIRE_SIGNAL_ALL, SIGCONT);
		session->deadline_ms = clock_steady_ms() + GRACE_MS;
	} else {
		tell(session, WIRE_SIGNAL_ALL, SIGKILL);
		session->deadline_ms = 0;
	}
}

/* Whoever wanted the run asks for its end, or is gone. */
static void take_lifeline(struct session *session)
{
	char byte;
	ssize_t n = read(*session->plan->spec->lifeline, &byte, 1);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	session->lifeline_gone = n <= 0;
	if (n > 0 && session->running && !session->ended) {
		set_result(session->result, FENCE_SIGNALLED, FENCE_EXIT_SIGNAL + SIGTERM, "");
		session->ended = true;
		tell(session, WIRE_SIGNAL_ALL, SIGTERM);
		tell(session, WIRE_SIGNAL_ALL, SIGCONT);
		session->deadline_ms = clock_steady_ms() + GRACE_MS;
	} else if (!session->ended || n <= 0) {
		set_result(session->result, FENCE_SIGNALLED, FENCE_EXIT_SIGNAL + SIGKILL, "");
		session->ended = true;
		end_child(session);
	}
}

/* Looks at what is watched, if it is time to; a limit that is exceeded ends everything at once. */
static void look(struct session *session)
{
	enum fence_limit limit;

	if (!session->limiter.next_ms || !session->running || session->ended ||
	    clock_steady_ms() < session->limiter.next_ms)
		return;
	limit = limit_look(&session->limiter, session->child, clock_steady_ms());
	if (limit == FENCE_LIMIT_COUNT)
		return;
	set_result(session->result, FENCE_LIMITED, FENCE_EXIT_LIMIT, "");
	session->result->tripped = limit;
	session->ended = true;
	session->deadline_ms = 0;
	tell(session, WIRE_SIGNAL_ALL, SIGKILL);
}

static void sooner(uint64_t *wait, uint64_t when_ms, uint64_t now)
{
	uint64_t left = when_ms > now ? when_ms - now : 0;

	if (when_ms && left < *wait)
		*wait = left;
}

static int remaining_ms(const struct session *session)
{
	const uint64_t most = 1000000;
	uint64_t now = clock_steady_ms();
	uint64_t wait = terminal_waits(&session->terminal) ? FOREGROUND_MS : most + 1;

	sooner(&wait, session->deadline_ms, now);
	if (!session->ended)
		sooner(&wait, session->limiter.next_ms, now);
	if (wait > most)
		return session->deadline_ms ? (int)most : -1;
	return (int)wait;
}

enum {
	WATCH_CONTROL,
	WATCH_SIGNALS,
	WATCH_COMPLAINTS,
	WATCH_DENIALS,
	WATCH_LIFELINE,
	WATCH_OUTLET,
	WATCH_TERMINAL,
	WATCH_RELAY = WATCH_TERMINAL + 2
};

static void serve(struct session *session, const struct pollfd *watched, size_t relayed)
{
	if (watched[WATCH_SIGNALS].revents)
		take_signals(session);
	if (watched[WATCH_CONTROL].revents)
		take_messages(session);
	if (watched[WATCH_COMPLAINTS].revents)
		take_complaints(session);
	if (watched[WATCH_LIFELINE].revents)
		take_lifeline(session);
	/* After the messages: before the command runs, only the canaries are refused. */
	if (watched[WATCH_DENIALS].revents)
		denial_serve(&session->denials, session->running);
	if (watched[WATCH_OUTLET].revents)
		way_out_take(&session->way_out, session->plan, session->child, &session->denials,
			     &session->result->warnings);
	terminal_serve(&session->terminal, watched + WATCH_TERMINAL);
	relay_serve(session->relay, watched + WATCH_RELAY, relayed);
}

/* Until nothing runs inside any more, or init and the mechanism's process are gone. */
static void watch(struct session *session)
{
	struct pollfd watched[WATCH_RELAY + RELAY_WATCHED];

	while (!session->exited && (!session->child_gone || !session->control_gone)) {
		size_t relayed = relay_watch(session->relay, watched + WATCH_RELAY);

		watched[WATCH_CONTROL] = (struct pollfd){
			.fd = session->control_gone ? -1 : session->control, .events = POLLIN
		};
		watched[WATCH_SIGNALS] = (struct pollfd){ .fd = session->signals,
							  .events = POLLIN };
		watched[WATCH_COMPLAINTS] = (struct pollfd){ .fd = session->complaints_fd,
							     .events = POLLIN };
		watched[WATCH_DENIALS] = (struct pollfd){ .fd = session->denials.listener,
							  .events = POLLIN };
		watched[WATCH_LIFELINE] = (struct pollfd){
			.fd = session->plan->spec->lifeline && !session->lifeline_gone
				      ? *session->plan->spec->lifeline
				      : -1,
			.events = POLLIN
		};
		watched[WATCH_OUTLET] = (struct pollfd){ .fd = way_out_fd(session->plan),
							 .events = POLLIN };
		terminal_watch(&session->terminal, watched + WATCH_TERMINAL);

		int ready = poll(watched, WATCH_RELAY + relayed, remaining_ms(session));

		if (ready < 0 && errno != EINTR)
			break;
		look(session);
		terminal_check_foreground(&session->terminal);
		if (ready > 0)
			serve(session, watched, relayed);
		/* Also when there is always something to serve: a busy command is not spared. */
		if (!session->exited && session->deadline_ms &&
		    clock_steady_ms() >= session->deadline_ms)
			expire(session);
	}
}

/* What the command wrote to its terminal before it ended. */
static void drain(struct session *session)
{
	struct pollfd watched[2];

	while (session->terminal.inner >= 0) {
		terminal_watch(&session->terminal, watched);
		watched[0].fd = -1;
		watched[0].revents = 0;
		if (poll(watched, 2, 0) <= 0)
			break;
		terminal_serve(&session->terminal, watched);
	}
	while (session->complaints_fd >= 0) {
		size_t used = session->complaints.used;

		take_complaints(session);
		if (session->complaints.used == used)
			break;
	}
	terminal_restore(&session->terminal);
}

/* Nothing that was inside is alive when this returns. */
static void wait_for_all(struct session *session)
{
	int status;

	fd_close(&session->control); /* the lifeline */
	if (session->child > 0 && !session->child_gone)
		wait4(session->child, &status, 0, &session->spent);
	if (!session->had_children)
		process_end_children(); /* of a mechanism that failed, or died before init */
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

static void judge_end(struct session *session)
{
	struct error err;

	if (session->ended)
		return;
	if (session->running && limit_killed(&session->limiter)) {
		set_result(session->result, FENCE_LIMITED, FENCE_EXIT_LIMIT, "");
		session->result->tripped = FENCE_LIMIT_MEMORY;
		return;
	}
	if (session->running)
		error_set(
			&err,
			"the fence broke: its first process was killed from outside, and everything inside with it");
	else
		session->plan->mechanism->classify(buffer_text(&session->complaints),
						   session->child_status, &err);
	set_result(session->result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP, err.text);
	session->result->changed = !session->running && fence_plan_holds(session->plan, &err) < 0;
}

void fence_run(const struct fence_plan *plan, fence_notice_fn *notice,
	       struct fence_result *ret_result)
{
	struct session session = {
		.plan = plan,
		.result = ret_result,
		.run.lock = -1,
		.control = -1,
		.complaints_fd = -1,
		.signals = -1,
		.abstract = -1,
		.limiter = LIMITER_INIT,
		.complaints = BUFFER_INIT(16384),
	};
	uint64_t began = clock_steady_ms();
	struct error err;

	session.had_children = waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
	*ret_result = (struct fence_result){ .mechanism = plan->mechanism->name,
					     .weaker = plan->weaker,
					     .tripped = FENCE_LIMIT_COUNT };
	if (run_record_prepare(plan->state, &err) < 0) {
		set_result(ret_result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP, err.text);
		return;
	}
	for (size_t i = 0; i < plan->spec->listen_count; i++) {
		if (!plan->spec->listens[i].socket) {
			AUTO_FREE char *text =
				mem_format("port %u inside leads to %s/sockets/%u.sock",
					   plan->spec->listens[i].where.port, plan->state,
					   plan->spec->listens[i].where.port);

			notice(text);
		}
	}
	terminal_init(&session.terminal);
	denial_init(&session.denials, plan, notice, &ret_result->denials);
	session.relay = relay_new();
	if (session_start(&session, &err) < 0) {
		set_result(ret_result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP, err.text);
	} else {
		watch(&session);
		drain(&session);
		judge_end(&session);
	}
	way_out_stop(&session.way_out, plan, &session.denials, ret_result);
	denial_end(&session.denials); /* who still waits for an answer waits no longer */
	if (!session.exited)
		wait_for_all(&session);
	fd_close(&session.complaints_fd);
	fd_close(&session.abstract);
	fd_close(&session.terminal.inner);
	relay_free(session.relay);
	buffer_release(&session.complaints);
	if (session.run.path && run_record_end(&session.run, plan, &ret_result->found, &err) < 0)
		set_result(ret_result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP, err.text);
	if (session.exited) /* init and the mechanism end while the sweep is made */
		wait_for_all(&session);
	if (session.signals >= 0) { /* not before the sweep: a signal must not end it half-way */
		fd_close(&session.signals);
		sigprocmask(SIG_SETMASK, &session.saved_mask, NULL);
	}
	limit_settle(&session.limiter, &session.spent, &session.use, ret_result);
	limit_end(&session.limiter);
	if (ret_result->kind == FENCE_COMMAND && !ret_result->why[0] && ret_result->denials.count)
		ret_result->kind = FENCE_DENIED;
	ret_result->duration_ms = clock_steady_ms() - began;
}
