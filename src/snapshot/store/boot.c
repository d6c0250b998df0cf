/* Boots of the machine. */
#include "snapshot/store/boot.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <string.h>
#include <unistd.h>

#define NAME "boot"

void boot_read_id(struct buffer *ret_id)
{
	if (fd_read_path("/proc/sys/kernel/random/boot_id", ret_id) < 0)
		ret_id->used = 0;
}

bool boot_is_new(const char *path, const char *draft)
{
	AUTO_BUFFER struct buffer id = BUFFER_INIT(BOOT_ID);
	AUTO_BUFFER struct buffer known = BUFFER_INIT(BOOT_ID);
	AUTO_FREE char *name = checkpoint_repo_file(NAME, draft);
	AUTO_FREE char *file = path_join(path, name);

	boot_read_id(&id);
	if (fd_read_path(file, &known) < 0)
		known.used = 0;
	return strcmp(buffer_text(&id), buffer_text(&known)) != 0;
}

bool boot_is_recorded(const struct checkpoint_repo *repo)
{
	AUTO_FREE char *name = checkpoint_repo_file(NAME, repo->draft);

	return faccessat(repo->folder, name, F_OK, 0) == 0;
}

int boot_record(struct checkpoint_repo *repo, struct error *err)
{
	AUTO_BUFFER struct buffer id = BUFFER_INIT(BOOT_ID);
	AUTO_FREE char *name = checkpoint_repo_file(NAME, repo->draft);

	boot_read_id(&id);
	return checkpoint_repo_write(repo, repo->folder, name, buffer_text(&id), id.used, err);
}
