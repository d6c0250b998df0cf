/* Packing, with filters that chance has written: rules of any form, for calls that have them. The
 * packed filter must give the answers of the first, as the interpreter of the tests reads both. */
#include "unit.h"
#include "unit_bpf.h"

#include "fence/init/filter_pack.h"

#include <errno.h>

enum {
	LAST = 60, /* the last call with a rule */
	FILTERS = 300,
	ARGUMENTS = 20,
	KILL = (int)SECCOMP_RET_KILL_PROCESS,
	X32 = 0x40000000,
	LOAD = BPF_LD | BPF_W | BPF_ABS,
	AND = BPF_ALU | BPF_AND | BPF_K,
	RETURN = BPF_RET | BPF_K,
	GO = BPF_JMP | BPF_JA,
	IF_EQUAL = BPF_JMP | BPF_JEQ | BPF_K,
	IF_ABOVE = BPF_JMP | BPF_JGT | BPF_K,
	IF_LEAST = BPF_JMP | BPF_JGE | BPF_K,
	IF_BITS = BPF_JMP | BPF_JSET | BPF_K,
};

static struct filter_pack made;
static struct filter_pack packed;

static uint32_t below(uint32_t end)
{
	return (uint32_t)random() % end;
}

/* Values close to each other, so that rules meet; and those at both ends. */
static uint32_t value(void)
{
	static const uint32_t telling[] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 0x80000000, UINT32_MAX - 1, UINT32_MAX
	};

	return telling[below(COUNT(telling))];
}

static void add(uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
	made.steps[made.count++] = (struct sock_filter){ code, yes, no, k };
}

static uint32_t answer(void)
{
	static const uint32_t answers[] = { SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EPERM,
					    SECCOMP_RET_USER_NOTIF };

	return answers[below(COUNT(answers))];
}

static uint32_t half(void)
{
	return (uint32_t)(offsetof(struct seccomp_data, args) + 4 * below(4));
}

/* The rules of one call: questions about its arguments, each followed by an answer or more. */
static void add_rules(void)
{
	static const uint16_t questions[] = { IF_EQUAL, IF_ABOVE, IF_LEAST, IF_BITS };
	uint32_t count = below(5);

	if (count > 0)
		add(LOAD, 0, 0, half());
	for (uint32_t i = 0; i < count; i++) {
		bool yes = below(2);

		if (below(4) == 0)
			add(LOAD, 0, 0, half());
		if (below(4) == 0)
			add(AND, 0, 0, below(3) ? value() : 0xf);
		if (below(8) == 0) { /* over a step that nobody reaches */
			add(GO, 0, 0, 1);
			add(RETURN, 0, 0, SECCOMP_RET_LOG);
		}
		add(questions[below(COUNT(questions))], !yes, yes, value());
		add(RETURN, 0, 0, answer());
	}
	add(RETURN, 0, 0, answer());
}

/* A filter for these calls; those of x32 are killed if it asks for them. */
static void make(bool asks_x32, uint32_t last)
{
	uint32_t first = 0;

	made.count = 0;
	add(LOAD, 0, 0, offsetof(struct seccomp_data, arch));
	add(IF_EQUAL, 1, 0, (uint32_t)NATIVE);
	add(RETURN, 0, 0, (uint32_t)KILL);
	add(LOAD, 0, 0, offsetof(struct seccomp_data, nr));
	if (asks_x32) {
		add(IF_LEAST, 0, 2, X32);
		add(IF_EQUAL, 1, 0, UINT32_MAX); /* -1 is not a call */
		add(RETURN, 0, 0, (uint32_t)KILL);
	}
	while (first <= last) { /* numbers from here to the next span share their rules */
		uint32_t end = first + 1 + below(3);
		size_t at = made.count;

		if (end > last + 1)
			end = last + 1;
		add(IF_LEAST, 0, 0, end);
		add_rules();
		made.steps[at].jt = (uint8_t)(made.count - at - 1);
		first = end;
	}
	add(RETURN, 0, 0, SECCOMP_RET_ERRNO | ENOSYS);
}

static bool agree(uint32_t number, uint32_t arch)
{
	struct seccomp_data data = { .nr = (int)number, .arch = arch };

	for (size_t i = 0; i < 2; i++)
		data.args[i] = (uint64_t)value() << 32 | (below(4) ? value() : below(20));
	return unit_bpf_run(made.steps, made.count, &data) ==
	       unit_bpf_run(packed.steps, packed.count, &data);
}

static bool all_agree(uint32_t last)
{
	bool held = true;

	for (uint32_t number = 0; number <= last + 2; number++)
		for (int i = 0; i < ARGUMENTS; i++)
			held = agree(number, (uint32_t)NATIVE) && held;
	return held && agree(X32, (uint32_t)NATIVE) && agree(X32 + 5, (uint32_t)NATIVE) &&
	       agree(X32 - 1, (uint32_t)NATIVE) && agree(UINT32_MAX, (uint32_t)NATIVE) &&
	       agree(UINT32_MAX - 1, (uint32_t)NATIVE) && agree(0, AUDIT_ARCH_I386) &&
	       agree(X32, AUDIT_ARCH_I386);
}

