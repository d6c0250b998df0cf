// sources: src/config/config.c src/config/config_file.c src/config/ignore.c src/config/problem.c
// sources: src/config/setting_agent.c src/config/setting_fence.c src/config/setting_loop.c
// sources: src/config/phase_text.c src/config/setting_value.c src/config/trust.c
// sources: src/config/yaml.c -lyaml -ljansson
/* An untrusted ringfence.yml: no setting that widens the fence becomes active. */
#include "fuzz.h"

#include "config/config.h"
#include "util/file/path.h"

#include <stdlib.h>

void fuzz_config(const uint8_t *data, size_t size)
{
	static const struct config_place place = { .project = "/w/p", .home = "/w" };
	struct config config;

	config_init(&config);
	config_add_text(&config, CONFIG_PROJECT, "ringfence.yml", "/w/p", &place,
			(const char *)data, size);
	config_settle(&config, &place, NULL);
	for (size_t i = 0; i < config.count; i++) {
		const struct config_value *value = &config.values[i];

		if (value->layer != CONFIG_PROJECT || value->state != CONFIG_ACTIVE)
			continue;
		if (value->setting->trust == SETTING_TRUSTED &&
		    (setting_is_list(value->setting) || value->number != 0))
			abort();
		if (value->setting->id == SETTING_WRITE && !path_within(value->path, "/w/p"))
			abort();
	}
	if (config_get(&config, SETTING_NET)->number != 0 ||
	    config_get(&config, SETTING_DENIALS)->number != 1)
		abort();
	config_release(&config);
}

FUZZ_TARGET(fuzz_config)
