/* The URL of a git remote: see land_remote.h. */
#include "land/land_remote.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HOST = 255, MOST_PATH = 1024 };

static const struct {
	const char *host; /* a domain, or a name between dots */
	enum land_kind kind;
} hosts[] = {
	{ "github.com", LAND_KIND_github },  { "ghe.com", LAND_KIND_github },
	{ "gitlab.com", LAND_KIND_gitlab },  { "gitlab", LAND_KIND_gitlab },
	{ "codeberg.org", LAND_KIND_gitea }, { "gitea", LAND_KIND_gitea },
	{ "forgejo", LAND_KIND_gitea },
};

static bool is_path_letter(char c)
{
	return isalnum((unsigned char)c) || strchr("-_.~", c);
}

/* A path has two names or more, none of which is "." or "..". */
static bool is_path(const char *path)
{
	size_t names = 0;

	if (strlen(path) > MOST_PATH)
		return false;
	for (const char *at = path; *at; names++) {
		size_t size = strcspn(at, "/");

		if (size == 0 || strspn(at, ".") == size)
			return false;
		for (size_t i = 0; i < size; i++)
			if (!is_path_letter(at[i]))
				return false;
		at += size;
		if (*at && !*++at)
			return false;
	}
	return names >= 2;
}

/* Returns the path without slashes around it and without ".git". */
static char *clean_path(const char *path)
{
	size_t size;

	path += strspn(path, "/");
	size = strlen(path);
	while (size && path[size - 1] == '/')
		size--;
	if (size > 4 && memcmp(path + size - 4, ".git", 4) == 0)
		size -= 4;
	return mem_format("%.*s", (int)size, path);
}

static bool is_host(const char *host, size_t size)
{
	if (size == 0 || size > MOST_HOST || *host == '-' || *host == '.')
		return false;
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)host[i]) && !strchr("-._", host[i]))
			return false;
	return true;
}

static bool is_port(const char *port, size_t size)
{
	return size > 0 && size <= 5 && strspn(port, "0123456789") >= size;
}

/* authority: "user:password@host:port", which ends at `size`. */
static int read_host(const char *scheme, const char *authority, size_t size,
		     struct land_remote *remote)
{
	const char *at = memrchr(authority, '@', size);
	const char *host = at ? at + 1 : authority;
	size_t length = (size_t)(authority + size - host);
	const char *colon = memchr(host, ':', length);
	size_t name = colon ? (size_t)(colon - host) : length;
	bool web = strcmp(scheme, "ssh") != 0;

	if (!is_host(host, name) || (colon && !is_port(colon + 1, length - name - 1)))
		return -1;
	remote->host = mem_format("%.*s", (int)name, host);
	for (char *c = remote->host; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	/* A server has its own port for SSH, which is not that of its web pages. */
	remote->origin = mem_format("%s://%s%.*s", web ? scheme : "https", remote->host,
				    web ? (int)(length - name) : 0, host + name);
	return 0;
}

static int read_parts(const char *url, struct land_remote *remote)
{
	static const char *const schemes[] = { "https", "http", "ssh", "git+ssh" };
	const char *colon = strchr(url, ':');
	const char *slash = strchr(url, '/');

	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
		const char *rest = text_after_prefix(url, schemes[i]);
		const char *authority = rest ? text_after_prefix(rest, "://") : NULL;
		size_t size = authority ? strcspn(authority, "/") : 0;

		if (!authority)
			continue;
		remote->path = clean_path(authority + size);
		return read_host(strstr(schemes[i], "ssh") ? "ssh" : schemes[i], authority, size,
				 remote);
	}
	if (strstr(url, "://") || !colon || (slash && slash < colon))
		return -1;
	remote->path = clean_path(colon + 1);
	return read_host("ssh", url, (size_t)(colon - url), remote);
}

int land_remote_read(const char *url, struct land_remote *ret_remote, struct error *err)
{
	struct land_remote remote = { 0 };

	if (read_parts(url, &remote) == 0 && is_path(remote.path)) {
		*ret_remote = remote;
		return 0;
	}
	AUTO_FREE char *shown = mem_format("%.300s", url);

	land_remote_release(&remote);
	land_remote_mask(shown);
	return error_with(err, ERROR_INVALID,
			  "the remote '%s' is not the URL of a repository on a forge (such as "
			  "https://host/owner/repository, or git@host:owner/repository)",
			  shown);
}

void land_remote_release(struct land_remote *remote)
{
	free(remote->origin);
	free(remote->host);
	free(remote->path);
	*remote = (struct land_remote){ 0 };
}

/* Does a host have this name, at any place between its dots? */
static bool has_name(const char *host, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = host; (at = strstr(at, name)); at++) {
		bool begins = at == host || at[-1] == '.';
		bool whole = strchr(name, '.') != NULL;

		if (begins && (at[size] == '\0' || (!whole && at[size] == '.')))
			return true;
	}
	return false;
}

enum land_kind land_remote_kind(const struct land_remote *remote)
{
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
		if (has_name(remote->host, hosts[i].host))
			return hosts[i].kind;
	return LAND_KIND_UNKNOWN;
}

void land_remote_mask(char *text)
{
	for (char *at = text; (at = strstr(at, "://")); at++) {
		char *user = at + 3;
		size_t size = strcspn(user, "/ \t\r\n'\"");
		char *host = memrchr(user, '@', size);

		if (!host)
			continue;
		if (host == user)
			continue;
		memmove(user + 1, host, strlen(host) + 1);
		*user = '*';
	}
}
