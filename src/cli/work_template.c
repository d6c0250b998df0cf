/* The configuration of the loops of a work list: see work_template.h. */
#include "cli/work_template.h"

#include "fence/fence_spec.h"
#include "util/file/path.h"

void work_template_init(struct work_template *template)
{
	*template = (struct work_template){ .start = OP_START_INIT };
	effective_init(&template->opts.effective);
}

void work_template_release(struct work_template *template)
{
	if (template->begun) {
		op_start_release(&template->request.start, &template->start);
		loop_request_release(&template->request);
	}
	effective_release(&template->opts.effective);
}

/* The agent's own copy of the list is read-only: it is ticked outside, when the result is verified.
 */
static void protect_lists(struct effective *effective, const json_t *lists)
{
	size_t index;
	const json_t *list;

	json_array_foreach(lists, index, list)
	{
		const char *path = json_string_value(json_object_get(list, "path"));

		if (path_within(path, effective->place.project))
			fence_paths_add(&effective->spec.read, path, "the work list");
	}
}

static int check_settings(const struct loop_request *request, struct error *err)
{
	const struct config *config = &request->effective->config;

	if (request->start.workspace != OP_START_DRAFT)
		return error_set(err, "work needs drafts, from which results land: use it without "
				      "--workspace, or with --workspace draft");
	if (config_text(config, SETTING_TASKS))
		return error_set(err, "work has a list of its own: leave out --tasks");
	return 0;
}

int work_template_plan(struct work_template *template, const json_t *lists, struct error *err)
{
	struct effective *effective = &template->opts.effective;
	struct loop_request *request = &template->request;

	if (effective_loop(effective, err) < 0)
		return -1;
	protect_lists(effective, lists);
	loop_request_begin(request, effective);
	template->begun = true;
	if (check_settings(request, err) < 0)
		return -1;
	if (loop_request_choose(request, "", err) < 0 || loop_request_find_models(request, err) < 0)
		return -1;
	loop_request_want_promise(request);
	if (op_failed(op_start_plan(&request->start, &template->start, err)))
		return -1;
	return loop_request_check(request, &template->start.plan, err);
}
