/* Model access as JSON: see models_json.h. */
#include "loop/state/models_json.h"

#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const modes[] = {
	[MODEL_ACCESS_LIVE] = "live",
	[MODEL_ACCESS_RECORD] = "record",
	[MODEL_ACCESS_REPLAY] = "replay",
};

static json_t *upstreams_of(const struct model_access *access)
{
	json_t *list = json_array();

	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		const struct model_access_upstream *upstream = &access->upstreams[i];
		AUTO_FREE char *url = url_text(&upstream->url);
		AUTO_FREE char *key = key_source_text(&upstream->key);

		if (upstream->set)
			json_array_append_new(list,
					      json_pack("{s:s, s:s, s:b, s:s?}", "provider",
							provider_at(i)->name, "url", url, "local",
							upstream->local, "key", key));
	}
	return list;
}

static json_t *tools_of(const struct model_access *access)
{
	json_t *list = json_array();

	for (size_t i = 0; i < PROVIDER_TOOL_COUNT; i++)
		if (access->tools & PROVIDER_TOOL_BIT(i))
			json_array_append_new(list, json_string(provider_tool_names[i]));
	return list;
}

json_t *models_json_write(const struct model_access *access)
{
	const struct model_access_tape *tape = &access->tape;
	AUTO_FREE char *proxy = access->proxy.host[0] ? url_text(&access->proxy) : NULL;
	json_t *played = json_pack("{s:s, s:s?, s:s?, s:s?, s:b}", "mode", modes[tape->mode],
				   "path", tape->path, "project", tape->project, "home", tape->home,
				   "paced", tape->paced);

	return json_pack("{s:o, s:s?, s:s?, s:s?, s:b, s:o, s:o}", "upstreams",
			 upstreams_of(access), "proxy", proxy, "ca", access->ca, "prices",
			 access->prices, "refuse_unknown", access->refuse_unknown, "provider_tools",
			 tools_of(access), "tape", played);
}

/* --- reading */

/* Returns the upstream of the provider with this name, or NULL with err set. */
static struct model_access_upstream *find(struct model_access *access, const char *name,
					  size_t size, struct error *err)
{
	enum provider_id id = provider_find(name, size);

	if (id != PROVIDER_COUNT)
		return &access->upstreams[id];
	error_set(err, "the journal names the unknown provider '%.*s'",
		  (int)(size < 40 ? size : 40), name);
	return NULL;
}

static int read_upstream(const json_t *entry, struct model_access *access, struct error *err)
{
	const char *name = jsonget_string(entry, "provider");
	const char *url = jsonget_string(entry, "url");
	const char *key = jsonget_string(entry, "key");
	struct model_access_upstream *upstream = find(access, name ? name : "",
						      name ? strlen(name) : 0, err);

	if (!upstream || url_parse(url ? url : "", &upstream->url, err) < 0)
		return -1;
	upstream->set = true;
	upstream->local = jsonget_flag(entry, "local");
	return key ? key_source_parse(key, &upstream->key, err) : 0;
}

static int read_tape(const json_t *json, struct model_access_tape *tape, struct error *err)
{
	const char *mode = jsonget_string(json, "mode");
	size_t i = 0;

	while (i <= MODEL_ACCESS_REPLAY && (!mode || strcmp(mode, modes[i]) != 0))
		i++;
	if (i > MODEL_ACCESS_REPLAY || (i != MODEL_ACCESS_LIVE && !jsonget_string(json, "path")))
		return error_set(err, "the journal has an invalid tape setting");
	*tape = (struct model_access_tape){
		.mode = i,
		.path = mem_copy(jsonget_string(json, "path")),
		.project = mem_copy(jsonget_string(json, "project")),
		.home = mem_copy(jsonget_string(json, "home")),
		.paced = jsonget_flag(json, "paced"),
	};
	return 0;
}