static bool pack(uint32_t last)
{
	return filter_pack(&made, (uint32_t)NATIVE, last, &packed) == 0;
}

static void same_answers(void)
{
	bool held = true;
	bool equal = true;
	bool smaller = true;

	for (int i = 0; i < FILTERS; i++) {
		make(i % 2, LAST);
		held = pack(LAST) && held;
		equal = held && all_agree(LAST) && equal;
		smaller = packed.count <= made.count && smaller;
	}
	CHECK("filters of any rules can be packed", held);
	CHECK("a packed filter gives the answers of the first", equal);
	CHECK("no packed filter is larger", smaller);
}

/* A filter with an answer of its own for each of the first calls. */
static void make_answers(uint32_t count)
{
	make(false, 0);
	made.count = 4;
	for (uint32_t i = 0; i < count; i++) {
		add(IF_EQUAL, 0, 1, i);
		add(RETURN, 0, 0, SECCOMP_RET_ERRNO | i);
	}
	add(RETURN, 0, 0, SECCOMP_RET_ALLOW);
}

static void many_spans(void)
{
	enum { SPANS = 1024 };
	bool held = true;

	for (uint32_t last = 1; last < SPANS - 1; last += last < 300 ? 1 : 97) {
		make_answers(last + 1);
		held = pack(last) && all_agree(last) && held;
	}
	CHECK("near and far jumps lead to the answers", held);
	make_answers(SPANS - 1);
	CHECK("1024 spans can be packed", pack(SPANS - 2) && all_agree(SPANS - 2));
	make_answers(SPANS);
	CHECK("more are refused", !pack(SPANS - 1));
}

/* Steps that calls share are there once, and equal neighbours are merged. */
static void sharing(void)
{
	enum { CALLS = 8 };

	make(false, 0);
	made.count = 4;
	for (uint32_t i = 0; i < CALLS; i++) {
		add(IF_EQUAL, 0, 6, 2 * i);
		add(LOAD, 0, 0, offsetof(struct seccomp_data, args[0]));
		add(IF_EQUAL, 2, 0, 7);
		add(IF_EQUAL, 1, 0, 8);
		add(IF_EQUAL, 0, 1, 9);
		add(RETURN, 0, 0, SECCOMP_RET_ALLOW);
		add(RETURN, 0, 0, SECCOMP_RET_ERRNO | EPERM);
	}
	add(RETURN, 0, 0, SECCOMP_RET_ERRNO | ENOSYS);
	CHECK("equal rules are there once, and values in a row are one range",
	      pack(2 * CALLS) && all_agree(2 * CALLS) && packed.count <= 4 + 4 * CALLS + 6);
}

/* A filter that ends with these steps for all calls. */
static void end_with(uint16_t code, uint32_t k)
{
	make(false, 0);
	made.count = 4;
	add(code, 0, 0, k);
}

static void refusals(void)
{
	end_with(RETURN, SECCOMP_RET_ALLOW);
	CHECK("a filter of one answer is packed", pack(LAST) && all_agree(LAST));
	end_with(BPF_ALU | BPF_ADD | BPF_K, 1);
	add(RETURN, 0, 0, SECCOMP_RET_ALLOW);
	made.steps[4] = (struct sock_filter){ LOAD, 0, 0, half() };
	made.steps[5] = (struct sock_filter){ BPF_ALU | BPF_ADD | BPF_K, 0, 0, 1 };
	add(RETURN, 0, 0, SECCOMP_RET_ALLOW);
	CHECK("a step that is not known is refused", !pack(LAST));
	end_with(LOAD, half());
	add(LOAD, 0, 0, offsetof(struct seccomp_data, nr));
	add(RETURN, 0, 0, SECCOMP_RET_ALLOW);
	CHECK("a number that is asked for among the arguments is refused", !pack(LAST));
	end_with(LOAD, half());
	add(LOAD, 0, 0, offsetof(struct seccomp_data, arch));
	add(RETURN, 0, 0, SECCOMP_RET_ALLOW);
	CHECK("so is the architecture", !pack(LAST));
	end_with(LOAD, half());
	CHECK("a filter without an end is refused", !pack(LAST));
	end_with(LOAD, half());
	add(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1);
	add(RETURN, 0, 0, SECCOMP_RET_ALLOW);
	add(RETURN, 0, 0, SECCOMP_RET_ALLOW);
	CHECK("a comparison that is not known is refused", !pack(LAST));
	made.count = 4;
	add(IF_LEAST, 0, 1, X32);
	add(RETURN, 0, 0, SECCOMP_RET_LOG);
	add(RETURN, 0, 0, SECCOMP_RET_ALLOW);
	CHECK("an answer to x32 that is not that to a foreign architecture is refused",
	      !pack(LAST));
}

int main(void)
{
	srandom(1);
	same_answers();
	many_spans();
	sharing();
	refusals();
	return unit_failures > 0;
}
