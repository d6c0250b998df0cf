/* Containers: see container.h. */
#include "fence/mechanism/container.h"

#include "fence/fence_result.h"
#include "fence/run/handover.h"
#include "fence/tree/stage.h"
#include "util/env.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/launcher.h"
#include "util/mem.h"
#include "util/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long an engine may take to remove a container when everything in it is dead. Podman gives it
 * ten seconds to end. */
enum { REMOVE_MS = 15000 };

/* ---- the engine's program ---- */

int container_detect(enum container_engine_kind kind, struct error *err)
{
	struct container_engine engine;

	if (container_engine_find(kind, &engine, err) < 0)
		return -1;
	container_engine_release(&engine);
	return 0;
}

/* The command could otherwise decide what the engine runs outside the next time. */
static int check_engine(const struct fence_plan *plan, const struct container_engine *engine,
			struct error *err)
{
	struct taint taint;
	int result;

	fence_spec_taint(plan->spec, &taint);
	result = container_engine_check(engine, &taint, err);
	taint_release(&taint);
	return result;
}

int container_plan(enum container_engine_kind kind, struct fence_plan *plan, struct error *err)
{
	struct container_engine engine;
	int result;

	plan->outside = true;
	if (container_engine_find(kind, &engine, err) < 0)
		return -1;
	result = mechanism_check_program(plan, engine.program, err);
	if (result == 0)
		result = check_engine(plan, &engine, err);
	container_engine_release(&engine);
	return result < 0 ? -1 : stage_check(plan, err);
}

/* Adds strings, and an empty one as their end: no word of ours is empty. */
static void pack_list(struct buffer *bytes, const struct list *words)
{
	for (size_t i = 0; i < words->count; i++)
		buffer_add(bytes, words->items[i], strlen(words->items[i]) + 1);
	buffer_add(bytes, "", 1);
}

/* The engine's command line as bytes: for the launcher, which has no other memory of ours. */
static int pack(const struct container_engine *engine, const struct list *words,
		struct buffer *ret_bytes, struct error *err)
{
	buffer_add(ret_bytes, engine->program, strlen(engine->program) + 1);
	pack_list(ret_bytes, words);
	pack_list(ret_bytes, &engine->environment);
	return buffer_overflowed(ret_bytes) ? error_set(err, "the engine's arguments are too long")
					    : 0;
}

/* Reads strings up to an empty one, or the end. */
static const char *unpack(const char *at, const char *end, struct list *ret_words)
{
	for (; at < end && *at; at += strlen(at) + 1)
		list_add(ret_words, at);
	return at + 1;
}

/* In a new process: becomes the engine's client, whose messages go to `complaints`. */
static int run_client(const void *bytes, size_t size, int complaints)
{
	const char *at = bytes;
	const char *end = at + size;
	const int wanted[] = { FD_NULL, complaints, complaints };
	struct list words = { 0 };
	struct list environment = { 0 };
	const char *program = at;

	at = unpack(at + strlen(program) + 1, end, &words);
	unpack(at, end, &environment);
	setsid(); /* ringfence passes on signals to its process group */
	signal(SIGCHLD, SIG_DFL);
	process_become(program, words.items, environment.items, wanted, 3);
	return FENCE_EXIT_NOT_SET_UP;
}

static pid_t start_client(const struct launcher *launcher, const struct container_engine *engine,
			  const struct list *words, int complaints, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(LAUNCHER_ARGUMENT);

	if (pack(engine, words, &bytes, err) < 0)
		return -1;
	return launcher_run(launcher, run_client, bytes.data, bytes.used, complaints, err);
}

/* ---- folders ---- */

static char *containers_folder(const char *state, struct error *err)
{
	char *path = path_join(state, "containers");

	/* The first process that connects to a container's socket is taken for ringfence-init. */
	if (mkdir(path, 0700) == 0 || errno == EEXIST || state_folder_make(path, 0700) == 0)
		return path;
	error_sys(err, "create '%s'", path);
	free(path);
	return NULL;
}

