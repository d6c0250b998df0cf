/* Route lookups: see route.h. */
#include "gateway/proxy/route.h"

#include "util/file/fd.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <unistd.h>

int route_open(int *ret_socket, struct error *err)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	AUTO_FD fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&kernel, sizeof kernel) < 0)
		return error_sys(err, "ask the kernel for routes (netlink)");
	*ret_socket = fd_steal(&fd);
	return 0;
}

struct resolver_question {
	struct nlmsghdr head;
	struct rtmsg route;
	struct rtattr attribute;
	uint8_t address[16];
};

static enum route read_answer(const char *bytes, size_t size)
{
	struct nlmsghdr head;

	if (size < sizeof head)
		return ROUTE_OWN;
	memcpy(&head, bytes, sizeof head);
	if (head.nlmsg_type == NLMSG_ERROR && size >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
		struct nlmsgerr error;

		memcpy(&error, bytes + NLMSG_HDRLEN, sizeof error);
		return error.error == -ENETUNREACH || error.error == -EHOSTUNREACH ||
				       error.error == -EACCES || error.error == -EINVAL
			       ? ROUTE_NOWHERE
			       : ROUTE_OWN;
	}
	if (head.nlmsg_type == RTM_NEWROUTE && size >= NLMSG_LENGTH(sizeof(struct rtmsg))) {
		struct rtmsg route;

		memcpy(&route, bytes + NLMSG_HDRLEN, sizeof route);
		return route.rtm_type == RTN_UNICAST ? ROUTE_AWAY : ROUTE_OWN;
	}
	return ROUTE_OWN;
}

enum route route_ask(int socket, const struct address *address)
{
	size_t bytes = address->family == 4 ? 4 : 16;
	struct resolver_question question = {
		.head = { .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST },
		.route = { .rtm_family = address->family == 4 ? AF_INET : AF_INET6,
			   .rtm_dst_len = (unsigned char)(bytes * 8) },
		.attribute = { .rta_type = RTA_DST, .rta_len = (unsigned short)RTA_LENGTH(bytes) },
	};
	char answer[4096];
	ssize_t n;

	question.head.nlmsg_len = (uint32_t)(offsetof(struct resolver_question, address) + bytes);
	memcpy(question.address, address->bytes, bytes);
	/* Discard the rest of an earlier answer. */
	while (recv(socket, answer, sizeof answer, MSG_DONTWAIT) > 0)
		;
	if (send(socket, &question, question.head.nlmsg_len, 0) < 0)
		return errno == ENETUNREACH ? ROUTE_NOWHERE : ROUTE_OWN;
	n = recv(socket, answer, sizeof answer, MSG_DONTWAIT);
	return n < 0 ? ROUTE_OWN : read_answer(answer, (size_t)n);
}
