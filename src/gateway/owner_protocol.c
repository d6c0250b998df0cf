/* The owner protocol, and the format of the configuration: see owner_protocol.h. */
#include "gateway/owner_protocol.h"

#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int owner_protocol_send(int socket, const struct owner_protocol_message *message, const int *fds,
			size_t count, bool wait)
{
	return fd_send(socket, message, sizeof *message, fds, count, wait ? 0 : MSG_DONTWAIT);
}

int owner_protocol_receive(int socket, struct owner_protocol_message *ret_message, int ret_fds[2])
{
	struct owner_protocol_message message;
	int fds[FD_PASSED];
	int got = fd_receive(socket, &message, sizeof message, fds);

	if (got <= 0)
		return got;
	if (message.type == 0 || message.type >= OWNER_PROTOCOL_TYPES) {
		for (size_t i = 0; i < FD_PASSED; i++)
			fd_close(&fds[i]);
		errno = EPROTO;
		return -1;
	}
	if (message.type == OWNER_PROTOCOL_REFUSED) {
		message.u.refusal.host[sizeof message.u.refusal.host - 1] = '\0';
		message.u.refusal.reason[sizeof message.u.refusal.reason - 1] = '\0';
		message.u.refusal.remedy[sizeof message.u.refusal.remedy - 1] = '\0';
	} else if (message.type == OWNER_PROTOCOL_GRANT) {
		message.u.grant.why[sizeof message.u.grant.why - 1] = '\0';
	} else if (message.type !=
		   OWNER_PROTOCOL_ROW) { /* its strings are bounded where they are read */
		message.u.text[sizeof message.u.text - 1] = '\0';
	}
	*ret_message = message;
	ret_fds[0] = fds[0];
	ret_fds[1] = fds[1];
	return 1;
}

/* Transitions that are not listed are refused. */
static const unsigned char table[OWNER_PROTOCOL_STATES][OWNER_PROTOCOL_TYPES] = {
	[OWNER_PROTOCOL_NEW] = { [OWNER_PROTOCOL_START] = OWNER_PROTOCOL_STARTING },
	[OWNER_PROTOCOL_STARTING] = { [OWNER_PROTOCOL_REEL] = OWNER_PROTOCOL_STARTING,
				      [OWNER_PROTOCOL_REQUESTS] = OWNER_PROTOCOL_STARTING,
				      [OWNER_PROTOCOL_READY] = OWNER_PROTOCOL_SERVING,
				      [OWNER_PROTOCOL_FAILED] = OWNER_PROTOCOL_OVER },
	[OWNER_PROTOCOL_SERVING] = { [OWNER_PROTOCOL_LISTEN] = OWNER_PROTOCOL_SERVING,
				     [OWNER_PROTOCOL_ANSWER] = OWNER_PROTOCOL_SERVING,
				     [OWNER_PROTOCOL_GRANT] = OWNER_PROTOCOL_SERVING,
				     [OWNER_PROTOCOL_REFUSED] = OWNER_PROTOCOL_SERVING,
				     [OWNER_PROTOCOL_LEASE] = OWNER_PROTOCOL_SERVING,
				     [OWNER_PROTOCOL_ROW] = OWNER_PROTOCOL_SERVING,
				     [OWNER_PROTOCOL_FAILURE] = OWNER_PROTOCOL_SERVING,
				     [OWNER_PROTOCOL_NEWS] = OWNER_PROTOCOL_SERVING,
				     [OWNER_PROTOCOL_CLOSE] = OWNER_PROTOCOL_CLOSING,
				     [OWNER_PROTOCOL_FAILED] = OWNER_PROTOCOL_OVER },
	[OWNER_PROTOCOL_CLOSING] = { [OWNER_PROTOCOL_GRANT] = OWNER_PROTOCOL_CLOSING,
				     [OWNER_PROTOCOL_REFUSED] = OWNER_PROTOCOL_CLOSING,
				     [OWNER_PROTOCOL_LEASE] = OWNER_PROTOCOL_CLOSING,
				     [OWNER_PROTOCOL_ROW] = OWNER_PROTOCOL_CLOSING,
				     [OWNER_PROTOCOL_FAILURE] = OWNER_PROTOCOL_CLOSING,
				     [OWNER_PROTOCOL_NEWS] = OWNER_PROTOCOL_CLOSING,
				     [OWNER_PROTOCOL_CLOSED] = OWNER_PROTOCOL_OVER,
				     [OWNER_PROTOCOL_FAILED] = OWNER_PROTOCOL_OVER },
};

