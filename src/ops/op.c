/* Questions, answers and loops: see op.h. */
#include "ops/op.h"

#include "snapshot/snapshot.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

void op_question_add(struct op_question *question, const struct op_item *item)
{
	question->items = mem_resize(question->items, question->count + 1, sizeof *question->items);
	question->items[question->count++] = (struct op_item){
		.name = mem_copy(item->name),
		.value = mem_copy(item->value),
		.where = mem_copy(item->where),
		.why = mem_copy(item->why),
	};
}

/* Adds a text to a token. The fixed length of the old token keeps different lists from producing
 * the same bytes. */
static void mix(char token[SHA256_HEX], const char *text)
{
	AUTO_FREE char *bytes = mem_format("%s%s", token, text ? text : "");

	sha256_hex(bytes, strlen(bytes), token);
}

void op_question_set(struct op_question *question, enum op_question_kind kind, char *text)
{
	question->kind = kind;
	question->text = text;
	mix(question->token, text);
	for (size_t i = 0; i < question->count; i++) {
		mix(question->token, question->items[i].name);
		mix(question->token, question->items[i].value);
		mix(question->token, question->items[i].where);
		mix(question->token, question->items[i].why);
	}
}

void op_question_release(struct op_question *question)
{
	for (size_t i = 0; i < question->count; i++) {
		free(question->items[i].name);
		free(question->items[i].value);
		free(question->items[i].where);
		free(question->items[i].why);
	}
	free(question->items);
	free(question->text);
	*question = (struct op_question){ 0 };
}

static bool is_about(const struct op_answer *answer, const struct op_question *question)
{
	return answer->token && strcmp(answer->token, question->token) == 0;
}

bool op_agreed(const struct op_answer *answer, const struct op_question *question)
{
	return answer->to_all || (is_about(answer, question) && !answer->no);
}

bool op_declined(const struct op_answer *answer, const struct op_question *question)
{
	return is_about(answer, question) && answer->no;
}

enum op_status op_status_of(const struct error *err)
{
	switch (err->status) {
	case ERROR_NOT_FOUND:
		return OP_NOT_FOUND;
	case ERROR_BUSY:
		return OP_RUNNING;
	case ERROR_INVALID:
		return OP_INVALID;
	case ERROR_REFUSED:
		return OP_REFUSED;
	default:
		return OP_FAILED;
	}
}

enum op_status op_find(const struct op_target *target, struct client_loop *ret_loop,
		       struct error *err)
{
	if (client_find(target->state, target->loop, target->project, ret_loop, err) < 0)
		return op_status_of(err);
	if (!ret_loop->damaged)
		return OP_DONE;
	error_set(err, "%s", ret_loop->trouble);
	return OP_DAMAGED;
}

int op_drop_checkpoints(const char *state, const char *project, const char *id, uint64_t *bytes,
			struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	json_int_t before, after;
	int result;

	snapshot_begin(&work, "prune", state, project, id);
	snapshot_tell(&work, "drop", id);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	before = jsonget_number(answer, "bytes_before");
	after = jsonget_number(answer, "bytes_after");
	*bytes += before > after ? (uint64_t)(before - after) : 0;
	json_decref(answer);
	return result;
}

enum op_status op_hold(const struct client_loop *loop, int *ret_lock, struct error *err)
{
	int lock = client_hold(loop, err);

	if (lock < 0)
		return op_status_of(err);
	*ret_lock = lock;
	return OP_DONE;
}
