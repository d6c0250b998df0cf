/* Names to addresses: see resolve.h. */
#include "gateway/resolve.h"

#include "util/mem.h"

#include <ares.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

enum { SOCKETS = 64, TIMEOUT_MS = 3000, TRIES = 2 };

struct socket {
	struct source source;
	struct resolver *resolver;
};

struct resolver {
	struct loop *loop;
	ares_channel channel;
	struct socket sockets[SOCKETS];
	unsigned int asked;      /* questions without an answer */
	struct timespec changed; /* of resolv.conf */
};

struct question {
	struct resolver *resolver;
	resolve_fn *done;
	void *context;
	bool early; /* still within resolver_ask() */
	bool over;
};

static void ready(struct source *source, uint32_t events)
{
	struct socket *socket = LOOP_OWNER(source, struct socket, source);
	bool broken = events & (EPOLLERR | EPOLLHUP);

	ares_process_fd(socket->resolver->channel,
			broken || events & EPOLLIN ? source->fd : ARES_SOCKET_BAD,
			events & EPOLLOUT ? source->fd : ARES_SOCKET_BAD);
}

static void on_socket(void *context, ares_socket_t fd, int readable, int writable)
{
	struct resolver *resolver = context;
	struct socket *free_one = NULL;
	struct socket *socket = NULL;

	for (size_t i = 0; i < SOCKETS && !socket; i++) {
		if (resolver->sockets[i].source.fd == fd)
			socket = &resolver->sockets[i];
		else if (resolver->sockets[i].source.fd < 0)
			free_one = &resolver->sockets[i];
	}
	if (!socket && (readable || writable))
		socket = free_one;
	if (!socket)
		return; /* then its answer is missed, and the next try may have more luck */
	socket->source.fd = fd;
	loop_watch(resolver->loop, &socket->source,
		   (readable ? (uint32_t)EPOLLIN : 0U) | (writable ? (uint32_t)EPOLLOUT : 0U));
	if (!readable && !writable)
		socket->source.fd = -1; /* c-ares closes it */
}

static int make_channel(struct resolver *resolver, ares_channel *ret_channel)
{
	struct ares_options options = { .flags = ARES_FLAG_NOALIASES,
					.timeout = TIMEOUT_MS,
					.tries = TRIES,
					.sock_state_cb = on_socket,
					.sock_state_cb_data = resolver };

	return ares_init_options(ret_channel, &options,
				 ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
					 ARES_OPT_SOCK_STATE_CB);
}

static struct timespec configuration_changed(void)
{
	struct stat status;

	return stat("/etc/resolv.conf", &status) < 0 ? (struct timespec){ 0 } : status.st_mtim;
}

int resolver_new(struct loop *loop, struct resolver **ret_resolver, struct error *err)
{
	struct resolver *resolver = mem_zero(sizeof *resolver);
	int code = ares_library_init(ARES_LIB_INIT_ALL);

	resolver->loop = loop;
	resolver->changed = configuration_changed();
	for (size_t i = 0; i < SOCKETS; i++)
		resolver->sockets[i] = (struct socket){ { .fd = -1, .ready = ready }, resolver };
	if (code == ARES_SUCCESS)
		code = make_channel(resolver, &resolver->channel);
	if (code != ARES_SUCCESS) {
		free(resolver);
		return error_set(err, "start the resolver: %s", ares_strerror(code));
	}
	*ret_resolver = resolver;
	return 0;
}

/* A laptop moves to another network: while nobody waits for an answer, the servers are read again. */
static void follow_changes(struct resolver *resolver)
{
	struct timespec changed = configuration_changed();
	ares_channel fresh;

	if (resolver->asked > 0 || (changed.tv_sec == resolver->changed.tv_sec &&
				    changed.tv_nsec == resolver->changed.tv_nsec))
		return;
	resolver->changed = changed;
	if (make_channel(resolver, &fresh) != ARES_SUCCESS)
		return;
	ares_destroy(resolver->channel);
	resolver->channel = fresh;
}

static void collect(const struct ares_addrinfo *info, struct answer *answer)
{
	for (const struct ares_addrinfo_node *node = info->nodes;
	     node && answer->count < RESOLVE_ADDRESSES; node = node->ai_next)
		if (gateway_address_from(node->ai_addr, &answer->addresses[answer->count]) == 0)
			answer->count++;
}

static void on_answer(void *context, int status, int timeouts, struct ares_addrinfo *info)
{
	struct question *question = context;
	struct answer answer = { 0 };

	(void)timeouts;
	if (status == ARES_SUCCESS && info)
		collect(info, &answer);
	if (info)
		ares_freeaddrinfo(info);
	if (answer.count == 0)
		answer.wrong = status == ARES_SUCCESS ? "it has no address" : ares_strerror(status);
	question->resolver->asked--;
	question->over = true;
	if (question->done)
		question->done(question->context, &answer);
	if (!question->early)
		free(question);
}

struct question *resolver_ask(struct resolver *resolver, const char *name, resolve_fn *done,
			      void *context)
{
	const struct ares_addrinfo_hints hints = { .ai_family = AF_UNSPEC,
						   .ai_socktype = SOCK_STREAM };
	struct question *question = mem_zero(sizeof *question);

	follow_changes(resolver);
	*question = (struct question){ resolver, done, context, true, false };
	resolver->asked++;
	ares_getaddrinfo(resolver->channel, name, NULL, &hints, on_answer, question);
	question->early = false;
	if (question->over) {
		free(question);
		return NULL;
	}
	return question;
}

void question_forget(struct question *question)
{
	question->done = NULL;
}

uint64_t resolver_settle(struct resolver *resolver)
{
	struct timeval next;

	if (resolver->asked == 0)
		return UINT64_MAX;
	if (!ares_timeout(resolver->channel, NULL, &next))
		return UINT64_MAX;
	if (next.tv_sec == 0 && next.tv_usec == 0)
		ares_process_fd(resolver->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	return (uint64_t)next.tv_sec * 1000 + (uint64_t)(next.tv_usec + 999) / 1000;
}
