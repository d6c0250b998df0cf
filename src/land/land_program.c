/* The user's own git and gh: see land_program.h. */
#include "land/land_program.h"

#include "util/clock.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const passed[] = {
	"HOME",
	"USER",
	"LOGNAME",
	"LANG",
	"LC_ALL",
	"TZ",
	"TMPDIR",
	"TERM",
	"SSH_AUTH_SOCK",
	"SSH_ASKPASS",
	"SSH_ASKPASS_REQUIRE",
	"DISPLAY",
	"WAYLAND_DISPLAY",
	"DBUS_SESSION_BUS_ADDRESS",
	"XDG_CONFIG_HOME",
	"XDG_DATA_HOME",
	"XDG_STATE_HOME",
	"XDG_RUNTIME_DIR",
	"GNUPGHOME",
	"GIT_SSH",
	"GIT_SSH_COMMAND",
	"GIT_ASKPASS",
	"GIT_CONFIG_GLOBAL",
	"GIT_CONFIG_SYSTEM",
	"GIT_CONFIG_NOSYSTEM",
	"GIT_SSL_CAINFO",
	"GIT_SSL_CAPATH",
	"SSL_CERT_FILE",
	"SSL_CERT_DIR",
	"CURL_CA_BUNDLE",
	"http_proxy",
	"https_proxy",
	"HTTPS_PROXY",
	"all_proxy",
	"ALL_PROXY",
	"no_proxy",
	"NO_PROXY",
};

/* Git does not need these. */
static const char *const passed_gh[] = {
	"GH_CONFIG_DIR",           "GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN",
	"GITHUB_ENTERPRISE_TOKEN",
};

static void pass(const char *const *names, size_t count, struct list *environment)
{
	for (size_t i = 0; i < count; i++)
		if (env_get(names[i]))
			list_printf(environment, "%s=%s", names[i], env_get(names[i]));
}

static void make_environment(const struct taint *taint, bool gh, struct list *environment)
{
	AUTO_FREE char *path = taint_path(taint);

	list_add(environment, path);
	pass(passed, sizeof passed / sizeof *passed, environment);
	if (gh)
		pass(passed_gh, sizeof passed_gh / sizeof *passed_gh, environment);
	list_add(environment, "GIT_PAGER=cat");
	list_add(environment, "GH_PROMPT_DISABLED=1");
	list_add(environment, "GH_NO_UPDATE_NOTIFIER=1");
}

/* Refuses variables by which git and ssh run programs that an agent can change. */
static int check_environment(const struct taint *taint, const struct list *environment,
			     struct error *err)
{
	static const char *const commands[] = { "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS",
						"SSH_ASKPASS" };
	struct error why;

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		AUTO_FREE char *prefix = mem_format("%s=", commands[i]);
		const char *line = list_after_prefix(environment, prefix);

		if (line && taint_check_line(taint, line, &why) < 0)
			return error_with(err, why.status, "the variable %s: %s", commands[i],
					  why.text);
	}
	return 0;
}

int land_program_find(const char *name, const struct taint *taint, struct land_program *ret_program,
		      struct error *err)
{
	struct land_program program = { .path = taint_find(taint, name) };

	if (!program.path)
		return error_with(err, ERROR_NOT_FOUND,
				  "there is no program '%s' in a folder of PATH that no agent can "
				  "change",
				  name);
	make_environment(taint, strcmp(name, "gh") == 0, &program.environment);
	if (check_environment(taint, &program.environment, err) < 0) {
		land_program_release(&program);
		return -1;
	}
	*ret_program = program;
	return 0;
}

void land_program_release(struct land_program *program)
{
	free(program->path);
	list_release(&program->environment);
	*program = (struct land_program){ 0 };
}

/* ---- running ---- */

struct child {
	pid_t pid;
	int output, errors; /* the reading ends; -1 after their end */
};

static int input_of(const char *text)
{
	AUTO_FD file = text ? memfd_create("input", MFD_CLOEXEC)
			    : open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (file < 0 ||
	    (text && (fd_write_all(file, text, strlen(text)) < 0 || lseek(file, 0, SEEK_SET) < 0)))
		return -1;
	return fd_steal(&file);
}

static int spawn(const struct land_program *program, const struct land_program_run *run,
		 const int ends[3], pid_t *ret_pid)
{
	struct list arguments = { 0 };
	struct list environment = { 0 };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int failed;

	list_add(&arguments, program->path);
	for (size_t i = 0; i < run->arguments->count; i++)
		list_add(&arguments, run->arguments->items[i]);
	for (size_t i = 0; i < program->environment.count; i++)
		list_add(&environment, program->environment.items[i]);
	if (!run->asks)
		list_add(&environment, "GIT_TERMINAL_PROMPT=0");
	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, ends[i], i);
	posix_spawnattr_init(&attributes);
	/* Without a terminal, ssh cannot ask either, whatever the user's configuration says. */
	posix_spawnattr_setflags(&attributes, run->asks ? 0 : POSIX_SPAWN_SETSID);
	failed = posix_spawn(ret_pid, program->path, &actions, &attributes, arguments.items,
			     environment.items);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	list_release(&arguments);
	list_release(&environment);
	errno = failed;
	return failed ? -1 : 0;
}

static int start(const struct land_program *program, const struct land_program_run *run,
		 struct child *child)
{
	AUTO_FD input = input_of(run->input);
	int output[2] = { -1, -1 };
	int errors[2] = { -1, -1 };
	int result = -1;

	if (input >= 0 && pipe2(output, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0)
		result = spawn(program, run, (const int[3]){ input, output[1], errors[1] },
			       &child->pid);
	fd_close(&output[1]);
	fd_close(&errors[1]);
	child->output = output[0];
	child->errors = errors[0];
	return result;
}

/* Reads once; at the end, closes the descriptor. */
static void take(int *fd, struct buffer *into)
{
	char chunk[4096];
	ssize_t n = read(*fd, chunk, sizeof chunk);

	if (n > 0)
		buffer_add(into, chunk, (size_t)n);
	else
		fd_close(fd);
}

/* Returns false on timeout. */
static bool read_both(struct child *child, const struct land_program_run *run)
{
	uint64_t deadline = clock_steady_ms() + run->most_ms;

	while (child->output >= 0 || child->errors >= 0) {
		struct pollfd watched[] = { { .fd = child->output, .events = POLLIN },
					    { .fd = child->errors, .events = POLLIN } };
		uint64_t now = clock_steady_ms();

		if (now >= deadline || poll(watched, 2, (int)(deadline - now)) == 0)
			return false;
		if (watched[0].revents)
			take(&child->output, run->output);
		if (watched[1].revents)
			take(&child->errors, run->errors);
	}
	return true;
}

int land_program_run(const struct land_program *program, const struct land_program_run *run,
		     struct error *err)
{
	struct child child = { .output = -1, .errors = -1 };
	bool done;
	int status = 0;

	if (start(program, run, &child) < 0) {
		error_sys(err, "start '%s'", program->path);
		fd_close(&child.output);
		fd_close(&child.errors);
		return -1;
	}
	done = read_both(&child, run);
	fd_close(&child.output);
	fd_close(&child.errors);
	if (!done)
		kill(run->asks ? child.pid : -child.pid, SIGKILL);
	while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
		;
	if (done && WIFEXITED(status))
		return WEXITSTATUS(status);
	return error_with(err, done ? ERROR_DIED : ERROR_BUSY, "'%s' %s", program->path,
			  done ? "was killed" : "did not end in time");
}
