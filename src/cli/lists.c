/* The lists of tasks that a command names: see lists.h. */
#include "cli/lists.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <stdlib.h>

static int read_one(const char *file, struct worklist *list, json_t *paths, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(WORKLIST_BYTES_MAX + 1);
	AUTO_FREE char *real = realpath(file, NULL);
	json_t *path;

	if (!real || (fd_read_path(real, &text) < 0 && errno != EFBIG))
		return error_sys(err, "read the list '%s'", file);
	path = json_pack("{s:s, s:s}", "name", file, "path", real);
	if (!path)
		return error_with(err, ERROR_INVALID, "the path of a list is not valid UTF-8");
	json_array_append_new(paths, path);
	return worklist_add(list, file, buffer_text(&text), text.used, err);
}

int lists_read(char *const *files, struct worklist *ret_list, json_t **ret_paths, struct error *err)
{
	struct worklist list = { 0 };
	json_t *paths = json_array();
	int result = 0;

	for (; *files && result == 0; files++)
		result = read_one(*files, &list, paths, err);
	if (result == 0)
		result = worklist_finish(&list, err);
	if (result < 0) {
		worklist_model_release(&list);
		json_decref(paths);
		return -1;
	}
	*ret_list = list;
	*ret_paths = paths;
	return 0;
}
