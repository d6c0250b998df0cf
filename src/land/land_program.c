/* The user's own git and gh: see land_program.h. */
#include "land/land_program.h"

#include "util/env.h"
#include "util/mem.h"
#include "util/program.h"

#include <stdlib.h>
#include <string.h>

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

int land_program_run(const struct land_program *program, const struct land_program_run *run,
		     struct error *err)
{
	struct list environment = { 0 };
	const struct program_run all = { .path = program->path,
					 .arguments = run->arguments,
					 .environment = &environment,
					 .input = run->input,
					 .most_ms = run->most_ms,
					 .terminal = run->asks,
					 .output = run->output,
					 .errors = run->errors };
	int status;

	for (size_t i = 0; i < program->environment.count; i++)
		list_add(&environment, program->environment.items[i]);
	if (!run->asks)
		list_add(&environment, "GIT_TERMINAL_PROMPT=0");
	status = program_run(&all, err);
	list_release(&environment);
	return status;
}
