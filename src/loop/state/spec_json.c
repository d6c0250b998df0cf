/* The fence's spec as JSON: see spec_json.h. */
#include "loop/state/spec_json.h"

#include "loop/state/models_json.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FENCE_LIMIT_TIME == 7, "limits are stored by position: new ones follow the others");

/* A daemon runs elsewhere, so relative paths become absolute. The fence expands ~. */
static json_t *paths_of(const struct fence_paths *paths, const char *base)
{
	json_t *list = json_array();

	for (size_t i = 0; i < paths->count; i++) {
		const char *given = paths->items[i].path;
		AUTO_FREE char *path = given[0] == '~' ? mem_dup(given)
						       : path_absolute(given, base);

		json_array_append_new(list, json_pack("{s:s, s:s, s:b}", "path", path, "origin",
						      paths->items[i].origin, "weak",
						      paths->items[i].weak));
	}
	return list;
}

static json_t *patterns_of(const struct fence_patterns *patterns)
{
	json_t *list = json_array();

	for (size_t i = 0; i < patterns->count; i++) {
		const struct fence_pattern *at = &patterns->items[i];

		json_array_append_new(list, json_pack("{s:s, s:b, s:b, s:s}", "text", at->glob.text,
						      "rooted", at->glob.rooted, "folders",
						      at->glob.folders, "origin", at->origin));
	}
	return list;
}

static json_t *rules_of(const struct fence_paths *rules)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rules->count; i++)
		json_array_append_new(list, json_pack("{s:s, s:s}", "path", rules->items[i].path,
						      "origin", rules->items[i].origin));
	return list;
}

static json_t *listens_of(const struct fence_spec *spec)
{
	json_t *list = json_array();

	for (size_t i = 0; i < spec->listen_count; i++) {
		const struct wire_listen *where = &spec->listens[i].where;
		const char *socket = spec->listens[i].socket;
		char address[INET6_ADDRSTRLEN];
		bool six = where->family == 6;

		inet_ntop(six ? AF_INET6 : AF_INET, where->address, address, sizeof address);

		AUTO_FREE char *text = mem_format("%s%s%s:%u%s%s", six ? "[" : "", address,
						  six ? "]" : "", where->port, socket ? "=" : "",
						  socket ? socket : "");

		json_array_append_new(list, json_string(text));
	}
	return list;
}

json_t *spec_json_write(const struct fence_spec *spec, const char *base)
{
	json_t *env = json_array();
	json_t *limits = json_array();

	for (size_t i = 0; i < spec->env.count; i++)
		json_array_append_new(env, json_string(spec->env.items[i]));
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++)
		json_array_append_new(limits, json_integer((json_int_t)spec->limits[i]));
	json_t *caps = json_pack("[I, I, I]", (json_int_t)spec->net_caps.connections,
				 (json_int_t)spec->net_caps.bytes_in,
				 (json_int_t)spec->net_caps.bytes_out);

	return json_pack(
		"{s:s, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s?, s:b, s:b, s:b, s:i, s:s?, s:i, s:i}",
		"mechanism", spec->mechanism, "image", spec->image, "write",
		paths_of(&spec->write, base), "read", paths_of(&spec->read, base), "hide",
		paths_of(&spec->hide, base), "patterns", patterns_of(&spec->patterns), "allow",
		rules_of(&spec->allow), "net_caps", caps, "listen", listens_of(spec), "env", env,
		"models", models_json_write(&spec->models), "limits", limits, "read_only",
		spec->read_only, "read_only_origin", spec->read_only_origin, "denials",
		spec->denials, "trace_reads", spec->trace_reads, "raw_terminal", spec->raw_terminal,
		"net", (int)spec->net, "net_origin", spec->net_origin, "accepted_weaker",
		(int)spec->accepted_weaker, "accepted_limits", (int)spec->accepted_limits);
}

