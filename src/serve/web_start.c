/* Starting the server: see web_start.h. */
#include "serve/web_start.h"

#include "serve/web_address.h"
#include "serve/web_handover.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/env.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/local_socket.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_S = 10, LINK_BYTES = 512 };

/* ---- the folder ---- */

/* Returns the folder of the server, which exists then, or NULL with err set. The caller frees. */
static char *find_folder(const char *state, int *ret_fd, struct error *err)
{
	char *folder = path_join(state, "serve");

	if (state_folder_make(folder, 0700) == 0)
		*ret_fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_fd >= 0)
		return folder;
	error_sys(err, "open '%s'", folder);
	free(folder);
	return NULL;
}

/* Reads the secret. Returns 0, or -1 with errno: EINVAL if it has been changed. */
static int read_secret(int folder, char ret_secret[WEB_KEYS_SECRET])
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(WEB_KEYS_SECRET);

	if (fd_read_file(folder, "key", &text) < 0)
		return -1;
	if (text.used == WEB_KEYS_SECRET && text.data[WEB_KEYS_SECRET - 1] == '\n')
		text.used--;
	if (!web_keys_is_secret(text.data, text.used)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(ret_secret, text.data, WEB_KEYS_SECRET - 1);
	ret_secret[WEB_KEYS_SECRET - 1] = '\0';
	explicit_bzero(text.data, text.used);
	return 0;
}

static int make_secret(int folder)
{
	char secret[WEB_KEYS_SECRET];
	int result;

	if (web_keys_make(secret) < 0)
		return -1;
	secret[WEB_KEYS_SECRET - 1] = '\n';
	result = durable_create(folder, "key", secret, sizeof secret, 0600);
	explicit_bzero(secret, sizeof secret);
	return result < 0 && errno != EEXIST ? -1 : 0;
}

static int find_secret(int folder, char ret_secret[WEB_KEYS_SECRET], struct error *err)
{
	int result = read_secret(folder, ret_secret);

	if (result < 0 && errno == ENOENT)
		result = make_secret(folder) < 0 ? -1 : read_secret(folder, ret_secret);
	if (result == 0)
		return 0;
	if (errno == EINVAL)
		return error_with(
			err, ERROR_INVALID,
			"the file serve/key in the state folder is damaged (remove it; all "
			"open pages must log in again)");
	return error_sys(err, "read the file serve/key in the state folder");
}

/* Returns a descriptor that holds the lock, or -1 with err set. */
static int take_lock(int folder, struct error *err)
{
	AUTO_FD lock = openat(folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (lock < 0)
		return error_sys(err, "open the lock of the server");
	if (flock(lock, LOCK_EX | LOCK_NB) < 0)
		return error_with(err, ERROR_EXISTS,
				  "a server is running already (ringfence serve --link prints a "
				  "link to it)");
	return fd_steal(&lock);
}

/* ---- the port ---- */

static int last_port(int folder)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(16);
	uint64_t port;

	if (fd_read_file(folder, "port", &text) < 0)
		return WEB_START_PORT;
	return text_count(buffer_text(&text), &port) == 0 && port < 65536 ? (int)port
									  : WEB_START_PORT;
}

static int listen_somewhere(const char *host, int folder, struct error *err)
{
	const int ports[] = { last_port(folder), WEB_START_PORT, 0 };
	int fd = -1;

	for (size_t i = 0; i < sizeof ports / sizeof *ports && fd < 0; i++) {
		fd = web_address_listen(host, (unsigned int)ports[i], err);
		if (fd < 0 && err->status != ERROR_BUSY)
			break;
	}
	return fd;
}

/* The last port is a convenience: without it, the usual one is tried. */
static void remember_port(int folder, unsigned int port)
{
	char text[16];
	int size = snprintf(text, sizeof text, "%u", port);

	if (fd_replace_file(folder, "port", text, (size_t)size, 0600) < 0)
		errno = 0;
}

static int open_listener(const struct web_start_request *request, int folder,
			 struct web_start *start, struct error *err)
{
	AUTO_FREE char *authority = NULL;
	unsigned int port;

	start->listener = request->port == WEB_START_ANY
				  ? listen_somewhere(request->host, folder, err)
				  : web_address_listen(request->host, (unsigned int)request->port,
						       err);
	if (start->listener < 0 || web_address_of(start->listener, &authority, &port, err) < 0)
		return -1;
	remember_port(folder, port);
	start->link = mem_format("http://%s/login?token=%s", authority, start->token);
	return 0;
}

