/*
 * The protocol between ringfence and ringfence-init.
 *
 * Messages of fixed size travel both ways over a SOCK_SEQPACKET socket, some with a descriptor
 * attached. The order is a sealed memory file of tagged records (WIRE_*), which init reads before
 * anything else; it is written while the mechanism sets up. The socket is also the lifeline: when
 * it closes, init kills everything inside.
 */
#ifndef FENCE_RUN_WIRE_H
#define FENCE_RUN_WIRE_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Descriptors that init inherits besides 0, 1 and 2. Descriptor 2 itself carries the mechanism's
 * own complaints. */
enum {
	WIRE_FD_CONTROL = 3,
	WIRE_FD_STDERR = 4,
	WIRE_FD_END = 5,
};

enum wire_tag {
	WIRE_END = 0,
	WIRE_FLAGS,       /* struct wire_flags */
	WIRE_ARGUMENT,    /* string: one argument of the command */
	WIRE_ENVIRONMENT, /* string: NAME=VALUE */
	WIRE_CWD,         /* string */
	WIRE_LISTEN,      /* struct wire_listen */
	WIRE_RULE,        /* struct wire_rule, then the path as a string */
	WIRE_SCRATCH,     /* string: a private writable place (a tmpfs of the fence) */
	WIRE_HOST,        /* struct wire_host: facts about the host, for the canaries */
	WIRE_HOST_DEVICE, /* uint64_t: a device of the host; no private place is on one */
	WIRE_HOST_MOUNT,  /* string: a mount point of the host, in a place that a rule shows */
	WIRE_CANARY,      /* string: a file on the host that must be unreachable */
	WIRE_ABSTRACT,    /* string: an abstract socket on the host that must be unreachable */
	WIRE_ROOT,        /* records of a run, for the sweep; see baseline.h */
	WIRE_KNOWN,
	WIRE_LINK,
	WIRE_EXEMPT,
	WIRE_HIDDEN,
	WIRE_ROOT_INODE,
	WIRE_LIMITS,  /* struct wire_limits */
	WIRE_VERSION, /* more records of a run */
	WIRE_CONTENT,
	WIRE_SECRET,
	WIRE_PATTERN,
	WIRE_ROOM,
	WIRE_OTHER,
	WIRE_SEEN,
	WIRE_DRAFT, /* string: the project, if the command runs in a draft that is an overlay */
	WIRE_GRANT, /* struct wire_grant, then the path as a string; see fence/tree/grant.h */
	WIRE_TAGS,
};

struct wire_flags {
	uint32_t confined;    /* 0: no fence, as the user explicitly asked; init only supervises */
	uint32_t net_private; /* the fence has its own network namespace */
	uint32_t landlock;    /* refuse to run without Landlock */
	uint32_t scopes;      /* refuse to run without Landlock's scopes */
	uint32_t shared_user; /* the fence has no user namespace of its own */
	uint32_t denials;     /* ask outside about calls that may be refused */
	uint32_t trace_reads; /* with denials: also ask about reads */
	uint32_t terminal;    /* bit N: descriptor N becomes the fence's own terminal */
	uint32_t rows, columns;
	uint32_t umask;      /* an engine sets its own */
	uint32_t shared;     /* the command shares the host's namespaces; Landlock has the rules */
	uint32_t asks_opens; /* with shared: ask outside before files are opened for reading */
};

/* Limits that init sets or finds set, and reads back; 0: none. */
struct wire_limits {
	uint64_t memory;
	uint64_t processes;
	uint64_t open_files;
	uint64_t file_size;
	uint64_t tmp_size;        /* of each writable file system of the fence */
	uint64_t cpus;            /* maximum number of CPUs; the command must not choose others */
	uint32_t processes_exact; /* no control group enforces the limit on processes */
	uint32_t counters;        /* send init's counters outside */
};

/* Resource use that only init knows, at the end of a run. */
struct wire_use {
	uint64_t written;   /* bytes written to disk */
	uint64_t processes; /* total, with threads; 0: unknown */
	uint64_t left;      /* alive when the command ended, including it; 0: unknown */
	uint64_t cpu_ms;    /* of all processes but init */
	uint64_t memory;    /* the most bytes of one process */
	uint32_t file_size; /* a process was killed by SIGXFSZ */
	uint32_t tmp_full;
};

struct wire_listen {
	uint32_t family; /* 4 or 6 */
	uint32_t port;
	uint8_t address[16];
};

enum wire_access {
	WIRE_WRITE,
	WIRE_READ,
	WIRE_HIDE,
	WIRE_HIDE_AROUND, /* hidden, with exceptions inside: an empty read-only folder */
};

struct wire_rule {
	uint64_t device;
	uint64_t inode;
	uint32_t access;
	uint32_t unused;
};

/* Rights of a command that shares the host's file tree, on a file or below a folder. */
enum wire_right {
	WIRE_MAY_LIST = 1, /* list folders */
	WIRE_MAY_READ = 2, /* read, execute, list */
	WIRE_MAY_WRITE = 4,
	WIRE_MAY_USE = 8, /* a device: read, write, control */
};

