/* Saved conversations: see session_file.h. */
#include "builtin/model/session_file.h"

#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME = 64 };

static int open_folder(void)
{
	AUTO_FREE char *path = *env_home() ? path_join(env_home(), ".ringfence-agent") : NULL;

	/* The folder exists only if sessions are to be kept. */
	return path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static bool is_name(const char *name)
{
	return *name && strlen(name) <= NAME &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
		       strlen(name);
}

int session_file_load(const char *name, struct conversation *ret_conversation, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(CONVERSATION_SESSION);
	AUTO_FREE char *file = mem_format("%s.json", name);
	AUTO_FD folder = -1;
	AUTO_FD fd = -1;

	if (!is_name(name))
		return error_set(err, "'%.100s' is not a valid session name", name);
	folder = open_folder();
	fd = folder < 0 ? -1 : openat(folder, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "open the session '%s'", name);
	if (fd_read_all(fd, &text) < 0)
		return error_sys(err, "read the session '%s'", name);
	return conversation_read(buffer_text(&text), text.used, ret_conversation, err);
}

/* Trailing calls without results are not saved. */
static size_t whole_until(const struct conversation *conversation)
{
	size_t count = conversation->count;

	while (count > 0 && conversation->items[count - 1].model &&
	       conversation_message_calls(&conversation->items[count - 1]) > 0)
		count--;
	return count;
}

int session_file_save(const char *name, const struct conversation *conversation)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(CONVERSATION_SESSION);
	AUTO_FREE char *file = mem_format("%s.json", name);
	struct conversation whole = { .items = conversation->items,
				      .count = whole_until(conversation) };
	AUTO_FD folder = is_name(name) ? open_folder() : -1;

	if (folder < 0 || whole.count < 2)
		return -1;
	conversation_write(&whole, &text);
	if (buffer_overflowed(&text))
		return -1;
	return fd_replace_file(folder, file, text.data, text.used, 0600);
}
