/* The confinement of ringfence-snapshot. */
#include "unit.h"

#include "snapshot/base/snapshot_confine.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[64];

static bool can_write(const char *folder)
{
	char path[256];
	AUTO_FD fd = -1;

	snprintf(path, sizeof path, "%s/%s/file", top, folder);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd >= 0;
}

static bool can_start(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		execl("/bin/true", "true", NULL);
		_exit(errno == EACCES ? 13 : 1);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Confinement cannot be undone, so each attempt runs in its own process. */
static bool in_child(bool (*try)(void))
{
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(try() ? 0 : 1);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int confine(void)
{
	static char place[80];
	const char *const places[] = { place, NULL };
	struct error err;

	snprintf(place, sizeof place, "%s/inside", top);
	return snapshot_confine_writes(places, &err);
}

static bool writes_inside(void)
{
	return confine() == 0 && can_write("inside");
}

static bool writes_nowhere_else(void)
{
	return confine() == 0 && !can_write("outside");
}

static bool starts_nothing(void)
{
	return confine() == 0 && !can_start();
}

static bool refuses_what_is_missing(void)
{
	const char *const places[] = { "/nowhere/at/all", NULL };
	struct error err;

	return snapshot_confine_writes(places, &err) < 0 && strstr(err.text, "/nowhere/at/all");
}

static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) >= 2;
}

int main(void)
{
	AUTO_FD tmp = open(unit_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[128];

	snprintf(top, sizeof top, "%s/top", unit_folder);
	dirwalk_remove(tmp, "top", NULL);
	mkdir(top, 0700);
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", top, i ? "outside" : "inside");
		mkdir(path, 0700);
	}
	CHECK("as a control, without confinement both folders can be written, and programs start",
	      can_write("inside") && can_write("outside") && can_start());
	CHECK("the allowed folder can be written", in_child(writes_inside));
	if (has_landlock()) {
		CHECK("nothing else can be written", in_child(writes_nowhere_else));
		CHECK("no program can be started", in_child(starts_nothing));
		CHECK("a missing folder is an error", in_child(refuses_what_is_missing));
	} else {
		puts("ok - nothing else can be written # skip: the kernel has no Landlock");
	}
	dirwalk_remove(tmp, "top", NULL);
	return unit_failures ? 1 : 0;
}
