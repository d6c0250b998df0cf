/* git data formats: configurations, ref names, objects. */
#include "unit.h"

#include "gitconfig/gitconfig.h"
#include "gitconfig/gitdir.h"
#include "snapshot/object/fsck.h"
#include "snapshot/object/refs.h"
#include "util/mem.h"
#include "util/textset.h"

#include <stdlib.h>
#include <string.h>

static int collect(void *context, const struct gitconfig_entry *entry)
{
	buffer_printf(context, "%s|%s|%s|%s\n", entry->section,
		      entry->subsection ? entry->subsection : "-", entry->key, entry->value);
	return 0;
}

/* Reports whether the text is parsed into these entries; NULL: it is refused. */
static bool reads(const char *text, const char *wanted)
{
	AUTO_BUFFER struct buffer seen = BUFFER_INIT(1 << 16);
	int result = gitconfig_each(text, strlen(text), collect, &seen);

	return wanted ? result == 0 && strcmp(buffer_text(&seen), wanted) == 0 : result < 0;
}

static void configurations(void)
{
	static const char *const wrong[] = {
		"[a\nb = c\n",    "[a]\nb = \"c\n", "[a \"b]\nc = d\n", "[a]\nb = \\q\n",
		"[]\nb = c\n",    "[a]\nb\r= c\n",  "[a]\nb\r",         "[a]\nb # c\n",
		"[a]\nb = c\\\r", "[a]\n9b = c\n",  "[a]\n-b = c\n",    "[a]\nb c = d\n",
	};

	CHECK("sections, subsections and keys are read",
	      reads("[core]\n\tbare = false\n[remote \"a.B\"]\nURL=x\n[branch.Main]\nmerge = y\n",
		    "core|-|bare|false\nremote|a.B|url|x\nbranch|main|merge|y\n"));
	CHECK("a key without a value is true", reads("[a]\nb\nc \r\n", "a|-|b|true\na|-|c|true\n"));
	CHECK("values have quotes, escapes and comments",
	      reads("[a]\nb = \" x \" y ; z\nc = \"q\\\"\\\\\"#x\nd = one \\\n two\n",
		    "a|-|b| x  y\na|-|c|q\"\\\na|-|d|one  two\n"));
	CHECK("a name may contain quotes", reads("[a \"b\\\"c\\\\\"]\nd=e\n", "a|b\"c\\|d|e\n"));
	CHECK("a line may hold a section and a key",
	      reads("[a] b = c\r\n[d]e=f", "a|-|b|c\nd|-|e|f\n"));
	CHECK("odd input that git accepts is accepted",
	      reads("a = b\n[.e]\nf = g\n[h \"\"]\ni =\r j \r# k\n[.]l=m\n[n.O \"P\"]q=r\r",
		    "|-|a|b\n|e|f|g\nh||i|j\n||l|m\nn|o.P|q|r\n"));
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		CHECK("input that git refuses is refused", reads(wrong[i], NULL));
}

static void ref_names(void)
{
	static const char *const sane[] = { "refs/heads/main", "refs/heads/a/b-c", "refs/tags/v1.0",
					    "refs/heads/\xc3\xa4\xc4\xba", "refs/heads/a@b" };
	static const char *const odd[] = { "HEAD",
					   "heads/x",
					   "refs/heads/-x",
					   "refs/heads/--upload-pack=x",
					   "refs/heads/../x",
					   "refs/heads/.x",
					   "refs/heads/x.lock",
					   "refs/heads/x.LOCK/y",
					   "refs/heads/a..b",
					   "refs/heads//x",
					   "refs/heads/x/",
					   "refs/heads/a b",
					   "refs/heads/a\tb",
					   "refs/heads/a~1",
					   "refs/heads/a^",
					   "refs/heads/a:b",
					   "refs/heads/a?",
					   "refs/heads/a*",
					   "refs/heads/a[",
					   "refs/heads/a\\b",
					   "refs/heads/@",
					   "refs/heads/a@{1}",
					   "refs/heads/a.",
					   "refs/heads/\x7f",
					   "refs/heads/\xff",
					   "refs/heads/\xc2\x85",
					   "" };
	bool all = true;
	bool none = false;

	for (size_t i = 0; i < sizeof sane / sizeof *sane; i++)
		all = all && refs_name_is_sane(sane[i]);
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		none = none || refs_name_is_sane(odd[i]);
	CHECK("names of branches and tags are accepted", all);
	CHECK("invalid names are not", !none);
}

