/* Denials: see denial.h. */
#include "fence/watch/denial.h"

#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct call {
	int number;
	int error; /* the answer; 0: go on */
	const char *name;
};

#include "calls.inc" /* calls; made by filter_gen.c */

/* Newer than the headers of Debian 12: who asks is woken where this process is about to sleep. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
enum { SYNC_WAKE_UP = 1 };

void denial_init(struct denial_log *denials, const struct fence_plan *plan, fence_notice_fn *notice,
		 struct fence_denials *list)
{
	*denials = (struct denial_log){
		.context = { .plan = plan, .root = -1 },
		.notice = notice,
		.list = list,
		.listener = -1,
	};
}

void denial_listen(struct denial_log *denials, int listener)
{
	fd_close(&denials->listener);
	denials->listener = listener;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, (unsigned long)SYNC_WAKE_UP);
}

/* What the filter asks about is in the list; should it ask about more, the answer is no. */
static struct call find_call(int number)
{
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (calls[i].number == number)
			return calls[i];
	return (struct call){ number, EPERM, "unknown" };
}

/* The start of a file of /proc as a string. Returns its size. */
static size_t read_start(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", pid, name);

	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	n = n < 0 ? 0 : n;
	text[n] = '\0';
	return (size_t)n;
}

/* Who asks, and with which arguments it was started. */
static void identify(pid_t pid, struct fence_denial *denial)
{
	char text[4096];
	size_t size = read_start(pid, "cmdline", text, sizeof text);

	verdict_arguments(text, size, &denial->argv);
	if (denial->argv.count) {
		denial->program = mem_dup(path_name(denial->argv.items[0]));
	} else { /* it has overwritten them */
		read_start(pid, "comm", text, sizeof text);
		text[strcspn(text, "\n")] = '\0';
		denial->program = mem_dup(text);
	}
	read_start(pid, "status", text, sizeof text);
	denial->pid = verdict_inner_pid(text);
}

static uint64_t mix(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return (hash ^ 0xff) * 0x100000001b3;
}

static bool same(const struct fence_denial *a, const struct fence_denial *b)
{
	return a->hash == b->hash && strcmp(a->kind, b->kind) == 0 &&
	       strcmp(a->target, b->target) == 0 && strcmp(a->rule, b->rule) == 0 &&
	       strcmp(a->program, b->program) == 0;
}

/* Counts a denial that is known, or adds it. Takes it over. */
static void add(struct fence_denials *list, struct fence_denial *denial)
{
	denial->count = 1;
	denial->hash =
		mix(mix(mix(mix(0xcbf29ce484222325, denial->kind), denial->target), denial->rule),
		    denial->program);
	for (size_t i = 0; i < list->count; i++) {
		if (same(&list->items[i], denial)) {
			list->items[i].count++;
			fence_denial_release(denial);
			return;
		}
	}
	if (list->count == DENIAL_LISTED) {
		list->unlisted++;
		fence_denial_release(denial);
		return;
	}
	if (!list->items)
		list->items = mem_zero(DENIAL_LISTED * sizeof *list->items);
	list->items[list->count++] = *denial;
}

static void record(struct denial_log *denials, const struct seccomp_notif *asked,
		   const struct attempt *attempt)
{
	struct fence_denial denial = { .kind = attempt->kind, .target = mem_dup(attempt->target) };

	verdict_name(denials->context.plan, &attempt->by, &denial.rule, &denial.origin);
	identify((pid_t)asked->pid, &denial);
	/* Should the process have been killed meanwhile, all of this may be about another one. */
	if (ioctl(denials->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &asked->id) < 0)
		fence_denial_release(&denial);
	else
		add(denials->list, &denial);
}

static const char *family_name(unsigned int family, char number[16])
{
	static const struct {
		unsigned int family;
		const char *name;
	} known[] = {
		{ AF_NETLINK, "AF_NETLINK" },
		{ AF_PACKET, "AF_PACKET" },
		{ AF_ALG, "AF_ALG" },
		{ AF_VSOCK, "AF_VSOCK" },
		{ AF_BLUETOOTH, "AF_BLUETOOTH" },
		{ AF_CAN, "AF_CAN" },
		{ AF_XDP, "AF_XDP" },
		{ AF_RDS, "AF_RDS" },
		{ AF_TIPC, "AF_TIPC" },
		{ AF_KEY, "AF_KEY" },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].family == family)
			return known[i].name;
	snprintf(number, 16, "AF_%u", family);
	return number;
}

/* A call that the filter forbids. */
static void describe_refused(const struct seccomp_notif *call, const char *name, char rule[64],
			     struct attempt *ret_attempt)
{
	char number[16];

