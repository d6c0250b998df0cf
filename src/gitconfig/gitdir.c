/* Finds git directories: see gitdir.h. */
#include "gitconfig/gitdir.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <string.h>
#include <sys/stat.h>

enum { POINTER_BYTES = 8192 };

char *gitdir_pointer(const char *folder, const char *name, const char *word)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(POINTER_BYTES);

	if (fd_read_path(path, &text) < 0 || strncmp(buffer_text(&text), word, strlen(word)) != 0)
		return NULL;

	const char *line = buffer_text(&text) + strlen(word);
	AUTO_FREE char *path_text = mem_format("%.*s", (int)strcspn(line, "\r\n"), line);

	return *path_text ? path_absolute(path_text, folder) : NULL;
}

char *gitdir_find(const char *work_tree)
{
	AUTO_FREE char *path = path_join(work_tree, ".git");
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return mem_dup(path);
	return gitdir_pointer(work_tree, ".git", "gitdir: ");
}
