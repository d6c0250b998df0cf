/* File descriptors that close themselves, and whole reads and writes. */
#ifndef UTIL_FD_H
#define UTIL_FD_H

#include "util/buffer.h"

#include <linux/openat2.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

void fd_close(int *fd);
int fd_steal(int *fd);

/* A descriptor that is closed when its scope ends; -1 is none. */
#define AUTO_FD __attribute__((cleanup(fd_close))) int

/*
 * Opens a path with openat2(), O_CLOEXEC added. `resolve`: RESOLVE_* of <linux/openat2.h>. The filter
 * of the fence refuses openat2(), so a confined program cannot use this. Returns a descriptor, or -1
 * with errno (ELOOP: a symlink; EXDEV: the path leads out of the folder).
 */
int fd_openat2(int folder, const char *path, int flags, mode_t mode, uint64_t resolve);

enum {
	FD_PLACES = 8,     /* places at most */
	FD_NULL = -1,      /* /dev/null is placed there */
	FD_UNTOUCHED = -2, /* what is there stays */
};

/*
 * Fills the descriptor numbers from 0 to count - 1, for a new process: wanted[i] goes to i. The
 * numbers in `wanted` may overlap with the places in any way. The placed descriptors survive exec().
 * Returns 0, or -1 with errno; then some of the places may be filled already.
 */
int fd_place(const int *wanted, int count);

/* Writes all of it, and waits where it must. Returns 0, or -1 with errno. */
int fd_write_all(int fd, const void *data, size_t size);

/* Appends what is left to read, up to the buffer's maximum. Returns 0, or -1 with errno (EFBIG:
 * more than the maximum). */
int fd_read_all(int fd, struct buffer *buffer);

/* The same of a file of a folder, if it is one and no symlink; nothing is waited for. EINVAL: it is none. */
int fd_read_file(int folder, const char *name, struct buffer *buffer);

/* The same by a path, whose symlinks are followed, wherever they lead: for what nobody else can have written, or where what is
 * read can only add a protection. */
int fd_read_path(const char *path, struct buffer *buffer);

/*
 * Writes a file of a folder so that it appears whole or not at all; what is there under the name, a
 * symlink too, is replaced, or stays and is the error EEXIST. Returns 0, or -1 with errno.
 */
int fd_replace_file(int folder, const char *name, const void *bytes, size_t size, mode_t mode);
int fd_create_file(int folder, const char *name, const void *bytes, size_t size, mode_t mode);

enum { FD_PASSED = 2 }; /* descriptors that a message has at most */

/* Sends a message over a SOCK_SEQPACKET socket, descriptors with it; flags: of sendmsg(). Returns 0, or -1 with errno. */
int fd_send(int socket, const void *message, size_t size, const int *fds, size_t count, int flags);

/*
 * Receives one of exactly this size, without waiting: 1, 0 when the other side is gone, -1 with errno (EAGAIN; EPROTO: it has another
 * size). Descriptors that did not come are -1.
 */
int fd_receive(int socket, void *ret_message, size_t size, int ret_fds[FD_PASSED]);

/* A sealed memory file with these bytes, read position at 0. Returns it, or -1 with errno. */
int fd_memory(const char *name, const void *data, size_t size);

#endif
