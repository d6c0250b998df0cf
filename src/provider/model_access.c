/* A run's access to models: see model_access.h. */
#include "provider/model_access.h"

#include "util/text/text.h"

#include <stdlib.h>

bool model_access_is_set(const struct model_access *access)
{
	bool set = access->tape.mode != MODEL_ACCESS_LIVE;

	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		set = set || access->upstreams[i].set;
	return set;
}

bool model_access_is_free(const struct model_access *access)
{
	if (access->tape.mode == MODEL_ACCESS_REPLAY)
		return true;
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		if (access->upstreams[i].set && !access->upstreams[i].local)
			return false;
	return model_access_is_set(access);
}

int model_access_upstream_parse(const char *text, struct model_access_upstream *ret_upstream,
				struct error *err)
{
	const char *local = text_after_prefix(text, "local:");

	if (url_parse(local ? local : text, &ret_upstream->url, err) < 0)
		return -1;
	ret_upstream->set = true;
	ret_upstream->local = local != NULL;
	return 0;
}

const char *model_access_tape(const struct model_access *access, enum model_access_mode mode)
{
	return access->tape.mode == mode ? access->tape.path : NULL;
}

void model_access_release(struct model_access *access)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		key_source_release(&access->upstreams[i].key);
	free(access->ca);
	free(access->prices);
	free(access->tape.path);
	free(access->tape.project);
	free(access->tape.home);
	*access = (struct model_access){ 0 };
}
