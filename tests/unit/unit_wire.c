/* Records and messages between ringfence and init, and the order made from them. */
#include "unit.h"

#include "fence/init/order.h"
#include "fence/run/wire.h"
#include "util/file/fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void add_needed(struct buffer *order)
{
	struct wire_flags flags = { .confined = 1 };
	struct wire_rule rule = { .access = WIRE_READ };

	wire_add(order, WIRE_FLAGS, &flags, sizeof flags);
	wire_add_string(order, WIRE_ARGUMENT, "true");
	wire_add_string(order, WIRE_ENVIRONMENT, "A=1");
	wire_add_string(order, WIRE_CWD, "/p");
	wire_add_string(order, WIRE_CANARY, "/c");
	wire_add_string(order, WIRE_ABSTRACT, "x");
	wire_add_rule(order, &rule, "/p");
}

static int read_order(struct buffer *bytes)
{
	struct order order;
	struct error err;
	int result = order_read(buffer_text(bytes), bytes->used, &order, &err);

	if (result == 0)
		order_release(&order);
	return result;
}

static void orders(void)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(100000);
	AUTO_BUFFER struct buffer odd = BUFFER_INIT(100000);
	struct order order;
	struct error err;
	bool torn_is_refused = true;

	add_needed(&bytes);
	CHECK("an order is read as it was written",
	      order_read(buffer_text(&bytes), bytes.used, &order, &err) == 0 &&
		      strcmp(order.arguments[0], "true") == 0 && !order.arguments[1] &&
		      strcmp(order.rules[0].path, "/p") == 0);
	order_release(&order);

	/* Truncated anywhere except between records, or with a required record missing. */
	for (size_t size = 0; size < bytes.used; size++)
		torn_is_refused = torn_is_refused && order_read(bytes.data, size, &order, &err) < 0;
	CHECK("an order that is truncated anywhere is refused", torn_is_refused);

	add_needed(&odd);
	wire_add(&odd, WIRE_ARGUMENT, "no end", 6);
	CHECK("a string without a NUL is refused", read_order(&odd) < 0);
	buffer_release(&odd);
	add_needed(&odd);
	wire_add(&odd, WIRE_ARGUMENT, "a\0b", 4);
	CHECK("a string with a NUL inside is refused", read_order(&odd) < 0);
	buffer_release(&odd);
	add_needed(&odd);
	wire_add_string(&odd, WIRE_ROOT, "/x");
	CHECK("a record that belongs elsewhere is refused", read_order(&odd) < 0);
	buffer_release(&odd);
	add_needed(&odd);
	wire_add_rule(&odd, &(struct wire_rule){ 0 }, "relative");
	CHECK("a rule with a relative path is refused", read_order(&odd) < 0);
	buffer_release(&odd);
	add_needed(&odd);
	wire_add_string(&odd, WIRE_DRAFT, "relative");
	CHECK("a draft with a relative path is refused", read_order(&odd) < 0);
}

static void messages(void)
{
	struct wire_message message = { .type = WIRE_SIGNAL, .a = 15, .text = "x" };
	struct wire_message got;
	int sockets[2];
	int pipes[2];
	int fd = -1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) < 0 || pipe(pipes) < 0)
		return;
	CHECK("an empty socket yields EAGAIN",
	      wire_receive(sockets[1], &got, &fd) < 0 && errno == EAGAIN);
	CHECK("a message arrives with its descriptor",
	      wire_send(sockets[0], &message, pipes[1]) == 0 &&
		      wire_receive(sockets[1], &got, &fd) == 1 && got.a == 15 && fd >= 0 &&
		      write(fd, "y", 1) == 1);
	close(fd);
	CHECK("a message of another size is refused",
	      send(sockets[0], "short", 5, 0) == 5 && wire_receive(sockets[1], &got, &fd) < 0 &&
		      errno == EPROTO);
	close(sockets[0]);
	CHECK("the end of the peer is noticed", wire_receive(sockets[1], &got, &fd) == 0);
	close(sockets[1]);
	close(pipes[0]);
	close(pipes[1]);
}

