/* Parts of a loop: see loop_part.h. */
#include "loop/state/loop_part.h"

#include "util/text/jsonget.h"

const char *loop_part_name(const struct loop_part *part)
{
	return part->name ? part->name : part->agent;
}

int loop_part_read(const json_t *json, struct loop_part *ret_part, struct error *err)
{
	const char *format = jsonget_string(json, "agent_format");
	const char *agent = jsonget_string(json, "agent");

	if (!jsonget_string(json, "agent_command"))
		return error_set(err, "the journal lacks the command line of an agent");
	if (format && !agent_format_find(format))
		return error_set(err, "the journal names the unknown agent format '%.100s'",
				 format);
	*ret_part = (struct loop_part){
		.agent = agent ? agent : "command",
		.command = jsonget_string(json, "agent_command"),
		.format = agent_format_find(format ? format : "plain"),
		.model = jsonget_string(json, "model"),
		.name = jsonget_string(json, "name"),
		.login = jsonget_string(json, "login"),
	};
	return 0;
}
