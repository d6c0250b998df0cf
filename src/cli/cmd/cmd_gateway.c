/* ringfence gateway: a gateway to models without a fence, for metering and budgets. */
#include "cli/cli.h"
#include "cli/view/cost_text.h"
#include "cli/view/notice.h"
#include "gateway/owner/gateway.h"
#include "gateway/owner/keys.h"
#include "settings/effective.h"
#include "settings/effective_models.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/outlet.h"
#include "util/text/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct gateway_opts {
	struct effective effective;
	const char *port;
};

_Static_assert(offsetof(struct gateway_opts, effective) == 0,
	       "effective_set() needs it to be the first member");

static const struct cli_option options[] = {
	OPTION_PROJECT(struct gateway_opts, effective.spec.project),
	OPTION_TEXT(
		"port", "PORT",
		"listen on this port of 127.0.0.1; 0: any free port (default: 61080, or 0 with a "
		"command)",
		struct gateway_opts, port),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS", "  the command's own status; without a command, 0 after Ctrl-C\n"
			 "  125  refused; the reason is printed\n" },
	{ "EXAMPLES",
	  "  ringfence gateway --budget 5 -- claude\n"
	  "  ringfence gateway --daily-budget 20 -- bash  # for all programs in this shell\n"
	  "  ringfence gateway --daily-budget 20          # prints lines for another shell\n"
	  "  ringfence cost --by day\n" },
	{ 0 },
};

static int listen_on(uint16_t port, uint16_t *ret_port, struct error *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof address;
	AUTO_FD fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, size) < 0 ||
	    listen(fd, 128) < 0 || getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return error_sys(err, "listen on 127.0.0.1:%u (--port)", port);
	*ret_port = ntohs(address.sin_port);
	return fd_steal(&fd);
}

/* Adds the variables that point clients to the gateway. */
static void add_variables(struct list *variables, uint16_t port, const char *token)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		const struct provider *provider = provider_at(i);

		list_printf(variables, "%s=http://127.0.0.1:%u%s", provider->base_variable, port,
			    provider->base_path);
		list_printf(variables, "%s=%s", provider->keys[0], token);
	}
}

/* The gateway, and its ledger and tape, which must outlive it. */
struct service {
	struct ledger *ledger;
	struct cassette *cassette; /* the tape, or NULL */
	struct gateway *gateway;
};

static int open_ledger(const struct effective *effective, const struct model_access *access,
		       struct service *service, struct error *err)
{
	AUTO_FREE char *folder = NULL;
	AUTO_FREE char *day = NULL;
	struct ledger_options wanted;

	if (effective_models_ledger(effective, &wanted, &folder, &day, err) < 0 ||
	    cassette_open(&access->tape, &wanted, &service->cassette, err) < 0)
		return -1;
	wanted.replay = cassette_is_replay(service->cassette);
	return ledger_open(&wanted, &service->ledger, err);
}

static int start_with(const struct effective *effective, const struct model_access *access,
		      struct service *service, struct error *err)
{
	struct keys keys = { 0 };
	struct gateway_options wanted = { .uid = geteuid(),
					  .gid = getegid(),
					  .caps = GATEWAY_CAPS_DEFAULT,
					  .models = access,
					  .keys = &keys };
	struct taint taint;
	int result;

	if (!model_access_is_set(access))
		return effective_models_refuse(err);
	effective_taint(effective, &taint);
	result = keys_read(access, &taint, &keys, err);
	taint_release(&taint);
	if (result < 0)
		return -1;
	result = open_ledger(effective, access, service, err);
	wanted.ledger = service->ledger;
	wanted.cassette = service->cassette;
	if (result == 0)
		result = gateway_start(&wanted, &service->gateway, err);
	keys_wipe(&keys);
	return result;
}

static int start(const struct effective *effective, struct service *service, struct error *err)
{
	struct model_access access;
	int result;

	if (effective_models_access(effective, &access, err) < 0)
		return -1;
	access.any_host = true; /* the command is not in a fence */
	result = start_with(effective, &access, service, err);
	model_access_release(&access);
	return result;
}