enum owner_protocol_state owner_protocol_next(enum owner_protocol_state state, uint32_t type)
{
	if (state >= OWNER_PROTOCOL_STATES || type >= OWNER_PROTOCOL_TYPES)
		return (enum owner_protocol_state)0;
	return (enum owner_protocol_state)table[state][type];
}

bool owner_protocol_fits(enum owner_protocol_side receiver, uint32_t type, size_t fds)
{
	static const struct {
		enum owner_protocol_side receiver;
		unsigned char least, most; /* number of descriptors */
	} messages[OWNER_PROTOCOL_TYPES] = {
		[OWNER_PROTOCOL_START] = { OWNER_PROTOCOL_GATEWAY, 2, 2 },
		[OWNER_PROTOCOL_REEL] = { OWNER_PROTOCOL_GATEWAY, 1, 2 },
		[OWNER_PROTOCOL_REQUESTS] = { OWNER_PROTOCOL_GATEWAY, 0, 1 },
		[OWNER_PROTOCOL_LISTEN] = { OWNER_PROTOCOL_GATEWAY, 1, 1 },
		[OWNER_PROTOCOL_ANSWER] = { OWNER_PROTOCOL_GATEWAY, 0, 0 },
		[OWNER_PROTOCOL_GRANT] = { OWNER_PROTOCOL_GATEWAY, 0, 0 },
		[OWNER_PROTOCOL_CLOSE] = { OWNER_PROTOCOL_GATEWAY, 0, 0 },
	};

	return type > 0 && type < OWNER_PROTOCOL_TYPES && messages[type].receiver == receiver &&
	       fds >= messages[type].least && fds <= messages[type].most;
}

int owner_protocol_take(int socket, enum owner_protocol_side receiver,
			enum owner_protocol_state *state,
			struct owner_protocol_message *ret_message, int ret_fds[2])
{
	struct owner_protocol_message message;
	enum owner_protocol_state next;
	int fds[2] = { -1, -1 };
	int got = owner_protocol_receive(socket, &message, fds);

	if (got <= 0)
		return got;
	next = owner_protocol_next(*state, message.type);
	if (!next || !owner_protocol_fits(receiver, message.type, (fds[0] >= 0) + (fds[1] >= 0))) {
		fd_close(&fds[0]);
		fd_close(&fds[1]);
		errno = EPROTO;
		return -1;
	}
	*state = next;
	*ret_message = message;
	ret_fds[0] = fds[0];
	ret_fds[1] = fds[1];
	return 1;
}

/* A configuration is this header, then the rules and the texts about models, NUL-terminated. */
struct head {
	char mark[8];
	struct caps caps;
	char token[OWNER_PROTOCOL_TOKEN];
	uint32_t uid, gid;
	uint32_t iteration;
	uint32_t rules;
	uint32_t models;
};

static const char mark[8] = "rfgate2";

void owner_protocol_config_write(const struct owner_protocol_config *config,
				 const struct list *rules, const struct list *models,
				 struct buffer *out)
{
	struct head head;

	memset(&head, 0, sizeof head); /* also clears the padding */
	memcpy(head.mark, mark, sizeof mark);
	head.caps = config->caps;
	memcpy(head.token, config->token, sizeof head.token);
	head.uid = config->uid;
	head.gid = config->gid;
	head.iteration = config->iteration;
	head.rules = (uint32_t)rules->count;
	head.models = (uint32_t)models->count;
	buffer_add(out, &head, sizeof head);
	for (size_t i = 0; i < rules->count; i++)
		buffer_add(out, rules->items[i], strlen(rules->items[i]) + 1);
	for (size_t i = 0; i < models->count; i++)
		buffer_add(out, models->items[i], strlen(models->items[i]) + 1);
}

