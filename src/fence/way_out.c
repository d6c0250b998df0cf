/* The way out of a fence: see way_out.h. */
#include "fence/way_out.h"

#include "fence/usage.h"
#include "util/buffer.h"
#include "util/fd.h"
#include "util/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void way_out_environment(const struct fence_spec *spec, struct list *environment)
{
	/* Both cases, because tools differ; ALL_PROXY is no SOCKS address, because clients without SOCKS
	 * refuse to start at the sight of one. */
	static const char *const proxies[] = {
		"HTTP_PROXY", "http_proxy",       "HTTPS_PROXY",      "https_proxy",
		"ALL_PROXY",  "all_proxy",        "npm_config_proxy", "npm_config_https_proxy",
		"PIP_PROXY",  "CARGO_HTTP_PROXY",
	};
	static const char *const direct[] = { "NO_PROXY", "no_proxy", "npm_config_noproxy" };

	if (spec->net != FENCE_NET_LIST)
		return;
	for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++)
		list_printf(environment, "%s=http://ringfence:%s@127.0.0.1:%d", proxies[i],
			    spec->outlet ? spec->outlet->token : "", OUTLET_PORT);
	for (size_t i = 0; i < sizeof direct / sizeof *direct; i++)
		list_printf(environment, "%s=localhost,127.0.0.1,::1", direct[i]);
	list_add(environment, "NODE_USE_ENV_PROXY=1");
}

int way_out_start(const struct fence_plan *plan, struct list *warnings, struct error *err)
{
	const struct fence_spec *spec = plan->spec;
	__attribute__((cleanup(list_release))) struct list rules = { 0 };

	if (spec->net != FENCE_NET_LIST)
		return 0;
	if (!spec->outlet)
		return error_set(err, "net: list needs somebody who serves it, and nobody does");
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

static bool holds(pid_t pid, const char *socket)
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
	}
	if (folder)
		closedir(folder);
	return found;
}

/* The inode of the client's socket, from the table of sockets of a process inside; 0: not found. */
static uint64_t socket_of(pid_t pid, unsigned int port)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4 << 20);
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/net/tcp", pid);

	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fd_read_all(fd, &text) < 0)
		return 0;
	return verdict_socket(buffer_text(&text), port, OUTLET_PORT);
}

/* Who has the other end of a connection? 0: nobody is found. */
static pid_t find_holder(pid_t first, const struct sockaddr_storage *client)
{
	const struct sockaddr_in *address = (const struct sockaddr_in *)client;
	AUTO_FREE pid_t *inside = NULL;
	size_t count = usage_processes(first, &inside);
	uint64_t inode = 0;
	char name[64];

	if (client->ss_family != AF_INET)
		return 0;
	/* Not all show it: init does not, nor does one that has made itself undumpable. */
	for (size_t i = 0; i < count && !inode; i++)
		inode = socket_of(inside[i], ntohs(address->sin_port));
	snprintf(name, sizeof name, "socket:[%llu]", (unsigned long long)inode);
	for (size_t i = 0; i < count && inode; i++)
		if (holds(inside[i], name))
			return inside[i];
	return 0;
}

void way_out_take(const struct fence_plan *plan, pid_t first, struct denials *denials,
		  struct list *warnings)
{
	enum { MOST_AT_ONCE = 16, MOST_WARNINGS = 32 };
	struct outlet *outlet = plan->spec->outlet;

	for (int i = 0; i < MOST_AT_ONCE; i++) {
		struct outlet_refusal refusal;
		struct error err;
		int got = outlet->take(outlet, &refusal, &err);

		if (got < 0 && warnings->count < MOST_WARNINGS)
			list_add(warnings, err.text);
		if (got <= 0)
			return;
		denials_add(denials, find_holder(first, &refusal.client), refusal.target,
			    refusal.reason);
		outlet->answer(outlet, refusal.id);
	}
}

void way_out_stop(const struct fence_plan *plan, struct fence_result *result)
{
	struct outlet *outlet = plan->spec->outlet;

	if (plan->spec->net != FENCE_NET_LIST || !outlet)
		return;
	result->hosts = mem_zero(OUTLET_HOSTS * sizeof *result->hosts);
	result->host_count = outlet->stop(outlet, result->hosts, OUTLET_HOSTS);
}
