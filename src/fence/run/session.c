/* Running a plan: start, watch, end, sweep. See fence.h. */
#include "fence/run/session.h"

#include "fence/after/sweep.h"
#include "fence/fence.h"
#include "fence/run/run_home.h"
#include "util/clock.h"
#include "util/file/fd.h"
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
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The grace period after SIGTERM, and the interval for checking whether a background job has come
 * to the foreground. */
enum { GRACE_MS = 5000, FOREGROUND_MS = 300 };

static void set_result(struct fence_result *result, enum fence_exit kind, int code, const char *why)
{
	result->kind = kind;
	result->code = code;
	snprintf(result->why, sizeof result->why, "%s", why);
}

/* Kills the mechanism's process, and ends init by its lifeline. During set-up that process has a
 * child in its process group, which would wait for it for ever; later that child is init, and its
 * parent's death alone does not end it. Messages from init can still be read. */
static void end_child(const struct session *session)
{
	if (!session->child_gone)
		process_kill(session->child);
	shutdown(session->control, SHUT_WR);
}

static void send_to_init(struct session *session, enum wire_message_type type, int number)
{
	wire_send(session->control, &(struct wire_message){ .type = type, .a = number }, -1);
}

/* The fence is up, and the command has not started. Checks that the project is unchanged since it
 * was planned, and that the limits are in force. */