static int check_cap(uint64_t value, uint64_t least, uint64_t most, const char *sentence,
		     struct error *err)
{
	if (value < least || value > most)
		return error_set(err, "the limit '%s' is out of range", sentence);
	return 0;
}

static int check_caps(const struct caps *caps, struct error *err)
{
#define X(name, value, least, most, sentence)                  \
	if (check_cap(caps->name, least, most, sentence, err)) \
		return -1;
	GATEWAY_CAPS(X)
#undef X
	return 0;
}

/* Consumes the next string. Returns NULL if it is not terminated. */
static const char *next_text(const char **at, size_t *left)
{
	const char *text = *at;
	const char *end = *left ? memchr(text, '\0', *left) : NULL;

	if (!end)
		return NULL;
	*left -= (size_t)(end - text) + 1;
	*at = end + 1;
	return text;
}

static int read_rules(const char **at, size_t *left, struct owner_protocol_config *config,
		      uint32_t count, struct error *err)
{
	config->rules = mem_zero(count * sizeof *config->rules);
	for (uint32_t i = 0; i < count; i++) {
		const char *text = next_text(at, left);

		if (!text)
			return error_set(err, "the configuration is truncated");
		if (rule_parse(text, &config->rules[i], err) < 0)
			return -1;
		config->rule_count++;
	}
	return 0;
}

static int read_models(const char **at, size_t *left, struct owner_protocol_config *config,
		       uint32_t count, struct error *err)
{
	char *items[MODEL_CONFIG_TEXTS];
	const struct list texts = { .items = items, .count = count };

	if (count > MODEL_CONFIG_TEXTS)
		return error_set(err, "the configuration of models is too long");
	for (uint32_t i = 0; i < count; i++) {
		items[i] = (char *)next_text(at, left); /* only read */
		if (!items[i])
			return error_set(err, "the configuration is truncated");
	}
	return model_config_read(&texts, &config->models, err);
}

static int read_texts(const char *at, size_t left, struct owner_protocol_config *config,
		      const struct head *head, struct error *err)
{
	if (read_rules(&at, &left, config, head->rules, err) < 0 ||
	    read_models(&at, &left, config, head->models, err) < 0)
		return -1;
	return left ? error_set(err, "the configuration has trailing data") : 0;
}

int owner_protocol_config_read(const char *bytes, size_t size,
			       struct owner_protocol_config *ret_config, struct error *err)
{
	struct owner_protocol_config config = { 0 };
	struct head head;

	if (size < sizeof head)
		return error_set(err, "the configuration is truncated");
	memcpy(&head, bytes, sizeof head);
	if (memcmp(head.mark, mark, sizeof mark) != 0)
		return error_set(err, "the configuration is from another version");
	if (head.rules > GATEWAY_RULES)
		return error_set(err, "more than %d rules", GATEWAY_RULES);
	if (strspn(head.token, "0123456789abcdef") != OWNER_PROTOCOL_TOKEN - 1 ||
	    head.token[OWNER_PROTOCOL_TOKEN - 1])
		return error_set(err, "the configuration has no token");
	if (check_caps(&head.caps, err) < 0)
		return -1;
	config.caps = head.caps;
	memcpy(config.token, head.token, sizeof config.token);
	config.uid = head.uid;
	config.gid = head.gid;
	config.iteration = head.iteration;
	if (read_texts(bytes + sizeof head, size - sizeof head, &config, &head, err) < 0) {
		owner_protocol_config_release(&config);
		return -1;
	}
	*ret_config = config;
	return 0;
}

void owner_protocol_config_release(struct owner_protocol_config *config)
{
	free(config->rules);
	config->rules = NULL;
	config->rule_count = 0;
	model_config_release(&config->models);
}
