/*
 * ringfence-gateway: the only way out of the fence.
 *
 * Its owner (gateway.h) starts it with one socket. Over this socket it receives its configuration
 * and the host table; then it confines itself, reports that it is ready, and serves until the
 * socket closes.
 */
#include "gateway/gateway_confine.h"
#include "gateway/model/model_request.h"
#include "gateway/server.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Waits for a message of this type, with descriptors. */
static int receive_start(enum owner_protocol_state *state, enum owner_protocol_type type,
			 int ret_fds[2], struct error *err)
{
	struct owner_protocol_message message;

	for (;;) {
		int got = owner_protocol_take(OWNER_PROTOCOL_FD, OWNER_PROTOCOL_GATEWAY, state,
					      &message, ret_fds);

		if (got > 0)
			break;
		if (got == 0 || errno != EAGAIN)
			return error_sys(
				err,
				"this program is started by ringfence; do not run it yourself");
		poll(&(struct pollfd){ .fd = OWNER_PROTOCOL_FD, .events = POLLIN }, 1, -1);
	}
	if (message.type != type)
		return error_set(err, "the gateway received an invalid start message");
	return 0;
}

static int read_config(int fd, struct owner_protocol_config *ret_config, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(OWNER_PROTOCOL_CONFIG);

	/* The file offset is shared with the owner and is not 0 after a restart. */
	if (lseek(fd, 0, SEEK_SET) < 0 || fd_read_all(fd, &bytes) < 0)
		return error_sys(err, "read the gateway's configuration");

	int result = owner_protocol_config_read(buffer_text(&bytes), bytes.used, ret_config, err);

	explicit_bzero(bytes.data, bytes.used); /* it holds keys */
	return result;
}

static int map_table(int fd, struct host_table **ret_table, struct error *err)
{
	struct stat status;
	void *memory;

	if (fstat(fd, &status) < 0 || status.st_size != (off_t)sizeof(struct host_table))
		return error_set(err, "the host table is from another version");
	memory = mmap(NULL, sizeof(struct host_table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return error_sys(err, "map the host table");
	*ret_table = memory;
	return host_table_sound(*ret_table) ? 0 : error_set(err, "the host table is damaged");
}

/* Maps the table of open requests. The descriptor stays open: by its lock a later owner knows
 * whether this process is gone. */
static int map_requests(int fd, struct open_requests **ret_table, struct error *err)
{
	struct stat status;
	void *memory;

	if (fd < 0)
		return 0;
	if (fstat(fd, &status) < 0 || status.st_size != (off_t)sizeof(struct open_requests))
		return error_set(err, "the table of open requests is from another version");
	memory = mmap(NULL, sizeof(struct open_requests), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      0);
	if (memory == MAP_FAILED)
		return error_sys(err, "map the table of open requests");
	*ret_table = memory;
	return 0;
}

/* Two descriptors per connection, plus those for connecting and resolving. */
static void fit_descriptors(struct caps *caps, struct buffer *warnings)
{
	enum { OTHERS = 256 };
	uint64_t wanted = 2 * (caps->connections + ENGINE_SPARE) + OTHERS;
	uint64_t got = gateway_confine_descriptors(wanted);

	if (got >= wanted)
		return;
	caps->connections = got > OTHERS + 2 * ENGINE_SPARE + 2 ? (got - OTHERS) / 2 - ENGINE_SPARE
								: 16;
	buffer_printf(warnings,
		      "the gateway accepts only %u connections at once: the limit of "
		      "open files is %u\n",
		      (unsigned int)caps->connections, (unsigned int)got);
}

/* Allows the system's certificates, and the targets of their links. */
static void allow_certificates(const struct model_config *models)
{
	static const char *const places[] = { "/etc/ssl", "/etc/pki", "/usr/share/ca-certificates",
					      "/usr/local/share/ca-certificates" };

	for (size_t i = 0; !models->ca[0] && i < sizeof places / sizeof *places; i++)
		gateway_confine_readable(places[i]);
	if (models->ca[0])
		gateway_confine_readable(models->ca);
}

/* Loads TLS before the first request, to save that request the delay. Errors are reported to the
 * request that needs TLS. */
static void prepare_tls(struct engine *engine)
{
	const struct model_config *models = &engine->config.models;
	bool needed = false;
	struct error err;

	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		needed |= models->providers[i].place.set && models->providers[i].place.tls;
	if (needed)
		(void)tls_new(models->ca, &engine->ways.tls, &err);
}

static int set_up(struct engine *engine, struct buffer *warnings, struct error *err)
{
	AUTO_FD config = -1;
	AUTO_FD memory = -1;
	int fds[2] = { -1, -1 };

	if (receive_start(&engine->owner_state, OWNER_PROTOCOL_START, fds, err) < 0)
		return -1;
	config = fds[0];
	memory = fds[1];
	if (read_config(config, &engine->config, err) < 0 ||
	    map_table(memory, &engine->table, err) < 0)
		return -1;
	if (engine->config.models.active &&
	    (receive_start(&engine->owner_state, OWNER_PROTOCOL_REQUESTS, fds, err) < 0 ||
	     map_requests(fds[0], &engine->open, err) < 0))
		return -1;
	engine->reels.fd = -1;
	if (engine->config.models.tape.mode != MODEL_ACCESS_LIVE &&
	    (receive_start(&engine->owner_state, OWNER_PROTOCOL_REEL, fds, err) < 0 ||
	     reel_begin(engine, fds[0], fds[1], err) < 0))
		return -1;
	fit_descriptors(&engine->config.caps, warnings);
	if (engine->config.models.active)
		allow_certificates(&engine->config.models);
	if (server_init(engine, OWNER_PROTOCOL_FD, &model_request_spending, err) < 0)
		return -1;
	return gateway_confine(engine->config.uid, engine->config.gid, warnings, err);
}

/* Requests a short scheduling slice, so that streams are forwarded promptly on a busy machine.
 * Kernels before 6.12 ignore it, and nothing depends on it. */
static void ask_for_short_turns(void)
{
	enum { TURN_NS = 100000 };
	struct sched_attr wanted = { .size = sizeof wanted,
				     .sched_policy = SCHED_NORMAL,
				     .sched_nice = getpriority(PRIO_PROCESS, 0),
				     .sched_runtime = TURN_NS };

	(void)syscall(SYS_sched_setattr, 0, &wanted, 0);
}

static void tell(enum owner_protocol_type type, const char *text)
{
	struct owner_protocol_message message = { .type = type };

	snprintf(message.u.text, sizeof message.u.text, "%s", text);
	(void)owner_protocol_send(OWNER_PROTOCOL_FD, &message, NULL, 0, true);
}

int main(void)
{
	AUTO_BUFFER struct buffer warnings = BUFFER_INIT(900);
	struct engine *engine = mem_zero(sizeof *engine);
	struct error err = { 0 };

	engine->owner_state = OWNER_PROTOCOL_NEW;
	signal(SIGPIPE, SIG_IGN);
	ask_for_short_turns();
	if (set_up(engine, &warnings, &err) < 0) {
		tell(OWNER_PROTOCOL_FAILED, err.text);
		return 1;
	}
	tell(OWNER_PROTOCOL_READY, buffer_text(&warnings));
	engine->owner_state = OWNER_PROTOCOL_SERVING;
	prepare_tls(engine);
	if (event_loop_run(&engine->loop, &err) < 0) {
		tell(OWNER_PROTOCOL_FAILED, err.text);
		return 1;
	}
	return 0;
}