/* Folders that an engine expects in a file system; the fence shows none of them. */
static int make_root(const char *root)
{
	static const char *const folders[] = { "proc", "sys",           "dev", "etc",
					       "run",  "run/ringfence", "tmp" };

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		AUTO_FREE char *path = path_join(root, folders[i]);

		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -1;
	}
	return 0;
}

char *container_root(const struct fence_plan *plan, struct error *err)
{
	AUTO_FREE char *folder = containers_folder(plan->state, err);
	char *root = folder ? path_join(folder, "root") : NULL;

	if (root && ((mkdir(root, 0755) < 0 && errno != EEXIST) || make_root(root) < 0)) {
		error_sys(err, "create '%s'", root);
		free(root);
		return NULL;
	}
	return root;
}

/* The seccomp profiles, from fence_filter_gen.c. */
static const char podman_profile[] =
#include "seccomp_podman.inc"
	;
static const char docker_profile[] =
#include "seccomp_docker.inc"
	;

/* Returns the path of the engine's seccomp profile, which is written. */
static char *write_profile(enum container_engine_kind kind, const char *state, struct error *err)
{
	const bool docker = kind == CONTAINER_ENGINE_DOCKER;
	AUTO_FREE char *folder = containers_folder(state, err);
	AUTO_FREE char *name = mem_format("seccomp-%s.json", container_engine_name(kind));
	AUTO_FD opened = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (!folder)
		return NULL;
	if (opened < 0 ||
	    fd_replace_file(opened, name, docker ? docker_profile : podman_profile,
			    docker ? sizeof docker_profile - 1 : sizeof podman_profile - 1,
			    0644) < 0) {
		error_sys(err, "write '%s' in '%s'", name, folder);
		return NULL;
	}
	return path_join(folder, name);
}

/* Makes and locks the folder of a container. */
static int make_folder(struct container *container, const char *state, struct error *err)
{
	AUTO_FREE char *above = containers_folder(state, err);
	AUTO_FREE char *path = above ? path_join(above, "ringfence-XXXXXX") : NULL;
	AUTO_FREE char *record = NULL;
	AUTO_FREE char *unlocked = NULL;
	AUTO_FD folder = -1;
	AUTO_FD lock = -1;

	if (!path)
		return -1;
	if (!mkdtemp(path) || chmod(path, 0711) < 0)
		return error_sys(err, "create a folder in '%s'", above);
	container->folder = mem_dup(path);
	container->name = mem_dup(path_name(path));
	record = path_join(path, "engine");
	unlocked = path_join(path, "new");
	lock = open(unlocked, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0 || folder < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0 ||
	    dprintf(lock, "%s\n", container_engine_name(container->engine.kind)) < 0 ||
	    rename(unlocked, record) < 0) /* recover() looks for unlocked records */
		return error_sys(err, "create '%s'", record);
	container->lock = fd_steal(&lock);
	container->listener = handover_listen(folder, err);
	return container->listener < 0 ? -1 : 0;
}

/* ---- removing containers ---- */

/* Waits for an engine's client, which stays a zombie. Returns false if time is up. */
static bool await_client(pid_t client)
{
	AUTO_FD watched = (int)syscall(SYS_pidfd_open, client, 0);

	return watched >= 0 &&
	       poll(&(struct pollfd){ .fd = watched, .events = POLLIN }, 1, REMOVE_MS) == 1;
}

