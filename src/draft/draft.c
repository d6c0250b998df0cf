/* Drafts: see draft.h. */
#include "draft/draft.h"

#include "draft/draft_layer.h"
#include "util/env.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAST = DRAFT_KIND_COUNT - 1 };

/* ---- views ---- */

static int make_namespaces(const struct draft_view *view, struct error *err)
{
	const struct userns_ids ids = { geteuid(), geteuid(), getegid(), getegid() };

	if (!view->root && userns_enter(&ids, CLONE_NEWNS, err) < 0)
		return -1;
	if (view->root && unshare(CLONE_NEWNS) < 0)
		return error_sys(err, "create a mount namespace");
	/* The host's unmounts propagate here; nothing propagates to the host. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return error_sys(err, "separate the mounts from the host's");
	return 0;
}

static int make_view(const struct draft_view *view, struct error *err)
{
	const struct draft_kind *kind = draft_kind_of(view->folder, err);

	return !kind || make_namespaces(view, err) < 0 ? -1 : kind->show(view, err);
}

enum { OURS, THEIRS, ENDS };

/* Fault points. */
enum { BEFORE = 1, AFTER };

struct maker {
	const struct draft_view *view;
	int socket[ENDS];
};

/* For the crash tests: RINGFENCE_VIEW_FAULT=1 kills this process before it makes the view, and 2
 * after that; "1,stop" and "2,stop" stop it there. */
struct fault {
	long point;
	int signal;
};

static struct fault find_fault(void)
{
	const char *wanted = env_get("RINGFENCE_VIEW_FAULT");
	char *end = NULL;
	long point = wanted ? strtol(wanted, &end, 10) : 0;

	return (struct fault){ point, end && strcmp(end, ",stop") == 0 ? SIGSTOP : SIGKILL };
}

static void fault(const struct fault *wanted, long point)
{
	if (wanted->point == point)
		kill(getpid(), wanted->signal);
}

/* In the process that makes the view: reports the result, and waits until it has been used. */
static int run_maker(void *argument)
{
	enum { SOCKET = 3 };
	const struct maker *maker = argument;
	const struct fault wanted = find_fault();
	struct error err = { 0 };
	char byte;

	prctl(PR_SET_NAME, "ringfence-view", 0, 0, 0);
	fault(&wanted, BEFORE);
	if (dup2(maker->socket[THEIRS], SOCKET) < 0 ||
	    syscall(SYS_close_range, SOCKET + 1, ~0U, 0) < 0)
		return 1;
	if (maker->view->foreign) { /* see mechanism_stage.c: nothing of root's may be left */
		env_wipe();
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	}
	if (make_view(maker->view, &err) == 0)
		err.text[0] = '\0';
	fault(&wanted, AFTER);
	if (write(SOCKET, err.text, strlen(err.text) + 1) < 0)
		return 1;
	return read(SOCKET, &byte, 1) != 0;
}

/* Waits until the maker has ended. Returns whether it was killed. */
static bool end_maker(pid_t maker)
{
	int status = 0;

	while (waitpid(maker, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status);
}

/* Waits for the maker's report. Returns 0, or -1 with err set. */
static int await_maker(int socket, struct error *err)
{
	char text[sizeof err->text];
	ssize_t n;

	do
		n = read(socket, text, sizeof text);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return error_set(err, "the process that mounts the draft was killed");
	return text[0] ? error_set(err, "%s", text) : 0;
}

/* A new user namespace grants every capability in it, also over this user's own file modes. */
static int drop_capabilities(struct error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	return syscall(SYS_capset, &header, none) < 0 ? error_sys(err, "drop capabilities") : 0;
}

/* Joins the namespaces of the maker. The current directory would be the one below the mount; the
 * draft may have lost it. */
static int join(const struct draft_view *view, pid_t maker, struct error *err)
{
	AUTO_FREE char *current = getcwd(NULL, 0);
	AUTO_FD process = (int)syscall(SYS_pidfd_open, maker, 0);

	if (process < 0 || setns(process, CLONE_NEWNS | (view->root ? 0 : CLONE_NEWUSER)) < 0)
		return error_sys(err, "enter the draft");
	if (!view->root && drop_capabilities(err) < 0)
		return -1;
	if ((!current || chdir(current) < 0) && chdir(view->project) < 0)
		return error_sys(err, "enter '%s'", view->project);
	return 0;
}

/* Makes a view, and has this process join it if `joins` is set. The status is ERROR_DIED if the
 * process that mounts it was killed. */
static int use_view(const struct draft_view *view, bool joins, struct error *err)
{
	struct maker maker = { .view = view };
	int result = -1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, maker.socket) < 0)
		return error_sys(err, "create a socket pair");

	pid_t child = process_fork(run_maker, &maker, 0);

	close(maker.socket[THEIRS]);
	if (child < 0)
		error_sys(err, "start a process");
	else if (await_maker(maker.socket[OURS], err) == 0)
		result = joins ? join(view, child, err) : 0;
	close(maker.socket[OURS]);
	if (child > 0 && end_maker(child) && result < 0)
		err->status = ERROR_DIED;
	return result;
}

