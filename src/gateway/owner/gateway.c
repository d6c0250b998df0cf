/* The gateway's owner: see gateway.h. */
#include "gateway/owner/gateway.h"

#include "gateway/host_table.h"
#include "gateway/owner/cassette.h"
#include "gateway/owner/model_config.h"
#include "gateway/owner/restarts.h"
#include "gateway/owner_protocol.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	READY_MS =
		30000,  /* until the gateway is confined and ready: for hangs, not busy machines */
	END_MS = 10000, /* until it has reported its last costs and exits on its own */
	MESSAGES_MAX = 4096 /* that one call of gateway_take() may skip */
};

struct gateway {
	char *program;
	int config; /* the sealed memory file */
	int memory; /* the host table's */
	struct host_table *table;
	char token[OWNER_PROTOCOL_TOKEN];
	char warnings[1000];
	int listeners[OWNER_PROTOCOL_LISTENERS];
	size_t listener_count;
	int events; /* epoll: the socket and the restart timer */
	int socket; /* -1: not running */
	enum owner_protocol_state state;
	int timer;
	pid_t child;
	struct ledger *ledger;
	bool models; /* some provider can be reached */
	struct cassette *cassette;
	struct restarts restarts;
};

struct child {
	const char *program;
	int socket;
	int error; /* why it could not be started; in shared memory */
};

/* Runs in the new process, which shares the parent's memory until it executes the program. */
static int execute(void *argument)
{
	struct child *child = argument;
	char name[] = "ringfence-gateway";
	char *const arguments[] = { name, NULL };
	char *const environment[] = { NULL };
	const int wanted[OWNER_PROTOCOL_FD + 1] = { FD_NULL, FD_NULL,
						    FD_NULL, [OWNER_PROTOCOL_FD] = child->socket };

	/* A session of its own: terminal signals are for the command, not for the gateway. */
	setsid();
	process_become(child->program, arguments, environment, wanted, OWNER_PROTOCOL_FD + 1);
	child->error = errno;
	_exit(127);
}

/* Waits for a message from the gateway. Returns 1, or 0 if it is late or gone. */
static int await(struct gateway *gateway, struct owner_protocol_message *ret_message)
{
	uint64_t deadline = clock_steady_ms() + READY_MS;
	int fds[2];

	for (;;) {
		struct pollfd watched = { .fd = gateway->socket, .events = POLLIN };
		uint64_t now = clock_steady_ms();

		if (now >= deadline)
			return 0;
		if (poll(&watched, 1, (int)(deadline - now)) <= 0)
			continue;

		int got = owner_protocol_take(gateway->socket, OWNER_PROTOCOL_OWNER,
					      &gateway->state, ret_message, fds);

		if (got > 0)
			return 1;
		if (got == 0 || errno != EAGAIN)
			return 0;
	}
}

static void reap(struct gateway *gateway, uint64_t wait_ms)
{
	AUTO_FD pidfd = -1;

	if (gateway->child <= 0)
		return;
	pidfd = (int)syscall(SYS_pidfd_open, gateway->child, 0);
	if (pidfd < 0 ||
	    poll(&(struct pollfd){ .fd = pidfd, .events = POLLIN }, 1, (int)wait_ms) <= 0)
		kill(gateway->child, SIGKILL);
	while (waitpid(gateway->child, NULL, 0) < 0 && errno == EINTR)
		;
	gateway->child = -1;
}

static int send_listener(const struct gateway *gateway, int listener, struct error *err)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_LISTEN };

	if (owner_protocol_send(gateway->socket, &message, &listener, 1, true) < 0)
		return error_sys(err, "pass a listening socket to the gateway");
	return 0;
}

static int send_tape(const struct gateway *gateway, struct error *err)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_REEL };
	int fds[2];
	size_t count = cassette_descriptors(gateway->cassette, fds);

	if (cassette_repair(gateway->cassette, err) < 0)
		return -1;
	if (owner_protocol_send(gateway->socket, &message, fds, count, true) < 0)
		return error_sys(err, "pass a tape to the gateway");
	return 0;
}

