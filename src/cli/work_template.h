/* The configuration of the loops of a work list: what is the same for all tasks of an agent. */
#ifndef CLI_WORK_TEMPLATE_H
#define CLI_WORK_TEMPLATE_H

#include "cli/work_options.h"
#include "ops/op_start.h"
#include "settings/loop_request.h"

struct work_template {
	struct work_options opts;
	struct loop_request request;
	struct op_start_result start; /* its config is the template */
	bool begun;
};

void work_template_init(struct work_template *template);
void work_template_release(struct work_template *template);

/* Decides everything about these loops, but for what each task says. lists: as lists_read() returns
 * them. Returns 0, or -1 with err set. */
int work_template_plan(struct work_template *template, const json_t *lists, struct error *err);

#endif