static void read_paths(const json_t *list, struct fence_paths *paths)
{
	size_t index;
	json_t *entry;

	json_array_foreach(list, index, entry)
	{
		fence_paths_add(paths, jsonget_text(entry, "path"), jsonget_text(entry, "origin"));
		paths->items[paths->count - 1].weak = jsonget_flag(entry, "weak");
	}
}

static void read_caps(const json_t *list, struct outlet_caps *caps)
{
	uint64_t *const places[] = { &caps->connections, &caps->bytes_in, &caps->bytes_out };

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		*places[i] = (uint64_t)json_integer_value(json_array_get(list, i));
}

static void read_patterns(const json_t *list, struct fence_patterns *patterns)
{
	size_t index;
	json_t *entry;

	patterns->items = mem_resize(NULL, json_array_size(list) + 1, sizeof *patterns->items);
	json_array_foreach(list, index, entry)
		patterns->items[patterns->count++] = (struct fence_pattern){
		.glob = { .text = mem_dup(jsonget_text(entry, "text")),
			  .rooted = jsonget_flag(entry, "rooted"),
			  .folders = jsonget_flag(entry, "folders") },
		.origin = mem_dup(jsonget_text(entry, "origin")),
	};
}

static int read_listens(const json_t *list, struct fence_spec *spec, struct error *err)
{
	size_t index;
	json_t *entry;

	json_array_foreach(list, index, entry)
	{
		struct fence_listen listen;

		if (fence_listen_parse(json_is_string(entry) ? json_string_value(entry) : "",
				       &listen, err) < 0)
			return -1;
		spec->listens = mem_resize(spec->listens, spec->listen_count + 1, sizeof listen);
		spec->listens[spec->listen_count++] = listen;
	}
	return 0;
}

int spec_json_read(const json_t *json, struct fence_spec *ret_spec, struct error *err)
{
	const json_t *limits = json_object_get(json, "limits");
	struct fence_spec spec = { .mechanism = jsonget_text(json, "mechanism"),
				   .image = jsonget_string(json, "image") };
	size_t index;
	json_t *entry;

	/* A limit that is newer than the loop has no value, which means none. */
	if (!json_is_object(json) || !json_is_array(limits) ||
	    json_array_size(limits) > FENCE_LIMIT_COUNT)
		return error_set(err, "the journal lacks the settings of the fence");
	read_paths(json_object_get(json, "write"), &spec.write);
	read_paths(json_object_get(json, "read"), &spec.read);
	read_paths(json_object_get(json, "hide"), &spec.hide);
	read_paths(json_object_get(json, "allow"), &spec.allow);
	read_caps(json_object_get(json, "net_caps"), &spec.net_caps);
	read_patterns(json_object_get(json, "patterns"), &spec.patterns);
	json_array_foreach(json_object_get(json, "env"), index, entry) if (json_is_string(entry))
		list_add(&spec.env, json_string_value(entry));
	json_array_foreach(limits, index, entry)
		spec.limits[index] = (uint64_t)json_integer_value(entry);
	spec.read_only = jsonget_flag(json, "read_only");
	spec.read_only_origin = jsonget_string(json, "read_only_origin");
	spec.denials = jsonget_flag(json, "denials");
	spec.trace_reads = jsonget_flag(json, "trace_reads");
	spec.raw_terminal = jsonget_flag(json, "raw_terminal");
	spec.net = (enum fence_net)jsonget_number(json, "net");
	spec.net_origin = jsonget_string(json, "net_origin");
	spec.accepted_weaker = (unsigned int)jsonget_number(json, "accepted_weaker");
	spec.accepted_limits = (unsigned int)jsonget_number(json, "accepted_limits");
	if (models_json_read(json_object_get(json, "models"), &spec.models, err) < 0 ||
	    read_listens(json_object_get(json, "listen"), &spec, err) < 0) {
		fence_spec_release(&spec);
		return -1;
	}
	*ret_spec = spec;
	return 0;
}
