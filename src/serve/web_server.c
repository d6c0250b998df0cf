/* The server: see web_server.h. */
#include "serve/web_server.h"

#include "serve/web_address.h"
#include "serve/web_request.h"
#include "serve/web_site.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* The descriptors that are waited for. */
enum {
	WAIT_HTTP,
	WAIT_SIGNAL,
	WAIT_CONTROL,
	WAIT_FEED,
	WAIT_JOBS,
	WAITS = WAIT_JOBS + WEB_JOB_RUNNING
};

struct server {
	struct web_site site;
	struct MHD_Daemon *daemon;
	int http; /* readable if the daemon has work */
	int signals, control;
};

/* ---- the control socket ---- */

/* Only this user may have a link; the folder of the socket is closed to others as well. */
static bool is_own_user(int peer)
{
	struct ucred who;
	socklen_t size = sizeof who;

	return getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == getuid();
}

/* Gives a new link to a process that connects. A peer that does not read gets none. */
static void give_link(struct server *server)
{
	AUTO_FD peer = accept4(server->control, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	const char *token;

	if (peer < 0 || !is_own_user(peer))
		return;
	token = web_keys_link(&server->site.keys, clock_wall_ms());
	if (!token)
		return;

	AUTO_FREE char *link = mem_format("http://%s/login?token=%s\n", server->site.authority,
					  token);

	if (send(peer, link, strlen(link), MSG_NOSIGNAL) < 0)
		return;
}

/* ---- the event loop ---- */

/* The daemon's own time limits. */
static int http_timeout_ms(const struct server *server)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(server->daemon, &ms) != MHD_YES)
		return -1;
	return ms < 60000 ? (int)ms : 60000;
}

static size_t prepare(struct server *server, struct pollfd *waits, int *timeout_ms)
{
	size_t count = WAIT_JOBS;

	*timeout_ms = http_timeout_ms(server);
	waits[WAIT_HTTP] = (struct pollfd){ .fd = server->http, .events = POLLIN };
	waits[WAIT_SIGNAL] = (struct pollfd){ .fd = server->signals, .events = POLLIN };
	waits[WAIT_CONTROL] = (struct pollfd){ .fd = server->control, .events = POLLIN };
	web_feed_poll(&server->site.feed, &waits[WAIT_FEED], timeout_ms);
	web_stream_beat(&server->site.streams, timeout_ms);
	count += web_job_poll(&server->site.jobs, &waits[WAIT_JOBS], timeout_ms);
	if (server->site.resumed || server->site.streams.resumed)
		*timeout_ms =
			0; /* the library notices connections that were resumed when it runs */
	server->site.resumed = server->site.streams.resumed = false;
	return count;
}

static int serve(struct server *server, struct error *err)
{
	struct pollfd waits[WAITS];

	for (;;) {
		int timeout_ms;
		size_t count;

		if (MHD_run(server->daemon) != MHD_YES)
			return error_set(err, "libmicrohttpd cannot go on");
		web_job_work(&server->site.jobs);
		if (web_feed_work(&server->site.feed))
			web_stream_wake(&server->site.streams);
		count = prepare(server, waits, &timeout_ms);
		if (poll(waits, count, timeout_ms) < 0 && errno != EINTR)
			return error_sys(err, "wait for requests");
		if (waits[WAIT_SIGNAL].revents)
			return 0;
		if (waits[WAIT_CONTROL].revents)
			give_link(server);
	}
}

/* ---- starting and ending ---- */

static int open_signals(struct server *server, struct error *err)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return error_sys(err, "block signals");
	server->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return server->signals < 0 ? error_sys(err, "wait for signals") : 0;
}

/* The library prints nothing on its own. */
static void log_nothing(void *context, const char *format, va_list arguments)
{
	(void)context;
	(void)format;
	(void)arguments;
}

static int start_daemon(struct server *server, int listener, struct error *err)
{
	const union MHD_DaemonInfo *info;

	server->daemon =
		MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
				 NULL, NULL, web_request_handle, &server->site,
				 MHD_OPTION_EXTERNAL_LOGGER, log_nothing, NULL,
				 MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT,
				 (unsigned int)WEB_SERVER_CONNECTIONS,
				 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)WEB_SERVER_HEAD,
				 MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)WEB_SERVER_IDLE_S,
				 MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK,
				 web_request_begin, &server->site, MHD_OPTION_NOTIFY_COMPLETED,
				 web_request_complete, &server->site, MHD_OPTION_END);
	info = server->daemon ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)
			      : NULL;
	if (!info)
		return error_set(err, "libmicrohttpd does not start");
	server->http = info->epoll_fd;
	return 0;
}

static void begin_keys(struct web_site *site, const struct web_server_config *config)
{
	web_keys_init(&site->keys, config->secret, site->port);
	if (!*config->token)
		return;
	snprintf(site->keys.links[0].token, WEB_KEYS_TOKEN, "%s", config->token);
	site->keys.links[0].until_ms = clock_wall_ms() + WEB_KEYS_LINK_MS;
	site->keys.next = 1;
}

/* Connections that are suspended must be woken before the daemon ends. */
static void end(struct server *server)
{
	web_stream_end(&server->site.streams);
	web_request_end_all(&server->site);
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	web_feed_close(&server->site.feed);
	web_job_close(&server->site.jobs);
	fd_close(&server->signals);
	explicit_bzero(&server->site.keys, sizeof server->site.keys);
}

int web_server_run(const struct web_server_config *config, struct error *err)
{
	struct server *server = mem_zero(sizeof *server);
	struct web_site *site = &server->site;
	AUTO_FREE char *authority = NULL;
	int result = -1;

	server->signals = -1;
	server->control = config->control;
	if (web_address_of(config->listener, &authority, &site->port, err) < 0) {
		free(server);
		return -1;
	}
	site->authority = authority;
	begin_keys(site, config);
	web_job_init(&site->jobs, config->program, config->state);
	web_feed_init(&site->feed, &site->jobs);
	web_stream_init(&site->streams, &site->feed);
	if (open_signals(server, err) == 0 && start_daemon(server, config->listener, err) == 0)
		result = serve(server, err);
	end(server);
	free(server);
	return result;
}
