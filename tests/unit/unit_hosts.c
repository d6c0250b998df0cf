/* Hosts in the configuration of other tools. */
#include "unit.h"

#include "project/hosts.h"
#include "util/buffer.h"
#include "util/mem.h"

#include <string.h>

/* Whether the hosts of a text, joined by spaces, are as expected. */
static bool names_in(const char *section, const char *text, const char *key, const char *expected)
{
	const char *const keys[] = { key, NULL };
	__attribute__((cleanup(list_release))) struct list hosts = { 0 };
	AUTO_BUFFER struct buffer all = BUFFER_INIT(1 << 16);

	hosts_of_text(text, section, key ? keys : NULL, &hosts);
	for (size_t i = 0; i < hosts.count; i++)
		buffer_printf(&all, "%s%s", i ? " " : "", hosts.items[i]);
	if (strcmp(buffer_text(&all), expected) == 0)
		return true;
	fprintf(stderr, "saw '%s', expected '%s'\n", buffer_text(&all), expected);
	return false;
}

/* The same for a part of a file. */
static bool part_names(const char *bytes, const char *from, const char *until, const char *key,
		       const char *expected)
{
	__attribute__((cleanup(list_release))) struct list hosts = { 0 };
	AUTO_BUFFER struct buffer all = BUFFER_INIT(1 << 16);

	hosts_of_part(bytes, strlen(bytes), from, until, key, &hosts);
	for (size_t i = 0; i < hosts.count; i++)
		buffer_printf(&all, "%s%s", i ? " " : "", hosts.items[i]);
	if (strcmp(buffer_text(&all), expected) == 0)
		return true;
	fprintf(stderr, "saw '%s', expected '%s'\n", buffer_text(&all), expected);
	return false;
}

static void parts(void)
{
	CHECK("the index that pip has built in, and where its files are",
	      part_names("class PackageIndex:\nPyPI = PackageIndex(\n    'https://pip.example/', "
			 "file_storage_domain='files.example'\n)\nTestPyPI = PackageIndex("
			 "'https://no.example/', file_storage_domain='no.example')",
			 "PyPI = PackageIndex(", ")",
			 "file_storage_domain=", "pip.example files.example"));
	CHECK("a registry in the middle of a program",
	      part_names(
		      "xxhttps://no.example/yysparse+https://index.example/zzhttps://no.example/",
		      "sparse+https://index.", "/", NULL, "index.example"));
	CHECK("a list of mirrors in a script",
	      part_names("const A = \"https://no.example/\";\nconst M = [\n  "
			 "\"https://a.example/x\",\n  \"https://b.example/y\"\n];\n",
			 "const M = [", "]", NULL, "a.example b.example"));
	CHECK("a part that is not there, is open, or is very long has no host",
	      part_names("https://no.example/", "M = [", "]", NULL, "") &&
		      part_names("M = [https://no.example/", "M = [", "]", NULL, "") &&
		      part_names("", "M", "]", NULL, ""));
}

static bool names(const char *text, const char *key, const char *expected)
{
	return names_in(NULL, text, key, expected);
}

int main(void)
{
	parts();
	CHECK("what blocks plain HTTP in Maven's settings is not a mirror",
	      names("<url>http://0.0.0.0/</url>\n<url>https://m.example</url>\n", "<url>",
		    "m.example"));
	CHECK("npm registries, global and scoped, but not a token",
	      names("registry=https://r.example/npm/\n@me:registry=https://s.example:8443/\n"
		    "//r.example/:_authToken=x\n; registry=https://no.example/\n",
		    "registry", "r.example s.example:8443"));
	CHECK("apt sources in both formats, without comments",
	      names("deb [arch=amd64] http://a.example/debian stable main\n"
		    "# deb http://no.example/ x\nTypes: deb\n"
		    "URIs: https://b.example/x http://c.example:81/y\n",
		    NULL, "a.example b.example c.example:81"));
	CHECK("an index of pip with a login in it",
	      names("[global]\nindex-url = https://me:secret@pip.example/simple\n", "index",
		    "pip.example"));
	CHECK("a sparse registry of cargo",
	      names("[source.mirror]\nregistry = \"sparse+https://crates.example/index/\"\n",
		    "registry", "crates.example"));
	CHECK("several proxies of go, with words between",
	      names("GOPROXY=https://go.example,direct|https://two.example", "GOPROXY",
		    "go.example two.example"));
	CHECK("remotes of git by each of its forms",
	      names("[remote \"a\"]\n\turl = git@ssh.example:me/x.git\n"
		    "[remote \"b\"]\n\turl = https://h.example/x\n"
		    "[remote \"c\"]\n\turl = ssh://git@s.example/x\n\turl = ssh://s.example:2222/x\n"
		    "[remote \"d\"]\n\turl = ../local\n\turl = /srv/x@y:z\n",
		    "url", "ssh.example:22 h.example s.example:22 s.example:2222"));
	CHECK("a short path behind git@host: is one, too",
	      names("\turl = git@s.example:repo.git\n", "url", "s.example:22"));
	CHECK("ssh has its port also where the same host was named before",
	      names("\turl = https://h.example/x\n\turl = ssh://git@h.example/x\n", "url",
		    "h.example h.example:22"));
	CHECK("what a repository's .gitmodules left in the configuration is none of the remotes",
	      names_in(
		      "[remote ",
		      "[submodule \"s\"]\n\turl = http://127.0.0.1:2375/\n"
		      "[remote \"o\"]\n\turl = https://h.example/x\n[url \"https://no.example/\"]\n"
		      "\tinsteadOf = https://x.example/\n",
		      "url", "h.example"));
	CHECK("a host counts once, whatever its case",
	      names("https://A.example/ https://a.EXAMPLE/x", NULL, "a.example"));
	CHECK("incomplete URLs have no host", names("", NULL, "") && names("://", NULL, "") &&
						      names("https://", NULL, "") &&
						      names("registry=", "registry", ""));
	CHECK("the sets are known by name", hosts_is_set("npm") && hosts_is_set("git-remotes") &&
						    hosts_is_set("pypi") && !hosts_is_set("npms") &&
						    !hosts_is_set(""));

	AUTO_FREE char *all = hosts_names();

	CHECK("a message lists them", strstr(all, "npm, ") && strstr(all, ", pypi"));
	return unit_failures > 0;
}
