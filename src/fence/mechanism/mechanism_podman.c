/*
 * The Podman mechanism, with or without root: see container.h.
 *
 * Files keep their owners: a user has the same uid inside (keep-id), and root gives the container a
 * user namespace of its own that maps every uid to itself.
 */
#include "fence/mechanism/container.h"
#include "util/mem.h"

#include <linux/magic.h>
#include <stdlib.h>
#include <sys/statfs.h>
#include <unistd.h>

int mechanism_podman_detect(struct error *err)
{
	return container_detect(CONTAINER_ENGINE_PODMAN, err);
}

int mechanism_podman_plan(struct fence_plan *plan, struct error *err)
{
	return container_plan(CONTAINER_ENGINE_PODMAN, plan, err);
}

/* crun refuses to work beside control groups of version 1 that have an empty tree of version 2. */
static bool has_hybrid_groups(void)
{
	struct statfs status;

	return statfs("/sys/fs/cgroup/unified", &status) == 0 &&
	       status.f_type == CGROUP2_SUPER_MAGIC;
}

/* crun starts faster than runc, and can leave the control groups to us. */
static void add_runtime(struct list *words)
{
	if (has_hybrid_groups()) {
		list_add(words, "--runtime=runc");
	} else if (access("/usr/bin/crun", X_OK) == 0) {
		list_add(words, "--runtime=/usr/bin/crun");
		list_add(words, "--cgroups=disabled");
	}
}

static int add_options(const struct mechanism_start *start, struct list *words, struct error *err)
{
	static const char *const always[] = {
		"--pid=private",   "--uts=private",           "--no-hosts",
		"--systemd=false", "--read-only-tmpfs=false", "--passwd=false"
	};
	const char *image = start->plan->spec->image;
	AUTO_FREE char *root = image ? NULL : container_root(start->plan, err);

	if (!image && !root)
		return -1;
	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		list_add(words, always[i]);
	if (start->plan->identity.mapped) {
		list_add(words, "--uidmap=0:0:65536");
		list_add(words, "--gidmap=0:0:65536");
	} else {
		list_add(words, "--userns=keep-id");
	}
	add_runtime(words);
	if (!image)
		list_add(words, "--rootfs");
	list_add(words, image ? image : root);
	return 0;
}

int mechanism_podman_start(struct mechanism_start *start, struct error *err)
{
	return container_start(CONTAINER_ENGINE_PODMAN, add_options, start, err);
}

int mechanism_podman_mount(struct mechanism_start *start, struct tree *tree, struct error *err)
{
	return container_mount(start, tree, err);
}

void mechanism_podman_classify(const char *complaints, int status, struct error *err)
{
	container_classify(CONTAINER_ENGINE_PODMAN, complaints, status, err);
}

void mechanism_podman_end(struct mechanism_start *start, const int *status)
{
	container_end(start, status);
}
