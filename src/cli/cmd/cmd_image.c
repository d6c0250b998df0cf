/* ringfence image: build, list and remove the images of fences that are containers. */
#include "cli/cli.h"
#include "cli/loops.h"
#include "ops/op_image.h"
#include "settings/effective.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image_options {
	struct effective effective;
	struct list agents, fence_options;
	const char *engine, *from, *file, *mirror, *name, *project;
	bool devcontainer, print, json;
};

static const struct cli_option options[] = {
	OPTION_TEXT("engine", "podman|docker",
		    "use this engine (default: the first that is installed)", struct image_options,
		    engine),
	OPTION_TEXT("from", "host|debootstrap|IMAGE", "build on this base", struct image_options,
		    from),
	OPTION_TEXT("file", "CONTAINERFILE", "build from a Containerfile of your own",
		    struct image_options, file),
	OPTION_FLAG("devcontainer",
		    "build the image of the project's devcontainer.json or Dockerfile",
		    struct image_options, devcontainer),
	OPTION_TEXT("name", "NAME", "name the image (default: ringfence/AGENT)",
		    struct image_options, name),
	OPTION_TEXT("mirror", "URL", "take Debian from this mirror, with --from debootstrap",
		    struct image_options, mirror),
	OPTION_FLAG("print", "print the Containerfile, and build nothing", struct image_options,
		    print),
	OPTION_PROJECT(struct image_options, project),
	OPTION_JSON(struct image_options, json),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES", "  ringfence image build --agent claude\n"
		      "  ringfence image build --agent claude --from host\n"
		      "  ringfence image build --agent claude --print >Containerfile\n"
		      "  ringfence trust --devcontainer && ringfence image build --devcontainer\n"
		      "  ringfence image list\n"
		      "  ringfence image remove ringfence/claude\n" },
	{ 0 },
};

/* These settings are options: the agents, and those of the fence in which npm installs them. */
static bool has_setting(const struct setting *setting)
{
	return setting->id == SETTING_AGENT || setting->id == SETTING_ALLOW ||
	       setting->id == SETTING_ENV || setting->id == SETTING_READ;
}

static void add_agents(struct list *agents, const char *value)
{
	AUTO_FREE char *words = mem_dup(value);

	for (char *at = words, *word; (word = strsep(&at, ","));)
		list_add(agents, word);
}

static int set(void *context, const struct setting *setting, const char *value, struct error *err)
{
	struct image_options *opts = context;

	(void)err;
	if (setting->id == SETTING_AGENT)
		add_agents(&opts->agents, value);
	else
		list_printf(&opts->fence_options, "--%s=%s", setting->key, value);
	return 0;
}

/* ---- output of programs ---- */

struct printer {
	char line[512];
	size_t used;
};

static void end_line(struct printer *printer)
{
	printer->line[printer->used] = '\0';
	printer->used = 0;

	AUTO_FREE char *shown = text_escaped(printer->line);

	if (*shown)
		fprintf(stderr, "  | %s\n", shown);
}

static void hear(void *context, const char *bytes, size_t size)
{
	struct printer *printer = context;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n' || bytes[i] == '\r' ||
		    printer->used == sizeof printer->line - 1)
			end_line(printer);
		if (bytes[i] != '\n' && bytes[i] != '\r')
			printer->line[printer->used++] = bytes[i];
	}
}

/* ---- build ---- */

static void print_lines(const char *title, const struct list *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		AUTO_FREE char *shown = text_escaped(lines->items[i]);

		printf("%-9s %s\n", i ? "" : title, shown);
	}
}

static const char *kind_text(const char *kind)
{
	return strcmp(kind, "host") == 0 ? "the fence shows the system folders of this machine"
	       : strcmp(kind, "debootstrap") == 0 ? "a Debian system, made by debootstrap"
	       : strcmp(kind, "file") == 0        ? "built from a Containerfile"
						  : "based on another image";
}

static void print_built(const struct op_image_build_result *result, bool unchanged)
{
	print_lines("honoured", &result->honoured);
	print_lines("ignored", &result->ignored);
	if (result->note)
		printf("%s\n", result->note);
	printf("%s %s with %s: %s%s%s%s\n", unchanged ? "unchanged:" : "built", result->name,
	       result->engine, kind_text(result->kind), result->from ? " (" : "",
	       result->from ? result->from : "", result->from ? ")" : "");
	printf("to use it: --fence %s --image %s\n", result->engine, result->name);
}

static int print_recipe(const struct op_image_build_request *request, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);

	if (op_failed(op_image_print(request, &text, err)))
		return cli_fail(err);
	fputs(buffer_text(&text), stdout);
	return cli_flush();
}

static int build(const struct image_options *opts, const struct op_image_target *target,
		 struct error *err)
{
	const struct op_image_build_request request = { .target = *target,
							.state = opts->effective.place.state,
							.project = opts->effective.place.project,
							.agents = &opts->agents,
							.from = opts->from,
							.mirror = opts->mirror,
							.file = opts->file,
							.name = opts->name,
							.devcontainer = opts->devcontainer,
							.fence_options = &opts->fence_options };
	struct op_image_build_result result;
	enum op_status status;
	int code;

