/* Read models as JSON, for reports and for the web page. Unknown values are null. The caller owns
 * the objects. */
#ifndef VIEW_VIEW_JSON_H
#define VIEW_VIEW_JSON_H

#include "view/view_iterations.h"
#include "view/view_tools.h"

#include <jansson.h>

/* A negative number is unknown, and so is a text that is NULL. */
json_t *view_json_number(int64_t value);
json_t *view_json_text(const char *value);

json_t *view_json_iteration(const struct client_loop *loop, const struct view_iterations *all,
			    const struct view_iteration *item);
json_t *view_json_uses(const struct view_iterations *all, const struct view_use *uses,
		       size_t count);

/* The names under this key, each with its count. */
json_t *view_json_names(const struct view_names *names, const char *key);
json_t *view_json_tools(const struct view_tools *tools);
json_t *view_json_hosts(const struct view_tools *tools);
json_t *view_json_denials(const struct view_tools *tools);

#endif