static pid_t start_command(char **command, const struct list *variables, const sigset_t *before)
{
	struct list environment = { 0 };
	pid_t child = fork();

	if (child != 0)
		return child;
	sigprocmask(SIG_SETMASK, before, NULL);
	env_copy(&environment);
	for (size_t i = 0; i < variables->count; i++)
		env_put(&environment, variables->items[i]);
	execvpe(command[0], command, environment.items);
	fprintf(stderr, "ringfence: %s: %s\n", command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static int exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Serves until the command ends or a signal arrives. Returns the exit status. */
static int serve(struct gateway *gateway, pid_t child, int signals)
{
	struct gateway_refusal refusal;
	struct signalfd_siginfo info;
	struct error err;
	int status;

	for (;;) {
		struct pollfd watched[2] = { { .fd = signals, .events = POLLIN },
					     { .fd = gateway_fd(gateway), .events = POLLIN } };
		int got = 1;

		if (watched[1].fd < 0) {
			error_set(&err, "the gateway has ended and could not be restarted");
			return cli_fail(&err);
		}
		if (poll(watched, 2, -1) < 0)
			continue;
		while (watched[1].revents && got != 0 && gateway_fd(gateway) >= 0) {
			got = gateway_take(gateway, &refusal, &err);
			if (got > 0)
				gateway_answer(gateway, refusal.id);
			if (got < 0)
				notice(err.text);
		}
		while (read(signals, &info, sizeof info) == (ssize_t)sizeof info) {
			if (info.ssi_signo == SIGCHLD && child > 0 &&
			    waitpid(child, &status, WNOHANG) == child)
				return exit_code(status);
			/* The command also got the signal, and decides when to end. */
			if (info.ssi_signo != SIGCHLD && child <= 0)
				return 0;
		}
	}
}

static int run_with(const struct gateway_opts *opts, struct gateway *gateway, char **command)
{
	__attribute__((cleanup(list_release))) struct list variables = { 0 };
	uint64_t port = command[0] ? 0 : OUTLET_PORT;
	uint16_t got = 0;
	struct error err;
	sigset_t wanted;
	sigset_t before;
	int listener;
	int code;

	if (opts->port && strcmp(opts->port, "0") == 0) {
		port = 0;
	} else if (opts->port && (text_count(opts->port, &port) < 0 || port > UINT16_MAX)) {
		error_set(&err, "--port must be a number up to 65535, not '%.40s'", opts->port);
		return cli_fail(&err);
	}
	listener = listen_on((uint16_t)port, &got, &err);
	if (listener < 0 || gateway_listen(gateway, listener, &err) < 0)
		return cli_fail(&err);
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGHUP);
	sigaddset(&wanted, SIGCHLD);
	sigprocmask(SIG_BLOCK, &wanted, &before);

	AUTO_FD signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	pid_t child = -1;

	add_variables(&variables, got, gateway_token(gateway));
	if (command[0]) {
		child = start_command(command, &variables, &before);
	} else {
		for (size_t i = 0; i < variables.count; i++)
			printf("export %s\n", variables.items[i]);
		fflush(stdout);
	}
	if (gateway_warnings(gateway)[0])
		notice(gateway_warnings(gateway));
	code = serve(gateway, child, signals);
	return code;
}

static int run_gateway(const struct cli_command *command, char **argv)
{
	struct gateway_opts opts = { 0 };
	struct service service = { 0 };
	struct error err;
	char **rest;
	int code = 0;

	effective_init(&opts.effective);
	rest = cli_parse(command, argv, &opts, &code);
	if (!rest) {
		effective_release(&opts.effective);
		return code;
	}
	if (effective_load(&opts.effective, &err) < 0)
		code = cli_fail_config(&opts.effective.config, &err);
	else if (start(&opts.effective, &service, &err) < 0)
		code = cli_fail(&err);
	else {
		notice_config(&opts.effective.config, effective_models_uses);
		code = run_with(&opts, service.gateway, rest);
	}
	if (service.gateway) {
		struct ledger_news news;

		gateway_stop(service.gateway);
		ledger_get_news(service.ledger, &news);
		cost_text_print(&news);
	}
	ledger_close(service.ledger);
	cassette_close(service.cassette);
	effective_release(&opts.effective);
	return code;
}

const struct cli_command cmd_gateway = {
	.name = "gateway",
	.args = "[options] [-- COMMAND [ARGUMENT...]]",
	.max_args = CLI_ANY,
	.summary = "meter models and enforce a budget, without a fence",
	.description =
		"Runs a command with a token instead of your keys. A gateway on loopback adds the key to "
		"each request, counts tokens while answers stream, and refuses requests that would exceed "
		"a budget. Without a command, it prints variables for a shell and serves until Ctrl-C. It "
		"is not a fence: the command can read your keys elsewhere.",
	.options = options,
	.set = effective_set,
	.has_setting = effective_models_uses,
	.sections = sections,
	.run = run_gateway,
};
