/* Self-closing file descriptors, complete reads and writes, and descriptor passing. */
#ifndef UTIL_FILE_FD_H
#define UTIL_FILE_FD_H

#include "util/buffer.h"

#include <linux/openat2.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

void fd_close(int *fd);
int fd_steal(int *fd);

/* A descriptor that is closed at the end of its scope; -1 means none. */
#define AUTO_FD __attribute__((cleanup(fd_close))) int

/*
 * Opens a path with openat2() and O_CLOEXEC. `resolve` takes RESOLVE_* flags from
 * <linux/openat2.h>. The fence's filter refuses openat2(), so confined programs cannot use this.
 * Returns a descriptor, or -1 with errno (ELOOP: a symlink; EXDEV: the path leaves the folder).
 */
int fd_openat2(int folder, const char *path, int flags, mode_t mode, uint64_t resolve);

enum {
	FD_PLACES = 8,     /* maximum number of places */
	FD_NULL = -1,      /* place /dev/null there */
	FD_UNTOUCHED = -2, /* leave the place as it is */
};

/*
 * Assigns descriptors 0 to count - 1 for a new process: wanted[i] becomes i. The numbers in
 * `wanted` may overlap with the places in any way. The placed descriptors survive exec(). Returns
 * 0, or -1 with errno; some places may then already be filled.
 */
int fd_place(const int *wanted, int count);

/* Writes all bytes, waiting if necessary. Returns 0, or -1 with errno. */
int fd_write_all(int fd, const void *data, size_t size);

/* Reads to the end of the file into the buffer. Returns 0, or -1 with errno (EFBIG: more than the
 * buffer's maximum). */
int fd_read_all(int fd, struct buffer *buffer);

/* Reads a regular file in a folder like fd_read_all(), without following a symlink or blocking.
 * EINVAL: not a regular file. */
int fd_read_file(int folder, const char *name, struct buffer *buffer);

/* Reads a regular file by path and follows symlinks anywhere. Only for files that nobody else can
 * write, or whose contents can only add protection. */
int fd_read_path(const char *path, struct buffer *buffer);

/* Opens a new file in a folder that is to become `name`. The caller frees *ret_temporary, its name.
 * Returns a descriptor, or -1 with errno. */
int fd_open_temporary(int folder, const char *name, mode_t mode, char **ret_temporary);

/*
 * Writes a file in a folder; readers find the old one or the new one. If the name exists, even as a
 * symlink, it is replaced. The disk is not waited for: after a power cut the file may be old, empty
 * or missing. Only for files that nothing depends on; for all others there is durable.h. Returns 0,
 * or -1 with errno.
 */
int fd_replace_file(int folder, const char *name, const void *bytes, size_t size, mode_t mode);

enum { FD_PASSED = 2 }; /* maximum number of descriptors per message */

/* Sends a message, with descriptors, over a SOCK_SEQPACKET socket; flags as for sendmsg(). Returns
 * 0, or -1 with errno. */
int fd_send(int socket, const void *message, size_t size, const int *fds, size_t count, int flags);

/*
 * Receives a message of exactly this size, without blocking. Returns 1, 0 if the peer is gone, or
 * -1 with errno (EAGAIN; EPROTO: wrong size). Descriptors that were not sent are -1.
 */
int fd_receive(int socket, void *ret_message, size_t size, int ret_fds[FD_PASSED]);

/* Creates a sealed memory file with these bytes, positioned at 0. Returns its descriptor, or -1
 * with errno. */
int fd_memory(const char *name, const void *data, size_t size);

#endif
