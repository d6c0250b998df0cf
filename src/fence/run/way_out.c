/* The way out of a fence: see way_out.h. */
#include "fence/run/way_out.h"

#include "fence/watch/resource_use.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Points clients at the models, and gives them their token. An agent that reads other variables has
 * a start script that sets them from RINGFENCE_MODELS. */
static void point_at_models(const struct fence_spec *spec, struct list *environment)
{
	list_printf(environment, "RINGFENCE_MODELS=http://127.0.0.1:%d", OUTLET_PORT);
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		const struct provider *provider = provider_at(i);

		if (!spec->models.upstreams[i].set)
			continue;
		list_printf(environment, "%s=http://127.0.0.1:%d%s", provider->base_variable,
			    OUTLET_PORT, provider->base_path);
		list_printf(environment, "%s=%s", provider->keys[0],
			    spec->outlet ? spec->outlet->token : "");
	}
}

void way_out_environment(const struct fence_plan *plan, struct list *environment)
{
	/* Both cases, because tools differ. ALL_PROXY is not a SOCKS address, because clients
	 * without SOCKS support refuse to start with one. No password, except on the host's
	 * loopback: the fence's own network needs none, and the token that pays for models is only
	 * for clients of models. */
	static const char *const proxies[] = {
		"HTTP_PROXY", "http_proxy",       "HTTPS_PROXY",      "https_proxy",
		"ALL_PROXY",  "all_proxy",        "npm_config_proxy", "npm_config_https_proxy",
		"PIP_PROXY",  "CARGO_HTTP_PROXY",
	};
	static const char *const direct[] = { "NO_PROXY", "no_proxy", "npm_config_noproxy" };
	const struct fence_spec *spec = plan->spec;
	AUTO_FREE char *user = plan->own && spec->outlet
				       ? mem_format("ringfence:%s@", spec->outlet->token)
				       : mem_dup("");

	if (spec->net != FENCE_NET_LIST)
		return;
	for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++)
		list_printf(environment, "%s=http://%s127.0.0.1:%d", proxies[i], user, OUTLET_PORT);
	for (size_t i = 0; i < sizeof direct / sizeof *direct; i++)
		list_printf(environment, "%s=localhost,127.0.0.1,::1", direct[i]);
	list_add(environment, "NODE_USE_ENV_PROXY=1");
	if (model_access_is_set(&spec->models))
		point_at_models(spec, environment);
}

int way_out_start(const struct fence_plan *plan, struct list *warnings, struct error *err)
{
	const struct fence_spec *spec = plan->spec;
	__attribute__((cleanup(list_release))) struct list rules = { 0 };

	if (spec->net != FENCE_NET_LIST)
		return 0;
	if (!spec->outlet)
		return error_set(err, "net: list needs a gateway, and none is configured");
	for (size_t i = 0; i < spec->allow.count; i++)
		list_add(&rules, spec->allow.items[i].path);
	if (spec->outlet->start(spec->outlet, &rules, &spec->net_caps, plan->identity.uid,
				plan->identity.gid, err) < 0)
		return -1;
	if (spec->outlet->warning[0])
		list_add(warnings, spec->outlet->warning);
	return 0;
}

int way_out_serve(const struct fence_plan *plan, int listener, struct error *err)
{
	struct outlet *outlet = plan->spec->outlet;

	return outlet->serve(outlet, listener, err);
}

int way_out_fd(const struct fence_plan *plan)
{
	const struct outlet *outlet = plan->spec->outlet;

	return plan->spec->net == FENCE_NET_LIST && outlet ? outlet->fd(outlet) : -1;
}

/*
 * Finding a client costs time of the process that keeps the run's deadlines, and processes inside
 * control how much there is to search. The search is therefore bounded, and a client that is not
 * found in time is unknown. The bound is CPU time, so that a busy machine finds as much as an idle
 * one.
 */
enum { MOST_PROCESSES = 256, LOOK_US = 20000, LOOK_US_PER_SECOND = 100000 };

static uint64_t cpu_used_us(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000 + (uint64_t)used.tv_nsec / 1000;
}

static bool holds_socket(pid_t pid, const char *socket, uint64_t until_us)
{
	char path[64];
	char target[64];
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	folder = opendir(path);
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
		ssize_t n = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);

		target[n > 0 ? n : 0] = '\0';
		found = strcmp(target, socket) == 0;
		if (cpu_used_us() > until_us)
			break;
	}
	if (folder)
		closedir(folder);
	return found;
}

