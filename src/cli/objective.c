/* The objective: see objective.h. */
#include "cli/objective.h"

#include "settings/example.h"
#include "util/file/fd.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Makes the objective of an example, and of what the user adds to it. */
static int read_example(const struct objective_source *source, struct buffer *text,
			struct error *err)
{
	const struct example *example = example_find(source->example, err);
	const char *details = *source->arguments;

	if (!example)
		return -1;
	if (example->details && !details)
		return error_set(err,
				 "the example '%s' needs an objective that says %s (see: ringfence "
				 "prompts %s)",
				 example->name, example->details, example->name);
	buffer_add_text(text, example_prompt(example));
	if (details)
		buffer_printf(text, "\n## Details\n\n%s\n", details);
	return buffer_overflowed(text)
		       ? error_set(err, "the objective is longer than %d bytes", OBJECTIVE_BYTES)
		       : 0;
}

static int read_file(const char *file, struct buffer *text, struct error *err)
{
	AUTO_FD fd = open(file, O_RDONLY | O_CLOEXEC);

	return fd < 0 || fd_read_all(fd, text) < 0 ? error_sys(err, "read --prompt-file '%s'", file)
						   : 0;
}

int objective_read(const struct objective_source *source, struct buffer *text,
		   const char **ret_objective, struct error *err)
{
	const char *objective = *source->arguments;

	if (objective && source->arguments[1])
		return error_set(
			err, "%s takes one objective; put it in quotes (see: ringfence %s --help)",
			source->command, source->command);
	if (source->file && (objective || source->example))
		return error_set(err,
				 "%s takes --prompt-file, or an objective and --example, not both",
				 source->command);
	if ((source->example && read_example(source, text, err) < 0) ||
	    (source->file && read_file(source->file, text, err) < 0))
		return -1;
	if (source->example || source->file)
		objective = buffer_text(text);
	if (objective && strspn(objective, " \t\n") == strlen(objective))
		objective = NULL;
	if (objective && strlen(objective) > OBJECTIVE_BYTES)
		return error_set(err, "the objective is longer than %d bytes", OBJECTIVE_BYTES);
	*ret_objective = objective;
	return 0;
}