static void packed_refs(void)
{
#define ID "0123456789012345678901234567890123456789"
#define IE "e123456789012345678901234567890123456789"
	static const char text[] = "# pack-refs with: peeled \n" ID " refs/tags/v1\n^" IE "\n" ID
				   " refs/heads/b\n" ID " refs/heads/a\n" IE " refs/heads/b\n" ID
				   " refs/notes/x\nnonsense\n";
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 16);
	struct refs refs = { 0 };
	struct error err;

	refs_parse(text, strlen(text), false, &refs, &err);
	refs_sort(&refs);
	refs_write(&refs, &out);
	CHECK("packed-refs is parsed, and written sorted",
	      strcmp(buffer_text(&out), "# pack-refs with: sorted \n" ID " refs/heads/a\n" IE
					" refs/heads/b\n" ID " refs/tags/v1\n") == 0 &&
		      refs.odd == 1);
	CHECK("a ref is set, found and removed",
	      refs_set(&refs, "refs/heads/c", IE, &err) == 0 &&
		      strcmp(refs_find(&refs, "refs/heads/c")->hex, IE) == 0 &&
		      refs_set(&refs, "refs/heads/a", NULL, &err) == 0 &&
		      !refs_find(&refs, "refs/heads/a") && refs.count == 3);
	refs_release(&refs);
}

static int count(void *context, const struct fsck_link *link, struct error *err)
{
	(void)link;
	(void)err;
	++*(int *)context;
	return 0;
}

static bool is_sound(enum fsck_type type, const char *text, size_t size, int links)
{
	AUTO_FREE char *copy = mem_alloc(size + 1);
	struct error err;
	int seen = 0;

	memcpy(copy, text, size);
	copy[size] = '\0';
	return fsck_object(type, copy, size, count, &seen, &err) == 0 && seen == links;
}

#define SOUND(type, text, links) is_sound(type, text, sizeof(text) - 1, links)
#define PERSON                   " A B <a@b> 1700000000 +0100\n"

static void objects(void)
{
	CHECK("a commit has a tree, parents, an author and a committer",
	      SOUND(FSCK_COMMIT,
		    "tree " ID "\nparent " IE "\nauthor" PERSON "committer" PERSON "\nx", 2) &&
		      SOUND(FSCK_COMMIT,
			    "tree " ID "\nauthor" PERSON "committer" PERSON "gpgsig x\n\n", 1));
	CHECK("a commit without one of them is refused",
	      !SOUND(FSCK_COMMIT, "parent " ID "\nauthor" PERSON "committer" PERSON "\nx", 1) &&
		      !SOUND(FSCK_COMMIT, "tree " ID "\nauthor" PERSON "\nx", 1) &&
		      !SOUND(FSCK_COMMIT,
			     "tree " ID "\nauthor <a@b> 1 +0000\ncommitter" PERSON "\nx", 1) &&
		      !SOUND(FSCK_COMMIT,
			     "tree " ID "\nauthor A <a@b> 01 +0000\ncommitter" PERSON "\n", 1) &&
		      !SOUND(FSCK_COMMIT,
			     "tree " ID "\nauthor A <a@b> 1 +000\ncommitter" PERSON "\nx", 1) &&
		      !SOUND(FSCK_COMMIT,
			     "tree " ID "\nauthor A\0 <a@b> 1 +0000\ncommitter" PERSON "\n", 1));
	CHECK("a NUL after a time zone is refused: some readers would stop there",
	      !SOUND(FSCK_COMMIT, "tree " ID "\nauthor A <a@b> 1 +0000\0\ncommitter" PERSON "\nx",
		     1) &&
		      !SOUND(FSCK_COMMIT,
			     "tree " ID "\nauthor A <a@b> 1 +0000\0 evil\ncommitter" PERSON "\nx",
			     1) &&
		      !SOUND(FSCK_COMMIT,
			     "tree " ID "\nauthor" PERSON "committer A <a@b> 1 +0000\0\n\nx", 1) &&
		      !SOUND(FSCK_TAG,
			     "object " ID "\ntype tag\ntag v1\ntagger A <a@b> 1 +0000\0\n\nx", 1));
	CHECK("as a control, without it they are sound",
	      SOUND(FSCK_COMMIT, "tree " ID "\nauthor A <a@b> 1 +0000\ncommitter" PERSON "\nx", 1));
	CHECK("a tag has an object, its type and a name",
	      SOUND(FSCK_TAG, "object " ID "\ntype tag\ntag v1\ntagger" PERSON "\nx", 1) &&
		      !SOUND(FSCK_TAG, "object " ID "\ntype x\ntag v1\ntagger" PERSON "\nx", 1) &&
		      !SOUND(FSCK_TAG, "object " ID "\ntype tag\ntag -v\ntagger" PERSON "\nx", 1));
#define X20 "xxxxxxxxxxxxxxxxxxxx"
	CHECK("a tree has sorted entries",
	      SOUND(FSCK_TREE, "100644 a\0" X20 "100644 a.b\0" X20 "40000 ab\0" X20, 3) &&
		      SOUND(FSCK_TREE, "", 0) &&
		      SOUND(FSCK_TREE, "100644 a.b\0" X20 "40000 a\0" X20 "160000 s\0" X20, 2) &&
		      !SOUND(FSCK_TREE, "40000 a\0" X20 "100644 a.b\0" X20, 2));
	CHECK("a file and a folder of the same name are refused, even with entries between them",
	      !SOUND(FSCK_TREE, "100644 a\0" X20 "100644 a.b\0" X20 "40000 a\0" X20, 3));
	CHECK("a truncated tree is refused", !SOUND(FSCK_TREE, "100644 a\0x", 0) &&
						     !SOUND(FSCK_TREE, "100644 a", 0) &&
						     !SOUND(FSCK_TREE, "100644", 0));
}

