/* Small helpers of util: descriptors, Base64, comparing secrets. */
#include "unit.h"

#include "util/base64.h"
#include "util/consttime.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool encodes(const char *bytes, const char *expected)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(100);

	base64_add(&out, bytes, strlen(bytes));
	return strcmp(buffer_text(&out), expected) == 0;
}

static void base64(void)
{
	CHECK("base64 encodes the examples of RFC 4648",
	      encodes("", "") && encodes("f", "Zg==") && encodes("fo", "Zm8=") &&
		      encodes("foo", "Zm9v") && encodes("foob", "Zm9vYg==") &&
		      encodes("fooba", "Zm9vYmE=") && encodes("foobar", "Zm9vYmFy"));
	CHECK("base64 takes bytes above 127", encodes("\xff\xfe\xfb", "//77"));
}

static void secrets(void)
{
	CHECK("a secret equals itself", consttime_equal("abcd", 3, "abc"));
	CHECK("a secret differs in any byte",
	      !consttime_equal("xbc", 3, "abc") && !consttime_equal("abx", 3, "abc"));
	CHECK("a secret differs in length",
	      !consttime_equal("ab", 2, "abc") && !consttime_equal("abcd", 4, "abc"));
	CHECK("an empty secret equals an empty one", consttime_equal("", 0, ""));
}

static int opened(int folder, const char *path, uint64_t resolve)
{
	AUTO_FD fd = fd_openat2(folder, path, O_PATH, 0, resolve);

	return fd < 0 ? errno : fcntl(fd, F_GETFD) == FD_CLOEXEC ? 0 : -1;
}

static void opening(void)
{
	char place[] = "/tmp/ringfence-unit-XXXXXX";
	AUTO_FD folder = mkdtemp(place) ? open(place, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	mkdirat(folder, "real", 0700);
	symlinkat("real", folder, "link");
	CHECK("openat2 opens what is there, close-on-exec",
	      opened(folder, "real", RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH) == 0);
	CHECK("openat2 refuses a symlink", opened(folder, "link/.", RESOLVE_NO_SYMLINKS) == ELOOP);
	CHECK("openat2 follows a symlink where it may", opened(folder, "link/.", 0) == 0);
	CHECK("openat2 refuses a way out", opened(folder, "..", RESOLVE_BENEATH) == EXDEV);
	unlinkat(folder, "link", 0);
	unlinkat(folder, "real", AT_REMOVEDIR);
	rmdir(place);
}

static bool is_same(int fd, const struct stat *expected)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_dev == expected->st_dev &&
	       status.st_ino == expected->st_ino && fcntl(fd, F_GETFD) == 0;
}

/* Two files at each other's place, one closed place, /dev/null, one that stays. */
static int place_crosswise(void)
{
	struct stat files[2];
	struct stat null;
	const int wanted[] = { 1, 0, FD_NULL, 1, FD_UNTOUCHED };

	for (int i = 0; i < 2; i++) {
		AUTO_FD file = fd_memory("file", "x", 1);

		if (fstat(file, &files[i]) < 0 || dup2(file, i) < 0)
			return 1;
	}
	close(3);
	close(4);
	if (fd_place(wanted, 5) < 0)
		return 2;
	if (!is_same(0, &files[1]) || !is_same(1, &files[0]) || !is_same(3, &files[1]))
		return 3;
	if (stat("/dev/null", &null) < 0 || !is_same(2, &null))
		return 4;
	if (fcntl(4, F_GETFD) >= 0 || fcntl(5, F_GETFD) >= 0)
		return 5; /* something was left behind */
	return fd_place((const int[]){ 0, 77 }, 2) < 0 && errno == EBADF ? 0 : 6;
}

static void placing(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		closefrom(3);
		_exit(place_crosswise());
	}
	waitpid(child, &status, 0);
	CHECK("descriptors are placed whatever their numbers were", status == 0);
	CHECK("more places than there can be are refused",
	      fd_place((const int[FD_PLACES + 1]){ 0 }, FD_PLACES + 1) < 0 && errno == EINVAL);
}

int main(void)
{
	base64();
	secrets();
	opening();
	placing();
	return unit_failures > 0;
}