static int check_mounted(struct session *session, struct error *err)
{
	struct error why;

	if (fence_plan_holds(session->plan, err) < 0) {
		session->result->changed = true;
		return -1;
	}
	return limit_check(&session->limiter, session->first, &why) < 0
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

/* Takes ownership of a listening socket from inside the fence. */
static void add_listener(struct session *session, int index, int fd)
{
	const struct fence_spec *spec = session->plan->spec;
	AUTO_FREE char *own = NULL;
	struct error err;

	if (spec->net == FENCE_NET_LIST && (size_t)index == spec->listen_count) {
		perform_serve(&session->denials.performer, fd);
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

/* Records that no fence came up. */
static void fail_setup(struct session *session, const char *why)
{
	set_result(session->result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP, why);
	session->ended = true;
}

static void handle_failed(struct session *session, const struct wire_message *message)
{
	struct error err;

	if (session->ended)
		return;
	error_set(&err, "%s%s",
		  message->a ? "the fence does not hold, nothing was run: " : "no fence: ",
		  message->text);
	fail_setup(session, err.text);
	session->result->changed = fence_plan_holds(session->plan, &err) < 0;
}

static void handle_mounted(struct session *session)
{
	struct error err;

	if (check_mounted(session, &err) < 0) {
		fail_setup(session, err.text);
		end_child(session);
		return;
	}
	send_to_init(session, WIRE_GO, 0);
	session->wire = wire_step(session->wire, WIRE_GO);
}

static void handle_running(struct session *session, const struct wire_message *message)
{
	struct fence_result *result = session->result;

	begin_command(session);
	result->canaries_held = (unsigned int)message->a;
	result->canaries_total = (unsigned int)message->b;
	if (session->plan->spec->denials && session->denials.listener < 0 &&
	    !(session->plan->weaker & FENCE_WEAKER_NO_FENCE))
		list_add(
			&result->warnings,
			"denials are not explained: this needs Linux 5.19 or newer, and no other seccomp "
			"listener in a parent process");
}

static void handle_not_started(struct session *session, int number)
{
	struct error err;

	error_set(&err, "%s: %s", session->plan->spec->command[0],
		  number == ENOENT ? "command not found in the fence" : strerror(number));
	set_result(session->result, FENCE_COMMAND,
		   number == ENOENT || number == ENOTDIR ? FENCE_EXIT_NOT_FOUND
							 : FENCE_EXIT_NOT_EXECUTABLE,
		   err.text);
	session->ended = true;
}

static void handle_stopped(struct session *session)
{
	if (!session->terminal.raw)
		return;
	terminal_stop(&session->terminal);
	send_to_init(session, WIRE_SIGNAL, SIGCONT);
}

static void handle_exited(struct session *session, const struct wire_message *message)
{
	session->exited = true;
	memcpy(&session->use, message->text, sizeof session->use);
	if (session->ended)
		return;
	session->ended = true;
	if (message->b)
		set_result(session->result, FENCE_SIGNALLED, FENCE_EXIT_SIGNAL + message->b, "");
	else
		set_result(session->result, message->a ? FENCE_COMMAND : FENCE_OK, message->a, "");
}

/* Takes ownership of fd. */
static void handle_message(struct session *session, const struct wire_message *message, int fd)
{
	switch ((enum wire_message_type)message->type) {
	case WIRE_LISTENING:
		add_listener(session, message->a, fd);
		return;
	case WIRE_TERMINAL:
		terminal_attach(&session->terminal, fd);
		return;
	case WIRE_DENIALS:
		denial_listen(&session->denials, fd, session->control);
		return;
	case WIRE_COUNTERS:
		session->limiter.counters = fd;
		return;
	case WIRE_FAILED:
		handle_failed(session, message);
		break;
	case WIRE_MOUNTED:
		handle_mounted(session);
		break;
	case WIRE_RUNNING:
		handle_running(session, message);
		break;
	case WIRE_NOT_STARTED:
		handle_not_started(session, message->a);
		break;
	case WIRE_STOPPED:
		handle_stopped(session);
		break;
	case WIRE_EXITED:
		handle_exited(session, message);
		break;
	case WIRE_MOVABLE:
		denial_movable(&session->denials);
		break;
	case WIRE_LOCK: /* never sent from inside */
	case WIRE_ORDER:
	case WIRE_GO:
	case WIRE_SIGNAL:
	case WIRE_SIGNAL_ALL:
	case WIRE_MAKE_MOVABLE:
		break;
	}
	fd_close(&fd);
}

/* A peer that breaks the protocol is not the init we started: kill everything inside. */
static void end_on_protocol_error(struct session *session)
{
	if (!session->ended)
		set_result(session->result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP,
			   "the fence broke: its first process sent an illegal message, and "
			   "everything inside was killed");
	session->ended = true;
	end_child(session);
}

static void handle_messages(struct session *session)
{
	struct wire_message message;
	int fd = -1;
	int got;

	while ((got = wire_take(session->control, WIRE_OUTSIDE, &session->wire, &message, &fd)) > 0)
		handle_message(session, &message, fd);
	if (got == 0 || errno != EAGAIN)
		session->control_gone = true;
	if (got < 0 && errno == EPROTO)
		end_on_protocol_error(session);
}

/* A signal that arrives before the command has started aborts the start. */
static void interrupt(struct session *session, int number)
{
	handle_messages(session); /* the command may just have started */
	if (session->running) {
		send_to_init(session, WIRE_SIGNAL, number);
	} else if (!session->ended) {
		set_result(session->result, FENCE_SIGNALLED, FENCE_EXIT_SIGNAL + number, "");
		session->ended = true;
		end_child(session);
	}
}

static void handle_signals(struct session *session)
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
			handle_messages(session);
			end_child(session); /* if it was killed, init has not ended */
			/* Any other holder of the control socket is not init. */
			if (!session->running)
				session->control_gone = true;
		}
	}
}

static void read_complaints(struct session *session)
{
	char chunk[1024];
	ssize_t n = read(session->complaints_fd, chunk, sizeof chunk);

	if (n > 0)
		buffer_add(&session->complaints, chunk, (size_t)n);
	else if (n == 0 || errno != EAGAIN)
		fd_close(&session->complaints_fd);
}

