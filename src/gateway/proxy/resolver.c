/* Resolves names: see resolver.h. */
#include "gateway/proxy/resolver.h"

#include "gateway/proxy/rule.h"
#include "util/mem.h"

#include <ares.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

/* LOOKUPS: concurrent queries. Connections that need the same name share one query, so that a
 * client cannot trigger many queries for a name and help an attacker guess an answer. */
enum { SOCKETS = 64, LOOKUPS = 256, TIMEOUT_MS = 3000, TRIES = 2 };

struct socket {
	struct event_loop_source source;
	struct resolver *resolver;
};

struct resolver {
	struct event_loop *loop;
	ares_channel channel;
	struct socket sockets[SOCKETS];
	struct lookup *lookups;  /* without an answer yet */
	unsigned int asked;      /* how many */
	struct timespec changed; /* of resolv.conf */
};

struct resolver_question {
	struct lookup *lookup;
	struct resolver_question *next;
	resolver_fn *done;
	void *context;
};

struct lookup {
	struct resolver *resolver;
	struct lookup *next;
	char name[GATEWAY_HOST];
	struct resolver_question *waiting;
	bool *over; /* set while within resolver_ask(), which must know */
};

static void ready(struct event_loop_source *source, uint32_t events)
{
	struct socket *socket = EVENT_LOOP_OWNER(source, struct socket, source);
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
		return; /* its answer is missed; c-ares retries */
	socket->source.fd = fd;
	event_loop_watch(resolver->loop, &socket->source,
			 (readable ? (uint32_t)EPOLLIN : 0U) |
				 (writable ? (uint32_t)EPOLLOUT : 0U));
	if (!readable && !writable)
		socket->source.fd = -1; /* c-ares closes it */
}

/* Newer versions of c-ares keep answers unless they are told the longest time (0, as below). */
#ifndef ARES_OPT_QUERY_CACHE
#define ARES_OPT_QUERY_CACHE 0
#endif

static int make_channel(struct resolver *resolver, ares_channel *ret_channel)
{
	/* No search domains: only the exact name was checked. */
	struct ares_options options = { .flags = ARES_FLAG_NOALIASES,
					.ndomains = 0,
					.timeout = TIMEOUT_MS,
					.tries = TRIES,
					.sock_state_cb = on_socket,
					.sock_state_cb_data = resolver };

	return ares_init_options(ret_channel, &options,
				 ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
					 ARES_OPT_DOMAINS | ARES_OPT_SOCK_STATE_CB |
					 ARES_OPT_QUERY_CACHE);
}

static struct timespec configuration_changed(void)
{
	struct stat status;

	return stat("/etc/resolv.conf", &status) < 0 ? (struct timespec){ 0 } : status.st_mtim;
}

int resolver_new(struct event_loop *loop, struct resolver **ret_resolver, struct error *err)
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

/* Re-reads the configuration if the machine has moved to another network, while no query is
 * open. */
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

static void collect(const struct ares_addrinfo *info, struct resolver_answer *answer)
{
	for (const struct ares_addrinfo_node *node = info->nodes;
	     node && answer->count < RESOLVER_ADDRESSES; node = node->ai_next)
		if (address_from(node->ai_addr, &answer->addresses[answer->count]) == 0)
			answer->count++;
}

static void on_answer(void *context, int status, int timeouts, struct ares_addrinfo *info)
{
	struct lookup *lookup = context;
	struct resolver_answer answer = { 0 };

	(void)timeouts;
	if (status == ARES_SUCCESS && info)
		collect(info, &answer);
	if (info)
		ares_freeaddrinfo(info);
	if (answer.count == 0)
		answer.wrong = status == ARES_SUCCESS ? "it has no address" : ares_strerror(status);
	if (lookup->over)
		*lookup->over = true;
	lookup->resolver->asked--;
	for (struct lookup **at = &lookup->resolver->lookups; *at; at = &(*at)->next) {
		if (*at == lookup) {
			*at = lookup->next;
			break;
		}
	}
	while (lookup->waiting) {
		struct resolver_question *question = lookup->waiting;
		struct resolver_question asked = *question;

		lookup->waiting = question->next;
		free(question);
		asked.done(asked.context, &answer);
	}
	free(lookup);
}

static struct lookup *find_lookup(const struct resolver *resolver, const char *name)
{
	struct lookup *lookup = resolver->lookups;

	while (lookup && strcmp(lookup->name, name) != 0)
		lookup = lookup->next;
	return lookup;
}

struct resolver_question *resolver_ask(struct resolver *resolver, const char *name,
				       resolver_fn *done, void *context)
{
	static const struct resolver_answer too_many = {
		.wrong = "too many names are being resolved at once"
	};
	const struct ares_addrinfo_hints hints = { .ai_family = AF_UNSPEC,
						   .ai_socktype = SOCK_STREAM };
	struct lookup *lookup = find_lookup(resolver, name);
	bool known = lookup;
	bool over = false;

	if (!known && resolver->asked == LOOKUPS) {
		done(context, &too_many);
		return NULL;
	}
	if (!known) {
		follow_changes(resolver);
		lookup = mem_zero(sizeof *lookup);
		*lookup = (struct lookup){ .resolver = resolver, .next = resolver->lookups };
		snprintf(lookup->name, sizeof lookup->name, "%s", name);
		resolver->lookups = lookup;
		resolver->asked++;
	}

	struct resolver_question *question = mem_zero(sizeof *question);

	*question = (struct resolver_question){ lookup, lookup->waiting, done, context };
	lookup->waiting = question;
	if (known)
		return question;
	lookup->over = &over;
	ares_getaddrinfo(resolver->channel, name, NULL, &hints, on_answer, lookup);
	if (over)
		return NULL;
	lookup->over = NULL;
	return question;
}

void resolver_forget(struct resolver_question *question)
{
	for (struct resolver_question **at = &question->lookup->waiting; *at; at = &(*at)->next) {
		if (*at == question) {
			*at = question->next;
			free(question);
			return;
		}
	}
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
