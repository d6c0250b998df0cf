/* Git LFS: pointers, which files are in it, and the store. */
#include "unit.h"

#include "lfs/lfs_folders.h"
#include "lfs/lfs_rules.h"
#include "lfs/lfs_store.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION "version https://git-lfs.github.com/spec/v1\n"
#define HASH    "587b9000cc089de5681ab2aa9750ab0126d79734298c25d0f3ece3f1f5fff98d"
#define OID     "oid sha256:" HASH "\n"

static bool is_pointer(const char *text)
{
	struct lfs_pointer ignored;

	return lfs_pointer_read(text, strlen(text), &ignored);
}

static void pointers(void)
{
	struct lfs_pointer pointer;
	char long_one[2 * LFS_POINTER_BYTES] = VERSION;
	char text[LFS_POINTER_BYTES];

	CHECK("a pointer has a hash and a size",
	      lfs_pointer_read(VERSION OID "size 24000\n", strlen(VERSION OID "size 24000\n"),
			       &pointer) &&
		      strcmp(pointer.hex, HASH) == 0 && pointer.size == 24000 && !pointer.extended);
	CHECK("it is written as it was read",
	      lfs_pointer_write(&pointer, text) == strlen(VERSION OID "size 24000\n") &&
		      strcmp(text, VERSION OID "size 24000\n") == 0);
	CHECK("lines of extensions are noticed",
	      lfs_pointer_read(VERSION "ext-0-x sha256:" HASH "\n" OID "size 1\n",
			       strlen(VERSION "ext-0-x sha256:" HASH "\n" OID "size 1\n"),
			       &pointer) &&
		      pointer.extended);
	CHECK("other forms are content",
	      !is_pointer("") && !is_pointer(VERSION) && !is_pointer(VERSION OID) &&
		      !is_pointer(VERSION OID "size 1") && !is_pointer(VERSION OID "size 01\n") &&
		      !is_pointer(VERSION OID "size -1\n") && !is_pointer(VERSION OID "size \n") &&
		      !is_pointer(VERSION OID "size 1\nmore\n") &&
		      !is_pointer(VERSION OID "size 9999999999999999999\n") &&
		      !is_pointer(VERSION "size 1\n" OID) && !is_pointer(OID "size 1\n") &&
		      !is_pointer(VERSION "oid sha256:587B\nsize 1\n") &&
		      !is_pointer(VERSION "ext-x-y sha256:" HASH "\n" OID "size 1\n"));
	while (strlen(long_one) < LFS_POINTER_BYTES)
		strcat(long_one, "ext-0-x sha256:" HASH "\n");
	strcat(long_one, OID "size 1\n");
	CHECK("a text of 1,024 bytes is content", !is_pointer(long_one));
}

static enum lfs_rules_answer ask(const char *text, const char *path)
{
	struct lfs_rules *rules = lfs_rules_read(text, strlen(text), NULL);
	enum lfs_rules_answer answer = lfs_rules_match(rules, path, &(uint64_t){ LFS_RULES_STEPS });

	lfs_rules_free(rules);
	return answer;
}

