/*
 * Performs acts for a command that shares the host's namespaces, where Landlock has no rights or
 * cannot have them: connections, modes and times of files, and entries of folders that are split
 * (tree/grant.h).
 *
 * A process can change the memory that its arguments are in while it waits. So nothing that is
 * judged here by such an argument is left to the kernel: it is refused, or done by this process,
 * on descriptors that it has judged. What Landlock allows goes on, because Landlock judges it
 * again.
 */
#ifndef FENCE_WATCH_PERFORM_H
#define FENCE_WATCH_PERFORM_H

#include "fence/fence_plan.h"
#include "fence/tree/grant.h"

#include <limits.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { PERFORM_HELPERS = 64, PERFORM_SERVERS = 256 };

struct perform_context {
	const struct fence_plan *plan;
	const struct grant_list *grants;
	int listener;      /* of the call that is answered */
	unsigned int port; /* of the gateway on the host's loopback; 0: none */
	/* Listening TCP sockets of the command, by inode: the latest ones. */
	uint64_t servers[PERFORM_SERVERS];
	size_t server_count;            /* ever */
	pid_t helpers[PERFORM_HELPERS]; /* for acts that may have to wait; 0: none */
};

/* Remembers the port of the gateway's listening socket. Inside, its port is OUTLET_PORT. */
void perform_serve(struct perform_context *performer, int listener);

/* Answers a call, or has a helper answer it. */
void perform(struct perform_context *performer, int listener, const struct seccomp_notif *call);

/* Reports whether a connection to this address would be made: to the gateway, or to a server of the
 * command itself. */
bool perform_reaches(const struct perform_context *performer, const struct sockaddr *address,
		     size_t size);

/* Ends the helpers. */
void perform_end(struct perform_context *performer);

/*
 * For the parts of this module.
 */

/* An answer to a call: continue, wait for a helper that answers, or the result. */
struct perform_answer {
	enum { PERFORM_CONTINUE, PERFORM_RESULT, PERFORM_IN_HELPER } kind;
	int error;          /* an errno, or 0 */
	int fd;             /* with PERFORM_RESULT: the result is this descriptor, or -1 */
	bool close_on_exec; /* it, inside */
};

/* An answer without a descriptor; the result of a call is an errno, or 0. */
#define PERFORM_ANSWER(how) ((struct perform_answer){ .kind = (how), .fd = -1 })
#define PERFORM_ERRNO(number) \
	((struct perform_answer){ .kind = PERFORM_RESULT, .error = (number), .fd = -1 })

/* The process that makes a call. */
struct perform_caller {
	pid_t thread;
	pid_t process;
	mode_t umask;
};

/* Reports whether the caller still waits. If so, its number is not another process's yet. */
bool perform_is_waiting(const struct perform_context *performer, const struct seccomp_notif *call);

int perform_find_caller(pid_t thread, struct perform_caller *ret_caller);

/* Writes a path as this process can open it: the working directory, descriptors and /proc/self are
 * those of the caller. Returns 0, or an errno. */
int perform_locate(const struct perform_caller *caller, int folder, const char *given,
		   char ret_text[PATH_MAX]);

/* Reads a path from the memory of the caller, and locates it. Returns 0, or an errno. */
int perform_read_path(const struct perform_caller *caller, int folder, uint64_t address,
		      char ret_text[PATH_MAX]);

/* Copies memory of the caller. Returns the number of bytes. */
size_t perform_copy(const struct perform_caller *caller, uint64_t address, void *bytes,
		    size_t size);

/* Reads the real path of an open file. Returns false if it has none. */
bool perform_real_path(int fd, char ret_path[PATH_MAX]);

/* Binds a copy of a unix socket of the caller where Landlock has no grant and the plan allows it;
 * otherwise, Landlock decides. */
struct perform_answer perform_bind_path(const struct perform_context *performer,
					const struct perform_caller *caller, int socket,
					const char *path);

struct perform_answer perform_connect(const struct perform_context *performer,
				      const struct seccomp_notif *call);
struct perform_answer perform_bind(const struct perform_context *performer,
				   const struct seccomp_notif *call);
struct perform_answer perform_listen(struct perform_context *performer,
				     const struct seccomp_notif *call);
/* Acts on paths, modes and times. PERFORM_IN_HELPER: it has to be called again, in a helper. */
struct perform_answer perform_path(const struct perform_context *performer,
				   const struct seccomp_notif *call, bool in_helper);

#endif
