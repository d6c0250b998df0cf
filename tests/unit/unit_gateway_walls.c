/* The gateway's sandbox, by its effects: each act succeeds without it and fails inside. */
#include "unit.h"

#include "gateway/gateway_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int act_fn(void); /* 0, or the errno */

static int result_of(long result)
{
	return result < 0 ? errno : 0;
}

static int read_hosts(void)
{
	return result_of(open("/etc/hosts", O_RDONLY | O_CLOEXEC));
}

static int read_passwd(void)
{
	return result_of(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static int write_null(void)
{
	return result_of(open("/dev/null", O_WRONLY | O_CLOEXEC));
}

static int make_file(void)
{
	return result_of(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

static int internet_socket(void)
{
	return result_of(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

static int unix_socket(void)
{
	return result_of(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int netlink_socket(void)
{
	return result_of(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0));
}

static int listening(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : result_of(bind(fd, (const struct sockaddr *)&any, sizeof any));
}

static int executable_memory(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? errno : 0;
}

static int signal_parent(void)
{
	return result_of(kill(getppid(), 0));
}

static int start_program(void)
{
	char name[] = "true";
	char *const arguments[] = { name, NULL };

	execv("/bin/true", arguments);
	return errno;
}

static int start_process(void)
{
	pid_t child = (pid_t)syscall(SYS_clone, (long)SIGCHLD, NULL, NULL, NULL, 0L);

	if (child == 0)
		syscall(SYS_exit_group, 0);
	return result_of(child);
}

static int more_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return errno;
	return result_of(setrlimit(RLIMIT_NOFILE, &limit));
}

static int trace(void)
{
	return result_of(syscall(SYS_ptrace, 0L, 0L, 0L, 0L));
}

static int change_directory(void)
{
	return result_of(chdir("/"));
}

/* Skips the sanitizers' exit handlers, which the filter would refuse. */
static void end(int status)
{
	syscall(SYS_exit_group, status);
}

/* Returns the exit status of the act in its own process; -1: killed by the filter; -2: no
 * sandbox. */
static int outcome(act_fn *act, bool confined)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		AUTO_BUFFER struct buffer warnings = BUFFER_INIT(1000);
		struct error err;

		if (confined && gateway_confine(65534, 65534, &warnings, &err) < 0)
			end(254);
		end(act());
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? -1 : -3;
	return WEXITSTATUS(status) == 254 ? -2 : WEXITSTATUS(status);
}

enum { KILLED = -1 };

int main(void)
{
	static const struct {
		const char *sentence;
		act_fn *act;
		int expected;
	} walls[] = {
		{ "control: it reads the resolver's files", read_hosts, 0 },
		{ "it reads no other file", read_passwd, EACCES },
		{ "it opens nothing for writing", write_null, EPERM },
		{ "it creates no file", make_file, EPERM },
		{ "control: it creates internet sockets", internet_socket, 0 },
		{ "it creates no unix socket", unix_socket, EPERM },
		{ "it makes no other request to the kernel", netlink_socket, EPERM },
		{ "it listens nowhere", listening, EPERM },
		{ "it makes no memory executable", executable_memory, EPERM },
		{ "it signals nobody", signal_parent, EPERM },
		{ "it changes no limit", more_files, EPERM },
		{ "it goes nowhere in the file system", change_directory, EPERM },
		{ "it is killed if it executes a program", start_program, KILLED },
		{ "it is killed if it starts a process", start_process, KILLED },
		{ "it is killed if it traces", trace, KILLED },
	};

	for (size_t i = 0; i < sizeof walls / sizeof *walls; i++) {
		int without = outcome(walls[i].act, false);
		int behind = outcome(walls[i].act, true);

		if (without != 0 || behind != walls[i].expected)
			printf("# %s: %d without the sandbox, %d inside\n", walls[i].sentence,
			       without, behind);
		CHECK(walls[i].sentence, without == 0 && behind == walls[i].expected);
	}
	return unit_failures > 0;
}
