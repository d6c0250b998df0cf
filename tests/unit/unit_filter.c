/*
 * The three filters say the same, and what they leave to the listener is answered as the plain one
 * would: tried with a small interpreter on every call and on arguments that matter.
 */
#include "unit.h"

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

#ifdef __x86_64__
enum { NATIVE = (int)AUDIT_ARCH_X86_64 };
#else
enum { NATIVE = (int)AUDIT_ARCH_AARCH64 };
#endif

/* What a filter gives, as the kernel would run it. */
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

/* Is a filter's answer, completed by the listener's where it asks, that of the plain one? */
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
	CHECK("with the listener's answers, the noticing filter says what the plain one says",
	      noticing);
	CHECK("and so does the tracing one", tracing);
	CHECK("every call in the listener's list is really asked about", all);

	const struct seccomp_data foreign = { .nr = SYS_openat, .arch = AUDIT_ARCH_I386 };

	CHECK("a foreign architecture is killed by all of them",
	      RUN(filter_plain, &foreign) == SECCOMP_RET_KILL_PROCESS &&
		      RUN(filter_noticing, &foreign) == SECCOMP_RET_KILL_PROCESS &&
		      RUN(filter_tracing, &foreign) == SECCOMP_RET_KILL_PROCESS);
	return unit_failures > 0;
}
