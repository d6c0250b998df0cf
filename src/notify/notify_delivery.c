/* Delivering in a process of its own: see notify_delivery.h. */
#include "notify/notify_delivery.h"

#include "util/file/fd.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct answer {
	enum notify_send_result result;
	int64_t wait_ms;
	struct error err;
};

struct sender {
	const struct notify_message *message;
	const struct notify_target *target;
	const struct taint *taint;
	pid_t parent;
	int lock, answer;
};

/* In the child. */
static int run(void *context)
{
	const struct sender *sender = context;
	struct answer answer = { 0 };

	close(sender->lock);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != sender->parent)
		return 1;
	answer.result = notify_send(sender->message, sender->target, sender->taint, &answer.wait_ms,
				    &answer.err);
	return fd_write_all(sender->answer, &answer, sizeof answer) < 0;
}

void notify_delivery_start(const struct notify_message *message, const struct notify_target *target,
			   const struct taint *taint, int lock,
			   struct notify_delivery *ret_delivery)
{
	struct sender sender = { .message = message,
				 .target = target,
				 .taint = taint,
				 .parent = getpid(),
				 .lock = lock };
	int ends[2];

	*ret_delivery = (struct notify_delivery){ .pid = -1, .answer = -1 };
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	sender.answer = ends[1];
	ret_delivery->pid = process_fork(run, &sender, 0);
	ret_delivery->answer = ends[0];
	close(ends[1]);
}

enum notify_send_result notify_delivery_end(struct notify_delivery *delivery, int64_t *ret_wait_ms,
					    struct error *err)
{
	struct answer answer;
	size_t used = 0;
	ssize_t n = 0;

	while (used < sizeof answer && delivery->answer >= 0 &&
	       ((n = read(delivery->answer, (char *)&answer + used, sizeof answer - used)) > 0 ||
		(n < 0 && errno == EINTR)))
		used += n > 0 ? (size_t)n : 0;
	while (delivery->pid > 0 && waitpid(delivery->pid, NULL, 0) < 0 && errno == EINTR)
		;
	fd_close(&delivery->answer);
	delivery->pid = 0;
	*ret_wait_ms = 0;
	if (used < sizeof answer) {
		error_set(err, "the process that delivers it could not be started, or was killed");
		return NOTIFY_SEND_LATER;
	}
	*ret_wait_ms = answer.wait_ms;
	*err = answer.err;
	return answer.result;
}
