/* The work of loops: see web_work.h. */
#include "serve/answer/web_work.h"

#include "batch/batch_client.h"
#include "batch/batch_report.h"
#include "report/metrics.h"
#include "report/report.h"
#include "snapshot/snapshot.h"
#include "util/clock.h"
#include "util/id.h"
#include "util/mem.h"
#include "view/view_changes.h"
#include "view/view_json.h"
#include "view/view_tools.h"

enum { TRANSCRIPTS = 64 << 20 }; /* bytes that are read for the tools */

/* ---- tools ---- */

static json_t *tools_json(const struct view_tools *tools)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "tools",
			 view_json_tools(tools), "files", view_json_names(&tools->files, "path"),
			 "hosts", view_json_hosts(tools), "denials", view_json_denials(tools),
			 "cpu_ms", (json_int_t)tools->cpu_ms, "peak_bytes",
			 (json_int_t)tools->peak_bytes, "unread", (json_int_t)tools->unread,
			 "untold", (json_int_t)tools->untold);
}

int web_work_tools(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err)
{
	struct view_iterations iterations;
	struct client_loop loop;
	struct view_tools tools;
	int result;

	if (web_ask_readable(ask, answer, &loop, err) < 0)
		return -1;
	result = view_iterations_read(&loop, &iterations, err);
	if (result == 0) {
		view_tools_read(&loop, &iterations, TRANSCRIPTS, &tools);
		answer->json = tools_json(&tools);
		view_tools_release(&tools);
		view_iterations_release(&iterations);
	}
	client_loop_release(&loop);
	return result;
}

/* ---- changes ---- */

static json_t *changes_json(const struct view_changes *changes)
{
	json_t *list = json_array();

	for (size_t i = 0; i < changes->count; i++) {
		const struct view_change *item = &changes->items[i];

		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o, s:b, s:I, s:I, s:I}", "path",
						view_json_text(item->path), "status",
						view_json_text(item->status), "from",
						view_json_text(item->from), "binary", item->binary,
						"added", (json_int_t)item->added, "removed",
						(json_int_t)item->removed, "bytes",
						(json_int_t)item->bytes));
	}
	return json_pack("{s:o, s:I, s:I, s:I, s:n}", "changes", list, "more",
			 (json_int_t)changes->unlisted, "added", (json_int_t)changes->added,
			 "removed", (json_int_t)changes->removed, "unknown");
}

static int read_changes(const struct web_ask *ask, const struct client_loop *loop,
			struct web_ask_answer *answer, struct error *err)
{
	const struct view_changes_request request = { .state = ask->state,
						      .loop = loop,
						      .kind = VIEW_CHANGES_FILES };
	struct view_changes_job job = VIEW_CHANGES_JOB_INIT;
	struct view_changes changes;

	if (view_changes_start(&request, &job, err) < 0 ||
	    view_changes_end_files(&job, &changes, err) < 0)
		return -1;
	answer->json = changes_json(&changes);
	view_changes_release(&changes);
	return 0;
}

/* Without a checkpoint there is nothing to compare, which is not an error. */
int web_work_changes(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err)
{
	struct client_loop loop;
	int result;

	if (web_ask_readable(ask, answer, &loop, err) < 0)
		return -1;
	result = read_changes(ask, &loop, answer, err);
	client_loop_release(&loop);
	if (result == 0 || err->status != ERROR_NOT_FOUND)
		return result;
	answer->json = json_pack("{s:[], s:i, s:i, s:i, s:o}", "changes", "more", 0, "added", 0,
				 "removed", 0, "unknown", view_json_text(err->text));
	return 0;
}

static int read_diff(const struct web_ask *ask, const struct client_loop *loop,
		     struct web_ask_answer *answer, struct error *err)
{
	const struct view_changes_request request = { .state = ask->state,
						      .loop = loop,
						      .kind = VIEW_CHANGES_DIFF,
						      .path = web_ask_text(ask, "path") };
	struct view_changes_job job = VIEW_CHANGES_JOB_INIT;
	struct view_diff diff;

	if (view_changes_start(&request, &job, err) < 0 ||
	    view_changes_end_diff(&job, &diff, err) < 0)
		return -1;
	answer->json = json_pack("{s:o, s:b}", "patch", view_json_text(buffer_text(&diff.text)),
				 "cut", diff.cut);
	view_changes_release_diff(&diff);
	return 0;
}

int web_work_diff(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err)
{
	struct client_loop loop;
	int result;

	if (web_ask_readable(ask, answer, &loop, err) < 0)
		return -1;
	result = read_diff(ask, &loop, answer, err);
	client_loop_release(&loop);
	return result;
}

int web_work_checkpoints(const struct web_ask *ask, struct web_ask_answer *answer,
			 struct error *err)
{
	struct snapshot_work work;
	struct client_loop loop;
	json_t *list = NULL;
	int result;

	if (web_ask_readable(ask, answer, &loop, err) < 0)
		return -1;
	view_changes_begin(ask->state, &loop, "list", &work);
	result = snapshot_run(&work, -1, &list, err);
	snapshot_release(&work);
	client_loop_release(&loop);
	if (result < 0)
		return -1;
	answer->json = list;
	return 0;
}

/* ---- reports ---- */

int web_work_report(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err)
{
	struct html html = HTML_INIT(WEB_ASK_MOST);
	struct document document;
	struct client_loop loop;
	struct report report;
	int result;

	if (web_ask_readable(ask, answer, &loop, err) < 0)
		return -1;
	result = report_read(ask->state, &loop, clock_wall_ms(), &report, err);
	if (result == 0) {
		report_document(&report, &document);
		document_html(&document, &html);
		document_release(&document);
		report_release(&report);
		answer->type = "text/html; charset=utf-8";
		answer->text = html.out;
	}
	client_loop_release(&loop);
	return result;
}

int web_work_batch(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err)
{
	struct batch_client batch;
	int result = 0;

	if (!id_is_valid(ask->words[0]))
		return error_with(err, ERROR_NOT_FOUND, "'%.80s' is not the id of a batch",
				  ask->words[0]);
	if (batch_client_find(ask->state, ask->words[0], NULL, &batch, err) < 0)
		return -1;
	if (batch.damaged) {
		answer->status = "damaged";
		result = error_set(err, "%s", batch.trouble ? batch.trouble : "it is damaged");
	} else {
		answer->json = batch_report_json(batch.id, batch_client_status(&batch),
						 &batch.state);
	}
	batch_client_release(&batch);
	return result;
}

int web_work_metrics(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err)
{
	answer->type = METRICS_TYPE;
	answer->text = BUFFER_INIT(WEB_ASK_MOST);
	return metrics_write(ask->state, METRICS_NEWEST, clock_wall_ms(), &answer->text, err);
}
