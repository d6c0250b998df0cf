/* ringfence doctor: what works on this machine. */
#include "cli/cli.h"
#include "doctor/doctor.h"
#include "util/mem.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

struct doctor_options {
	bool json;
};

static int take_json(void *options, const char *value, struct error *err)
{
	(void)value;
	(void)err;
	((struct doctor_options *)options)->json = true;
	return 0;
}

static const struct option options[] = {
	{ "json", NULL, "print it as JSON", take_json },
	{ 0 },
};

static const struct section sections[] = {
	{ "EXIT STATUS", "  0  nothing failed\n"
			 "  1  something that is needed does not work; the remedy is said\n" },
	{ 0 },
};

static void print_json(const struct doctor_findings *findings)
{
	AUTO_BUFFER struct buffer json = BUFFER_INIT(1 << 20);

	buffer_printf(&json, "{\n  \"ok\": %s,\n  \"checks\": [", findings->ok ? "true" : "false");
	for (size_t i = 0; i < findings->count; i++) {
		const struct doctor_check *check = &findings->checks[i];

		buffer_add_text(&json, i ? ",\n    {\"name\": " : "\n    {\"name\": ");
		text_json(&json, check->name);
		buffer_printf(&json,
			      ", \"state\": \"%s\", \"detail\": ", doctor_state_name(check->state));
		text_json(&json, check->detail);
		buffer_add_text(&json, ", \"remedy\": ");
		if (check->remedy)
			text_json(&json, check->remedy);
		else
			buffer_add_text(&json, "null");
		buffer_add_text(&json, "}");
	}
	buffer_add_text(&json, "\n  ]\n}\n");
	fputs(buffer_text(&json), stdout);
}

static void print_text(const struct doctor_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct doctor_check *check = &findings->checks[i];
		AUTO_FREE char *detail = text_escaped(check->detail);
		AUTO_FREE char *remedy = check->remedy ? text_escaped(check->remedy) : NULL;

		printf("%-4s  %-15s  %s\n", doctor_state_name(check->state), check->name, detail);
		if (remedy)
			printf("%-4s  %-15s  -> %s\n", "", "", remedy);
	}
	printf("\n%s\n", findings->ok ? "Ringfence works on this machine."
				      : "Ringfence does not work on this machine yet.");
}

static int run_doctor(const struct command *command, char **argv)
{
	struct doctor_options asked = { 0 };
	struct doctor_findings findings;
	struct error err;
	bool help = false;
	char **rest = cli_parse(command, argv, &asked, &help, &err);
	int code;

	if (!rest || (!help && cli_no_more(command, rest, &err) < 0))
		return cli_fail(&err);
	if (help)
		return cli_print_help(command);
	doctor_examine(&findings);
	if (asked.json)
		print_json(&findings);
	else
		print_text(&findings);
	code = findings.ok ? 0 : 1;
	doctor_release(&findings);
	return cli_printed() ? cli_printed() : code;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.args = "[--json]",
	.help = "what works on this machine, and how to mend the rest",
	.about =
		"Looks at the kernel and its settings, tries the fence for real, and tells which agents are installed. "
		"For each thing that is missing it says what to do.",
	.options = options,
	.sections = sections,
	.run = run_doctor,
};
