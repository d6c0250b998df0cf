/* Records and messages between ringfence and ringfence-init: see wire.h. */
#include "fence/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

union control {
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(int))];
};

int wire_send(int socket, const struct wire_message *message, int fd)
{
	struct iovec bytes = { .iov_base = (void *)message, .iov_len = sizeof *message };
	union control control = { 0 };
	struct msghdr header = { .msg_iov = &bytes, .msg_iovlen = 1 };

	if (fd >= 0) {
		header.msg_control = control.space;
		header.msg_controllen = sizeof control.space;

		struct cmsghdr *attached = CMSG_FIRSTHDR(&header);

		attached->cmsg_level = SOL_SOCKET;
		attached->cmsg_type = SCM_RIGHTS;
		attached->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(attached), &fd, sizeof fd);
	}
	for (;;) {
		if (sendmsg(socket, &header, MSG_NOSIGNAL) >= 0)
			return 0;
		if (errno != EINTR)
			return -1;
	}
}

int wire_receive(int socket, struct wire_message *ret_message, int *ret_fd)
{
	struct wire_message message;
	struct iovec bytes = { .iov_base = &message, .iov_len = sizeof message };
	union control control = { 0 };
	struct msghdr header = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof control.space,
	};
	ssize_t n;
	int fd = -1;

	do
		n = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && errno == ECONNRESET ? 0 : (int)n;
	for (struct cmsghdr *at = CMSG_FIRSTHDR(&header); at; at = CMSG_NXTHDR(&header, at))
		if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_RIGHTS &&
		    at->cmsg_len == CMSG_LEN(sizeof fd))
			memcpy(&fd, CMSG_DATA(at), sizeof fd);
	if (n != sizeof message) {
		if (fd >= 0)
			close(fd);
		errno = EPROTO;
		return -1;
	}
	message.text[sizeof message.text - 1] = '\0';
	*ret_message = message;
	*ret_fd = fd;
	return 1;
}