/* A name that this version does not know allows nothing. */
static unsigned int read_tools(const json_t *json)
{
	unsigned int tools = 0;
	size_t index;
	json_t *entry;

	json_array_foreach(json, index, entry)
	{
		enum provider_tool tool =
			provider_tool_find(json_is_string(entry) ? json_string_value(entry) : "");

		tools |= tool < PROVIDER_TOOL_COUNT ? PROVIDER_TOOL_BIT(tool) : 0;
	}
	return tools;
}

static int read_object(const json_t *json, struct model_access *access, struct error *err)
{
	const char *proxy = jsonget_string(json, "proxy");
	size_t index;
	json_t *entry;

	json_array_foreach(json_object_get(json, "upstreams"), index,
			   entry) if (read_upstream(entry, access, err) < 0) return -1;
	if (proxy && url_parse(proxy, &access->proxy, err) < 0)
		return -1;
	access->ca = mem_copy(jsonget_string(json, "ca"));
	access->prices = mem_copy(jsonget_string(json, "prices"));
	access->refuse_unknown = !json_is_false(json_object_get(json, "refuse_unknown"));
	access->tools = read_tools(json_object_get(json, "provider_tools"));
	return read_tape(json_object_get(json, "tape"), &access->tape, err);
}

/* --- reading the format of versions up to 0.1.0: one text per value */

/* "upstream NAME URL", "free NAME" or "source NAME SOURCE". */
static int read_old_upstream(const char *text, struct model_access *access, struct error *err)
{
	const char *name = strchr(text, ' ') ? strchr(text, ' ') + 1 : "";
	size_t size = strcspn(name, " ");
	const char *value = name + size + (name[size] == ' ');
	struct model_access_upstream *upstream = find(access, name, size, err);

	if (!upstream)
		return -1;
	if (text_after_prefix(text, "free ")) {
		upstream->local = true;
		return 0;
	}
	if (text_after_prefix(text, "source ")) {
		key_source_release(&upstream->key);
		return key_source_parse(value, &upstream->key, err);
	}
	upstream->set = true;
	return url_parse(value, &upstream->url, err);
}

static int read_old(const char *text, struct model_access *access, struct error *err)
{
	struct model_access_tape *tape = &access->tape;
	const struct {
		const char *start;
		char **place;
		enum model_access_mode mode;
	} strings[] = {
		{ "ca ", &access->ca, MODEL_ACCESS_LIVE },
		{ "prices ", &access->prices, MODEL_ACCESS_LIVE },
		{ "project ", &tape->project, MODEL_ACCESS_LIVE },
		{ "home ", &tape->home, MODEL_ACCESS_LIVE },
		{ "record ", &tape->path, MODEL_ACCESS_RECORD },
		{ "replay ", &tape->path, MODEL_ACCESS_REPLAY },
	};

	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
		if (text_after_prefix(text, strings[i].start)) {
			free(*strings[i].place);
			*strings[i].place = mem_dup(text_after_prefix(text, strings[i].start));
			if (strings[i].mode != MODEL_ACCESS_LIVE)
				tape->mode = strings[i].mode;
			return 0;
		}
	if (text_after_prefix(text, "proxy "))
		return url_parse(text_after_prefix(text, "proxy "), &access->proxy, err);
	if (strcmp(text, "pace original") == 0)
		tape->paced = true;
	else if (strcmp(text, "unknown refuse") != 0) /* always so */
		return read_old_upstream(text, access, err);
	return 0;
}

static int read_array(const json_t *json, struct model_access *access, struct error *err)
{
	size_t index;
	json_t *entry;

	json_array_foreach(json, index,
			   entry) if (read_old(json_is_string(entry) ? json_string_value(entry)
								     : "",
					       access, err) < 0) return -1;
	return 0;
}

int models_json_read(const json_t *json, struct model_access *ret_access, struct error *err)
{
	struct model_access access = { .refuse_unknown = true };
	int result = 0;

	if (json_is_array(json))
		result = read_array(json, &access, err);
	else if (json)
		result = read_object(json, &access, err);
	if (result < 0) {
		model_access_release(&access);
		return -1;
	}
	*ret_access = access;
	return 0;
}
