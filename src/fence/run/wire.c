/* Records and messages between ringfence and ringfence-init: see wire.h. */
#include "fence/run/wire.h"

#include "util/fd.h"

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

void wire_add_rule(struct buffer *order, const struct wire_rule *rule, const char *path)
{
	struct head head = { .tag = WIRE_RULE,
			     .size = (uint32_t)(sizeof *rule + strlen(path) + 1) };

	buffer_add(order, &head, sizeof head);
	buffer_add(order, rule, sizeof *rule);
	buffer_add(order, path, strlen(path) + 1);
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
	fd_close(&fds[1]); /* nobody sends two */
	message.text[sizeof message.text - 1] = '\0';
	*ret_message = message;
	*ret_fd = fds[0];
	return 1;
}
