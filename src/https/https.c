/* The client of ringfence-https. */
#include "https/https.h"

#include "https/https_wire.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEPT = 3 };

static const char *first_set(const char *const *names)
{
	for (; *names; names++)
		if (env_has(*names))
			return env_get(*names);
	return NULL;
}

/* Adds what the environment says to a request, as curl would read it. */
static struct https_wire_order order_of(const struct https_request *request)
{
	static const char *const proxies[] = { "https_proxy", "HTTPS_PROXY", "all_proxy",
					       "ALL_PROXY", NULL };
	static const char *const exceptions[] = { "no_proxy", "NO_PROXY", NULL };
	static const char *const bundles[] = { "SSL_CERT_FILE", NULL };

	return (struct https_wire_order){
		.request = *request,
		.proxy = first_set(proxies),
		.no_proxy = first_set(exceptions),
		.ca_bundle = first_set(bundles),
	};
}

struct child {
	const char *program;
	int order, answer;
	pid_t parent;
};

/* Runs in the child, which shares the parent's memory until it calls execve(). The environment is
 * empty, because libcurl and OpenSSL obey variables that are not in the order. */
static int exec_child(void *argument)
{
	const struct child *child = argument;
	const int wanted[KEPT] = { child->order, child->answer, FD_NULL };
	char name[] = "ringfence-https";
	char *const arguments[] = { name, NULL };
	char *const environment[] = { NULL };

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != child->parent)
		_exit(126);
	process_become(child->program, arguments, environment, wanted, KEPT);
	_exit(127);
}

/* The host of a URL for messages, without user, port and path. */
static void find_host(const char *url, char ret_host[static 256])
{
	const char *start = strstr(url, "://");
	const char *from = start ? start + 3 : url;
	size_t length = strcspn(from, "/?#");
	const char *at = memrchr(from, '@', length);
	AUTO_FREE char *host = NULL;

	if (at) {
		length -= (size_t)(at + 1 - from);
		from = at + 1;
	}
	host = mem_format("%.*s", (int)(length < 200 ? length : 200), from);
	host[strcspn(host, "\r\n")] = '\0';

	AUTO_FREE char *shown = text_escaped(host);

	snprintf(ret_host, 256, "%s", shown);
}

int https_start(const struct https_request *request, struct https_job *ret_job, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(HTTPS_WIRE_MOST);
	AUTO_FREE char *program = NULL;
	struct https_wire_order order = order_of(request);
	AUTO_FD message = -1;
	int ends[2];

	if (https_wire_write_order(&bytes, &order, err) < 0 ||
	    process_beside("ringfence-https", &program, err) < 0)
		return -1;
	message = fd_memory("request", bytes.data, bytes.used);
	explicit_bzero(bytes.data, bytes.used);
	if (message < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "send an HTTP request");

	struct child child = { program, message, ends[1], getpid() };
	pid_t pid = process_borrow(exec_child, &child, 0);

	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return error_sys(err, "start '%s'", program);
	}
	*ret_job = (struct https_job){ .pid = pid, .answer = ends[0] };
	find_host(request->url, ret_job->host);
	return 0;
}

static const char *describe_exit(int status)
{
	if (WIFSIGNALED(status))
		return strsignal(WTERMSIG(status));
	return "it did not start, or exited without an answer";
}

int https_end(struct https_job *job, struct https_response *ret, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(HTTPS_WIRE_MOST);
	struct error failure;
	int status = 0;

	if (fd_read_all(job->answer, &bytes) < 0)
		bytes.used = 0;
	fd_close(&job->answer);
	while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
		;
	job->pid = 0;
	if (bytes.used == 0)
		return error_with(err, ERROR_DIED, "%s: ringfence-https: %s", job->host,
				  describe_exit(status));
	if (https_wire_read_response(bytes.data, bytes.used, ret, &failure) < 0)
		return error_with(err, failure.status, "%s: %s", job->host, failure.text);
	return 0;
}

int https_send(const struct https_request *request, struct https_response *ret, struct error *err)
{
	struct https_job job;

	return https_start(request, &job, err) < 0 ? -1 : https_end(&job, ret, err);
}

void https_cancel(struct https_job *job)
{
	if (job->pid) {
		kill(job->pid, SIGKILL);
		waitpid(job->pid, NULL, 0);
	}
	fd_close(&job->answer);
	*job = HTTPS_JOB_INIT;
}

const char *https_header(const struct https_response *response, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < response->headers.count; i++) {
		const char *header = response->headers.items[i];

		if (strncmp(header, name, length) == 0 && header[length] == ':')
			return header + length + 1 + strspn(header + length + 1, " ");
	}
	return NULL;
}