	if (opts->print)
		return print_recipe(&request, err);
	status = op_image_build(&request, &result, err);
	if (op_failed(status)) {
		print_lines("ignored", &result.ignored);
		fflush(stdout);
		code = cli_fail(err);
	} else {
		print_built(&result, status == OP_UNCHANGED);
		code = cli_flush();
	}
	op_image_build_release(&result);
	return code;
}

/* ---- list and remove ---- */

static json_t *image_json(const struct image *image)
{
	return json_pack("{s:o, s:s, s:s?, s:o, s:s, s:I}", "name", client_text(image->name), "id",
			 image->id, "kind", image->kind, "agents",
			 client_text(image->agents ? image->agents : ""), "created", image->created,
			 "bytes", (json_int_t)image->bytes);
}

static void print_image(const struct image *image)
{
	AUTO_FREE char *name = text_escaped(image->name);
	AUTO_FREE char *agents = text_escaped(image->agents ? image->agents : "none");
	AUTO_FREE char *size = text_size(image->bytes);

	printf("%-28s %-12s %8s  %.19s  %s\n", name, image->kind ? image->kind : "", size,
	       image->created, agents);
}

static int list(const struct image_options *opts, const struct op_image_target *target,
		struct error *err)
{
	struct op_image_list_result result;
	enum op_status status = op_image_list(target, &result, err);
	json_t *images = json_array();
	int code = 0;

	for (size_t i = 0; i < result.images.count && !op_failed(status); i++) {
		if (opts->json)
			json_array_append_new(images, image_json(&result.images.items[i]));
		else
			print_image(&result.images.items[i]);
	}
	if (op_failed(status))
		code = cli_fail(err);
	else if (opts->json)
		loops_print(json_pack("{s:s, s:O}", "engine", result.engine, "images", images));
	else if (!result.images.count)
		printf("%s has no image that ringfence image build made\n", result.engine);
	json_decref(images);
	op_image_list_release(&result);
	return code ? code : cli_flush();
}

static int remove_images(const struct op_image_target *target, char *const *names,
			 struct error *err)
{
	for (; *names; names++) {
		if (op_failed(op_image_remove(target, *names, err)))
			return cli_fail(err);
		printf("removed %s\n", *names);
	}
	return cli_flush();
}

/* ---- the command ---- */

static int act(struct image_options *opts, char **words, struct error *err)
{
	struct printer printer = { .used = 0 };
	struct taint taint;
	const struct op_image_target target = {
		.engine = opts->engine, .taint = &taint, .heard = hear, .context = &printer
	};
	const char *word = words[0] ? words[0] : "list";
	int code;

	effective_taint(&opts->effective, &taint);
	if (strcmp(word, "build") == 0 && !words[1])
		code = build(opts, &target, err);
	else if (strcmp(word, "list") == 0 && (!words[0] || !words[1]))
		code = list(opts, &target, err);
	else if (strcmp(word, "remove") == 0 && words[1])
		code = remove_images(&target, words + 1, err);
	else {
		error_set(err,
			  "use: ringfence image build, ringfence image list, or ringfence image "
			  "remove NAME...");
		code = cli_fail(err);
	}
	taint_release(&taint);
	return code;
}

static int run_image(const struct cli_command *command, char **argv)
{
	struct image_options opts = { 0 };
	struct error err;
	int code;
	char **rest;

	effective_init(&opts.effective);
	rest = cli_parse(command, argv, &opts, &code);
	if (rest) {
		opts.effective.spec.project = opts.project;
		code = effective_load(&opts.effective, &err) < 0
			       ? cli_fail_config(&opts.effective.config, &err)
			       : act(&opts, rest, &err);
	}
	effective_release(&opts.effective);
	list_release(&opts.agents);
	list_release(&opts.fence_options);
	return code;
}

const struct cli_command cmd_image = {
	.name = "image",
	.args = "build [OPTION]... | list [--json] | remove NAME...",
	.max_args = CLI_ANY,
	.options_anywhere = true,
	.summary = "build, list and remove images for the fence",
	.description =
		"Builds a container image with agents, git, jq, Python and the tools of the project, for "
		"--image with the fences podman and docker. Without --from, the image is based on "
		"node:22-bookworm-slim if that is available, and otherwise on the host: the fence then shows "
		"the system folders of this machine. An image is not built again if nothing that it is made "
		"of has changed. --devcontainer builds the image that the project describes, after ringfence "
		"trust --devcontainer. list and remove know only the images that build has made. --read, --env "
		"and --allow are for the fence in which npm installs the agents.",
	.options = options,
	.set = set,
	.has_setting = has_setting,
	.sections = sections,
	.run = run_image,
};
