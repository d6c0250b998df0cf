/* Order parsing: see order.h. */
#include "fence/init/order.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static void add_string(const char ***list, size_t *count, const char *text)
{
	*list = mem_resize(*list, *count + 2, sizeof **list);
	(*list)[(*count)++] = text;
	(*list)[*count] = NULL;
}

static bool copy(const struct wire_record *record, void *target, size_t size)
{
	if (record->size != size)
		return false;
	memcpy(target, record->data, size);
	return true;
}

/* Adds one record to the order. Returns false if it is malformed or does not belong in an order. */
static bool add_record(struct order *order, const struct wire_record *record)
{
	const char *text = wire_string(record, 0);

	switch (record->tag) {
	case WIRE_FLAGS:
		return copy(record, &order->flags, sizeof order->flags);
	case WIRE_HOST:
		return copy(record, &order->host, sizeof order->host);
	case WIRE_LIMITS:
		return copy(record, &order->limits, sizeof order->limits);
	case WIRE_ARGUMENT:
		if (text)
			add_string(&order->arguments, &order->argument_count, text);
		return text;
	case WIRE_ENVIRONMENT:
		if (text)
			add_string(&order->environment, &order->environment_count, text);
		return text;
	case WIRE_SCRATCH:
		if (text)
			add_string(&order->scratch, &order->scratch_count, text);
		return text;
	case WIRE_HOST_MOUNT:
		if (text)
			add_string(&order->host_mounts, &order->host_mount_count, text);
		return text;
	case WIRE_HOST_DEVICE:
		order->host_devices = mem_resize(order->host_devices, order->host_device_count + 1,
						 sizeof *order->host_devices);
		return copy(record, &order->host_devices[order->host_device_count++],
			    sizeof *order->host_devices);
	case WIRE_CWD:
		return (order->cwd = text);
	case WIRE_CANARY:
		return (order->canary = text);
	case WIRE_ABSTRACT:
		return (order->abstract = text);
	case WIRE_DRAFT:
		order->draft = text;
		return text && text[0] == '/';
	case WIRE_LISTEN:
		order->listens = mem_resize(order->listens, order->listen_count + 1,
					    sizeof *order->listens);
		return copy(record, &order->listens[order->listen_count++], sizeof *order->listens);
	case WIRE_RULE:
		if (!(text = wire_string(record, sizeof(struct wire_rule))) || text[0] != '/')
			return false;
		order->rules = mem_resize(order->rules, order->rule_count + 1,
					  sizeof *order->rules);
		order->rules[order->rule_count].path = text;
		memcpy(&order->rules[order->rule_count++].rule, record->data,
		       sizeof(struct wire_rule));
		return true;
	case WIRE_GRANT:
		if (!(text = wire_string(record, sizeof(struct wire_grant))) || text[0] != '/')
			return false;
		order->grants = mem_resize(order->grants, order->grant_count + 1,
					   sizeof *order->grants);
		order->grants[order->grant_count].path = text;
		memcpy(&order->grants[order->grant_count++].grant, record->data,
		       sizeof(struct wire_grant));
		return true;
	default:
		return false;
	}
}

int order_read(const char *bytes, size_t size, struct order *ret_order, struct error *err)
{
	struct wire_reader reader = { .at = bytes, .left = size };
	struct wire_record record;
	struct order order = { 0 };
	int more;

	while ((more = wire_next(&reader, &record)) > 0) {
		if (!add_record(&order, &record)) {
			order_release(&order);
			return error_set(err, "the order has a malformed record (tag %u)",
					 record.tag);
		}
	}
	if (more < 0 || !order.arguments || !order.environment || !order.cwd ||
	    order.cwd[0] != '/' ||
	    (order.flags.confined &&
	     (!order.canary || !order.abstract ||
	      (order.flags.shared ? !order.grant_count : !order.rule_count)))) {
		order_release(&order);
		return error_set(err, "the order is incomplete");
	}
	*ret_order = order;
	return 0;
}

void order_release(struct order *order)
{
	free(order->arguments);
	free(order->environment);
	free(order->scratch);
	free(order->host_mounts);
	free(order->host_devices);
	free(order->rules);
	free(order->grants);
	free(order->listens);
	*order = (struct order){ 0 };
}
