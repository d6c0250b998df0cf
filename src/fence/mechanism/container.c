/* Containers: see container.h. */
#include "fence/mechanism/container.h"

#include "fence/fence_result.h"
#include "fence/run/handover.h"
#include "fence/tree/graft.h"
#include "fence/tree/stage.h"
#include "util/clock.h"
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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long an engine may take to remove a container when everything in it is dead. */
enum { REMOVE_MS = 10000 };

/* ---- the engine's program ---- */

int container_detect(enum container_engine_kind kind, struct error *err)
{
	struct container_engine engine;

	if (container_engine_find(kind, &engine, err) < 0)
		return -1;
	container_engine_release(&engine);
	return 0;
}

int container_plan(enum container_engine_kind kind, const struct fence_plan *plan,
		   struct error *err)
{
	struct container_engine engine;
	int result;

	if (container_engine_find(kind, &engine, err) < 0)
		return -1;
	result = mechanism_check_program(plan, engine.program, err);
	container_engine_release(&engine);
	return result < 0 ? -1 : stage_check(plan, err);
}

/* The engine's command line as bytes: for the launcher, which has no other memory of ours. */
static int pack(const struct container_engine *engine, const struct list *words,
		struct buffer *ret_bytes, struct error *err)
{
	const struct list *const lists[] = { words, &engine->environment };

	buffer_add(ret_bytes, engine->program, strlen(engine->program) + 1);
	for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
		for (size_t i = 0; i < lists[l]->count; i++)
			buffer_add(ret_bytes, lists[l]->items[i], strlen(lists[l]->items[i]) + 1);
		buffer_add(ret_bytes, "", 1); /* no word of ours is empty */
	}
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

	if (mkdir(path, 0711) == 0 || errno == EEXIST || state_folder_make(path, 0711) == 0)
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
	AUTO_FD folder = -1;
	AUTO_FD lock = -1;

	if (!path)
		return -1;
	if (!mkdtemp(path) || chmod(path, 0711) < 0)
		return error_sys(err, "create a folder in '%s'", above);
	container->folder = mem_dup(path);
	container->name = mem_dup(path_name(path));
	record = path_join(path, "engine");
	lock = open(record, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0 || folder < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0 ||
	    dprintf(lock, "%s\n", container_engine_name(container->engine.kind)) < 0)
		return error_sys(err, "create '%s'", record);
	container->lock = fd_steal(&lock);
	container->listener = handover_listen(folder, err);
	return container->listener < 0 ? -1 : 0;
}

/* ---- removing containers ---- */

/* Removes a container, if there is one with this name. */
static void remove_container(const struct launcher *launcher, const struct container_engine *engine,
			     const char *name)
{
	AUTO_FD silent = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct list words = { 0 };
	struct error ignored;
	pid_t client;

	list_add(&words, container_engine_name(engine->kind));
	list_add(&words, "rm");
	list_add(&words, "--force");
	list_add(&words, name);
	client = start_client(launcher, engine, &words, silent, &ignored);
	while (client > 0 && waitpid(client, NULL, 0) < 0 && errno == EINTR)
		;
	list_release(&words);
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

/* Removes the container of a killed ringfence, and its folder. */
static void recover_one(const struct launcher *launcher, const char *folder, const char *name)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_FREE char *record = path_join(path, "engine");
	AUTO_FD lock = open(record, O_RDWR | O_CLOEXEC);
	enum container_engine_kind kind;
	struct container_engine engine;
	struct error ignored;

	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
		return;
	kind = recorded(lock);
	if (kind != CONTAINER_ENGINE_COUNT && container_engine_find(kind, &engine, &ignored) == 0) {
		remove_container(launcher, &engine, name);
		container_engine_release(&engine);
	}
	dirwalk_remove(AT_FDCWD, path, NULL);
}

static void recover(const struct launcher *launcher, const char *state)
{
	AUTO_FREE char *folder = path_join(state, "containers");
	DIR *dir = opendir(folder);

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (strncmp(entry->d_name, "ringfence-", strlen("ringfence-")) == 0)
			recover_one(launcher, folder, entry->d_name);
	if (dir)
		closedir(dir);
}

static void container_free(struct container *container)
{
	fd_close(&container->listener);
	if (container->folder)
		dirwalk_remove(AT_FDCWD, container->folder, NULL);
	fd_close(&container->lock);
	container_engine_release(&container->engine);
	free(container->folder);
	free(container->name);
	free(container);
}

/* Reports whether the engine's client has removed the container: it does so before it exits. */
static bool removed_by_client(const struct mechanism_start *start, const int *status)
{
	AUTO_FD client = status ? -1 : (int)syscall(SYS_pidfd_open, start->child, 0);
	struct pollfd watched = { .fd = client, .events = POLLIN };
	siginfo_t info = { 0 };

	if (status)
		return WIFEXITED(*status);
	if (start->child <= 0 || client < 0)
		return false;
	/* If the engine's monitor was killed, its client waits for ever. */
	if (poll(&watched, 1, REMOVE_MS) != 1) {
		process_kill(start->child);
		return false;
	}
	return waitid(P_PIDFD, (id_t)client, &info, WEXITED | WNOWAIT) == 0 &&
	       info.si_code == CLD_EXITED;
}

