/* The report of a run: see fence_report.h. */
#include "fence/fence_report.h"

#include "fence/fence_weaker.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"
#include "util/text/json.h"
#include "util/text/sha256.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void add_flagged(struct json *json, const struct fence_found *found)
{
	for (size_t i = 0; i < found->flagged_count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "path", found->flagged[i].path);
		json_text(json, "by", found->flagged[i].by);
		json_close(json);
	}
}

static void add_found(struct json *json, const struct fence_found *found)
{
	enum { MOST_LISTED = 10000 };

	for (size_t i = 0; i < found->count && i < MOST_LISTED; i++) {
		json_open(json, NULL, '{');
		json_text(json, "path", found->items[i].path);
		json_text(json, "reason", found->items[i].reason);
		json_text(json, "kept", found->items[i].kept);
		json_close(json);
	}
}

static void add_denial(struct json *json, const struct fence_denial *denial, uint64_t began_ms)
{
	json_open(json, NULL, '{');
	json_text(json, "kind", denial->kind);
	json_text(json, "target", denial->target);
	json_text(json, "rule", denial->rule);
	json_text(json, "origin", denial->origin);
	json_number(json, "pid", (uint64_t)denial->pid);
	json_list(json, "argv", &denial->argv);
	json_number(json, "count", denial->count);
	if (denial->harmless)
		json_text(json, "harmless", denial->harmless);
	json_number(json, "last_ms", denial->last_ms - began_ms);
	json_close(json);
}

static void add_weaker(struct json *json, const struct fence_result *result)
{
	const struct fence_weaker_entry *at;

	json_open(json, "weaker", '[');
	for (size_t i = 0; (at = fence_weaker_at(i)); i++)
		if (result->weaker & at->bit)
			json_text(json, NULL, at->name);
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++)
		if (result->weaker_limits & 1U << i)
			json_text(json, NULL, fence_limit_name((enum fence_limit)i));
	json_close(json);
}

/* Adds the requested limits, and the use of all resources. */
static void add_limits(struct json *json, const struct fence_result *result)
{
	json_open(json, "limits", '{');
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++) {
		if (!result->limits[i].value)
			continue;
		json_open(json, fence_limit_name((enum fence_limit)i), '{');
		json_number(json, "value", result->limits[i].value);
		json_text(json, "how", fence_how_name(result->limits[i].how));
		json_close(json);
	}
	json_close(json);
	json_open(json, "use", '{');
	json_number(json, "cpu_ms", result->use.cpu_ms);
	json_number(json, "memory_peak", result->use.memory_peak);
	json_number(json, "disk_written", result->use.disk_written);
	json_number(json, "processes_peak", result->use.processes_peak);
	json_close(json);
}

/* Adds the network mode and caps, and the connections by host. */
static void add_network(struct json *json, const struct fence_plan *plan,
			const struct fence_result *result)
{
	static const char *const nets[] = { "none", "list", "open" };
	const struct outlet_caps *caps = &plan->spec->net_caps;
	const char *replay = model_access_tape(&plan->spec->models, MODEL_ACCESS_REPLAY);
	const char *record = model_access_tape(&plan->spec->models, MODEL_ACCESS_RECORD);

	json_open(json, "net", '{');
	json_text(json, "mode", nets[plan->spec->net]);
	if (plan->spec->net == FENCE_NET_LIST) {
		json_number(json, "connections", caps->connections);
		json_number(json, "bytes_in", caps->bytes_in);
		json_number(json, "bytes_out", caps->bytes_out);
	}
	if (replay)
		json_text(json, "replay", replay);
	if (record)
		json_text(json, "record", record);
	json_close(json);
	json_open(json, "hosts", '[');
	for (size_t i = 0; i < result->host_count; i++) {
		const struct outlet_host *host = &result->hosts[i];

		json_open(json, NULL, '{');
		json_text(json, "host", host->host);
		json_number(json, "port", host->port);
		json_number(json, "connections", host->connections);
		json_number(json, "refusals", host->refusals);
		json_number(json, "bytes_in", host->bytes_in);
		json_number(json, "bytes_out", host->bytes_out);
		json_text(json, "verdict", host->verdict);
		json_close(json);
	}
	json_close(json);
}