	snprintf(rule, 64, "syscall %s", name);
	ret_attempt->by = (struct verdict){ .wall = VERDICT_OUTSIDE, .name = rule };
	ret_attempt->kind = "syscall";
	if (call->data.nr == SYS_socket) {
		ret_attempt->kind = "socket";
		name = family_name((unsigned int)call->data.args[0], number);
	} else if (call->data.nr == SYS_ioctl) {
		name = (unsigned int)call->data.args[1] == TIOCSTI ? "ioctl TIOCSTI"
								   : "ioctl TIOCLINUX";
	}
	snprintf(ret_attempt->target, sizeof ret_attempt->target, "%s", name);
}

static void examine(struct denial_log *denials, const struct seccomp_notif *asked,
		    const struct call *call)
{
	struct attempt attempts[ATTEMPT_MOST];
	size_t count = 1;
	char rule[64];

	if (call->error)
		describe_refused(asked, call->name, rule, attempts);
	else
		count = attempt_look(&denials->context, asked, attempts);
	for (size_t i = 0; i < count; i++)
		record(denials, asked, &attempts[i]);
}

/* Takes one question and answers it. Returns false when there will be no more. */
static bool answer(struct denial_log *denials, bool recording)
{
	union {
		struct seccomp_notif asked;
		char room[512]; /* a newer kernel may say more */
	} in = { .room = { 0 } };
	union {
		struct seccomp_notif_resp answer;
		char room[512];
	} out = { .room = { 0 } };

	if (ioctl(denials->listener, SECCOMP_IOCTL_NOTIF_RECV, &in.asked) < 0)
		return errno == ENOENT || errno == EINTR; /* who asked was killed */

	struct call call = find_call(in.asked.data.nr);

	if (recording)
		examine(denials, &in.asked, &call);
	out.answer.id = in.asked.id;
	out.answer.error = -call.error;
	out.answer.flags = call.error ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	ioctl(denials->listener, SECCOMP_IOCTL_NOTIF_SEND, &out.answer); /* unless it was killed */
	return true;
}

/* A reader that pauses must not make the fence wait: the command could see to it that the pipe is full. */
static bool can_tell(void)
{
	struct stat status;

	return fstat(2, &status) == 0 && S_ISREG(status.st_mode);
}

/* Whoever asks a name server has a host in mind, which it does not get to name. */
static const char *hint(const struct fence_denial *denial)
{
	const char *port = strrchr(denial->target, ':');

	return strcmp(denial->kind, "connect") == 0 && port && strcmp(port, ":53") == 0
		       ? "; a name was looked up: --allow HOST reaches one"
		       : "";
}

static void tell_one(const struct denial_log *denials, const struct fence_denial *denial, bool over)
{
	enum { MOST_TARGET = 600, MOST_NAME = 100 };
	AUTO_FREE char *times = over && denial->count > 1
					? mem_format(", %lu times", (unsigned long)denial->count)
					: mem_dup("");
	AUTO_FREE char *text = mem_format("denied %s %.*s (rule: %.*s, %.*s) by %.*s[%d]%s%s",
					  denial->kind, MOST_TARGET, denial->target, MOST_NAME,
					  denial->rule, MOST_NAME, denial->origin, MOST_NAME,
					  denial->program, denial->pid, times, hint(denial));

	denials->notice(text);
}

/* At once only into a file. On a terminal the command's own lines would be torn apart. */
static void tell(struct denial_log *denials, bool over)
{
	while (denials->told < denials->list->count && denials->told < DENIAL_TOLD &&
	       (over || can_tell()))
		tell_one(denials, &denials->list->items[denials->told++], over);
	if (denials->told == DENIAL_TOLD && denials->list->count > DENIAL_TOLD &&
	    (over || can_tell())) {
		denials->notice("more was denied; --report lists it");
		denials->told++;
	}
}

void denial_add(struct denial_log *denials, pid_t pid, const char *target, const char *reason)
{
	const char *origin = denials->context.plan->spec->net_origin;
	struct fence_denial denial = { .kind = "connect",
				       .target = mem_dup(target),
				       .rule = mem_dup(reason),
				       .origin = origin ? origin : "built-in" };

	if (pid > 0)
		identify(pid, &denial);
	else
		denial.program = mem_dup("an unknown process");
	add(denials->list, &denial);
	tell(denials, false);
}

void denial_serve(struct denial_log *denials, bool recording)
{
	enum { MOST_AT_ONCE = 64 }; /* others wait, too */
	struct pollfd listener = { .fd = denials->listener, .events = POLLIN };

	for (int i = 0; i < MOST_AT_ONCE && poll(&listener, 1, 0) > 0; i++) {
		if (!(listener.revents & POLLIN) || !answer(denials, recording)) {
			fd_close(&denials->listener); /* nobody is left to ask */
			break;
		}
		if (!recording) /* the next one may come after the news that the command runs */
			break;
	}
	tell(denials, false);
}

void denial_end(struct denial_log *denials)
{
	fd_close(&denials->listener);
	fd_close(&denials->context.root);
	tell(denials, true);
}