/* ---- starting ---- */

static void release(struct web_start *start)
{
	fd_close(&start->listener);
	fd_close(&start->control);
	fd_close(&start->lock);
	free(start->link);
	explicit_bzero(start->secret, sizeof start->secret);
}

static int make_token(struct web_start *start, struct error *err)
{
	struct web_keys keys = { 0 };
	const char *token = web_keys_link(&keys, clock_wall_ms());

	if (!token)
		return error_sys(err, "make a link");
	snprintf(start->token, sizeof start->token, "%s", token);
	return 0;
}

int web_start_prepare(const struct web_start_request *request, struct web_start *ret_start,
		      struct error *err)
{
	struct web_start start = {
		.state = request->state, .listener = -1, .control = -1, .lock = -1
	};
	AUTO_FD fd = -1;
	AUTO_FREE char *folder = find_folder(request->state, &fd, err);

	if (folder && (start.lock = take_lock(fd, err)) >= 0 &&
	    find_secret(fd, start.secret, err) == 0 && make_token(&start, err) == 0 &&
	    open_listener(request, fd, &start, err) == 0)
		start.control = local_socket_listen(folder, "control", SOCK_STREAM, err);
	if (start.control < 0) {
		release(&start);
		return -1;
	}
	*ret_start = start;
	return 0;
}

static int hand_over(const struct web_start *start, const char *program, int secrets, int self,
		     struct error *err)
{
	const int wanted[WEB_HANDOVER_END] = { FD_UNTOUCHED, FD_UNTOUCHED,
					       FD_UNTOUCHED, start->listener,
					       secrets,      start->control,
					       self,         start->lock };
	char *const arguments[] = { (char *)"ringfence-serve", (char *)start->state, NULL };

	if (fd_place(wanted, WEB_HANDOVER_END) < 0)
		return error_sys(err, "hand over to ringfence-serve");
	execve(program, arguments, env_all());
	return error_sys(err, "start '%s'", program);
}

int web_start_run(struct web_start *start, struct error *err)
{
	struct web_handover secrets = { 0 };
	AUTO_FREE char *program = NULL;
	AUTO_FD self = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	AUTO_FD memory = -1;
	int result = -1;

	memcpy(secrets.secret, start->secret, sizeof secrets.secret);
	memcpy(secrets.token, start->token, sizeof secrets.token);
	if (self < 0)
		error_sys(err, "open /proc/self/exe");
	else if (process_beside("ringfence-serve", &program, err) == 0 &&
		 (memory = web_handover_write(&secrets, err)) >= 0)
		result = hand_over(start, program, memory, self, err);
	explicit_bzero(&secrets, sizeof secrets);
	release(start);
	return result;
}

/* ---- asking a running server ---- */

static bool is_running(const char *folder)
{
	AUTO_FREE char *path = path_join(folder, "lock");
	AUTO_FD lock = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) < 0;
}

int web_start_link(const char *state, char **ret_link, struct error *err)
{
	const struct timeval most = { .tv_sec = ANSWER_S };
	AUTO_FREE char *folder = path_join(state, "serve");
	char link[LINK_BYTES + 1];
	AUTO_FD fd = -1;
	ssize_t n;

	if (!is_running(folder))
		return error_with(err, ERROR_NOT_FOUND,
				  "no server is running (start one with ringfence serve)");
	fd = local_socket_connect(folder, "control", SOCK_STREAM, err);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) < 0)
		return error_sys(err, "ask the server for a link");
	n = recv(fd, link, LINK_BYTES, MSG_WAITALL);
	if (n <= 1)
		return error_with(err, ERROR_DIED,
				  "the server does not answer (stop it with "
				  "Ctrl-C, and start it again)");
	link[n] = '\0';
	link[strcspn(link, "\n")] = '\0';
	*ret_link = mem_dup(link);
	return 0;
}

int web_start_metrics(const char *state, char ret_token[WEB_KEYS_TOKEN], struct error *err)
{
	char secret[WEB_KEYS_SECRET];
	AUTO_FD fd = -1;
	AUTO_FREE char *folder = find_folder(state, &fd, err);

	if (!folder || find_secret(fd, secret, err) < 0)
		return -1;
	web_keys_metrics(secret, ret_token);
	explicit_bzero(secret, sizeof secret);
	return 0;
}
