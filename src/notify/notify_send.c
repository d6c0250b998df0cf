/* Delivering: see notify_send.h. */
#include "notify/notify_send.h"

#include "https/https.h"
#include "notify/notify_shape.h"
#include "provider/key_read.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_MS = 30000, RESPONSE_BYTES = 64 << 10, INPUT_BYTES = 64 << 10 };

static enum notify_send_result judge_response(const struct https_response *response,
					      int64_t *ret_wait_ms, struct error *err)
{
	int judged = notify_shape_judge(response->status, https_header(response, "retry-after"),
					response->body.data ? response->body.data : "",
					response->body.used, ret_wait_ms);

	if (judged != 0)
		error_set(err, "the server answered with HTTP status %u", response->status);
	return judged == 0  ? NOTIFY_SEND_ARRIVED
	       : judged > 0 ? NOTIFY_SEND_LATER
			    : NOTIFY_SEND_NEVER;
}

/* A request that is refused or malformed stays so. */
static enum notify_send_result judge_failure(const struct error *err)
{
	return err->status == ERROR_REFUSED || err->status == ERROR_INVALID ? NOTIFY_SEND_NEVER
									    : NOTIFY_SEND_LATER;
}

static enum notify_send_result post(struct notify_shape *shape, int64_t *ret_wait_ms,
				    struct error *err)
{
	const struct https_request request = { .method = "POST",
					       .url = shape->url,
					       .headers = &shape->headers,
					       .secrets = &shape->secrets,
					       .body = shape->body.data,
					       .size = shape->body.used,
					       .timeout_ms = TIMEOUT_MS,
					       .most_bytes = RESPONSE_BYTES,
					       .keep_end = true };
	struct https_response response = { 0 };
	enum notify_send_result result;

	if (https_send(&request, &response, err) < 0)
		return judge_failure(err);
	result = judge_response(&response, ret_wait_ms, err);
	https_message_release(&response);
	return result;
}

/* A secret that cannot be read now may be there later. */
static enum notify_send_result send_http(const struct notify_message *message,
					 const struct notify_target *target,
					 const struct taint *taint, int64_t *ret_wait_ms,
					 struct error *err)
{
	const char *name = notify_target_name(target->kind);
	struct notify_shape shape = { 0 };
	char *secret = NULL;
	char *token = NULL;
	enum notify_send_result result = NOTIFY_SEND_LATER;

	if (key_read(&target->secret, name, taint, &secret, err) == 0 &&
	    (target->token.kind == KEY_SOURCE_NONE ||
	     key_read(&target->token, name, taint, &token, err) == 0)) {
		notify_shape_http(message, target, secret, token, &shape);
		result = post(&shape, ret_wait_ms, err);
		notify_shape_release(&shape);
	}
	key_read_wipe(secret);
	key_read_wipe(token);
	return result;
}

/* Runs a program, and what it finds in PATH, from folders that no agent can change. */
static enum notify_send_result run(const char *program, char *const *arguments,
				   const struct taint *taint, const struct buffer *input,
				   struct error *err)
{
	__attribute__((cleanup(list_release))) struct list environment = { 0 };
	int status;

	taint_environment(taint, &environment);
	status = process_feed(program, arguments, environment.items, input->data, input->used,
			      TIMEOUT_MS);
	if (status == 0)
		return NOTIFY_SEND_ARRIVED;
	if (status < 0 && errno == ECHILD)
		error_set(err, "'%s' was killed by a signal", arguments[0]);
	else if (status < 0)
		error_sys(err, "run '%s'", arguments[0]);
	else
		error_set(err, "'%s' ended with status %d", arguments[0], status);
	return NOTIFY_SEND_LATER;
}

static char *find_sendmail(const struct taint *taint)
{
	static const char usual[] = "/usr/sbin/sendmail";
	char *found = taint_find(taint, "sendmail");

	return found ? found : access(usual, X_OK) == 0 ? mem_dup(usual) : NULL;
}

static enum notify_send_result send_mail(const struct notify_message *message,
					 const struct notify_target *target,
					 const struct taint *taint, struct error *err)
{
	AUTO_BUFFER struct buffer mail = BUFFER_INIT(INPUT_BYTES);
	AUTO_FREE char *program = find_sendmail(taint);
	char *const arguments[] = { program, (char *)"-i", (char *)"--", target->address, NULL };

	if (!program) {
		error_set(err, "there is no program 'sendmail', in PATH or /usr/sbin");
		return NOTIFY_SEND_NEVER;
	}
	notify_shape_mail(message, target->address, &mail);
	return run(program, arguments, taint, &mail, err);
}

static bool has_session(void)
{
	const char *folder = env_get("XDG_RUNTIME_DIR");
	AUTO_FREE char *bus = folder ? path_join(folder, "bus") : NULL;

	return env_has("DBUS_SESSION_BUS_ADDRESS") || (bus && access(bus, F_OK) == 0);
}

static enum notify_send_result send_desktop(const struct notify_message *message,
					    const struct taint *taint, struct error *err)
{
	const struct buffer nothing = { 0 };
	AUTO_FREE char *program = taint_find(taint, "notify-send");
	struct list arguments = { 0 };
	enum notify_send_result result;

	if (!program || !has_session()) {
		error_set(err, program ? "there is no session bus of a desktop"
				       : "there is no program 'notify-send' in PATH");
		return NOTIFY_SEND_NEVER;
	}
	notify_shape_desktop(message, &arguments);
	result = run(program, arguments.items, taint, &nothing, err);
	list_release(&arguments);
	return result;
}

static enum notify_send_result send_command(const struct notify_message *message,
					    const struct notify_target *target,
					    const struct taint *taint, struct error *err)
{
	const char *name = target->arguments.items[0];
	AUTO_BUFFER struct buffer json = BUFFER_INIT(INPUT_BYTES);
	AUTO_FREE char *program = name[0] == '/' ? mem_dup(name) : taint_find(taint, name);

	if (!program) {
		error_set(err, "there is no program '%s' in PATH", name);
		return NOTIFY_SEND_LATER;
	}
	notify_shape_json(message, &json);
	return run(program, target->arguments.items, taint, &json, err);
}

enum notify_send_result notify_send(const struct notify_message *message,
				    const struct notify_target *target, const struct taint *taint,
				    int64_t *ret_wait_ms, struct error *err)
{
	*ret_wait_ms = 0;
	if (notify_target_check(target, taint, err) < 0)
		return NOTIFY_SEND_NEVER;
	switch (target->kind) {
	case NOTIFY_TARGET_desktop:
		return send_desktop(message, taint, err);
	case NOTIFY_TARGET_mail:
		return send_mail(message, target, taint, err);
	case NOTIFY_TARGET_command:
		return send_command(message, target, taint, err);
	default:
		return send_http(message, target, taint, ret_wait_ms, err);
	}
}
