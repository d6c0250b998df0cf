/* Paths as text: see path.h. */
#include "util/file/path.h"

#include "util/mem.h"

#include <string.h>

bool path_within(const char *path, const char *root)
{
	size_t size = strlen(root);

	if (strcmp(root, "/") == 0)
		return true;
	return strncmp(path, root, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

int path_compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}

	int left = *a == '/' ? 1 : (unsigned char)*a + (*a != '\0');
	int right = *b == '/' ? 1 : (unsigned char)*b + (*b != '\0');

	return left - right;
}

char *path_join(const char *dir, const char *name)
{
	size_t size = strlen(dir);
	size_t rest = strlen(name);
	char *path = mem_alloc(size + 1 + rest + 1);
	char *end = mempcpy(path, dir, size);

	if (size && dir[size - 1] != '/')
		*end++ = '/';
	end = mempcpy(end, name, rest);
	*end = '\0';
	return path;
}

char *path_absolute(const char *path, const char *base)
{
	char *result = path[0] == '/' ? mem_dup(path) : path_join(base, path);
	char *out = result;
	const char *in = result;

	while (*in) {
		while (*in == '/')
			in++;

		size_t size = strcspn(in, "/");

		if (size == 0)
			break;
		if (size == 2 && in[0] == '.' && in[1] == '.') {
			while (out > result && *--out != '/')
				;
		} else if (!(size == 1 && in[0] == '.')) {
			*out++ = '/';
			memmove(out, in, size);
			out += size;
		}
		in += size;
	}
	if (out == result)
		*out++ = '/';
	*out = '\0';
	return result;
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_folder(const char *path)
{
	return mem_format("%.*s", (int)(path_name(path) - path), path);
}
