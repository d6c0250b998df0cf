/* Acts for a command that shares the host's namespaces: see perform.h. */
#include "fence/watch/perform.h"

#include "util/file/fd.h"
#include "util/process.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

void perform_serve(struct perform_context *performer, int listener)
{
	struct sockaddr_in address = { 0 };
	socklen_t size = sizeof address;

	if (performer->plan->own && getsockname(listener, (struct sockaddr *)&address, &size) == 0)
		performer->port = ntohs(address.sin_port);
}

static unsigned long number_after(const char *text, const char *key, int base)
{
	const char *at = strstr(text, key);

	return at ? strtoul(at + strlen(key), NULL, base) : 0;
}

bool perform_is_waiting(const struct perform_context *performer, const struct seccomp_notif *call)
{
	return ioctl(performer->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id) == 0;
}

int perform_find_caller(pid_t thread, struct perform_caller *ret_caller)
{
	char path[64];
	char text[1024];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/status", thread);

	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (n <= 0)
		return ESRCH;
	text[n] = '\0';
	*ret_caller = (struct perform_caller){
		.thread = thread,
		.process = (pid_t)number_after(text, "\nTgid:", 10),
		.umask = (mode_t)number_after(text, "\nUmask:", 8),
	};
	return ret_caller->process ? 0 : ESRCH;
}

size_t perform_copy(const struct perform_caller *caller, uint64_t address, void *bytes, size_t size)
{
	size_t first = 4096 - (size_t)(address & 4095); /* the next page may be unmapped */
	struct iovec local = { bytes, size };
	struct iovec remote[] = { { (void *)(uintptr_t)address, first < size ? first : size },
				  { (void *)(uintptr_t)(address + first),
				    first < size ? size - first : 0 } };
	ssize_t n = process_vm_readv(caller->thread, &local, 1, remote, 2, 0);

	return n < 0 ? 0 : (size_t)n;
}

bool perform_real_path(int fd, char ret_path[PATH_MAX])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, ret_path, PATH_MAX - 1);
	if (n <= 0 || ret_path[0] != '/')
		return false;
	ret_path[n] = '\0';
	return true;
}

/* Returns the rest of a path after a prefix that ends at a component, or NULL. */
static const char *after(const char *path, const char *prefix)
{
	size_t size = strlen(prefix);

	return strncmp(path, prefix, size) == 0 && (path[size] == '/' || !path[size]) ? path + size
										      : NULL;
}

/* The errno of a text that snprintf() has written to a path. */
static int cut(int size)
{
	return size >= PATH_MAX ? ENAMETOOLONG : 0;
}

int perform_locate(const struct perform_caller *caller, int folder, const char *given,
		   char ret_text[PATH_MAX])
{
	static const struct {
		const char *prefix, *in_process;
	} own[] = { { "/proc/self", "" },       { "/proc/thread-self", "" },
		    { "/dev/fd", "/fd" },       { "/dev/stdin", "/fd/0" },
		    { "/dev/stdout", "/fd/1" }, { "/dev/stderr", "/fd/2" } };

	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		const char *rest = after(given, own[i].prefix);

		if (rest)
			return cut(snprintf(ret_text, PATH_MAX, "/proc/%d%s%s", caller->process,
					    own[i].in_process, rest));
	}
	if (given[0] == '/')
		return cut(snprintf(ret_text, PATH_MAX, "%s", given));
	if (folder == AT_FDCWD)
		return cut(snprintf(ret_text, PATH_MAX, "/proc/%d/cwd/%s", caller->thread, given));
	return cut(snprintf(ret_text, PATH_MAX, "/proc/%d/fd/%d%s%s", caller->thread, folder,
			    given[0] ? "/" : "", given));
}

int perform_read_path(const struct perform_caller *caller, int folder, uint64_t address,
		      char ret_text[PATH_MAX])
{
	char given[PATH_MAX];
	size_t size = perform_copy(caller, address, given, sizeof given);

	if (!memchr(given, '\0', size))
		return size == sizeof given ? ENAMETOOLONG : EFAULT;
	return given[0] ? perform_locate(caller, folder, given, ret_text) : ENOENT;
}

/* Gives the caller a copy of the answer's descriptor, and closes it before the caller goes on: a
 * program that it writes can only be executed when nobody else has it open. Returns the caller's
 * number for it, or -1 with errno. */
static int give(int listener, uint64_t id, struct perform_answer *answer)
{
	struct seccomp_notif_addfd hand = { .id = id,
					    .srcfd = (uint32_t)answer->fd,
					    .newfd_flags = answer->close_on_exec ? O_CLOEXEC : 0 };
	int given = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &hand);
	int why = errno;

	fd_close(&answer->fd);
	errno = why;
	return given;
}

static void send_answer(int listener, uint64_t id, struct perform_answer *answer)
{
	union {
		struct seccomp_notif_resp answer;
		char room[512]; /* a newer kernel's struct may be larger */
	} out = { .room = { 0 } };

	if (answer->kind == PERFORM_RESULT && answer->fd >= 0) {
		out.answer.val = give(listener, id, answer);
		if (out.answer.val < 0) {
			answer->error = errno == EMFILE ? EMFILE : EIO;
			out.answer.val = 0;
		}
	}
	out.answer.id = id;
	out.answer.error = answer->kind == PERFORM_RESULT ? -answer->error : 0;
	out.answer.flags = answer->kind == PERFORM_CONTINUE ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out.answer); /* fails if the caller was killed */
}

static struct perform_answer decide(struct perform_context *performer,
				    const struct seccomp_notif *call, bool in_helper)
{
	switch (call->data.nr) {
	case SYS_connect:
		return in_helper ? perform_connect(performer, call)
				 : PERFORM_ANSWER(PERFORM_IN_HELPER);
	case SYS_bind:
		return perform_bind(performer, call);
	case SYS_listen:
		return perform_listen(performer, call);
	default:
		return perform_path(performer, call, in_helper);
	}
}

/* Returns a free place for a helper, or NULL. */
static pid_t *find_place(struct perform_context *performer)
{
	pid_t *found = NULL;

	for (size_t i = 0; i < PERFORM_HELPERS; i++) {
		pid_t *at = &performer->helpers[i];

		if (*at && waitpid(*at, NULL, WNOHANG) != 0)
			*at = 0;
		if (!*at)
			found = at;
	}
	return found;
}

static _Noreturn void help(struct perform_context *performer, int listener,
			   const struct seccomp_notif *call)
{
	struct perform_answer answer = decide(performer, call, true);

	send_answer(listener, call->id, &answer);
	_exit(0);
}

/* Has a helper answer, because the act may have to wait for another process. */
static int start_helper(struct perform_context *performer, int listener,
			const struct seccomp_notif *call)
{
	pid_t *place = find_place(performer);
	pid_t pid = place ? fork() : -1;

	if (pid == 0)
		help(performer, listener, call);
	if (pid > 0)
		*place = pid;
	return pid < 0 ? -1 : 0;
}

void perform(struct perform_context *performer, int listener, const struct seccomp_notif *call)
{
	struct perform_answer answer;

	performer->listener = listener;
	answer = decide(performer, call, false);
	if (answer.kind == PERFORM_IN_HELPER) {
		if (start_helper(performer, listener, call) == 0)
			return;
		answer = PERFORM_ERRNO(EAGAIN);
	}
	send_answer(listener, call->id, &answer);
}

void perform_end(struct perform_context *performer)
{
	for (size_t i = 0; i < PERFORM_HELPERS; i++) {
		pid_t pid = performer->helpers[i];

		if (!pid)
			continue;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		performer->helpers[i] = 0;
	}
}