static void rules(void)
{
	CHECK("a name is found at any depth",
	      ask("*.bin filter=lfs diff=lfs merge=lfs -text\n", "a/b.bin") == LFS_RULES_YES &&
		      ask("*.bin filter=lfs\n", "a/b.txt") == LFS_RULES_SILENT);
	CHECK("the last line decides",
	      ask("*.bin filter=lfs\nx.bin -filter\n", "x.bin") == LFS_RULES_NO &&
		      ask("*.bin filter=lfs\nx.bin !filter\n", "x.bin") == LFS_RULES_NO &&
		      ask("*.bin filter=lfs\nx.bin filter=crypt\n", "x.bin") == LFS_RULES_NO &&
		      ask("*.bin filter=lfs\nx.bin text\n", "x.bin") == LFS_RULES_YES &&
		      ask("x.bin filter\n* filter=lfs\n", "x.bin") == LFS_RULES_YES);
	CHECK("other filters and attributes are not LFS",
	      ask("*.bin filter=lfsx\n", "x.bin") == LFS_RULES_NO &&
		      ask("*.bin xfilter=lfs\n", "x.bin") == LFS_RULES_SILENT &&
		      ask("*.bin -filter=lfs\n", "x.bin") == LFS_RULES_SILENT);
	CHECK("names with spaces are quoted, or have a class",
	      ask("\"a b\" filter=lfs\n", "a b") == LFS_RULES_YES &&
		      ask("\"a\\040b\\\"\" filter=lfs\n", "a b\"") == LFS_RULES_YES &&
		      ask("a[[:space:]]b filter=lfs\n", "a b") == LFS_RULES_YES &&
		      ask("\"a b filter=lfs\n", "a b") == LFS_RULES_SILENT);
	CHECK("comments, folders and negated patterns match no file",
	      ask("# filter=lfs\n", "#") == LFS_RULES_SILENT &&
		      ask("a/ filter=lfs\n", "a") == LFS_RULES_SILENT &&
		      ask("!a filter=lfs\n", "a") == LFS_RULES_SILENT);
	CHECK("a byte order mark and carriage returns do not belong to a line",
	      ask("\xef\xbb\xbf*.bin filter=lfs\r\n", "x.bin") == LFS_RULES_YES);
	CHECK("a macro stands for its attributes",
	      ask("[attr]big filter=lfs -text\n*.bin big\n", "x.bin") == LFS_RULES_YES &&
		      ask("*.bin big\n", "x.bin") == LFS_RULES_SILENT &&
		      ask("[attr]big filter=lfs\n*.bin -big\n", "x.bin") == LFS_RULES_SILENT);
}

/* A file of 1 MB took 20 seconds when every word was compared with every macro. */
static void many_macros(void)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(SIZE_MAX / 2);

	for (int i = 0; i < LFS_RULES_MOST / 2; i++)
		buffer_printf(&text, "[attr]m%d filter=lfs\n", i);
	buffer_add_text(&text, "[attr]m7 -filter\n*.a");
	while (text.used < 3 << 20)
		buffer_add_text(&text, " unknown");
	buffer_add_text(&text, "\n*.b m9999\n*.c m7\n");
	CHECK("a file with many macros and words is read",
	      ask(buffer_text(&text), "x.a") == LFS_RULES_SILENT &&
		      ask(buffer_text(&text), "x.b") == LFS_RULES_YES &&
		      ask(buffer_text(&text), "x.c") == LFS_RULES_NO);
}

static int read_folder(void *context, const char *folder, struct buffer *text)
{
	size_t *reads = context;

	(*reads)++;
	if (strcmp(folder, "") == 0)
		buffer_add_text(text, "[attr]big filter=lfs\n*.bin big\n/top filter=lfs\n");
	else if (strcmp(folder, "a") == 0)
		buffer_add_text(text, "x.bin -filter\n/here big\n[attr]mine filter=lfs\n* mine\n");
	else
		return -1;
	return 0;
}

static void folders(void)
{
	AUTO_BUFFER struct buffer own = BUFFER_INIT(100);
	size_t reads = 0;
	struct lfs_folders *folders;

	buffer_add_text(&own, "own.bin -filter\n");
	folders = lfs_folders_new(read_folder, &reads, &own);
	CHECK("deeper folders decide before those above",
	      lfs_folders_has(folders, "x.bin") && !lfs_folders_has(folders, "a/x.bin") &&
		      !lfs_folders_has(folders, "a/b/x.bin") &&
		      lfs_folders_has(folders, "a/b/y.bin"));
	CHECK("patterns with a slash count from their folder",
	      lfs_folders_has(folders, "top") && !lfs_folders_has(folders, "a/top") &&
		      lfs_folders_has(folders, "a/here") && !lfs_folders_has(folders, "here") &&
		      !lfs_folders_has(folders, "ab/here"));
	CHECK("only the topmost folder has macros", !lfs_folders_has(folders, "a/other"));
	CHECK("the user's own attributes decide first", !lfs_folders_has(folders, "own.bin"));
	reads = 0;
	lfs_folders_has(folders, "c/d/1");
	lfs_folders_has(folders, "c/d/2");
	lfs_folders_has(folders, "c/3");
	CHECK("a folder is read once while a walk is in it", reads == 2);
	lfs_folders_free(folders);
}