static bool try_to_remove(const struct launcher *launcher, const struct container_engine *engine,
			  const char *name)
{
	AUTO_FD silent = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct list words = { 0 };
	struct error ignored;
	int status = -1;
	pid_t client;

	list_add(&words, container_engine_name(engine->kind));
	list_add(&words, "rm");
	list_add(&words, "--force");
	if (engine->kind == CONTAINER_ENGINE_PODMAN) {
		list_add(&words, "--ignore"); /* Docker does so by itself, */
		list_add(&words, "--time=0"); /* and does not wait for TERM */
	}
	list_add(&words, name);
	client = start_client(launcher, engine, &words, silent, &ignored);
	if (client > 0 && !await_client(client))
		process_kill(client);
	while (client > 0 && waitpid(client, &status, 0) < 0 && errno == EINTR)
		;
	list_release(&words);
	return client > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Removes a container, if there is one with this name, and returns whether that worked. Without its
 * monitor, podman takes a dead container for a running one, and fails the first time. */
static bool remove_container(const struct launcher *launcher, const struct container_engine *engine,
			     const char *name)
{
	if (try_to_remove(launcher, engine, name))
		return true;
	return try_to_remove(launcher, engine, name);
}

/* Returns the kind of engine in a record, or CONTAINER_ENGINE_COUNT. */
static enum container_engine_kind recorded(int record)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64);
	AUTO_FREE char *name = NULL;

	if (fd_read_all(record, &text) < 0)
		return CONTAINER_ENGINE_COUNT;
	name = strndup(buffer_text(&text), strcspn(buffer_text(&text), "\n"));
	return container_engine_named(name);
}

/* Removes the container of a killed ringfence, and its folder. Returns false if the engine
 * fails. */
static bool recover_one(const struct launcher *launcher, const char *folder, const char *name)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_FREE char *record = path_join(path, "engine");
	AUTO_FD lock = open(record, O_RDWR | O_CLOEXEC);
	enum container_engine_kind kind;
	struct container_engine engine;
	struct error ignored;
	bool removed = true;

	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
		return true;
	kind = recorded(lock);
	if (kind != CONTAINER_ENGINE_COUNT && container_engine_find(kind, &engine, &ignored) == 0) {
		removed = remove_container(launcher, &engine, name);
		container_engine_release(&engine);
	}
	if (removed)
		dirwalk_remove(AT_FDCWD, path, NULL);
	return removed;
}

/* Stops at the first failure: an engine that hangs would delay the start for each. */
static void recover(const struct launcher *launcher, const char *state)
{
	AUTO_FREE char *folder = path_join(state, "containers");
	DIR *dir = opendir(folder);
	bool works = dir;

	for (struct dirent *entry; works && (entry = readdir(dir));)
		if (strncmp(entry->d_name, "ringfence-", strlen("ringfence-")) == 0)
			works = recover_one(launcher, folder, entry->d_name);
	if (dir)
		closedir(dir);
}

/* The folder of a container that could not be removed stays, for the next start. */
static void container_free(struct container *container, bool removed)
{
	if (container->folder && removed)
		dirwalk_remove(AT_FDCWD, container->folder, NULL);
	fd_close(&container->lock);
	container_engine_release(&container->engine);
	free(container->folder);
	free(container->name);
	free(container);
}

/* Reports whether the engine has removed the container, which it does before its client exits. The
 * client exits with the status of init, 0, unless something has gone wrong. */
static bool removed_by_client(const struct mechanism_start *start, const int *status)
{
	siginfo_t info = { 0 };

	if (status)
		return WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
	/* If the engine's monitor was killed, its client waits forever. */
	if (!await_client(start->child)) {
		process_kill(start->child);
		return false;
	}
	return waitid(P_PID, (id_t)start->child, &info, WEXITED | WNOWAIT) == 0 &&
	       info.si_code == CLD_EXITED && info.si_status == 0;
}

void container_end(struct mechanism_start *start, const int *status)
{
	struct container *container = start->container;

	if (!container)
		return;
	fd_close(&container->listener); /* init may wait to be accepted */
	container_free(container, start->child <= 0 || removed_by_client(start, status) ||
					  remove_container(start->plan->spec->launcher,
							   &container->engine, container->name));
	start->container = NULL;
}

/* ---- starting ---- */

/* Podman lowers its own limit on processes to this, and cannot raise it again. */
enum { MOST_PROCESSES = 32768, MOST_FILES = 1 << 20 };

static rlim_t at_most(rlim_t limit, rlim_t most)
{
	return limit < most ? limit : most; /* RLIM_INFINITY is the largest number */
}

/* By default, an engine may want more than this machine grants. */
static void add_ulimit(struct list *words, const char *name, int resource, rlim_t most)
{
	struct rlimit limit = { most, most };

	getrlimit(resource, &limit);
	list_add(words, "--ulimit");
	list_printf(words, "%s=%llu:%llu", name, (unsigned long long)at_most(limit.rlim_cur, most),
		    (unsigned long long)at_most(limit.rlim_max, most));
}