/* The legal messages of each state and the states they lead to, as in docs/protocols.md. */
static const struct legal {
	enum wire_state from;
	uint32_t type;
	enum wire_state to;
} legal[] = {
	{ WIRE_STATE_NEW, WIRE_LOCK, WIRE_STATE_LOCKED },
	{ WIRE_STATE_LOCKED, WIRE_ORDER, WIRE_STATE_ORDERED },
	{ WIRE_STATE_ORDERED, WIRE_TERMINAL, WIRE_STATE_ORDERED },
	{ WIRE_STATE_ORDERED, WIRE_DENIALS, WIRE_STATE_ORDERED },
	{ WIRE_STATE_ORDERED, WIRE_MOUNTED, WIRE_STATE_MOUNTED },
	{ WIRE_STATE_ORDERED, WIRE_FAILED, WIRE_STATE_FAILED },
	{ WIRE_STATE_MOUNTED, WIRE_DENIALS, WIRE_STATE_MOUNTED },
	{ WIRE_STATE_MOUNTED, WIRE_GO, WIRE_STATE_STARTING },
	{ WIRE_STATE_MOUNTED, WIRE_FAILED, WIRE_STATE_FAILED },
	{ WIRE_STATE_STARTING, WIRE_TERMINAL, WIRE_STATE_STARTING },
	{ WIRE_STATE_STARTING, WIRE_DENIALS, WIRE_STATE_STARTING },
	{ WIRE_STATE_STARTING, WIRE_LISTENING, WIRE_STATE_STARTING },
	{ WIRE_STATE_STARTING, WIRE_COUNTERS, WIRE_STATE_STARTING },
	{ WIRE_STATE_STARTING, WIRE_STOPPED, WIRE_STATE_STARTING },
	{ WIRE_STATE_STARTING, WIRE_SIGNAL, WIRE_STATE_STARTING },
	{ WIRE_STATE_STARTING, WIRE_SIGNAL_ALL, WIRE_STATE_STARTING },
	{ WIRE_STATE_STARTING, WIRE_MAKE_MOVABLE, WIRE_STATE_STARTING },
	{ WIRE_STATE_STARTING, WIRE_RUNNING, WIRE_STATE_RUNNING },
	{ WIRE_STATE_STARTING, WIRE_FAILED, WIRE_STATE_FAILED },
	{ WIRE_STATE_STARTING, WIRE_EXITED, WIRE_STATE_OVER },
	{ WIRE_STATE_RUNNING, WIRE_NOT_STARTED, WIRE_STATE_RUNNING },
	{ WIRE_STATE_RUNNING, WIRE_STOPPED, WIRE_STATE_RUNNING },
	{ WIRE_STATE_RUNNING, WIRE_SIGNAL, WIRE_STATE_RUNNING },
	{ WIRE_STATE_RUNNING, WIRE_SIGNAL_ALL, WIRE_STATE_RUNNING },
	{ WIRE_STATE_RUNNING, WIRE_MAKE_MOVABLE, WIRE_STATE_RUNNING },
	{ WIRE_STATE_RUNNING, WIRE_MOVABLE, WIRE_STATE_RUNNING },
	{ WIRE_STATE_RUNNING, WIRE_EXITED, WIRE_STATE_OVER },
	{ WIRE_STATE_FAILED, WIRE_TERMINAL, WIRE_STATE_FAILED },
	{ WIRE_STATE_FAILED, WIRE_DENIALS, WIRE_STATE_FAILED },
	{ WIRE_STATE_FAILED, WIRE_MOUNTED, WIRE_STATE_FAILED },
	{ WIRE_STATE_FAILED, WIRE_GO, WIRE_STATE_FAILED },
	{ WIRE_STATE_FAILED, WIRE_LISTENING, WIRE_STATE_FAILED },
	{ WIRE_STATE_FAILED, WIRE_COUNTERS, WIRE_STATE_FAILED },
	{ WIRE_STATE_FAILED, WIRE_STOPPED, WIRE_STATE_FAILED },
	{ WIRE_STATE_FAILED, WIRE_FAILED, WIRE_STATE_FAILED },
	{ WIRE_STATE_FAILED, WIRE_EXITED, WIRE_STATE_OVER },
};

static enum wire_state leads_to(enum wire_state from, uint32_t type)
{
	for (size_t i = 0; i < sizeof legal / sizeof *legal; i++)
		if (legal[i].from == from && legal[i].type == type)
			return legal[i].to;
	return 0;
}

/* Sends a message to this side. Reports whether it was accepted with the expected next state, or
 * refused. */
static bool behaves(enum wire_side receiver, enum wire_state from, uint32_t type, bool with_fd)
{
	const struct wire_message message = { .type = type };
	bool fits = wire_fits(receiver, type, with_fd);
	enum wire_state state = from;
	enum wire_state to = leads_to(from, type);
	struct wire_message got;
	int sockets[2];
	int fd = -1;
	int taken;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return false;
	wire_send(sockets[0], &message, with_fd ? sockets[0] : -1);
	taken = wire_take(sockets[1], receiver, &state, &got, &fd);
	fd_close(&fd);
	close(sockets[0]);
	close(sockets[1]);
	return fits && to ? taken == 1 && state == to && got.type == type
			  : taken < 0 && errno == EPROTO && state == from;
}

static void states(void)
{
	bool hold = true;
	bool one_way = true;

	for (int from = 1; from < WIRE_STATES; from++)
		for (uint32_t type = 0; type <= WIRE_MESSAGES; type++)
			for (int side = WIRE_OUTSIDE; side <= WIRE_INSIDE; side++)
				hold = hold &&
				       behaves((enum wire_side)side, (enum wire_state)from, type,
					       false) &&
				       behaves((enum wire_side)side, (enum wire_state)from, type,
					       true);
	for (uint32_t type = 0; type <= WIRE_MESSAGES; type++)
		one_way = one_way && !((wire_fits(WIRE_OUTSIDE, type, false) ||
					wire_fits(WIRE_OUTSIDE, type, true)) &&
				       (wire_fits(WIRE_INSIDE, type, false) ||
					wire_fits(WIRE_INSIDE, type, true)));
	CHECK("each message is accepted in its legal states and refused in all others", hold);
	CHECK("each message has one direction", one_way);
}

int main(void)
{
	states();
	orders();
	messages();
	return unit_failures > 0;
}
