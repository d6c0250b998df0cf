/* From where a key is to what it is: see keys.h. */
#include "gateway/owner/keys.h"

#include "util/buffer.h"
#include "util/fd.h"
#include "util/process.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_BYTES = 4096, COMMAND_MS = 30000 };

static bool begins(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

int keys_check(const char *source, struct error *err)
{
	if ((begins(source, "env:") && source[4]) || (begins(source, "file:/")) ||
	    (begins(source, "command:") && source[8]))
		return 0;
	return error_set(
		err,
		"a key is read from env:NAME, file:/ABSOLUTE/PATH or command:LINE; the key itself does not belong here");
}

static int read_file(const char *path, struct buffer *ret_key, struct error *err)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 || fd_read_all(fd, ret_key) < 0)
		return error_sys(err, "read the key in '%s'", path);
	return 0;
}

static int ask_command(const char *line, struct buffer *ret_key, struct error *err)
{
	char *const arguments[] = { (char *)"sh", (char *)"-c", (char *)line, NULL };
	int status = process_output(arguments, COMMAND_MS, ret_key);

	if (status != 0)
		return error_set(err, "the command '%.200s' gave no key (%s)", line,
				 status < 0 ? "it did not end" : "its exit status is not 0");
	return 0;
}

static int read_key(const char *source, struct buffer *ret_key, struct error *err)
{
	if (begins(source, "file:"))
		return read_file(source + 5, ret_key, err);
	if (begins(source, "command:"))
		return ask_command(source + 8, ret_key, err);

	const char *value = getenv(source + 4);

	if (!value || !*value)
		return error_set(err, "the variable %.100s, which has the key, is not set",
				 source + 4);
	buffer_add_text(ret_key, value);
	return 0;
}

static int resolve(const char *text, struct list *texts, struct error *err)
{
	const char *name = text + strlen("source ");
	size_t size = strcspn(name, " ");
	AUTO_BUFFER struct buffer key = BUFFER_INIT(KEY_BYTES);
	int result = read_key(name + size + 1, &key, err);

	if (result == 0) {
		/* Without blanks at its end; the first line counts. */
		size_t length = strcspn(buffer_text(&key), " \t\r\n");

		list_printf(texts, "key %.*s %.*s", (int)size, name, (int)length, key.data);
		if (length == 0)
			result = error_set(err, "the key of %.*s is empty", (int)size, name);
	}
	if (key.data)
		explicit_bzero(key.data, key.used);
	return result;
}

int keys_resolve(const struct list *texts, struct list *ret_texts, struct error *err)
{
	struct list resolved = { 0 };

	for (size_t i = 0; i < texts->count; i++) {
		const char *text = texts->items[i];

		if (!begins(text, "source ")) {
			list_add(&resolved, text);
		} else if (!strchr(text + 7, ' ') || resolve(text, &resolved, err) < 0) {
			keys_wipe(&resolved);
			return -1;
		}
	}
	*ret_texts = resolved;
	return 0;
}

void keys_wipe(struct list *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		explicit_bzero(texts->items[i], strlen(texts->items[i]));
	list_release(texts);
}
