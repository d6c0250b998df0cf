/* The price table: see prices.h. */
#include "settings/prices.h"

#include "config/config.h"
#include "config/config_file.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static int add_own(const struct fence_place *place, struct price_table *table, struct buffer *bytes,
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
	if (config_file_read_user(path, shown, place->project, who->caller, bytes, &there, err) < 0)
		return -1;
	return there ? price_table_add(table, shown, buffer_text(bytes), bytes->used, err) : 0;
}

int prices_load_with(const struct fence_place *place, struct price_table *ret_table,
		     struct buffer *ret_own, struct error *err)
{
	struct price_table table;

	*ret_own = BUFFER_INIT(PRICE_MOST_BYTES);
	if (price_table_init(&table, err) < 0)
		return -1;
	if (add_own(place, &table, ret_own, err) < 0) {
		price_table_release(&table);
		return -1;
	}
	*ret_table = table;
	return 0;
}

int prices_load(const struct fence_place *place, struct price_table *ret_table, struct error *err)
{
	AUTO_BUFFER struct buffer own = { 0 };

	return prices_load_with(place, ret_table, &own, err);
}
