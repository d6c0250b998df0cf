/* The table of prices with the user's own on top: see prices.h. */
#include "cli/prices.h"

#include "config/config.h"
#include "config/file.h"
#include "util/mem.h"
#include "util/path.h"

#include <stdlib.h>
#include <string.h>

int prices_own(const struct fence_place *place, struct buffer *out, char **ret_shown,
	       struct error *err)
{
	static const char name[] = "prices.txt";
	const struct fence_identity *who = &place->identity;
	AUTO_FREE char *beside = config_user_path(who->home, who->switched);
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *shown = NULL;
	bool there = false;

	if (!beside)
		return 0;
	path = mem_format("%.*s%s", (int)(path_name(beside) - beside), beside, name);
	shown = path_within(path, who->home) ? mem_format("~%s", path + strlen(who->home))
					     : mem_dup(path);
	if (file_read_user(path, shown, place->project, who->caller, who->caller_group, out, &there,
			   err) < 0)
		return -1;
	if (ret_shown) {
		*ret_shown = shown;
		shown = NULL;
	}
	return 0;
}

static int add_own(const struct fence_place *place, struct price_table *table, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(PRICE_MOST_BYTES);
	AUTO_FREE char *shown = NULL;

	if (prices_own(place, &bytes, &shown, err) < 0)
		return -1;
	return bytes.used > 0 ? price_table_add(table, shown, buffer_text(&bytes), bytes.used, err)
			      : 0;
}

int prices_load(const struct fence_place *place, struct price_table *ret_table, struct error *err)
{
	struct price_table table;

	if (price_table_init(&table, err) < 0)
		return -1;
	if (add_own(place, &table, err) < 0) {
		price_table_release(&table);
		return -1;
	}
	*ret_table = table;
	return 0;
}
