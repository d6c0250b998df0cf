/* The gateway as an outlet: see gateway_outlet.h. */
#include "gateway/owner/gateway_outlet.h"

#include "gateway/owner/gateway.h"
#include "gateway/owner/keys.h"
#include "util/mem.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gateway_outlet {
	struct outlet outlet; /* must be first: callers hold a pointer to it */
	struct gateway *gateway;
	const struct model_access *models; /* or NULL */
	struct keys keys;
	struct ledger *ledger; /* NULL without models */
	struct cassette *cassette;
};

_Static_assert(offsetof(struct gateway_outlet, outlet) == 0,
	       "struct outlet must be the first member");

static struct gateway_outlet *own(const struct outlet *outlet)
{
	return (struct gateway_outlet *)outlet;
}

static int start(struct outlet *outlet, const struct list *rules, const struct outlet_caps *caps,
		 uid_t uid, gid_t gid, struct error *err)
{
	struct gateway_outlet *self = own(outlet);
	struct gateway_options options = {
		.rules = *rules,
		.uid = uid,
		.gid = gid,
		.token = outlet->token,
		.caps = GATEWAY_CAPS_DEFAULT,
		.models = self->models,
		.keys = &self->keys,
		.ledger = self->ledger,
		.cassette = self->cassette,
	};

	if (caps->connections)
		options.caps.connections = caps->connections;
	options.caps.bytes_in = caps->bytes_in;
	options.caps.bytes_out = caps->bytes_out;
	if (gateway_start(&options, &self->gateway, err) < 0)
		return -1;
	snprintf(outlet->warning, sizeof outlet->warning, "%s", gateway_warnings(self->gateway));
	return 0;
}

static int serve(struct outlet *outlet, int listener, struct error *err)
{
	return gateway_listen(own(outlet)->gateway, listener, err);
}

static int watched(const struct outlet *outlet)
{
	return own(outlet)->gateway ? gateway_fd(own(outlet)->gateway) : -1;
}

static int take(struct outlet *outlet, struct outlet_refusal *ret_refusal, struct error *err)
{
	struct gateway_refusal refusal;
	int got = gateway_take(own(outlet)->gateway, &refusal, err);

	if (got <= 0)
		return got;
	*ret_refusal = (struct outlet_refusal){ .id = refusal.id, .client = refusal.client };
	snprintf(ret_refusal->target, sizeof ret_refusal->target,
		 strchr(refusal.host, ':') ? "[%s]:%u" : "%s:%u", refusal.host, refusal.port);
	/* In the protocol the reason follows the host; here it stands alone. */
	snprintf(ret_refusal->reason, sizeof ret_refusal->reason, "%.*s",
		 (int)sizeof ret_refusal->reason - 1,
		 refusal.reason + (strncmp(refusal.reason, "is ", 3) == 0 ? 3 : 0));
	return 1;
}

static void answer(struct outlet *outlet, uint32_t id)
{
	gateway_answer(own(outlet)->gateway, id);
}

static size_t stop(struct outlet *outlet, struct outlet_host *ret_hosts, size_t most)
{
	struct gateway_outlet *self = own(outlet);
	size_t count = self->gateway ? gateway_hosts(self->gateway, ret_hosts, most) : 0;

	gateway_stop(self->gateway);
	self->gateway = NULL;
	return count;
}

static bool spent(const struct outlet *outlet, struct outlet_spend *ret_spend)
{
	struct ledger_news news;

	if (!gateway_outlet_news(outlet, &news))
		return false;
	*ret_spend = (struct outlet_spend){
		.requests = news.requests,
		.refused = news.refused,
		.input = news.tokens[PRICE_INPUT],
		.output = news.tokens[PRICE_OUTPUT],
		.cache_write = news.tokens[PRICE_WRITE_5M] + news.tokens[PRICE_WRITE_1H],
		.cache_read = news.tokens[PRICE_READ],
		.cost_nusd = news.cost_nusd,
	};
	return true;
}

struct outlet *gateway_outlet_new(struct error *err)
{
	struct gateway_outlet *self = mem_zero(sizeof *self);

	if (gateway_token_make(self->outlet.token, err) < 0) {
		free(self);
		return NULL;
	}
	self->outlet.start = start;
	self->outlet.serve = serve;
	self->outlet.fd = watched;
	self->outlet.take = take;
	self->outlet.answer = answer;
	self->outlet.stop = stop;
	self->outlet.spent = spent;
	return &self->outlet;
}

int gateway_outlet_models(struct outlet *outlet, const struct model_access *access,
			  const struct taint *taint, const struct ledger_options *ledger,
			  struct error *err)
{
	struct gateway_outlet *self = own(outlet);
	struct ledger_options kept = *ledger;

	if (keys_read(access, taint, &self->keys, err) < 0 ||
	    cassette_open(&access->tape, ledger, &self->cassette, err) < 0)
		return -1;
	self->models = access;
	kept.replay = cassette_is_replay(self->cassette);
	return ledger_open(&kept, &self->ledger, err);
}

const char *gateway_outlet_tape(const struct outlet *outlet)
{
	return outlet && own(outlet)->cassette ? cassette_path(own(outlet)->cassette) : NULL;
}

bool gateway_outlet_news(const struct outlet *outlet, struct ledger_news *ret_news)
{
	if (!outlet || !own(outlet)->ledger)
		return false;
	ledger_get_news(own(outlet)->ledger, ret_news);
	return true;
}

void gateway_outlet_free(struct outlet *outlet)
{
	if (!outlet)
		return;
	gateway_stop(own(outlet)->gateway);
	ledger_close(own(outlet)->ledger);
	cassette_close(own(outlet)->cassette);
	keys_wipe(&own(outlet)->keys);
	free(own(outlet));
}