/* Adds the use of models, if the outlet serves any. */
static void add_models(struct json *json, const struct fence_plan *plan)
{
	const struct outlet *outlet = plan->spec->outlet;
	struct outlet_spend spend;

	if (!outlet || !outlet->spent(outlet, &spend))
		return;
	json_open(json, "models", '{');
	json_number(json, "requests", spend.requests);
	json_number(json, "refused", spend.refused);
	json_number(json, "input", spend.input);
	json_number(json, "output", spend.output);
	json_number(json, "cache_write", spend.cache_write);
	json_number(json, "cache_read", spend.cache_read);
	json_number(json, "cost_nusd", spend.cost_nusd);
	json_close(json);
}

static void add_exit(struct json *json, const struct fence_result *result)
{
	json_open(json, "exit", '{');
	json_text(json, "kind", fence_exit_name(result->kind));
	json_number(json, "code", (uint64_t)result->code);
	json_text(json, "limit",
		  result->tripped == FENCE_LIMIT_COUNT ? NULL : fence_limit_name(result->tripped));
	json_text(json, "why", result->why);
	json_close(json);
}

static void add_result(struct json *json, const struct fence_plan *plan,
		       const struct fence_result *result)
{
	json_open(json, NULL, '{');
	json_text(json, "project", plan ? plan->project : NULL);
	json_text(json, "mechanism", result->mechanism);
	json_text(json, "image", plan ? plan->spec->image : NULL);
	add_weaker(json, result);
	json_open(json, "canaries", '{');
	json_number(json, "passed", result->canaries_held);
	json_number(json, "total", result->canaries_total);
	json_close(json);
	add_limits(json, result);
	add_exit(json, result);
	json_open(json, "quarantined", '[');
	if (plan)
		add_found(json, &plan->recovered);
	add_found(json, &result->found);
	json_close(json);
	json_number(json, "quarantined_total",
		    result->found.count + (plan ? plan->recovered.count : 0));
	json_open(json, "flagged", '[');
	if (plan)
		add_flagged(json, &plan->recovered);
	add_flagged(json, &result->found);
	json_close(json);
	json_open(json, "denials", '[');
	for (size_t i = 0; i < result->denials.count; i++)
		add_denial(json, &result->denials.items[i], result->began_ms);
	json_close(json);
	json_number(json, "denials_unlisted", result->denials.unlisted);
	if (plan) {
		add_network(json, plan, result);
		add_models(json, plan);
	}
	if (plan && plan->spec->login)
		json_text(json, "login_in_fence", plan->spec->login);
	json_number(json, "duration_ms", result->duration_ms);
	json_close(json);
}

char *fence_report_kept(const char *state, const char *project)
{
	char hash[SHA256_HEX];

	sha256_hex(project, strlen(project), hash);
	return mem_format("%s/denials/%s.json", state, hash);
}

void fence_report_keep(const struct fence_plan *plan, const struct fence_result *result,
		       const struct buffer *json)
{
	AUTO_FREE char *path = fence_report_kept(plan->state, plan->project);
	AUTO_FREE char *folder = path_join(plan->state, "denials");
	AUTO_FD fd = -1;

	if (!fence_denials_count(&result->denials)) {
		unlink(path);
		return;
	}
	if (state_folder_make(folder, 0700) < 0)
		return;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fd_replace_file(fd, path_name(path), json->data, json->used, 0600) < 0)
		unlink(path);
}

void fence_report_write(const struct fence_plan *plan, const struct fence_result *result,
			struct buffer *out)
{
	struct json json = JSON_INIT(out);

	add_result(&json, plan, result);
}