/* Finds the inode of the client's socket in the socket table that all processes inside share; 0 if
 * not found. Some processes do not expose the table: init, and any that made itself undumpable. */
static uint64_t find_socket(const pid_t *inside, size_t count, unsigned int port,
			    unsigned int outlet)
{
	for (size_t i = 0; i < count; i++) {
		AUTO_BUFFER struct buffer text = BUFFER_INIT(4 << 20);
		char path[64];

		snprintf(path, sizeof path, "/proc/%d/net/tcp", inside[i]);

		AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd >= 0 && fd_read_all(fd, &text) == 0 && text.used)
			return verdict_socket(buffer_text(&text), port, outlet);
	}
	return 0;
}

/* Finds the process that holds the client's end of a connection; 0 if none is found. */
static pid_t find_holder(pid_t first, const struct sockaddr_storage *client, unsigned int outlet,
			 uint64_t until_us)
{
	const struct sockaddr_in *address = (const struct sockaddr_in *)client;
	AUTO_FREE pid_t *inside = NULL;
	size_t count = resource_use_processes(first, MOST_PROCESSES, &inside);
	uint64_t inode = client->ss_family == AF_INET
				 ? find_socket(inside, count, ntohs(address->sin_port), outlet)
				 : 0;
	char name[64];

	snprintf(name, sizeof name, "socket:[%llu]", (unsigned long long)inode);
	for (size_t i = 0; i < count && inode && cpu_used_us() <= until_us; i++)
		if (holds_socket(inside[i], name, until_us))
			return inside[i];
	return 0;
}

/* Like find_holder(), within the CPU budget per second. */
static pid_t find_in_time(struct way_out *way_out, pid_t first,
			  const struct sockaddr_storage *client, unsigned int outlet)
{
	uint64_t now_ms = clock_steady_ms();
	uint64_t began_us = cpu_used_us();
	pid_t found;

	if (now_ms - way_out->second_ms >= 1000) {
		way_out->second_ms = now_ms;
		way_out->spent_us = 0;
	}
	if (way_out->spent_us >= LOOK_US_PER_SECOND)
		return 0;
	found = find_holder(first, client, outlet, began_us + LOOK_US);
	way_out->spent_us += cpu_used_us() - began_us;
	return found;
}

size_t way_out_receive(struct way_out *way_out, const struct fence_plan *plan, pid_t first,
		       struct denial_log *denials, struct list *warnings)
{
	enum { MOST_AT_ONCE = 16, MOST_WARNINGS = 32 };
	struct outlet *outlet = plan->spec->outlet;
	unsigned int port = denials->performer.port ? denials->performer.port : OUTLET_PORT;
	size_t taken = 0;

	for (; taken < MOST_AT_ONCE; taken++) {
		struct outlet_refusal refusal;
		struct error err;
		int got = outlet->take(outlet, &refusal, &err);
		pid_t who;

		if (got < 0 && warnings->count < MOST_WARNINGS)
			list_add(warnings, err.text);
		if (got <= 0)
			break;
		who = first > 0 ? find_in_time(way_out, first, &refusal.client, port) : 0;
		denial_add(denials, who, refusal.target, refusal.reason);
		outlet->answer(outlet, refusal.id);
	}
	way_out->received += taken;
	return taken;
}

void way_out_stop(struct way_out *way_out, const struct fence_plan *plan,
		  struct denial_log *denials, struct fence_result *result)
{
	enum { MOST_LEFT = 64 }; /* batches in flight when the command ended */
	struct outlet *outlet = plan->spec->outlet;
	uint64_t refusals = 0;

	if (plan->spec->net != FENCE_NET_LIST || !outlet)
		return;
	for (int i = 0; i < MOST_LEFT && outlet->fd(outlet) >= 0; i++)
		if (!way_out_receive(way_out, plan, 0, denials, &result->warnings))
			break;
	result->hosts = mem_zero(OUTLET_HOSTS * sizeof *result->hosts);
	result->host_count = outlet->stop(outlet, result->hosts, OUTLET_HOSTS);
	for (size_t i = 0; i < result->host_count; i++)
		refusals += result->hosts[i].refusals;
	if (refusals > way_out->received) /* too many per second to be reported one by one */
		denials->list->unlisted += refusals - way_out->received;
}