static size_t count_files(int above, const char *name)
{
	AUTO_FD fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(dup(fd));
	size_t count = 0;

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

static void store(void)
{
	static const char hash[] =
		"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
	struct lfs_pointer made;
	struct lfs_pointer wrong = { .size = 5 };
	struct lfs_store_entry entry;
	struct error err;
	char path[UNIT_PATH];
	char bytes[8] = "";
	AUTO_FD lfs = open(unit_temp(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD objects = -1;
	AUTO_FD there = -1;

	CHECK("content gets the name of its hash",
	      lfs_store_begin(lfs, "one", &entry, &err) == 0 &&
		      lfs_store_add(&entry, "hel", 3, &err) == 0 &&
		      lfs_store_add(&entry, "lo", 2, &err) == 0 &&
		      lfs_store_end(&entry, NULL, &made, &err) == 0 &&
		      strcmp(made.hex, hash) == 0 && made.size == 5);
	objects = openat(lfs, "objects", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	there = lfs_store_open(objects, &made);
	CHECK("it can be read",
	      there >= 0 && read(there, bytes, sizeof bytes) == 5 && strcmp(bytes, "hello") == 0);
	made.size = 4;
	CHECK("an object of another size is not there",
	      lfs_store_open(objects, &made) < 0 && errno == ENOENT);
	memset(wrong.hex, 'a', sizeof wrong.hex - 1);
	CHECK("content that is not what was wanted is refused",
	      lfs_store_begin(lfs, "one", &entry, &err) == 0 &&
		      lfs_store_add(&entry, "HELLO", 5, &err) == 0 &&
		      lfs_store_end(&entry, &wrong, NULL, &err) < 0 &&
		      strstr(err.text, "damaged") && count_files(lfs, "objects") == 1);
	CHECK("a file that a killed process left is replaced",
	      lfs_store_begin(lfs, "one", &entry, &err) == 0 &&
		      lfs_store_add(&entry, "left", 4, &err) == 0);
	fd_close(&entry.fd);
	fd_close(&entry.folder);
	CHECK("and is gone in the end",
	      count_files(lfs, "tmp") == 1 && lfs_store_begin(lfs, "one", &entry, &err) == 0 &&
		      lfs_store_add(&entry, "hello", 5, &err) == 0 &&
		      lfs_store_end(&entry, NULL, &made, &err) == 0 &&
		      strcmp(made.hex, hash) == 0 && count_files(lfs, "tmp") == 0);
}

/* Two processes can use the same name: the work trees of a repository share its store. */
static void store_together(void)
{
	struct lfs_store_entry one, other;
	struct lfs_pointer made;
	struct error err;
	char path[UNIT_PATH];
	char bytes[8] = "";
	AUTO_FD lfs = open(unit_temp(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD objects = -1;
	AUTO_FD there = -1;

	CHECK("two begin with the same name",
	      lfs_store_begin(lfs, "one", &one, &err) == 0 &&
		      lfs_store_add(&one, "hello", 5, &err) == 0 &&
		      lfs_store_begin(lfs, "one", &other, &err) == 0 &&
		      lfs_store_add(&other, "HE", 2, &err) == 0 &&
		      lfs_store_end(&one, NULL, &made, &err) == 0);
	objects = openat(lfs, "objects", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	there = lfs_store_open(objects, &made);
	CHECK("and each stores its own content",
	      there >= 0 && read(there, bytes, sizeof bytes) == 5 && strcmp(bytes, "hello") == 0 &&
		      lfs_store_end(&other, NULL, &made, &err) == 0 &&
		      count_files(lfs, "objects") == 2 && count_files(lfs, "tmp") == 0);
}

int main(void)
{
	pointers();
	rules();
	many_macros();
	folders();
	store();
	store_together();
	return unit_failures > 0;
}