int draft_enter(const struct draft_view *view, struct error *err)
{
	return use_view(view, true, err);
}

/* ---- making a draft ---- */

const char *draft_kind_name(const char *folder, struct error *err)
{
	const struct draft_kind *kind = draft_kind_of(folder, err);

	return kind ? kind->name : NULL;
}

char *draft_files(const char *folder, struct error *err)
{
	const struct draft_kind *kind = draft_kind_of(folder, err);

	return kind ? path_join(folder, kind->mark) : NULL;
}

bool draft_is_layered(const char *folder)
{
	struct error ignored;
	const struct draft_kind *kind = draft_kind_of(folder, &ignored);

	return kind && kind->layered;
}

static void remove_folder(const char *path)
{
	dirwalk_remove(AT_FDCWD, path, NULL);
}

static int prepare(const struct draft_kind *kind, const struct draft_request *request,
		   struct draft_made *made, struct error *err)
{
	if (mkdir(request->view.folder, 0700) < 0)
		return error_sys(err, "create the draft '%s'", request->view.folder);
	made->kind = kind->name;
	if (kind->prepare(request, made, err) == 0)
		return 0;
	remove_folder(request->view.folder);
	return -1;
}

/* Prepares a draft, and proves that it can be shown. */
static int prepare_proven(const struct draft_kind *kind, const struct draft_request *request,
			  struct draft_made *made, struct error *err)
{
	if (prepare(kind, request, made, err) < 0)
		return -1;
	if (use_view(&request->view, false, err) == 0)
		return 0;
	remove_folder(request->view.folder);
	return -1;
}

/* Takes the first kind that works. One whose process was killed may work. */
static int make_best(const struct draft_request *request, struct draft_made *made,
		     struct error *err)
{
	for (size_t i = 0; i < LAST; i++) {
		if (prepare_proven(draft_kind_at(i), request, made, &made->why) == 0)
			return 0;
		if (made->why.status == ERROR_DIED) {
			*err = made->why;
			return -1;
		}
	}
	return prepare_proven(draft_kind_at(LAST), request, made, err);
}

static int make_of_kind(const struct draft_request *request, struct draft_made *made,
			struct error *err)
{
	const struct draft_kind *kind = draft_kind_find(request->kind, err);

	return kind ? prepare_proven(kind, request, made, err) : -1;
}

int draft_make(const struct draft_request *request, struct draft_made *ret_made, struct error *err)
{
	struct draft_made made = { 0 };
	bool any = strcmp(request->kind, "auto") == 0;

	if ((any ? make_best : make_of_kind)(request, &made, err) < 0)
		return -1;
	*ret_made = made;
	return 0;
}

