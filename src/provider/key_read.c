/* Reading keys: see key_read.h. */
#include "provider/key_read.h"

#include "util/buffer.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/ownership.h"
#include "util/mem.h"
#include "util/process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_BYTES = 4096, COMMAND_MS = 30000 };

static int read_file(const char *path, struct buffer *ret_key, struct error *err)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	struct error why;

	/* A replaced key decides who pays, and who sees the requests. */
	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    ownership_check(path, geteuid(), &why) < 0)
		return error_with(err, ERROR_REFUSED, "the key is not used: %s", why.text);
	if (fd < 0 || fd_read_all(fd, ret_key) < 0)
		return error_sys(err, "read the key from '%s'", path);
	return 0;
}

static int ask_command(const char *line, const struct taint *taint, struct buffer *ret_key,
		       struct error *err)
{
	char *const arguments[] = { (char *)"sh", (char *)"-c", (char *)line, NULL };
	__attribute__((cleanup(list_release))) struct list environment = { 0 };
	int status;

	if (taint_check_line(taint, line, err) < 0)
		return -1;
	taint_environment(taint, &environment);
	status = process_output("/bin/sh", arguments, environment.items, COMMAND_MS, ret_key);
	if (status != 0)
		return error_set(err, "the command '%.200s' did not print a key (%s)", line,
				 status < 0 ? "it did not finish" : "its exit status is not 0");
	return 0;
}

static int read_variable(const char *name, struct buffer *ret_key, struct error *err)
{
	const char *value = env_get(name);

	if (!value || !*value)
		return error_set(err, "the variable %.100s, which should hold the key, is not set",
				 name);
	buffer_add_text(ret_key, value);
	return 0;
}

static int read_source(const struct key_source *source, const struct taint *taint,
		       struct buffer *ret_key, struct error *err)
{
	switch (source->kind) {
	case KEY_SOURCE_ENV:
		return read_variable(source->value, ret_key, err);
	case KEY_SOURCE_FILE:
		return taint_check_word(taint, source->value, err) < 0
			       ? -1
			       : read_file(source->value, ret_key, err);
	case KEY_SOURCE_COMMAND:
		return ask_command(source->value, taint, ret_key, err);
	case KEY_SOURCE_NONE:
		break;
	}
	return 0;
}

int key_read(const struct key_source *source, const char *name, const struct taint *taint,
	     char **ret_key, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(KEY_BYTES);
	int result = read_source(source, taint, &bytes, err);

	if (result == 0) {
		/* Only the first word counts. */
		size_t length = strcspn(buffer_text(&bytes), " \t\r\n");

		if (length == 0)
			result = error_set(err, "the key for %s is empty", name);
		else
			*ret_key = mem_format("%.*s", (int)length, bytes.data);
	}
	if (bytes.data)
		explicit_bzero(bytes.data, bytes.used);
	return result;
}

void key_read_wipe(char *key)
{
	if (key)
		explicit_bzero(key, strlen(key));
	free(key);
}
