/* Access to a forge: see land_access.h. */
#include "ops/land_access.h"

#include "provider/key_read.h"
#include "util/env.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { GH_MS = 15000 };

#define GH "gh"

/* A forge that is only asked does not get a token from a variable. */
static const struct land_forge *choose(const struct op_land_request *request,
				       const struct land_remote *place, bool *ret_trusted)
{
	enum land_kind kind = land_remote_kind(place);

	*ret_trusted = true;
	if (request->forge)
		kind = strcmp(request->forge, GH) == 0 ? LAND_KIND_github
						       : land_forge_named(request->forge);
	if (kind == LAND_KIND_UNKNOWN) {
		*ret_trusted = false;
		kind = land_client_probe(place->origin);
	}
	return land_forge_of(kind);
}

static int read_token(const struct op_land_request *request, const struct taint *taint,
		      const struct land_forge *forge, bool trusted, char **ret_token,
		      struct error *err)
{
	if (request->token.kind != KEY_SOURCE_NONE)
		return key_read(&request->token, forge->title, taint, ret_token, err);
	for (size_t i = 0; trusted && forge->tokens[i] && !*ret_token; i++)
		if (env_has(forge->tokens[i]))
			*ret_token = mem_dup(env_get(forge->tokens[i]));
	return 0;
}

/* A header has one line, and libcurl would refuse others. */
static int check_token(const char *token, struct error *err)
{
	for (const char *c = token; c && *c; c++)
		if (*c <= ' ' || *c == 0x7f)
			return error_with(err, ERROR_INVALID,
					  "the token of the forge has a space or a control "
					  "character in it: set it again");
	return 0;
}

/* Is gh there, and logged in at this host? Its token does not leave gh. */
static bool has_gh(const struct taint *taint, const char *host, struct land_program *ret_gh,
		   struct error *err)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(4096);
	AUTO_BUFFER struct buffer errors = BUFFER_INIT(4096);
	struct list arguments = { 0 };
	const struct land_program_run run = {
		.arguments = &arguments, .most_ms = GH_MS, .output = &output, .errors = &errors
	};
	struct land_program gh;
	int code;

	if (land_program_find(GH, taint, &gh, err) < 0)
		return false;
	list_add(&arguments, "auth");
	list_add(&arguments, "token");
	list_add(&arguments, "--hostname");
	list_add(&arguments, host);
	code = land_program_run(&gh, &run, err);
	list_release(&arguments);
	if (output.data)
		explicit_bzero(output.data, output.used);
	if (code == 0) {
		*ret_gh = gh;
		return true;
	}
	if (code > 0)
		error_with(err, ERROR_DENIED,
			   "gh is not logged in at %s (to log in: gh auth login --hostname %s)",
			   host, host);
	land_program_release(&gh);
	return false;
}

static int open_client(const struct op_land_request *request, const struct taint *taint,
		       const struct land_forge *forge, bool trusted, struct op_land_result *result,
		       struct error *err)
{
	struct land_client client = { .wait = request->wait, .context = request->context };
	bool wants_gh = request->forge && strcmp(request->forge, GH) == 0;
	struct error none;

	if (!wants_gh && (read_token(request, taint, forge, trusted, &client.token, err) < 0 ||
			  check_token(client.token, err) < 0)) {
		key_read_wipe(client.token);
		return -1;
	}
	if (!client.token && forge == &land_forge_github && trusted &&
	    !has_gh(taint, result->place.host, &client.gh, wants_gh ? err : &none) && wants_gh)
		return -1;
	if (!client.token && !client.gh.path)
		return 0;
	client.forge = forge;
	client.host = mem_dup(result->place.host);
	client.api = request->api ? mem_dup(request->api) : land_forge_api(forge, &result->place);
	result->client = client;
	return 0;
}

int land_access_open(const struct op_land_request *request, const struct taint *taint,
		     const char *url, struct op_land_result *result,
		     const struct land_forge **ret_forge, struct error *err)
{
	bool trusted;

	/* A path, or a host that serves git alone: there is nothing but the branch. */
	if (land_remote_read(url, &result->place, err) < 0)
		return request->forge ? -1 : 0;
	*ret_forge = choose(request, &result->place, &trusted);
	if (!*ret_forge)
		return request->token.kind == KEY_SOURCE_NONE
			       ? 0
			       : error_with(err, ERROR_INVALID,
					    "which forge %s is cannot be told: name it with "
					    "--forge github, gitlab or gitea",
					    result->place.host);
	return open_client(request, taint, *ret_forge, trusted, result, err);
}
