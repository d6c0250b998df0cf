/* Work in a process of its own: see job.h. */
#include "screen/job.h"

#include "util/env.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "view/view_json.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static json_t *question_json(const struct op_question *question)
{
	json_t *items = json_array();

	for (size_t i = 0; i < question->count; i++) {
		const struct op_item *item = &question->items[i];

		json_array_append_new(items, json_pack("{s:o, s:o, s:o, s:o}", "name",
						       view_json_text(item->name), "value",
						       view_json_text(item->value), "where",
						       view_json_text(item->where), "why",
						       view_json_text(item->why)));
	}
	return json_pack("{s:i, s:o, s:s, s:o}", "kind", (int)question->kind, "text",
			 view_json_text(question->text), "token", question->token, "items", items);
}

/* In the child: runs the action and writes its outcome. */
static void act(const struct op_action_request *request, int out)
{
	struct job_outcome outcome = { 0 };
	json_t *json;
	AUTO_FREE char *text = NULL;

	outcome.status = op_action_run(request, &outcome.result, &outcome.err);
	json = json_pack("{s:i, s:i, s:o, s:o, s:o, s:O*}", "status", (int)outcome.status, "error",
			 (int)outcome.err.status, "why",
			 op_failed(outcome.status) ? client_text(outcome.err.text) : json_null(),
			 "text", view_json_text(outcome.result.text), "question",
			 question_json(&outcome.result.question), "details",
			 outcome.result.details);
	text = json_dumps(json, JSON_COMPACT);
	if (text)
		fd_write_all(out, text, strlen(text));
}

/* Starts a child, which has the pipe's other end. Returns its pid, 0 in the child, or -1 with err
 * set. */
static pid_t begin(struct job *job, int *ret_out, struct error *err)
{
	int ends[2];
	pid_t pid;
	sigset_t none;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "create a pipe");
	pid = fork();
	if (pid < 0) {
		close(ends[0]);
		close(ends[1]);
		return error_sys(err, "start a process");
	}
	if (pid == 0) {
		/* No key of the terminal reaches it, and it has no business with the screen. */
		setsid();
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		close(ends[0]);
		*ret_out = ends[1];
		return 0;
	}
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*job = (struct job){ .pid = pid, .fd = ends[0], .out = BUFFER_INIT(JOB_BYTES) };
	return pid;
}

int job_start_action(struct job *job, const struct op_action_request *request, struct error *err)
{
	int out = -1;
	pid_t pid = begin(job, &out, err);

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		act(request, out);
		_exit(0);
	}
	return pid < 0 ? -1 : 0;
}

int job_start_command(struct job *job, const char *const *words, struct error *err)
{
	struct list arguments = { 0 };
	int out = -1;
	pid_t pid;

	list_add(&arguments, "ringfence");
	for (; *words; words++)
		list_add(&arguments, *words);
	pid = begin(job, &out, err);
	if (pid == 0) {
		const int wanted[] = { FD_NULL, out, out };

		if (fd_place(wanted, 3) == 0)
			execve("/proc/self/exe", arguments.items, env_all());
		_exit(127);
	}
	list_release(&arguments);
	return pid < 0 ? -1 : 0;
}

bool job_read(struct job *job)
{
	char bytes[65536];

	for (;;) {
		ssize_t n = read(job->fd, bytes, sizeof bytes);

		if (n > 0)
			buffer_add(&job->out, bytes, (size_t)n);
		else if (n == 0 || (errno != EINTR && errno != EAGAIN))
			return true;
		else if (errno == EAGAIN)
			return false;
	}
}

static void end(struct job *job)
{
	while (waitpid(job->pid, NULL, 0) < 0 && errno == EINTR)
		;
	job_forget(job);
}

void job_forget(struct job *job)
{
	fd_close(&job->fd);
	buffer_release(&job->out);
	*job = JOB_INIT;
}

static void read_question(const json_t *json, struct op_question *question)
{
	size_t index;
	const json_t *item;

	question->kind = (enum op_question_kind)jsonget_number(json, "kind");
	question->text = mem_copy(jsonget_string(json, "text"));
	snprintf(question->token, sizeof question->token, "%s", jsonget_text(json, "token"));
	json_array_foreach(json_object_get(json, "items"), index, item)
	{
		const struct op_item each = { (char *)jsonget_string(item, "name"),
					      (char *)jsonget_string(item, "value"),
					      (char *)jsonget_string(item, "where"),
					      (char *)jsonget_string(item, "why") };

		op_question_add(question, &each);
	}
}

void job_end_action(struct job *job, struct job_outcome *ret_outcome)
{
	json_t *json = json_loadb(buffer_text(&job->out), job->out.used, 0, NULL);

	*ret_outcome = (struct job_outcome){ .status = OP_FAILED };
	if (json) {
		ret_outcome->status = (enum op_status)jsonget_number(json, "status");
		error_format(&ret_outcome->err, (enum error_status)jsonget_number(json, "error"),
			     "%s", jsonget_text(json, "why"));
		ret_outcome->result.text = mem_copy(jsonget_string(json, "text"));
		ret_outcome->result.details = json_incref(json_object_get(json, "details"));
		read_question(json_object_get(json, "question"), &ret_outcome->result.question);
	} else {
		error_set(&ret_outcome->err, "the process that ran the action died");
	}
	json_decref(json);
	end(job);
}

json_t *job_end_command(struct job *job, struct error *err)
{
	json_t *json = json_loadb(buffer_text(&job->out), job->out.used, 0, NULL);

	if (!json)
		error_set(err, "%.1000s", job->out.used ? buffer_text(&job->out) : "no output");
	end(job);
	return json;
}