void container_end(struct mechanism_start *start, const int *status)
{
	struct container *container = start->container;

	if (!container)
		return;
	if (!removed_by_client(start, status))
		remove_container(start->plan->spec->launcher, &container->engine, container->name);
	container_free(container);
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
		"--ipc=private",
		"--log-driver=none",
		"--hostname=ringfence",
		"--workdir=/",
		"--cgroupns=private",
		"--entrypoint=" TREE_INIT,
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

/* ---- the file tree ---- */

enum piece { PIECE_TREE, PIECE_PROCESS, PIECES };

/* In a process in the namespaces of the container's engine: takes the tree and the container's
 * first process from a socket, and grafts. Answers with the reason of a failure. */
static int run_graft(const void *argument, size_t size, int socket)
{
	int pieces[PIECES] = { -1, -1 };
	struct error err = { 0 };

	(void)argument;
	(void)size;
	for (int i = 0; i < PIECES; i++) {
		struct pollfd waiting = { .fd = socket, .events = POLLIN };
		int fds[FD_PASSED];
		int piece;

		while (poll(&waiting, 1, -1) < 0 && errno == EINTR)
			;
		if (fd_receive(socket, &piece, sizeof piece, fds) <= 0 || piece < 0 ||
		    piece >= PIECES)
			return 1; /* the other side knows why */
		pieces[piece] = fds[0];
	}
	if (graft_onto(pieces[PIECE_PROCESS], pieces[PIECE_TREE], &err) == 0)
		return 0;
	send(socket, err.text, strlen(err.text), MSG_NOSIGNAL);
	return 1;
}

static int send_piece(int socket, enum piece piece, int fd)
{
	const int which = piece;

	return fd_send(socket, &which, sizeof which, &fd, 1, 0);
}

struct building {
	const struct mechanism_start *start;
	const struct tree *tree;
	pid_t parent;
	int socket;
};

enum { FD_SOCKET = 3, FD_BUILDING_END };

/* In a new process: builds the tree on a stage of its own. */
static int run_builder(void *argument)
{
	const struct building *how = argument;
	struct mechanism_start start = *how->start;
	const int wanted[] = { FD_NULL, FD_NULL, start.complaints, how->socket };
	AUTO_FREE char *root = NULL;
	AUTO_FD tree = -1;
	struct error err;

	start.complaints = 2;
	if (fd_place(wanted, FD_BUILDING_END) == 0 &&
	    mechanism_stay_with(&start, how->parent, &err) == 0 &&
	    mechanism_enter_stage(&start, FD_BUILDING_END, &err) == 0 &&
	    (root = tree_build(how->tree, start.program, &err)))
		tree = graft_cut(root, &err);
	if (tree >= 0 && send_piece(FD_SOCKET, PIECE_TREE, tree) == 0)
		return 0;
	mechanism_complain(&start, &err);
	return FENCE_EXIT_NOT_SET_UP;
}

/* Waits until init has connected. Returns 0, or -1 if the engine's client has ended or time is up:
 * the session will see why. */
static int await_init(const struct mechanism_start *start)
{
	AUTO_FD client = (int)syscall(SYS_pidfd_open, start->child, 0);
	struct pollfd watched[] = { { .fd = start->container->listener, .events = POLLIN },
				    { .fd = client, .events = POLLIN } };
	uint64_t end = clock_steady_ms() + mechanism_setup_ms(start->plan);

	for (;;) {
		uint64_t now = clock_steady_ms();

		if (now >= end || (poll(watched, 2, (int)(end - now)) < 0 && errno != EINTR))
			return -1;
		if (watched[0].revents)
			return 0;
		if (watched[1].revents)
			return -1;
	}
}

static int give_descriptors(struct mechanism_start *start, int *ret_process, struct error *err)
{
	AUTO_FD nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fds[WIRE_FD_END] = { start->stdio[0], start->stdio[1], start->complaints,
				 start->control, start->stdio[2] };

	for (int i = 0; i < WIRE_FD_END; i++)
		if (fds[i] < 0)
			fds[i] = nothing;
	start->init = handover_give(start->container->listener, fds, ret_process, err);
	return start->init < 0 ? -1 : 0;
}

/* Returns whether the process ended with status 0. */
static bool succeeded(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Grafts the tree, which the builder sends over `theirs`, onto the container. */
static int graft(struct mechanism_start *start, int ours, int theirs, pid_t builder,
		 struct error *err)
{
	AUTO_FD process = -1;
	char why[sizeof err->text] = "";
	pid_t grafter = -1;
	bool built;

	if (await_init(start) == 0 && give_descriptors(start, &process, err) == 0 &&
	    send_piece(ours, PIECE_PROCESS, process) == 0)
		grafter = launcher_run(start->plan->spec->launcher, run_graft, "", 0, theirs, err);
	built = succeeded(builder);
	if (!built) /* and has complained */
		shutdown(ours, SHUT_WR);
	if (grafter < 0)
		return built && start->init > 0 ? -1 : 0;
	if (succeeded(grafter) || !built)
		return 0;
	recv(ours, why, sizeof why - 1, MSG_DONTWAIT);
	return error_set(err, "no fence: %s",
			 *why ? why : "the process that mounts the file tree was killed");
}

int container_mount(struct mechanism_start *start, const struct tree *tree, struct error *err)
{
	struct building building = { .start = start, .tree = tree, .parent = getpid() };
	int ends[2];
	pid_t builder;
	int result;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_sys(err, "create a socket pair");
	building.socket = ends[0];
	builder = process_fork(run_builder, &building, 0);
	result = builder < 0 ? error_sys(err, "start building the file tree")
			     : graft(start, ends[0], ends[1], builder, err);
	close(ends[0]);
	close(ends[1]);
	return result;
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