/* Handles an expired deadline: of the set-up, the command, or its grace period. */
static void expire(struct session *session)
{
	struct fence_result *result = session->result;

	if (!session->running) {
		set_result(result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP,
			   "no fence: the set-up timed out");
		session->ended = true;
		end_child(session);
		session->deadline_ms = 0;
	} else if (!session->ended) {
		set_result(result, FENCE_LIMITED, FENCE_EXIT_TIMEOUT, "");
		result->tripped = FENCE_LIMIT_TIME;
		session->ended = true;
		send_to_init(session, WIRE_SIGNAL_ALL, SIGTERM);
		send_to_init(session, WIRE_SIGNAL_ALL, SIGCONT);
		session->deadline_ms = clock_steady_ms() + GRACE_MS;
	} else {
		send_to_init(session, WIRE_SIGNAL_ALL, SIGKILL);
		session->deadline_ms = 0;
	}
}

/* Handles a byte (end the run) or end of file (the owner is gone) on the lifeline. */
static void handle_lifeline(struct session *session)
{
	char byte;
	ssize_t n = read(*session->plan->spec->lifeline, &byte, 1);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	session->lifeline_gone = n <= 0;
	if (n > 0 && session->running && !session->ended) {
		set_result(session->result, FENCE_SIGNALLED, FENCE_EXIT_SIGNAL + SIGTERM, "");
		session->ended = true;
		send_to_init(session, WIRE_SIGNAL_ALL, SIGTERM);
		send_to_init(session, WIRE_SIGNAL_ALL, SIGCONT);
		session->deadline_ms = clock_steady_ms() + GRACE_MS;
	} else if (!session->ended || n <= 0) {
		set_result(session->result, FENCE_SIGNALLED, FENCE_EXIT_SIGNAL + SIGKILL, "");
		session->ended = true;
		end_child(session);
	}
}

/* Checks the watched limits if a check is due. An exceeded limit ends everything at once. */
static void check_limits(struct session *session)
{
	enum fence_limit limit;

	if (!session->limiter.next_ms || !session->running || session->ended ||
	    clock_steady_ms() < session->limiter.next_ms)
		return;
	limit = limit_look(&session->limiter, session->first, session->how.init != 0,
			   clock_steady_ms());
	if (limit == FENCE_LIMIT_COUNT)
		return;
	set_result(session->result, FENCE_LIMITED, FENCE_EXIT_LIMIT, "");
	session->result->tripped = limit;
	session->ended = true;
	session->deadline_ms = 0;
	send_to_init(session, WIRE_SIGNAL_ALL, SIGKILL);
}

static void lower_wait(uint64_t *wait, uint64_t when_ms, uint64_t now)
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

	lower_wait(&wait, session->deadline_ms, now);
	if (!session->ended)
		lower_wait(&wait, session->limiter.next_ms, now);
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
		handle_signals(session);
	if (watched[WATCH_CONTROL].revents)
		handle_messages(session);
	if (watched[WATCH_COMPLAINTS].revents)
		read_complaints(session);
	if (watched[WATCH_LIFELINE].revents)
		handle_lifeline(session);
	/* After the messages: until the command runs, all denials come from canaries. */
	if (watched[WATCH_DENIALS].revents)
		denial_serve(&session->denials, session->running);
	if (watched[WATCH_OUTLET].revents)
		way_out_receive(&session->way_out, session->plan, session->first, &session->denials,
				&session->result->warnings);
	terminal_serve(&session->terminal, watched + WATCH_TERMINAL);
	relay_serve(session->relay, watched + WATCH_RELAY, relayed);
}

/* Runs until nothing is left inside, or init and the mechanism's process are both gone. */
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
		check_limits(session);
		terminal_check_foreground(&session->terminal);
		if (ready > 0)
			serve(session, watched, relayed);
		/* Even if there is always something to serve: a busy command has no exemption. */
		if (!session->exited && session->deadline_ms &&
		    clock_steady_ms() >= session->deadline_ms)
			expire(session);
	}
}

