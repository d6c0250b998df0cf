/* Records and messages between ringfence and ringfence-init: see wire.h. */
#include "fence/run/wire.h"

#include "util/file/fd.h"

#include <errno.h>
#include <string.h>

const char *const wire_namespaces[WIRE_NAMESPACES] = { "user", "pid", "mnt",   "net",
						       "ipc",  "uts", "cgroup" };

struct head {
	uint32_t tag;
	uint32_t size;
};

void wire_add(struct buffer *order, enum wire_tag tag, const void *data, size_t size)
{
	struct head head = { .tag = tag, .size = (uint32_t)size };

	buffer_add(order, &head, sizeof head);
	buffer_add(order, data, size);
}

void wire_add_string(struct buffer *order, enum wire_tag tag, const char *text)
{
	wire_add(order, tag, text, strlen(text) + 1);
}

/* Adds a record of a fixed part and a path. */
static void add_at(struct buffer *order, enum wire_tag tag, const void *data, size_t size,
		   const char *path)
{
	struct head head = { .tag = tag, .size = (uint32_t)(size + strlen(path) + 1) };

	buffer_add(order, &head, sizeof head);
	buffer_add(order, data, size);
	buffer_add(order, path, strlen(path) + 1);
}

void wire_add_rule(struct buffer *order, const struct wire_rule *rule, const char *path)
{
	add_at(order, WIRE_RULE, rule, sizeof *rule, path);
}

void wire_add_grant(struct buffer *order, const struct wire_grant *grant, const char *path)
{
	add_at(order, WIRE_GRANT, grant, sizeof *grant, path);
}

int wire_next(struct wire_reader *reader, struct wire_record *ret_record)
{
	struct head head;

	if (reader->left == 0)
		return 0;
	if (reader->left < sizeof head)
		return -1;
	memcpy(&head, reader->at, sizeof head);
	if (head.tag == WIRE_END || head.tag >= WIRE_TAGS || head.size > reader->left - sizeof head)
		return -1;
	*ret_record = (struct wire_record){
		.tag = (enum wire_tag)head.tag,
		.data = reader->at + sizeof head,
		.size = head.size,
	};
	reader->at += sizeof head + head.size;
	reader->left -= sizeof head + head.size;
	return 1;
}

const char *wire_string(const struct wire_record *record, size_t skip)
{
	if (record->size <= skip || memchr(record->data + skip, '\0', record->size - skip) !=
					    record->data + record->size - 1)
		return NULL;
	return record->data + skip;
}

int wire_send(int socket, const struct wire_message *message, int fd)
{
	return fd_send(socket, message, sizeof *message, &fd, fd >= 0, 0);
}

int wire_receive(int socket, struct wire_message *ret_message, int *ret_fd)
{
	struct wire_message message;
	int fds[FD_PASSED];
	int got = fd_receive(socket, &message, sizeof message, fds);

	if (got <= 0)
		return got;
	fd_close(&fds[1]); /* no message has two */
	message.text[sizeof message.text - 1] = '\0';
	*ret_message = message;
	*ret_fd = fds[0];
	return 1;
}