static void dotgit(void)
{
	CHECK("every alias of .git is recognized",
	      fsck_is_dotgit(".git") && fsck_is_dotgit(".GiT") && fsck_is_dotgit("git~1") &&
		      fsck_is_dotgit(".git. .") && fsck_is_dotgit(".git:x") &&
		      fsck_is_dotgit("\xe2\x80\x8d.g\xe2\x81\xaait") &&
		      fsck_is_dotgit("a\\.git\\b"));
	CHECK("other names are not", !fsck_is_dotgit(".gitignore") && !fsck_is_dotgit("git") &&
					     !fsck_is_dotgit(".gi") && !fsck_is_dotgit("x.git") &&
					     !fsck_is_dotgit("git~2"));
	CHECK("every alias of .gitmodules is recognized",
	      fsck_is_modules(".gitmodules") && fsck_is_modules(".GITmodules ") &&
		      fsck_is_modules("GITMOD~1") && fsck_is_modules("gi7eba~1") &&
		      !fsck_is_modules("gitmodules"));
}

static bool modules(const char *text)
{
	struct error err;

	return fsck_modules(text, strlen(text), &err) == 0;
}

static void submodules(void)
{
	static const char zero[] = "[submodule \"x\"]\npath = sub\0x\n";
	struct error err;

	CHECK("a NUL byte in a .gitmodules is refused",
	      fsck_modules(zero, sizeof zero - 1, &err) < 0 && strstr(err.text, "zero byte"));
	CHECK("a usual .gitmodules is fine",
	      modules("[submodule \"lib/x\"]\n\tpath = lib/x\n\turl = https://example.org/x.git\n\tbranch = .\n") &&
		      modules("[submodule \"x\"]\n\turl = ../x\n\tupdate = rebase\n"));
	CHECK("one with a command or an unsafe URL is refused",
	      !modules("[submodule \"x\"]\nurl = -x\n") &&
		      !modules("[submodule \"x\"]\npath = -x\n") &&
		      !modules("[submodule \"x\"]\npath = a/../../b\n") &&
		      !modules("[submodule \"x\"]\npath = /etc\n") &&
		      !modules("[submodule \"../x\"]\npath = y\n") &&
		      !modules("[submodule \"x\"]\nupdate = !x\n") &&
		      !modules("[submodule \"x\"]\nurl = https://x/%0a\n") &&
		      !modules("[submodule \"x\"]\nurl = ssh://-oProxyCommand=x/y\n"));
	CHECK("so is one whose path different parsers read differently",
	      !modules("[submodule \"x\"]\npath = \"sub\r\"\n") &&
		      !modules("[submodule \"x\"]\npath = sub\r") &&
		      !modules("[submodule \"x\"]\npath = \"a\\nb\"\n") &&
		      !modules("[submodule \"a\tb\"]\npath = x\n") &&
		      !modules("[submodule \"x\"]\npath = a/.git/hooks\n") &&
		      !modules("[submodule \"x\"]\npath = a\\\\.GIT\n") &&
		      modules("[submodule \"x\"]\r\npath = sub\r\n"));
	CHECK("so is a relative URL that reaches a host",
	      !modules("[submodule \"x\"]\nurl = ../../../:x\n") &&
		      !modules("[submodule \"x\"]\nurl = ./..//x\n") &&
		      !modules("[submodule \"x\"]\nurl = fd::3\n") &&
		      modules("[submodule \"x\"]\nurl = ../../x\n"));
}