/* Forwards the output that the command wrote to its terminal before it ended. */
static void drain_output(struct session *session)
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

		read_complaints(session);
		if (session->complaints.used == used)
			break;
	}
	terminal_restore(&session->terminal);
}

/* Returns only when everything that was inside is dead. */
static void wait_for_all(struct session *session)
{
	int status;

	fd_close(&session->control); /* the lifeline */
	if (session->how.plan)
		session->plan->mechanism->end(&session->how,
					      session->child_gone ? &session->child_status : NULL);
	if (session->child > 0 && !session->child_gone)
		wait4(session->child, &status, 0, &session->spent);
	if (!session->had_children)
		process_end_children(); /* of a mechanism that failed, or died before init */
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

static void classify_end(struct session *session)
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

/* Names the default socket of each --listen that has no path of its own. */
static void announce_sockets(const struct fence_plan *plan, fence_notice_fn *notice)
{
	for (size_t i = 0; i < plan->spec->listen_count; i++) {
		unsigned int port = plan->spec->listens[i].where.port;
		AUTO_FREE char *text = NULL;

		if (plan->spec->listens[i].socket)
			continue;
		text = mem_format("port %u inside connects to %s/sockets/%u.sock", port,
				  plan->state, port);
		notice(text);
	}
}

/* Ends everything that is left, sweeps, and settles the limits. */
static void finish(struct session *session)
{
	struct fence_result *result = session->result;
	struct error err;

	way_out_stop(&session->way_out, session->plan, &session->denials, result);
	denial_end(&session->denials); /* unblocks processes that wait for an answer */
	if (!session->exited)
		wait_for_all(session);
	fd_close(&session->complaints_fd);
	fd_close(&session->abstract);
	fd_close(&session->terminal.inner);
	relay_free(session->relay);
	buffer_release(&session->complaints);
	if (session->run.path && run_record_end(&session->run, session->plan, &result->found,
						&result->warnings, &err) < 0)
		set_result(result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP, err.text);
	if (session->exited) /* init and the mechanism exit during the sweep */
		wait_for_all(session);
	if (session->signals >= 0) { /* only after the sweep: a signal must not interrupt it */
		fd_close(&session->signals);
		sigprocmask(SIG_SETMASK, &session->saved_mask, NULL);
	}
	limit_settle(&session->limiter, &session->spent, &session->use, result);
	limit_end(&session->limiter);
	if (run_home_remove(session->plan, &session->home_lock, &err) < 0)
		list_add(&result->warnings, err.text);
	grant_release(&session->grants);
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
		.home_lock = -1,
		.limiter = LIMITER_INIT,
		.complaints = BUFFER_INIT(16384),
	};
	struct error err;

	session.had_children = waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
	*ret_result = (struct fence_result){ .began_ms = clock_steady_ms(),
					     .mechanism = plan->mechanism->name,
					     .weaker = plan->weaker,
					     .tripped = FENCE_LIMIT_COUNT };
	if (run_record_prepare(plan->state, &err) < 0) {
		set_result(ret_result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP, err.text);
		return;
	}
	announce_sockets(plan, notice);
	terminal_init(&session.terminal, plan->spec->raw_terminal);
	denial_init(&session.denials, plan, notice, &ret_result->denials);
	session.relay = relay_new();
	if (session_start(&session, &err) < 0) {
		set_result(ret_result, FENCE_SETUP, FENCE_EXIT_NOT_SET_UP, err.text);
	} else {
		watch(&session);
		ret_result->ended_ms = clock_steady_ms();
		drain_output(&session);
		classify_end(&session);
	}
	finish(&session);
	if (ret_result->kind == FENCE_COMMAND && !ret_result->why[0] &&
	    fence_denials_count(&ret_result->denials))
		ret_result->kind = FENCE_DENIED;
	ret_result->duration_ms = clock_steady_ms() - ret_result->began_ms;
}