/* Engines separate the parts of a mount by commas. */
static int add_bind(struct list *words, const char *source, const char *target, const char *more,
		    struct error *err)
{
	if (strpbrk(source, ",\"\n"))
		return error_set(err,
				 "no fence: container engines cannot mount '%s', whose name has a "
				 "comma, a quote or a line break",
				 source);
	list_add(words, "--mount");
	list_printf(words, "type=bind,source=%s,target=%s%s", source, target, more);
	return 0;
}

static int add_common(const struct mechanism_start *start, struct list *words, struct error *err)
{
	static const char *const always[] = {
		"run",
		"--rm",
		"--pull=never",
		"--cap-drop=ALL",
		"--read-only",
		"--no-healthcheck", /* it would be a process beside init, without Landlock */
		"--ipc=private",
		"--log-driver=none",
		"--hostname=ringfence",
		"--workdir=/",
		"--cgroupns=private",
		"--security-opt=no-new-privileges",
		"--security-opt=label=disable",
		"--label=org.ringfence.run=1",
	};
	const struct fence_plan *plan = start->plan;
	AUTO_FREE char *profile = write_profile(start->container->engine.kind, plan->state, err);

	if (!profile)
		return -1;
	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		list_add(words, always[i]);
	list_printf(words, "--entrypoint=%s", TREE_INIT);
	list_printf(words, "--name=%s", start->container->name);
	list_printf(words, "--network=%s", plan->spec->net == FENCE_NET_OPEN ? "host" : "none");
	list_printf(words, "--user=%u:%u", plan->identity.uid, plan->identity.gid);
	list_printf(words, "--security-opt=seccomp=%s", profile);
	add_ulimit(words, "nofile", RLIMIT_NOFILE, MOST_FILES);
	add_ulimit(words, "nproc", RLIMIT_NPROC, MOST_PROCESSES);
	if (add_bind(words, plan->init, TREE_INIT, ",readonly", err) < 0)
		return -1;
	return add_bind(words, start->container->folder, HANDOVER_FOLDER, "", err);
}

static int add_words(const struct mechanism_start *start, container_options_fn *options,
		     struct list *words, struct error *err)
{
	list_add(words, container_engine_name(start->container->engine.kind));
	return add_common(start, words, err) < 0 ? -1 : options(start, words, err);
}

int container_start(enum container_engine_kind kind, container_options_fn *options,
		    struct mechanism_start *start, struct error *err)
{
	const struct launcher *launcher = start->plan->spec->launcher;
	struct container_engine engine;
	struct list words = { 0 };
	int result;

	if (container_engine_find(kind, &engine, err) < 0)
		return -1;
	recover(launcher, start->plan->state);
	start->program = mem_dup(engine.program);
	start->container = mem_zero(sizeof *start->container);
	*start->container = (struct container){ .engine = engine, .lock = -1, .listener = -1 };
	result = make_folder(start->container, start->plan->state, err);
	if (result == 0)
		result = add_words(start, options, &words, err);
	if (result == 0)
		start->child = start_client(launcher, &engine, &words, start->complaints, err);
	list_release(&words);
	return result < 0 || start->child < 0 ? -1 : 0;
}

/* ---- failures ---- */

/* The engine's last message of this kind, without its time stamp. */
static const char *last_error(const char *complaints)
{
	const char *found = NULL;

	for (const char *at = complaints; (at = strstr(at, "rror:")); at++)
		found = at;
	while (found && found > complaints && found[-1] != '\n')
		found--;
	return found ? found : complaints;
}

void container_classify(enum container_engine_kind kind, const char *complaints, int status,
			struct error *err)
{
	const char *message = last_error(complaints);

	if (mechanism_complained(complaints, status, err))
		return;
	error_set(err, "no fence: %s could not start a container%s%.*s",
		  container_engine_name(kind), *message ? ": " : "", (int)strcspn(message, "\n"),
		  message);
}