static int send_requests(const struct gateway *gateway, struct error *err)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_REQUESTS };
	int table = ledger_open_requests(gateway->ledger);

	if (owner_protocol_send(gateway->socket, &message, &table, table >= 0, true) < 0)
		return error_sys(err, "pass the table of open requests to the gateway");
	return 0;
}

static int configure(struct gateway *gateway, struct error *err)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_START };
	const int fds[2] = { gateway->config, gateway->memory };

	if (owner_protocol_send(gateway->socket, &message, fds, 2, true) < 0)
		return error_sys(err, "start '%s'", gateway->program);
	gateway->state = OWNER_PROTOCOL_STARTING;
	if (gateway->models && send_requests(gateway, err) < 0)
		return -1;
	if (gateway->cassette && send_tape(gateway, err) < 0)
		return -1;
	if (!await(gateway, &message))
		return error_set(err, "start '%s': it exited, or was not ready within %d s",
				 gateway->program, READY_MS / 1000);
	if (message.type != OWNER_PROTOCOL_READY)
		return error_set(err, "%s", message.u.text); /* OWNER_PROTOCOL_FAILED */
	memcpy(gateway->warnings, message.u.text, sizeof gateway->warnings);
	for (size_t i = 0; i < gateway->listener_count; i++)
		if (send_listener(gateway, gateway->listeners[i], err) < 0)
			return -1;
	return 0;
}

static int start(struct gateway *gateway, struct error *err)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_sys(err, "create a socket for the gateway");
	gateway->socket = sockets[0];
	restarts_started(&gateway->restarts, clock_steady_ms());

	struct child child = { .program = gateway->program, .socket = sockets[1] };
	int result;

	gateway->child = process_borrow(execute, &child, 0);
	close(sockets[1]);
	if (gateway->child >= 0)
		errno = child.error;
	result = gateway->child < 0 || child.error ? error_sys(err, "start '%s'", gateway->program)
						   : configure(gateway, err);
	if (result == 0) {
		struct epoll_event event = { .events = EPOLLIN, .data.fd = gateway->socket };

		if (epoll_ctl(gateway->events, EPOLL_CTL_ADD, gateway->socket, &event) < 0)
			result = error_sys(err, "watch the gateway");
	}
	if (result < 0) {
		fd_close(&gateway->socket);
		reap(gateway, 0);
	}
	return result;
}