int draft_seed(const char *folder, const char *from, struct error *err)
{
	const struct draft_kind *kind = draft_kind_of(folder, err);
	const struct draft_kind *other = kind ? draft_kind_of(from, err) : NULL;

	if (!other)
		return -1;
	if (kind != other)
		return error_with(err, ERROR_REFUSED,
				  "the draft that it begins with is of the kind '%s', and this one "
				  "is of the kind '%s' (to choose: --draft-kind %s)",
				  other->name, kind->name, other->name);
	return kind->seed(folder, from, err);
}

/* The view of a draft that this process would enter. For root, any other uid will do. */
static struct draft_view own_view(const char *project, const char *folder)
{
	enum { NOBODY = 65534 };
	bool root = geteuid() == 0;

	return (struct draft_view){ .project = project,
				    .folder = folder,
				    .writable = true,
				    .root = root,
				    .lent_uid = root ? NOBODY : 0,
				    .lent_gid = root ? NOBODY : 0 };
}

/* Tries a kind in an empty folder. */
static int try_in(const struct draft_kind *kind, const char *place, struct error *err)
{
	AUTO_FREE char *project = path_join(place, "project");
	AUTO_FREE char *folder = path_join(place, "draft");
	const struct draft_request request = { .view = own_view(project, folder) };
	struct draft_made made;

	if (mkdir(project, 0700) < 0)
		return error_sys(err, "create '%s'", project);
	return prepare_proven(kind, &request, &made, err);
}

int draft_try(const char *name, const char *state, struct error *err)
{
	const struct draft_kind *kind = draft_kind_find(name, err);
	AUTO_FREE char *place = path_join(state, "draft-trial-XXXXXX");
	int result;

	if (!kind)
		return -1;
	if (!mkdtemp(place))
		return error_sys(err, "create a folder in '%s'", state);
	result = try_in(kind, place, err);
	remove_folder(place);
	return result;
}

/* ---- reading without a view ---- */

static int open_beneath(int folder, const char *path, int flags)
{
	return fd_openat2(folder, path, flags, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Reports whether the draft hides the project's file at this path, which it does not have. */
static bool is_hidden(const struct draft_layer *at, const char *path)
{
	const char *end = strchr(path, '/');
	AUTO_FREE char *name = end ? strndup(path, (size_t)(end - path)) : mem_dup(path);
	struct draft_layer inner;
	enum draft_layer_state state = draft_layer_enter(at, name, &inner);
	bool hidden = state == DRAFT_LAYER_OWN ||
		      (state == DRAFT_LAYER_FOLDER && end && is_hidden(&inner, end + 1));

	fd_close(&inner.folder);
	return hidden;
}

static int open_in(int project, const struct draft_layer *top, const char *path, int flags)
{
	int file = open_beneath(top->folder, path, flags);

	if (file >= 0 || errno != ENOENT)
		return file;
	if (!top->root->kind->layered || is_hidden(top, path)) {
		errno = ENOENT;
		return -1;
	}
	return open_beneath(project, path, flags);
}

int draft_open_file(const char *project, const char *folder, const char *path, int flags)
{
	AUTO_FD below = open(project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct draft_layer_root root;
	struct error ignored;
	int file = -1;

	if (draft_layer_open(folder, &root, &ignored) == 0)
		file = open_in(below, &root.top, path, flags);
	else
		errno = EIO;

	int error = errno;

	draft_layer_release(&root);
	errno = error;
	return file;
}

bool draft_exists(const char *project, const char *folder, const char *path)
{
	AUTO_FD file = draft_open_file(project, folder, path, O_PATH | O_NOFOLLOW);
	struct stat status;

	/* Overlayfs marks a deleted file by such a device, which nobody else can make. */
	return file >= 0 && fstat(file, &status) == 0 &&
	       !(S_ISCHR(status.st_mode) && status.st_rdev == 0);
}
