/* Changes as text: see changes_text.h. */
#include "cli/view/changes_text.h"

#include "util/mem.h"
#include "util/text/text.h"

enum { SHOWN = 10 };

/* Returns a number of bytes. The caller frees it. */
static char *bytes_text(uint64_t bytes)
{
	return bytes < 1024 ? mem_format("%llu bytes", (unsigned long long)bytes)
			    : text_size(bytes);
}

/* Returns the size of a change, such as ", +2 -1". The caller frees it. */
static char *size_text(const struct apply_changes_item *item)
{
	AUTO_FREE char *size = bytes_text(item->bytes);
	bool counted = item->group != PATH_GROUP_IGNORED && !item->binary;

	if (!counted && item->status != APPLY_CHANGES_DELETED)
		return mem_format(", %s", size);
	if (!item->added && !item->removed)
		return mem_dup("");
	return mem_format(", +%llu -%llu", (unsigned long long)item->added,
			  (unsigned long long)item->removed);
}

char *changes_text_line(const struct apply_changes_item *item)
{
	AUTO_FREE char *path = text_escaped(item->path);
	AUTO_FREE char *from = item->from ? text_escaped(item->from) : NULL;
	AUTO_FREE char *size = size_text(item);

	return mem_format("%c %s%s%s%s%s%s", apply_changes_letter(item->status), path,
			  from ? ", from " : "", from ? from : "", size, item->why ? ": " : "",
			  item->why ? item->why : "");
}

static void print_paths(const struct apply_changes *changes, enum path_group group, size_t count,
			void (*print)(const char *line))
{
	size_t shown = 0;

	for (size_t i = 0; i < changes->count; i++) {
		AUTO_FREE char *text = changes_text_line(&changes->items[i]);
		AUTO_FREE char *line = mem_format("    %s", text);

		if (changes->items[i].group != group)
			continue;
		if (path_group_asks(group) || shown < SHOWN)
			print(line);
		shown++;
	}
	if (!path_group_asks(group) && count > SHOWN) {
		AUTO_FREE char *rest = mem_format("    and %zu more", count - SHOWN);

		print(rest);
	}
}

/* The lines of ignored files are not counted. */
static void print_sum(enum path_group group, const struct apply_changes_sum *sum,
		      void (*print)(const char *line))
{
	AUTO_FREE char *size = group == PATH_GROUP_IGNORED
				       ? bytes_text(sum->bytes)
				       : mem_format("+%llu -%llu", (unsigned long long)sum->added,
						    (unsigned long long)sum->removed);
	AUTO_FREE char *head = mem_format("  %s: %zu path%s, %s", path_group_title(group),
					  sum->paths, sum->paths == 1 ? "" : "s", size);

	print(head);
}

static void print_groups(const struct apply_changes *changes, bool paths,
			 void (*print)(const char *line))
{
	for (int i = 0; i < PATH_GROUP_COUNT; i++) {
		enum path_group group = (enum path_group)i;
		const struct apply_changes_sum sum = apply_changes_sum(changes, group);

		if (sum.paths)
			print_sum(group, &sum, print);
		if (paths)
			print_paths(changes, group, sum.paths, print);
	}
}

void changes_text_sums(const struct apply_changes *changes, void (*print)(const char *line))
{
	print_groups(changes, false, print);
}

void changes_text_print(const struct apply_changes *changes, void (*print)(const char *line))
{
	print_groups(changes, true, print);
}