int gateway_token_make(char ret_token[GATEWAY_TOKEN], struct error *err)
{
	unsigned char bytes[(OWNER_PROTOCOL_TOKEN - 1) / 2];

	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return error_sys(err, "get random bytes");
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(ret_token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int make_config(struct gateway *gateway, const struct gateway_options *options,
		       struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(OWNER_PROTOCOL_CONFIG);
	struct owner_protocol_config config = { .caps = options->caps,
						.uid = options->uid,
						.gid = options->gid,
						.iteration = options->iteration };
	struct list texts = { 0 };

	memcpy(config.token, gateway->token, sizeof config.token);
	if (options->rules.count > GATEWAY_RULES)
		return error_set(err, "more than %d rules for hosts", GATEWAY_RULES);
	if (options->models)
		model_config_write(options->models, options->keys, cassette_mark(options->cassette),
				   &texts);
	owner_protocol_config_write(&config, &options->rules, &texts, &bytes);
	keys_wipe_texts(&texts);

	/* Parse it as the gateway will, to report mistakes before anything runs. */
	if (buffer_overflowed(&bytes))
		return error_set(err, "the rules for hosts are too long");
	if (owner_protocol_config_read(buffer_text(&bytes), bytes.used, &config, err) < 0)
		return -1;
	gateway->models = config.models.active;
	owner_protocol_config_release(&config);
	gateway->config = fd_memory("ringfence-gateway", bytes.data, bytes.used);
	explicit_bzero(bytes.data, bytes.used); /* it may hold keys */
	return gateway->config < 0 ? error_sys(err, "create the gateway's configuration") : 0;
}

static int make_table(struct gateway *gateway, struct error *err)
{
	void *memory;

	gateway->memory = memfd_create("ringfence-hosts", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* The size is sealed: a process that shrank the file could crash us with SIGBUS. */
	if (gateway->memory < 0 || ftruncate(gateway->memory, sizeof(struct host_table)) < 0 ||
	    fcntl(gateway->memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return error_sys(err, "create the host table");
	memory = mmap(NULL, sizeof(struct host_table), PROT_READ | PROT_WRITE, MAP_SHARED,
		      gateway->memory, 0);
	if (memory == MAP_FAILED)
		return error_sys(err, "map the host table");
	gateway->table = memory;
	host_table_init(gateway->table);
	return 0;
}

static int make_events(struct gateway *gateway, struct error *err)
{
	struct epoll_event event = { .events = EPOLLIN };

	gateway->events = epoll_create1(EPOLL_CLOEXEC);
	gateway->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	event.data.fd = gateway->timer;
	if (gateway->events < 0 || gateway->timer < 0 ||
	    epoll_ctl(gateway->events, EPOLL_CTL_ADD, gateway->timer, &event) < 0)
		return error_sys(err, "watch the gateway");
	return 0;
}

int gateway_start(const struct gateway_options *options, struct gateway **ret_gateway,
		  struct error *err)
{
	struct gateway *gateway = mem_zero(sizeof *gateway);

	gateway->config = gateway->memory = gateway->events = gateway->socket = gateway->timer = -1;
	gateway->child = -1;
	gateway->program = options->program ? mem_dup(options->program) : NULL;
	gateway->ledger = options->ledger;
	gateway->cassette = options->cassette;
	if (options->token)
		snprintf(gateway->token, sizeof gateway->token, "%s", options->token);
	if ((!gateway->program &&
	     process_beside("ringfence-gateway", &gateway->program, err) < 0) ||
	    (!options->token && gateway_token_make(gateway->token, err) < 0) ||
	    make_config(gateway, options, err) < 0 || make_table(gateway, err) < 0 ||
	    make_events(gateway, err) < 0 || start(gateway, err) < 0) {
		gateway_stop(gateway);
		return -1;
	}
	*ret_gateway = gateway;
	return 0;
}

const char *gateway_token(const struct gateway *gateway)
{
	return gateway->token;
}

const char *gateway_warnings(const struct gateway *gateway)
{
	return gateway->warnings;
}

pid_t gateway_pid(const struct gateway *gateway)
{
	return gateway->child;
}

int gateway_fd(const struct gateway *gateway)
{
	return gateway->events;
}

int gateway_listen(struct gateway *gateway, int listener, struct error *err)
{
	AUTO_FD taken = listener;

	if (gateway->listener_count == OWNER_PROTOCOL_LISTENERS)
		return error_set(err, "the gateway already has %d listening sockets",
				 OWNER_PROTOCOL_LISTENERS);
	if (gateway->socket >= 0 && send_listener(gateway, taken, err) < 0)
		return -1;
	gateway->listeners[gateway->listener_count++] = fd_steal(&taken);
	return 0;
}

static bool is_for_ledger(const struct owner_protocol_message *message)
{
	return message->type == OWNER_PROTOCOL_LEASE || message->type == OWNER_PROTOCOL_ROW ||
	       message->type == OWNER_PROTOCOL_FAILURE;
}

/* Handles a message about a request or its cost. Returns 0, or -1 with err set, in which case no
 * money may be spent. */
static int update_ledger(struct gateway *gateway, const struct owner_protocol_message *message,
			 struct error *err)
{
	struct owner_protocol_message answer = { .type = OWNER_PROTOCOL_GRANT };
	struct owner_protocol_grant *grant = &answer.u.grant;
	const struct owner_protocol_lease *lease = &message->u.lease;

	if (message->type == OWNER_PROTOCOL_FAILURE) {
		ledger_add_failure(gateway->ledger, message->id, message->u.text);
		return 0;
	}
	if (message->type == OWNER_PROTOCOL_ROW)
		return ledger_add(gateway->ledger, &message->u.row, err);
	grant->must = lease->must;
	if (ledger_lease(gateway->ledger, lease->nusd, lease->must, &grant->nusd, &grant->left,
			 grant->why, err) < 0)
		return -1;
	(void)owner_protocol_send(gateway->socket, &answer, NULL, 0, true);
	return 0;
}

/* Handles the gateway's death: schedules a restart, or gives up. Always returns -1; err tells
 * which. */
static int handle_death(struct gateway *gateway, const char *why, struct error *err)
{
	uint64_t now = clock_steady_ms();
	uint64_t wait = 0;
	struct error ignored;

	fd_close(&gateway->socket);
	reap(gateway, END_MS);
	/* The table of open requests has the cost of those that it has not reported. */
	if (gateway->ledger)
		ledger_end_lease(gateway->ledger, false, &ignored);
	if (!restarts_died(&gateway->restarts, now, &wait)) {
		fd_close(&gateway->events);
		return error_set(err,
				 "the gateway ended (%s) after %d restarts: there is no network "
				 "from now on",
				 why, RESTARTS_MOST);
	}

	struct itimerspec when = { .it_value = { .tv_sec = (time_t)(wait / 1000),
						 .tv_nsec = (long)(wait % 1000) * 1000000 + 1 } };

	timerfd_settime(gateway->timer, 0, &when, NULL);
	return error_set(err,
			 "the gateway ended (%s); it is being restarted, and its "
			 "connections are closed",
			 why);
}

/* Handles the restart timer. Returns 0, or -1 like handle_death(). */
static int restart_if_due(struct gateway *gateway, struct error *err)
{
	struct error why;
	uint64_t times;

	if (gateway->socket >= 0 || read(gateway->timer, &times, sizeof times) < 0)
		return 0;
	/* The dead gateway may have corrupted the table. */
	if (!host_table_sound(gateway->table))
		host_table_init(gateway->table);
	return start(gateway, &why) < 0 ? handle_death(gateway, why.text, err) : 0;
}

static void read_refusal(const struct owner_protocol_message *message,
			 struct gateway_refusal *ret_refusal)
{
	const struct owner_protocol_refusal *refusal = &message->u.refusal;
	char *const texts[] = { ret_refusal->host, ret_refusal->reason, ret_refusal->remedy };

	*ret_refusal = (struct gateway_refusal){ .id = message->id,
						 .client = refusal->client,
						 .port = (uint16_t)refusal->port };
	memcpy(ret_refusal->host, refusal->host, sizeof ret_refusal->host);
	memcpy(ret_refusal->reason, refusal->reason, sizeof ret_refusal->reason);
	memcpy(ret_refusal->remedy, refusal->remedy, sizeof ret_refusal->remedy);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (char *at = texts[i]; *at; at++)
			if (*at < 0x20 || *at > 0x7e)
				*at = '?';
}

static void record_news(struct gateway *gateway, const struct owner_protocol_message *message)
{
	if (gateway->ledger && message->id == 1)
		ledger_add_stray(gateway->ledger, message->u.text);
	else if (gateway->ledger)
		ledger_add_tape(gateway->ledger, message->u.text);
}

int gateway_take(struct gateway *gateway, struct gateway_refusal *ret_refusal, struct error *err)
{
	if (gateway->events < 0)
		return 0;
	if (restart_if_due(gateway, err) < 0)
		return -1;
	for (int i = 0; gateway->socket >= 0 && i < MESSAGES_MAX; i++) {
		struct owner_protocol_message message;
		struct error why;
		int fds[2];
		int got = owner_protocol_take(gateway->socket, OWNER_PROTOCOL_OWNER,
					      &gateway->state, &message, fds);

		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got <= 0)
			return handle_death(gateway,
					    got ? "it sent an illegal message"
						: "killed or crashed",
					    err);
		if (message.type == OWNER_PROTOCOL_FAILED)
			return handle_death(gateway, message.u.text, err);
		if (is_for_ledger(&message) && gateway->ledger &&
		    update_ledger(gateway, &message, &why) < 0)
			return handle_death(gateway, why.text, err);
		if (message.type == OWNER_PROTOCOL_NEWS) {
			record_news(gateway, &message);
			return error_set(err, "%s", message.u.text);
		}
		if (message.type != OWNER_PROTOCOL_REFUSED)
			continue;
		read_refusal(&message, ret_refusal);
		return 1;
	}
	return 0;
}

void gateway_answer(struct gateway *gateway, uint32_t id)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_ANSWER, .id = id };

	/* If the socket is full or closed, the gateway answers after a timeout, or never. */
	if (gateway->socket >= 0)
		(void)owner_protocol_send(gateway->socket, &message, NULL, 0, false);
}

size_t gateway_hosts(const struct gateway *gateway, struct outlet_host *ret_hosts, size_t most)
{
	size_t count = 0;

	for (size_t i = 0; i <= HOST_TABLE_ROWS && count < most; i++) {
		struct outlet_host *host = &ret_hosts[count];
		struct host_table_row row;

		if (!host_table_read(gateway->table, i, &row))
			continue;
		*host = (struct outlet_host){ .port = (uint16_t)row.port,
					      .connections = row.connections,
					      .bytes_in = row.bytes_in,
					      .bytes_out = row.bytes_out,
					      .refusals = row.refusals,
					      .verdict = host_table_verdicts[row.verdict] };
		memcpy(host->host, row.host, sizeof row.host);
		count++;
	}
	return count;
}

/* Asks the gateway to settle open requests, and handles its last messages. */
static void close_ledger(struct gateway *gateway)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_CLOSE };
	uint64_t deadline = clock_steady_ms() + END_MS;
	bool closed = false;
	struct error ignored;
	int fds[2];

	if (!gateway->ledger)
		return;
	if (gateway->socket >= 0)
		(void)owner_protocol_send(gateway->socket, &message, NULL, 0, false);
	gateway->state = OWNER_PROTOCOL_CLOSING;
	while (gateway->socket >= 0 && !closed && clock_steady_ms() < deadline) {
		struct pollfd watched = { .fd = gateway->socket, .events = POLLIN };
		int got;

		if (poll(&watched, 1, (int)(deadline - clock_steady_ms())) <= 0)
			continue;
		got = owner_protocol_take(gateway->socket, OWNER_PROTOCOL_OWNER, &gateway->state,
					  &message, fds);
		if (got == 0 || (got < 0 && errno != EAGAIN))
			break;
		if (got < 0)
			continue;
		if (is_for_ledger(&message) && update_ledger(gateway, &message, &ignored) < 0)
			break;
		if (message.type == OWNER_PROTOCOL_NEWS)
			record_news(gateway, &message);
		closed = message.type == OWNER_PROTOCOL_CLOSED;
	}
	if (closed) {
		ledger_add_refused(gateway->ledger, message.u.refused);
	} else { /* it must not send anything after its cost is known */
		fd_close(&gateway->socket);
		reap(gateway, 0);
	}
	ledger_end_lease(gateway->ledger, closed, &ignored);
}

void gateway_stop(struct gateway *gateway)
{
	if (!gateway)
		return;
	close_ledger(gateway);
	fd_close(&gateway->socket);
	reap(gateway, END_MS);
	if (gateway->table)
		munmap(gateway->table, sizeof *gateway->table);
	for (size_t i = 0; i < gateway->listener_count; i++)
		fd_close(&gateway->listeners[i]);
	fd_close(&gateway->config);
	fd_close(&gateway->memory);
	fd_close(&gateway->events);
	fd_close(&gateway->timer);
	free(gateway->program);
	free(gateway);
}
