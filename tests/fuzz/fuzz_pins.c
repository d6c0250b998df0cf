// sources: src/project/check_files.c src/project/packages.c src/project/path_group.c -ljansson
// sources: src/project/pins.c
/* Manifests of an agent and of the base, and paths. */
#include "fuzz.h"

#include "project/packages.h"
#include "project/pins.h"
#include "util/mem.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Whatever the agent's manifest is, the commands of the result are those of the base. */
static void merge(const char *now, size_t size)
{
	static const char base[] = "{\"scripts\": {\"test\": \"jest\"}}";
	AUTO_FREE char *merged = pins_manifest_merge(base, sizeof base - 1, now, size);
	json_t *wanted = json_loads(base, 0, NULL);
	json_t *result = merged ? json_loads(merged, 0, NULL) : json_loadb(now, size, 0, NULL);

	if (!json_equal(json_object_get(wanted, "scripts"), json_object_get(result, "scripts")) ||
	    json_object_get(result, "jest"))
		abort();
	json_decref(wanted);
	json_decref(result);
}

void fuzz_pins(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);
	struct pins pins = { 0 };

	memcpy(text, data, size);
	text[size] = '\0';
	merge(text, size);
	/* A manifest asks for the same as itself, or is invalid. */
	if (!packages_are_same("package.json", text, size, text, size))
		abort();
	if (packages_folder_of(text) > strlen(text) ||
	    (packages_is_folder(text) && packages_folder_of(text)))
		abort();
	pins_add_check(&pins, "/p", text);
	list_add(&pins.unpinned, text);
	if (pins_of(&pins, "src/main.c") >= PINS_KINDS || pins_of(&pins, text) >= PINS_KINDS)
		abort();
	pins_release(&pins);
}

FUZZ_TARGET(fuzz_pins)
