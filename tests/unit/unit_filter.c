/*
 * The three filters agree: where the other two ask the listener, its answer is that of the plain
 * one. Tried with a small interpreter on every call and on arguments that matter.
 */
#include "unit.h"

#include "fence/init/filter_pack.h"
#include "util/arch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

struct call {
	int number;
	int error;
	const char *name;
};

#include "calls.inc"
#include "filter.inc"

#define COUNT(list) (sizeof(list) / sizeof *(list))

enum { NATIVE = (int)ARCH_AUDIT };

/* The answer of a filter, as the kernel would run it. */
static uint32_t run(const struct sock_filter *steps, size_t count, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t i = 0; i < count; i++) {
		const struct sock_filter *at = &steps[i];
		bool yes = false;

		switch (at->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *)data + at->k, sizeof a);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= at->k;
			continue;
		case BPF_JMP | BPF_JA:
			i += at->k;
			continue;
		case BPF_RET | BPF_K:
			return at->k;
		case BPF_JMP | BPF_JEQ | BPF_K:
			yes = a == at->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			yes = a > at->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			yes = a >= at->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			yes = a & at->k;
			break;
		default:
			abort();
		}
		i += yes ? at->jt : at->jf;
	}
	abort();
}

#define RUN(filter, data) run(filter, COUNT(filter), data)

static const struct call *find(int number)
{
	for (size_t i = 0; i < COUNT(calls); i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

/* Reports whether a filter's answer, or the listener's if the filter asks, is that of the plain
 * one. */
static bool agrees(uint32_t answer, uint32_t plain, int number)
{
	const struct call *call = find(number);

	if (answer != SECCOMP_RET_USER_NOTIF)
		return answer == plain;
	return call && plain == (call->error ? SECCOMP_RET_ERRNO | (uint32_t)call->error
					     : SECCOMP_RET_ALLOW);
}

static uint64_t argument(void)
{
	static const uint64_t telling[] = {
		0,
		1,
		2,
		3,
		O_CREAT,
		O_WRONLY | O_CREAT | O_TRUNC,
		O_RDWR | O_TMPFILE,
		O_TRUNC,
		O_PATH,
		0644,
		04755,
		02755,
		CLONE_NEWUSER,
		CLONE_NEWNS | SIGCHLD,
		CLONE_VM | CLONE_THREAD,
		AT_EMPTY_PATH,
		16,
		17,
		40,
		TIOCSTI,
		TIOCLINUX,
		TIOCGWINSZ,
		0x20000,
		UINT64_MAX,
	};
	uint64_t value = telling[(size_t)random() % COUNT(telling)];

	switch (random() % 8) {
	case 0:
		return (uint64_t)random() << 32 |
		       value; /* the kernel ignores this half of an int */
	case 1:
		return (uint64_t)random();
	default:
		return value;
	}
}

/* A filter as libseccomp writes it: a step for each number, and one call judged by an argument. */
static void packing(void)
{
	enum { LAST = 300, JUDGED = 41 };
	static struct filter_pack made;
	static struct filter_pack packed;
	const struct sock_filter head[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)NATIVE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	const struct sock_filter tail[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	memcpy(made.steps, head, sizeof head);
	made.count = COUNT(head);
	for (uint32_t number = 0; number <= LAST; number++) { /* allow the number, with
							       * exceptions */
		bool refused = number % 7 == 3;

		made.steps[made.count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
									number, 0, 1);
		made.steps[made.count++] =
			number == JUDGED
				? (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA,
							       2 * (LAST - number) + 1)
				: (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							       refused ? SECCOMP_RET_ERRNO | EPERM
								       : SECCOMP_RET_ALLOW);
	}
	memcpy(&made.steps[made.count], tail, sizeof tail);
	made.count += COUNT(tail);

	CHECK("a packed filter is smaller",
	      filter_pack(&made, (uint32_t)NATIVE, LAST, &packed) == 0 &&
		      packed.count < made.count / 2);
	CHECK("a packed filter gives the same answers",
	      filter_pack_compare(&made, &packed, (uint32_t)NATIVE, LAST) == 0);

	bool noticed = true;

	for (size_t i = 0; i < packed.count; i++) {
		struct sock_filter *step = &packed.steps[i];
		struct sock_filter saved = *step;

		if (step->code != (BPF_RET | BPF_K) || step->k == SECCOMP_RET_KILL_PROCESS)
			continue;
		step->k = SECCOMP_RET_LOG;
		noticed = noticed &&
			  filter_pack_compare(&made, &packed, (uint32_t)NATIVE, LAST) < 0;
		*step = saved;
	}
	CHECK("a single different answer is noticed", noticed);

	struct sock_filter *first = &made.steps[0];

	first->k = offsetof(struct seccomp_data, instruction_pointer);
	CHECK("a filter of another form is refused",
	      filter_pack(&made, (uint32_t)NATIVE, LAST, &packed) < 0);
}

int main(void)
{
	enum { LAST = 480, ROUNDS = 1500 };
	bool noticing = true;
	bool tracing = true;
	size_t asked[COUNT(calls)] = { 0 };
	bool all = true;

	for (int i = 0; i < LAST * ROUNDS; i++) {
		struct seccomp_data data = { .nr = i % LAST, .arch = (uint32_t)NATIVE };
		uint32_t plain;
		uint32_t traced;

		for (size_t k = 0; k < COUNT(data.args); k++)
			data.args[k] = argument();
		plain = RUN(filter_plain, &data);
		traced = RUN(filter_tracing, &data);
		noticing = noticing && agrees(RUN(filter_noticing, &data), plain, data.nr);
		tracing = tracing && agrees(traced, plain, data.nr);
		if (traced == SECCOMP_RET_USER_NOTIF && find(data.nr))
			asked[find(data.nr) - calls]++;
	}
	for (size_t i = 0; i < COUNT(calls); i++)
		all = all && asked[i] > 0;
	CHECK("with the listener's answers, the noticing filter matches the plain one", noticing);
	CHECK("with the listener's answers, the tracing filter matches the plain one", tracing);
	CHECK("the filter asks about every call in the listener's list", all);

	const struct seccomp_data native = { .nr = SYS_getpid, .arch = (uint32_t)NATIVE };

	CHECK("all filters judge calls of the architecture that they are built for",
	      RUN(filter_plain, &native) == SECCOMP_RET_ALLOW &&
		      RUN(filter_noticing, &native) == SECCOMP_RET_ALLOW &&
		      RUN(filter_tracing, &native) == SECCOMP_RET_ALLOW);

	const struct seccomp_data foreign = { .nr = SYS_openat, .arch = AUDIT_ARCH_I386 };

	CHECK("all filters kill a foreign architecture",
	      RUN(filter_plain, &foreign) == SECCOMP_RET_KILL_PROCESS &&
		      RUN(filter_noticing, &foreign) == SECCOMP_RET_KILL_PROCESS &&
		      RUN(filter_tracing, &foreign) == SECCOMP_RET_KILL_PROCESS);
	packing();
	return unit_failures > 0;
}
