/* Denials of a loop: see view_denials.h. */
#include "view/view_denials.h"

#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "view/activity.h"

#include <string.h>

json_t *view_denials_read(const struct client_loop *loop, unsigned int iteration,
			  unsigned int attempt, const char *name)
{
	AUTO_FREE char *log = activity_log(loop, iteration, attempt);
	AUTO_FREE char *path = mem_format("%.*s/%sreport.json", (int)(strrchr(log, '/') - log), log,
					  name);
	json_t *report = json_load_file(path, 0, NULL);
	json_t *denials = json_incref(json_object_get(report, "denials"));

	json_decref(report);
	if (json_is_array(denials))
		return denials;
	json_decref(denials);
	return json_array();
}

char *view_denials_line(const json_t *denial)
{
	const char *program = json_string_value(json_array_get(json_object_get(denial, "argv"), 0));
	long long count = (long long)jsonget_number(denial, "count");
	const char *harmless = jsonget_string(denial, "harmless");
	AUTO_FREE char *times = count > 1 ? mem_format(", %lld times", count) : mem_dup("");

	return mem_format("%.40s %.600s (%.100s)%s%.100s%s%s%s", jsonget_text(denial, "kind"),
			  jsonget_text(denial, "target"), jsonget_text(denial, "rule"),
			  program ? " by " : "", program ? path_name(program) : "", times,
			  harmless ? "; harmless: " : "", harmless ? harmless : "");
}
