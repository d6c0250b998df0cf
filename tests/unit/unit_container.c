/* The container engines of the user, and what they get from the environment. */
#include "unit.h"

#include "util/container_engine.h"
#include "util/env.h"
#include "util/mem.h"

#include <string.h>
#include <sys/stat.h>

static void names(void)
{
	CHECK("podman is found by its name",
	      container_engine_named("podman") == CONTAINER_ENGINE_PODMAN);
	CHECK("docker is found by its name",
	      container_engine_named("docker") == CONTAINER_ENGINE_DOCKER);
	CHECK("another name is not an engine",
	      container_engine_named("pod") == CONTAINER_ENGINE_COUNT);
	CHECK("an engine has its name",
	      strcmp(container_engine_name(CONTAINER_ENGINE_DOCKER), "docker") == 0);
}

/* Makes an executable file in a new folder, and makes it the podman of the environment. */
static void use_program(char path[UNIT_PATH], mode_t mode)
{
	FILE *file;

	unit_temp(path);
	strncat(path, "/engine", UNIT_PATH - strlen(path) - 1);
	file = fopen(path, "w");
	if (file)
		fclose(file);
	chmod(path, mode);
	env_set("RINGFENCE_PODMAN", path);
}

static void finding(void)
{
	char path[UNIT_PATH];
	struct container_engine engine = { 0 };
	struct error err;

	use_program(path, 0755);
	CHECK("RINGFENCE_PODMAN names the program",
	      container_engine_find(CONTAINER_ENGINE_PODMAN, &engine, &err) == 0 &&
		      strcmp(engine.program, path) == 0);
	container_engine_release(&engine);
	use_program(path, 0644);
	CHECK("a file that cannot be executed is not an engine",
	      container_engine_find(CONTAINER_ENGINE_PODMAN, &engine, &err) < 0 &&
		      err.status == ERROR_NOT_FOUND && strstr(err.text, path) && !engine.program);
	env_set("RINGFENCE_PODMAN", "/nonexistent/podman");
	CHECK("a missing program is named, with the remedy",
	      container_engine_find(CONTAINER_ENGINE_PODMAN, &engine, &err) < 0 &&
		      strstr(err.text, "/nonexistent/podman") &&
		      strstr(err.text, "apt install podman"));
}

static void environment(void)
{
	char path[UNIT_PATH];
	struct container_engine engine = { 0 };
	struct error err;

	use_program(path, 0755);
	env_set("PATH", "/w/project/bin:/usr/bin");
	env_set("CONTAINERS_CONF", "/etc/own.conf");
	env_set("LD_PRELOAD", "/w/project/evil.so");
	env_set("DOCKER_HOST", "");
	CHECK("the engine is found",
	      container_engine_find(CONTAINER_ENGINE_PODMAN, &engine, &err) == 0);
	CHECK("its configuration is passed on",
	      list_has(&engine.environment, "CONTAINERS_CONF=/etc/own.conf"));
	CHECK("other variables are not", !list_after_prefix(&engine.environment, "LD_PRELOAD"));
	CHECK("empty ones are not", !list_after_prefix(&engine.environment, "DOCKER_HOST"));
	CHECK("PATH has system folders only",
	      !strstr(list_after_prefix(&engine.environment, "PATH="), "/w/project"));
	container_engine_release(&engine);
	env_set("CONTAINERS_CONF", NULL);
	env_set("LD_PRELOAD", NULL);
}

/* Returns whether the engine may be used by an agent that can change a folder. */
static bool writes(const char *folder, const char *variable, const char *value)
{
	struct container_engine engine = { 0 };
	struct taint taint;
	struct error err = { 0 };
	bool passed;

	env_set(variable, value);
	taint_init(&taint, "/home/u");
	taint_add(&taint, folder);
	passed = container_engine_find(CONTAINER_ENGINE_PODMAN, &engine, &err) == 0 &&
		 container_engine_check(&engine, &taint, &err) == 0;
	CHECK("only a refusal prevents the use", passed || err.status == ERROR_REFUSED);
	taint_release(&taint);
	container_engine_release(&engine);
	env_set(variable, NULL);
	return passed;
}

static bool passes(const char *variable, const char *value)
{
	return writes("/w/project", variable, value);
}

static void refusals(void)
{
	char path[UNIT_PATH];

	use_program(path, 0755);
	CHECK("a configuration elsewhere passes", passes("CONTAINERS_CONF", "/w/other/c.conf"));
	CHECK("a configuration in the project is refused",
	      !passes("CONTAINERS_CONF", "/w/project/c.conf"));
	CHECK("a socket in the project is refused",
	      !passes("DOCKER_HOST", "unix:///w/project/d.sock"));
	CHECK("a home in the project is refused", !passes("HOME", "/w/project/home"));
	CHECK("a home above the project passes", passes("HOME", "/w"));
	CHECK("a folder with the configuration of engines is refused",
	      !writes("/w/home/.config", "HOME", "/w/home"));
	CHECK("a folder of their images is refused",
	      !writes("/d/containers", "XDG_DATA_HOME", "/d"));
	CHECK("a folder beside it passes", writes("/d/other", "XDG_DATA_HOME", "/d"));
	CHECK("a daemon elsewhere passes", passes("DOCKER_HOST", "ssh://w/project"));
}

static void program_in_reach(void)
{
	struct container_engine engine = { .kind = CONTAINER_ENGINE_DOCKER };
	struct taint taint;
	struct error err;

	engine.program = mem_dup("/w/project/docker");
	taint_init(&taint, "/home/u");
	taint_add(&taint, "/w/project");
	CHECK("a program in the project is refused",
	      container_engine_check(&engine, &taint, &err) < 0 && err.status == ERROR_REFUSED &&
		      strstr(err.text, "docker cannot be used"));
	taint_release(&taint);
	container_engine_release(&engine);
}

static void images(void)
{
	static const char *const names[] = { "debian", "quay.io/team/base:1.2", "localhost:5000/a",
					     "0a1b2c3d", "a@sha256:00ff" };
	static const char *const others[] = { "",    "-v/:/host", "--privileged", "a b",
					      "a,b", ".a",        "a\n",          "../a" };
	struct error err;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		printf("# %s\n", names[i]);
		CHECK("the name of an image passes",
		      container_engine_check_image(names[i], &err) == 0);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		printf("# '%s'\n", others[i]);
		CHECK("what an engine could take for an option or for several words is refused",
		      container_engine_check_image(others[i], &err) < 0 &&
			      err.status == ERROR_INVALID);
	}

	char longest[600];

	memset(longest, 'a', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	CHECK("a name that is too long is refused",
	      container_engine_check_image(longest, &err) < 0);
}

int main(void)
{
	env_init();
	names();
	finding();
	environment();
	refusals();
	program_in_reach();
	images();
	return unit_failures > 0;
}
