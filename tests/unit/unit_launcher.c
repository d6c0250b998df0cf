/* Launchers, and how ringfence-init gets its descriptors from a container. */
#include "unit.h"

#include "fence/run/handover.h"
#include "util/file/fd.h"
#include "util/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- launchers ---- */

/* Writes its argument, its parent and the number of its descriptors. */
static int report(const void *argument, size_t size, int fd)
{
	char text[64];
	int open_files = 0;

	for (int i = 3; i < 64; i++)
		open_files += i != fd && fcntl(i, F_GETFD) >= 0;
	snprintf(text, sizeof text, "%.*s %d %d", (int)size, (const char *)argument, getppid(),
		 open_files);
	return write(fd, text, strlen(text)) < 0 ? 1 : 7;
}

/* Runs report() and returns its exit status, with its text. */
static int ask(const struct launcher *launcher, const char *word, char *ret_text, size_t size)
{
	int ends[2];
	int status = -1;
	struct error err;
	pid_t pid;
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid = launcher_run(launcher, report, word, strlen(word), ends[1], &err);
	close(ends[1]);
	n = read(ends[0], ret_text, size - 1);
	ret_text[n > 0 ? n : 0] = '\0';
	close(ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void launchers(void)
{
	struct error err;
	AUTO_FD secret = open("/dev/null", O_RDONLY); /* survives an exec */
	struct launcher *launcher = launcher_new(&err);
	static const char long_argument[LAUNCHER_ARGUMENT + 1];
	char text[64];
	char wanted[64];

	CHECK("a launcher starts", launcher != NULL);
	snprintf(wanted, sizeof wanted, "hello %d 0", getpid());
	for (int i = 0; i < 2; i++)
		CHECK("its processes are children of the one that asks, without its descriptors",
		      ask(launcher, "hello", text, sizeof text) == 7 && strcmp(text, wanted) == 0);
	CHECK("an argument that is too long is refused",
	      launcher_run(launcher, report, long_argument, sizeof long_argument, -1, &err) < 0 &&
		      strstr(err.text, "too long"));
	launcher_free(launcher);
	CHECK("it ends when it is freed", waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	snprintf(wanted, sizeof wanted, "there %d", getpid());
	CHECK("without a launcher the process is an ordinary child",
	      ask(NULL, "there", text, sizeof text) == 7 &&
		      strncmp(text, wanted, strlen(wanted)) == 0);
}

/* ---- handing over ---- */

static int connect_to(const char *folder)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	AUTO_FD fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%.90s/socket", folder);
	return fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0
		       ? -1
		       : fd_steal(&fd);
}

static bool same_file(int one, int other)
{
	struct stat a;
	struct stat b;

	return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* Receives every descriptor, and compares it with the one that was given. */
static bool receives(int socket, const int given[WIRE_FD_END])
{
	bool same = true;

	for (int i = 0; i < WIRE_FD_END; i++) {
		int fds[FD_PASSED];
		int place = -1;

		same = same && fd_receive(socket, &place, sizeof place, fds) == 1 && place == i &&
		       same_file(fds[0], given[i]);
		fd_close(&fds[0]);
	}
	return same;
}

static void handing_over(void)
{
	char folder[UNIT_PATH];
	int given[WIRE_FD_END];
	struct error err;
	AUTO_FD opened = -1;
	AUTO_FD listener = -1;
	AUTO_FD init = -1;
	AUTO_FD process = -1;

	unit_temp(folder);
	opened = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	listener = handover_listen(opened, &err);
	CHECK("a folder gets a socket", listener >= 0);
	CHECK("it gets only one", handover_listen(opened, &err) < 0);
	for (int i = 0; i < WIRE_FD_END; i++)
		given[i] = i % 2 ? listener : opened;
	CHECK("nobody has connected yet", handover_give(listener, given, &process, &err) < 0);
	init = connect_to(folder);
	CHECK("the process that connects is known",
	      init >= 0 && handover_give(listener, given, &process, &err) == getpid() &&
		      process >= 0);
	CHECK("it receives each descriptor, in their order", receives(init, given));
	fd_close(&init);
	fd_close(&process);
	init = connect_to(folder);
	fd_close(&init);
	CHECK("one that is gone receives nothing",
	      handover_give(listener, given, &process, &err) < 0 && process < 0);
}

int main(void)
{
	launchers();
	handing_over();
	return unit_failures > 0;
}