static void attributes(void)
{
	char line[4096];
	struct error err;

	memset(line, 'x', sizeof line);
	line[2047] = '\n';
	CHECK("lines of attributes have git's maximum length",
	      fsck_attributes(line, 2048 + 2047, &err) == 0 &&
		      fsck_attributes(line, 2048 + 2048, &err) < 0 &&
		      fsck_attributes("", 0, &err) == 0);
}

static void links(void)
{
#define BYTES "abcdefghijabcdefghij"
	static const char folder[] = "40000 A\0" BYTES "120000 a\0" BYTES;
	static const char file[] = "100644 A\0" BYTES "100644 a\0" BYTES;
	static const char apart[] = "40000 A\0" BYTES "120000 b\0" BYTES;
#undef BYTES

	CHECK("a symlink that some file systems treat as another entry is refused",
	      !is_sound(FSCK_TREE, folder, sizeof folder - 1, 2));
	CHECK("two files may differ in case, and a symlink may be beside a folder",
	      is_sound(FSCK_TREE, file, sizeof file - 1, 2) &&
		      is_sound(FSCK_TREE, apart, sizeof apart - 1, 2));
}

/* The folder's entries, each between two spaces; a slash ends the name of a folder. */
static bool listed(void *context, const char *name, bool file)
{
	AUTO_FREE char *plain = mem_format(" %s ", name);
	AUTO_FREE char *folder = mem_format(" %s/ ", name);

	return strstr(context, plain) || (!file && strstr(context, folder));
}

static enum gitdir_kind kind(const char *entries)
{
	AUTO_FREE char *list = mem_format(" %s ", entries);

	return gitdir_classify(listed, list);
}

static bool folds(const char *path, const char *wanted)
{
	AUTO_FREE char *folded = gitdir_fold(path);

	return strcmp(folded, wanted) == 0;
}

static void git_directories(void)
{
	CHECK("a folder with HEAD, objects and refs is a git directory",
	      kind("HEAD objects/ refs/ x") == GITDIR_WHOLE);
	CHECK("its parts may be links or programs", kind("HEAD objects refs") == GITDIR_WHOLE);
	CHECK("its objects or more may be elsewhere",
	      kind("HEAD refs/") == GITDIR_WHOLE && kind("HEAD commondir") == GITDIR_WHOLE);
	CHECK("its configuration or hooks may be in a folder without a HEAD",
	      kind("objects/ refs/ config") == GITDIR_COMMON &&
		      kind("objects/ refs/ hooks/") == GITDIR_COMMON);
	CHECK("other folders are not git directories",
	      kind("") == GITDIR_NONE && kind("HEAD config objects/") == GITDIR_NONE &&
		      kind("HEAD/ refs/ commondir") == GITDIR_NONE &&
		      kind("objects/ refs/ config/ config.py") == GITDIR_NONE);
	CHECK("names that some file system takes for the same are folded alike",
	      folds("Docs/HEAD", "docs/head") && folds("docs./head. .", "docs/head") &&
		      folds("d\u200cocs/he\u202aad", "docs/head") && folds("HEAD::$DATA", "head") &&
		      folds("", ""));
	CHECK("other names are not", folds("docs/.x/h\u00c4", "docs/.x/h\u00c4"));
}

static void sets(void)
{
	struct textset set = { 0 };

	CHECK("a text is new to a set once", textset_add(&set, "a") && !textset_add(&set, "a"));
	CHECK("a set has what was added", textset_has(&set, "a") && !textset_has(&set, "b"));
	textset_release(&set);
}

int main(void)
{
	git_directories();
	sets();
	configurations();
	ref_names();
	packed_refs();
	objects();
	dotgit();
	submodules();
	attributes();
	links();
	return unit_failures > 0;
}
