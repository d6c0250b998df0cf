/*
 * Linked into every program of a sanitized build except ringfence-init, which is static.
 *
 * The gateway has neither an environment nor a standard error, and no file can be opened once it is
 * confined. So the options are compiled in, and the file for reports is opened before main(): it is
 * called sanitizer.log and lies beside the program. Without that file, reports go to standard
 * error.
 */
#include <fcntl.h>
#include <limits.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* High enough to be in nobody's way: the programs place descriptors by number. */
enum { REPORT_FD = 200 };

const char *__asan_default_options(void);
int munmap(void *start, size_t length);
const char *__ubsan_default_options(void);

/* Looking for leaks needs ptrace(), which no confined program may use. */
const char *__asan_default_options(void)
{
	return "detect_leaks=0:abort_on_error=0:exitcode=86:allocator_may_return_null=1";
}

const char *__ubsan_default_options(void)
{
	return "print_stacktrace=1:exitcode=86";
}

/* A child that shared our memory left marks on its stack, which would stick to what is mapped there
 * next (process_borrow()). ASan itself removes none: the child ended by exec. */
int munmap(void *start, size_t length)
{
	__asan_unpoison_memory_region(start, length);
	return (int)syscall(SYS_munmap, start, length);
}

__attribute__((constructor)) static void open_report(void)
{
	char path[PATH_MAX + sizeof "/sanitizer.log"];
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);

	if (length <= 0)
		return;
	path[length] = '\0';

	char *slash = strrchr(path, '/');

	if (!slash)
		return;
	strcpy(slash, "/sanitizer.log");

	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, REPORT_FD);

	if (fd >= 0)
		close(fd);
	if (high >= 0)
		__sanitizer_set_report_fd((void *)(intptr_t)high);
}