/* Messages that are not listed for a state are illegal in it. */
static const unsigned char table[WIRE_STATES][WIRE_MESSAGES] = {
	[WIRE_STATE_NEW] = { [WIRE_LOCK] = WIRE_STATE_LOCKED },
	[WIRE_STATE_LOCKED] = { [WIRE_ORDER] = WIRE_STATE_ORDERED },
	[WIRE_STATE_ORDERED] = { [WIRE_TERMINAL] = WIRE_STATE_ORDERED,
				 [WIRE_DENIALS] = WIRE_STATE_ORDERED,
				 [WIRE_MOUNTED] = WIRE_STATE_MOUNTED,
				 [WIRE_FAILED] = WIRE_STATE_FAILED },
	[WIRE_STATE_MOUNTED] = { [WIRE_DENIALS] = WIRE_STATE_MOUNTED,
				 [WIRE_GO] = WIRE_STATE_STARTING,
				 [WIRE_FAILED] = WIRE_STATE_FAILED },
	[WIRE_STATE_STARTING] = { [WIRE_TERMINAL] = WIRE_STATE_STARTING,
				  [WIRE_DENIALS] = WIRE_STATE_STARTING,
				  [WIRE_LISTENING] = WIRE_STATE_STARTING,
				  [WIRE_COUNTERS] = WIRE_STATE_STARTING,
				  [WIRE_STOPPED] = WIRE_STATE_STARTING,
				  [WIRE_SIGNAL] = WIRE_STATE_STARTING,
				  [WIRE_SIGNAL_ALL] = WIRE_STATE_STARTING,
				  [WIRE_MAKE_MOVABLE] = WIRE_STATE_STARTING,
				  [WIRE_RUNNING] = WIRE_STATE_RUNNING,
				  [WIRE_FAILED] = WIRE_STATE_FAILED,
				  [WIRE_EXITED] = WIRE_STATE_OVER },
	[WIRE_STATE_RUNNING] = { [WIRE_NOT_STARTED] = WIRE_STATE_RUNNING,
				 [WIRE_STOPPED] = WIRE_STATE_RUNNING,
				 [WIRE_SIGNAL] = WIRE_STATE_RUNNING,
				 [WIRE_SIGNAL_ALL] = WIRE_STATE_RUNNING,
				 [WIRE_MAKE_MOVABLE] = WIRE_STATE_RUNNING,
				 [WIRE_MOVABLE] = WIRE_STATE_RUNNING,
				 [WIRE_EXITED] = WIRE_STATE_OVER },
	/* Init and the command's process set up in parallel; one may not yet know that the other
	 * failed. */
	[WIRE_STATE_FAILED] = { [WIRE_TERMINAL] = WIRE_STATE_FAILED,
				[WIRE_DENIALS] = WIRE_STATE_FAILED,
				[WIRE_MOUNTED] = WIRE_STATE_FAILED,
				[WIRE_GO] = WIRE_STATE_FAILED,
				[WIRE_LISTENING] = WIRE_STATE_FAILED,
				[WIRE_COUNTERS] = WIRE_STATE_FAILED,
				[WIRE_STOPPED] = WIRE_STATE_FAILED,
				[WIRE_FAILED] = WIRE_STATE_FAILED,
				[WIRE_EXITED] = WIRE_STATE_OVER },
};

enum wire_state wire_step(enum wire_state state, uint32_t type)
{
	return state < WIRE_STATES && type < WIRE_MESSAGES ? (enum wire_state)table[state][type]
							   : (enum wire_state)0;
}

bool wire_fits(enum wire_side receiver, uint32_t type, bool with_fd)
{
	enum { NEVER, MAYBE, ALWAYS };
	static const struct {
		enum wire_side receiver;
		int fd;
	} messages[WIRE_MESSAGES] = {
		[WIRE_LISTENING] = { WIRE_OUTSIDE, ALWAYS },
		[WIRE_TERMINAL] = { WIRE_OUTSIDE, ALWAYS },
		[WIRE_DENIALS] = { WIRE_OUTSIDE, ALWAYS },
		[WIRE_COUNTERS] = { WIRE_OUTSIDE, MAYBE }, /* the counters may be unreadable */
		[WIRE_LOCK] = { WIRE_INSIDE, ALWAYS },
		[WIRE_ORDER] = { WIRE_INSIDE, ALWAYS },
		[WIRE_GO] = { WIRE_INSIDE, NEVER },
		[WIRE_SIGNAL] = { WIRE_INSIDE, NEVER },
		[WIRE_SIGNAL_ALL] = { WIRE_INSIDE, NEVER },
		[WIRE_MAKE_MOVABLE] = { WIRE_INSIDE, NEVER },
	};

	if (type == 0 || type >= WIRE_MESSAGES || messages[type].receiver != receiver)
		return false;
	return messages[type].fd == MAYBE || (messages[type].fd == ALWAYS) == with_fd;
}

int wire_take(int socket, enum wire_side receiver, enum wire_state *state,
	      struct wire_message *ret_message, int *ret_fd)
{
	struct wire_message message;
	enum wire_state next;
	int fd = -1;
	int got = wire_receive(socket, &message, &fd);

	if (got <= 0)
		return got;
	next = wire_step(*state, message.type);
	if (!next || !wire_fits(receiver, message.type, fd >= 0)) {
		fd_close(&fd);
		errno = EPROTO;
		return -1;
	}
	*state = next;
	*ret_message = message;
	*ret_fd = fd;
	return 1;
}
