/*
 * Reads the changes of a loop as views do, for tests:
 *
 * changes_reader STATE LOOP files|diff|findings [PATH]
 *
 * It prints a line for each file or finding, or the diff; or `failed STATUS` and the message.
 */
#include "util/env.h"
#include "view/view_changes.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_files(struct view_changes_job *job, struct error *err)
{
	struct view_changes changes;

	if (view_changes_end_files(job, &changes, err) < 0)
		return -1;
	for (size_t i = 0; i < changes.count; i++) {
		const struct view_change *item = &changes.items[i];

		printf("%s %s %s +%llu -%llu %s\n", item->status, item->path,
		       item->from ? item->from : "-", (unsigned long long)item->added,
		       (unsigned long long)item->removed, item->binary ? "binary" : "text");
	}
	printf("in all +%llu -%llu, %zu more\n", (unsigned long long)changes.added,
	       (unsigned long long)changes.removed, changes.unlisted);
	view_changes_release(&changes);
	return 0;
}

static int print_diff(struct view_changes_job *job, struct error *err)
{
	struct view_diff diff;

	if (view_changes_end_diff(job, &diff, err) < 0)
		return -1;
	printf("%s%s", buffer_text(&diff.text), diff.cut ? "cut\n" : "");
	view_changes_release_diff(&diff);
	return 0;
}

static int print_findings(struct view_changes_job *job, struct error *err)
{
	json_t *findings;

	if (view_changes_end_findings(job, &findings, err) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(findings); i++) {
		const json_t *item = json_array_get(findings, i);

		printf("%s %s\n", json_string_value(json_object_get(item, "kind")),
		       json_string_value(json_object_get(item, "path")));
	}
	json_decref(findings);
	return 0;
}

static int read_changes(const struct view_changes_request *request, struct error *err)
{
	static int (*const prints[])(struct view_changes_job * job, struct error * err) = {
		[VIEW_CHANGES_FILES] = print_files,
		[VIEW_CHANGES_DIFF] = print_diff,
		[VIEW_CHANGES_FINDINGS] = print_findings,
	};
	struct view_changes_job job = VIEW_CHANGES_JOB_INIT;
	struct pollfd answer;

	if (view_changes_start(request, &job, err) < 0)
		return -1;
	answer = (struct pollfd){ .fd = job.work.answer, .events = POLLIN };
	poll(&answer, 1, -1);
	return prints[request->kind](&job, err);
}

int main(int argc, char **argv)
{
	struct client_loop loop = { 0 };
	struct error err;
	int result;

	env_init();
	if (argc < 4)
		return 2;
	result = client_find(argv[1], argv[2], NULL, &loop, &err);
	if (result == 0) {
		const struct view_changes_request request = {
			.state = argv[1],
			.loop = &loop,
			.kind = strcmp(argv[3], "files") == 0  ? VIEW_CHANGES_FILES
				: strcmp(argv[3], "diff") == 0 ? VIEW_CHANGES_DIFF
							       : VIEW_CHANGES_FINDINGS,
			.path = argv[4],
		};

		result = read_changes(&request, &err);
	}
	if (result < 0)
		printf("failed %s %s\n", error_status_name(err.status), err.text);
	client_loop_release(&loop);
	return result < 0;
}