struct wire_grant {
	uint64_t device;
	uint64_t inode;
	uint32_t rights;
	uint32_t optional; /* it may have vanished since it was found */
};

enum { WIRE_NAMESPACES = 7 }; /* user, pid, mnt, net, ipc, uts, cgroup */
extern const char *const wire_namespaces[WIRE_NAMESPACES];

struct wire_host {
	uint64_t namespaces[WIRE_NAMESPACES]; /* inodes of the host's namespaces */
	uint64_t home_device;
	uint64_t home_inode;
};

/* Appends one record. */
void wire_add(struct buffer *order, enum wire_tag tag, const void *data, size_t size);
void wire_add_string(struct buffer *order, enum wire_tag tag, const char *text);
void wire_add_rule(struct buffer *order, const struct wire_rule *rule, const char *path);
void wire_add_grant(struct buffer *order, const struct wire_grant *grant, const char *path);

struct wire_reader {
	const char *at;
	size_t left;
};

struct wire_record {
	enum wire_tag tag;
	const char *data;
	size_t size;
};

/*
 * Reads the next record. Returns 1, 0 at the end, or -1 if the bytes are malformed. The record's
 * data points into the order.
 */
int wire_next(struct wire_reader *reader, struct wire_record *ret_record);

/* Returns the string in a record after a fixed part of `skip` bytes, or NULL if it does not end in
 * its only NUL. */
const char *wire_string(const struct wire_record *record, size_t skip);

/* The folder in a project where folders of a draft are made movable (fence/init/movable.h). It is
 * gone when that is done; one that is left belongs to an interrupted rename. */
#define WIRE_MOVABLE_PLACE ".ringfence-rename"

enum wire_message_type {
	WIRE_LISTENING = 1, /* up, with a descriptor: listening socket number `a` of the order */
	WIRE_TERMINAL,      /* up, with a descriptor: the outer end of the fence's terminal */
	WIRE_DENIALS,       /* up, with a descriptor: the seccomp listener */
	WIRE_FAILED,        /* up: set-up failed; text: why; a: 1 if a canary got through */
	WIRE_MOUNTED,       /* up: everything is mounted; the command waits for WIRE_GO */
	WIRE_RUNNING,       /* up: the command has started; a of b canaries held */
	WIRE_NOT_STARTED,   /* up: exec failed with errno a */
	WIRE_STOPPED,       /* up: the command has been stopped by its terminal (Ctrl-Z) */
	WIRE_EXITED,        /* up: exit status a or signal b; all else is dead; text: wire_use */
	WIRE_LOCK,       /* down, first, with a descriptor: the run's lock, held until init ends */
	WIRE_ORDER,      /* down, second, with a descriptor: the order */
	WIRE_GO,         /* down: the project is unchanged; start the command */
	WIRE_SIGNAL,     /* down: send signal a to the command's process group */
	WIRE_SIGNAL_ALL, /* down: send signal a to everything inside */
	WIRE_COUNTERS,   /* up, with a descriptor: /proc/PID/io of init */
	WIRE_MAKE_MOVABLE, /* down: make a folder of the draft movable; text: its path in it */
	WIRE_MOVABLE,      /* up: that folder is now as movable as it can be */
};

enum { WIRE_MESSAGES = WIRE_MOVABLE + 1 };

/* The protocol state. The table of legal messages per state is in wire.c; docs/protocols.md shows
 * it. */
enum wire_state {
	WIRE_STATE_NEW = 1,
	WIRE_STATE_LOCKED,   /* init holds the run's lock */
	WIRE_STATE_ORDERED,  /* init has its order and is setting up */
	WIRE_STATE_MOUNTED,  /* everything is mounted; init waits for WIRE_GO */
	WIRE_STATE_STARTING, /* the command may start (without a fence: once the order is read) */
	WIRE_STATE_RUNNING,
	WIRE_STATE_FAILED, /* set-up failed; messages sent before that still arrive */
	WIRE_STATE_OVER,
	WIRE_STATES
};

/* The receiver of a message. */
enum wire_side { WIRE_OUTSIDE, WIRE_INSIDE };

struct wire_message {
	uint32_t type;
	int32_t a;
	int32_t b;
	char text[1012];
};

/* Sends one message, with a descriptor if fd >= 0. Returns 0, or -1 with errno. */
int wire_send(int socket, const struct wire_message *message, int fd);

/* Receives a message. Returns 1, 0 if the peer is gone, or -1 with errno (EAGAIN, EPROTO). *ret_fd
 * is -1 if no descriptor was attached. */
int wire_receive(int socket, struct wire_message *ret_message, int *ret_fd);

/* Returns the state after a message, or 0 if it is illegal in this state. */
enum wire_state wire_step(enum wire_state state, uint32_t type);

/* Reports whether this side may receive such a message, with or without a descriptor. */
bool wire_fits(enum wire_side receiver, uint32_t type, bool with_fd);

/* Like wire_receive(), and advances the state. On EPROTO the message was illegal, the state is
 * unchanged, and the caller must end the peer. */
int wire_take(int socket, enum wire_side receiver, enum wire_state *state,
	      struct wire_message *ret_message, int *ret_fd);

#endif
