/* Reading the providers' keys: see keys.h. */
#include "gateway/owner/keys.h"

#include "provider/key_read.h"

#include <stdlib.h>
#include <string.h>

int keys_read(const struct model_access *access, const struct taint *taint, struct keys *ret_keys,
	      struct error *err)
{
	struct keys keys = { 0 };

	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		const struct model_access_upstream *upstream = &access->upstreams[i];

		if (upstream->set && upstream->key.kind != KEY_SOURCE_NONE &&
		    key_read(&upstream->key, provider_at(i)->name, taint, &keys.values[i], err) <
			    0) {
			keys_wipe(&keys);
			return -1;
		}
	}
	*ret_keys = keys;
	return 0;
}

void keys_wipe(struct keys *keys)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		key_read_wipe(keys->values[i]);
		keys->values[i] = NULL;
	}
}

void keys_wipe_texts(struct list *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		explicit_bzero(texts->items[i], strlen(texts->items[i]));
	list_release(texts);
}
