/*
 * The Docker mechanism: see container.h.
 *
 * Docker gives a container no user namespace of its own, which reports call weaker. Its processes
 * have no capability and not the uid of root.
 */
#include "fence/mechanism/container.h"
#include "util/process.h"

/* An image with nothing in it, for runs without an image. */
#define EMPTY_IMAGE "ringfence-empty:1"

enum { DOCKER_MS = 10000 };

int mechanism_docker_detect(struct error *err)
{
	return container_detect(CONTAINER_ENGINE_DOCKER, err);
}

int mechanism_docker_plan(struct fence_plan *plan, struct error *err)
{
	plan->weaker |= FENCE_WEAKER_USER_NAMESPACE;
	return container_plan(CONTAINER_ENGINE_DOCKER, plan, err);
}

/* Makes the empty image if the daemon does not have it. If that fails, so will the container, with
 * Docker's own message. */
static void make_image(const struct container_engine *engine)
{
	static const char end_of_archive[1024];
	const char *const inspect[] = { "docker", "image", "inspect", EMPTY_IMAGE, NULL };
	const char *const import[] = { "docker", "import", "-", EMPTY_IMAGE, NULL };

	if (process_feed(engine->program, (char *const *)inspect, engine->environment.items, "", 0,
			 DOCKER_MS) > 0)
		process_feed(engine->program, (char *const *)import, engine->environment.items,
			     end_of_archive, sizeof end_of_archive, DOCKER_MS);
}

static int add_options(const struct mechanism_start *start, struct list *words, struct error *err)
{
	const char *image = start->plan->spec->image;

	(void)err;
	if (!image)
		make_image(&start->container->engine);
	/* A daemon that maps all users to others would make the project nobody's. */
	list_add(words, "--userns=host");
	/* In a network of its own, Docker would let everybody send ICMP. */
	if (start->plan->spec->net != FENCE_NET_OPEN)
		list_add(words, "--sysctl=net.ipv4.ping_group_range=1 0");
	list_add(words, image ? image : EMPTY_IMAGE);
	return 0;
}

int mechanism_docker_start(struct mechanism_start *start, struct error *err)
{
	return container_start(CONTAINER_ENGINE_DOCKER, add_options, start, err);
}

int mechanism_docker_mount(struct mechanism_start *start, struct tree *tree, struct error *err)
{
	return container_mount(start, tree, err);
}

void mechanism_docker_classify(const char *complaints, int status, struct error *err)
{
	container_classify(CONTAINER_ENGINE_DOCKER, complaints, status, err);
}

void mechanism_docker_end(struct mechanism_start *start, const int *status)
{
	container_end(start, status);
}
