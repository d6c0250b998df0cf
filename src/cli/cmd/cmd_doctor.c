/* ringfence doctor: show what works on this machine. */
#include "cli/cli.h"
#include "doctor/doctor.h"
#include "util/mem.h"
#include "util/text/json.h"
#include "util/text/text.h"

#include <stdio.h>

struct doctor_options {
	bool json;
};

static const struct cli_option options[] = {
	OPTION_JSON(struct doctor_options, json),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS", "  0  nothing failed\n"
			 "  1  something required does not work; how to fix it is printed\n" },
	{ 0 },
};

static void print_json(const struct doctor_findings *findings)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	struct json json = JSON_INIT(&out);

	json_open(&json, NULL, '{');
	json_flag(&json, "ok", findings->ok);
	json_open(&json, "checks", '[');
	for (size_t i = 0; i < findings->count; i++) {
		const struct doctor_check *check = &findings->checks[i];

		json_open(&json, NULL, '{');
		json_text(&json, "name", check->name);
		json_text(&json, "state", doctor_state_name(check->state));
		json_text(&json, "detail", check->detail);
		json_text(&json, "remedy", check->remedy);
		json_close(&json);
	}
	json_close(&json);
	json_close(&json);
	fputs(buffer_text(&out), stdout);
}

static void print_text(const struct doctor_findings *findings)
{
	enum { COLUMN = 23, INDENT = COLUMN + 3 };

	for (size_t i = 0; i < findings->count; i++) {
		const struct doctor_check *check = &findings->checks[i];
		AUTO_FREE char *detail = text_escaped(check->detail);
		AUTO_FREE char *remedy = check->remedy ? text_escaped(check->remedy) : NULL;

		printf("%-4s  %-15s  ", doctor_state_name(check->state), check->name);
		cli_print_wrapped(detail, COLUMN);
		if (!remedy)
			continue;
		printf("%*s-> ", COLUMN, "");
		cli_print_wrapped(remedy, INDENT);
	}
	printf("\n%s\n", findings->ok ? "Ringfence works on this machine."
				      : "Ringfence does not work on this machine yet.");
}

static int run_doctor(const struct cli_command *command, char **argv)
{
	struct doctor_options opts = { 0 };
	struct doctor_findings findings;
	int code;
	int printed;

	if (!cli_parse(command, argv, &opts, &code))
		return code;
	doctor_examine(&findings);
	if (opts.json)
		print_json(&findings);
	else
		print_text(&findings);
	code = findings.ok ? 0 : 1;
	doctor_release(&findings);
	printed = cli_flush();
	return printed ? printed : code;
}

const struct cli_command cmd_doctor = {
	.name = "doctor",
	.args = "[--json]",
	.summary = "show what works on this machine, and how to fix the rest",
	.description =
		"Checks the kernel and its settings, tries the fence for real, and lists the agents that "
		"are installed. For everything that is missing, prints what to do.",
	.options = options,
	.sections = sections,
	.run = run_doctor,
};
