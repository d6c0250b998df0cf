/*
 * What passes between ringfence and ringfence-init.
 *
 * Messages of fixed size over a SOCK_SEQPACKET socket, both ways, some with a descriptor attached. The
 * order is a sealed memory file of tagged records (WIRE_*), read by init before it does anything; it is
 * written while the mechanism is still at work. The same socket is the lifeline: when it closes, init ends everything
 * inside.
 */
#ifndef FENCE_RUN_WIRE_H
#define FENCE_RUN_WIRE_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Descriptors that init finds open besides 0, 1 and 2. Descriptor 2 itself belongs to the
 * mechanism's own complaints. */
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
	WIRE_SCRATCH,     /* string: a private place that is writable (a tmpfs of the fence) */
	WIRE_HOST,        /* struct wire_host: what the host looks like, for the canaries */
	WIRE_HOST_DEVICE, /* uint64_t: a file system of the host; nothing private is on one */
	WIRE_HOST_MOUNT,  /* string: the host has a mount here, below what a rule shows */
	WIRE_CANARY,      /* string: a file of the host that must be out of reach */
	WIRE_ABSTRACT,    /* string: an abstract socket of the host that must be out of reach */
	WIRE_ROOT,        /* records of a run, for the sweep; see sweep.h */
	WIRE_KNOWN,
	WIRE_LINK,
	WIRE_EXEMPT,
	WIRE_HIDDEN,
	WIRE_ROOT_DEVICE,
	WIRE_LIMITS, /* struct wire_limits */
	WIRE_TAGS,
};

struct wire_flags {
	uint32_t confined; /* 0: no fence (the user's explicit wish); init then only supervises */
	uint32_t net_private; /* the fence has its own network namespace */
	uint32_t landlock;    /* refuse to run without Landlock */
	uint32_t scopes;  /* refuse to run without Landlock's scope for abstract sockets and signals
			  */
	uint32_t denials; /* ask about what the fence may refuse, so that it can be explained */
	uint32_t trace_reads; /* with denials: about reads, too */
	uint32_t terminal;    /* bit N: descriptor N becomes the fence's own terminal */
	uint32_t rows, columns;
};

/* Limits that init sets, or finds, and reads back; 0: none. */
struct wire_limits {
	uint64_t memory;
	uint64_t processes;
	uint64_t open_files;
	uint64_t file_size;
	uint64_t tmp_size; /* of each file system of the fence's own that is writable */
	uint64_t cpus;     /* how many the process may be on at most; it must not choose others */
	uint32_t processes_exact; /* nothing else keeps the limit of processes */
	uint32_t counters;        /* hand out init's counters */
};

/* What init knows of a run when all is over. */
struct wire_use {
	uint64_t written;   /* bytes to disks */
	uint64_t processes; /* that there were, with threads; 0: not known */
	uint64_t left;      /* that were there when the command ended, with itself; 0: not known */
	uint32_t file_size; /* a process was ended for writing too large a file */
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
	WIRE_HIDE_AROUND, /* hidden, but with exceptions inside: an empty read-only folder */
};

struct wire_rule {
	uint64_t device;
	uint64_t inode;
	uint32_t access;
	uint32_t unused;
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
 * The next record: 1, or 0 at the end, or -1 if the bytes are not an order. A record's data is
 * where it stands in the order; strings have been checked to end in their only NUL.
 */
int wire_next(struct wire_reader *reader, struct wire_record *ret_record);

/* The string of a record; skip: the fixed part in front of it. NULL if it is none. */
const char *wire_string(const struct wire_record *record, size_t skip);

enum wire_message_type {
	WIRE_LISTENING = 1, /* up, with a descriptor: listening socket number `a` of the order */
	WIRE_TERMINAL,      /* up, with a descriptor: the outer end of the fence's terminal */
	WIRE_DENIALS,       /* up, with a descriptor: where seccomp's questions come out */
	WIRE_FAILED,        /* up: not set up; text says why; a: 1 if a canary got through */
	WIRE_MOUNTED,     /* up: everything is mounted; the command does not start before WIRE_GO */
	WIRE_RUNNING,     /* up: the command has been started; a canaries of b held */
	WIRE_NOT_STARTED, /* up: exec failed with errno a */
	WIRE_STOPPED,     /* up: the command has been stopped by its terminal (Ctrl-Z) */
	WIRE_EXITED, /* up: exit status a, or killed by signal b; all else inside is dead; the text
			     is a struct wire_use */
	WIRE_LOCK,   /* down, the first one, with a descriptor: the run's lock. A run counts as over
			     only when init is gone too */
	WIRE_ORDER,  /* down, the second one, with a descriptor: the order */
	WIRE_GO,     /* down: the host still looks as it did; start the command */
	WIRE_SIGNAL, /* down: send signal a to the command's process group */
	WIRE_SIGNAL_ALL, /* down: send signal a to everything inside */
	WIRE_COUNTERS,   /* up, with a descriptor: /proc/PID/io of init */
};

enum { WIRE_MESSAGES = WIRE_COUNTERS + 1 };

/* How far the two have come. Which message is legal where is a table in wire.c; docs/protocols.md shows it. */
enum wire_state {
	WIRE_STATE_NEW = 1,
	WIRE_STATE_LOCKED,   /* init holds the run's lock */
	WIRE_STATE_ORDERED,  /* init has its order, and sets up */
	WIRE_STATE_MOUNTED,  /* everything is mounted; init waits for WIRE_GO */
	WIRE_STATE_STARTING, /* the command may start (without a fence: from the order on) */
	WIRE_STATE_RUNNING,
	WIRE_STATE_FAILED, /* not set up; what others inside have sent still comes */
	WIRE_STATE_OVER,
	WIRE_STATES
};

/* Who receives a message. */
enum wire_side { WIRE_OUTSIDE, WIRE_INSIDE };

struct wire_message {
	uint32_t type;
	int32_t a;
	int32_t b;
	char text[1012];
};

/* Sends one message, with a descriptor if fd >= 0. Returns 0, or -1 with errno. */
int wire_send(int socket, const struct wire_message *message, int fd);

/* Receives one: 1, 0 when the other side is gone, -1 with errno (EAGAIN, EPROTO). *ret_fd is -1 if
 * none was attached. */
int wire_receive(int socket, struct wire_message *ret_message, int *ret_fd);

/* Where a message leads; 0: it is illegal in this state. */
enum wire_state wire_step(enum wire_state state, uint32_t type);

/* May this side receive such a message, with or without a descriptor? */
bool wire_fits(enum wire_side receiver, uint32_t type, bool with_fd);

/* As wire_receive(), and moves the state on. EPROTO, with the state as it was: the message was illegal, and
 * whoever sent it is to be ended. */
int wire_take(int socket, enum wire_side receiver, enum wire_state *state,
	      struct wire_message *ret_message, int *ret_fd);

#endif
