/* Free disk space: see room.h. */
#include "loop/run/room.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <sys/statvfs.h>

#define USUAL_FREE (INT64_C(512) << 20)

void room_add_size(struct buffer *out, uint64_t bytes)
{
	AUTO_FREE char *size = text_size(bytes);

	buffer_printf(out, "%s", size);
}

int64_t room_free(const char *path)
{
	struct statvfs disk;

	return statvfs(path, &disk) < 0 ? -1 : (int64_t)(disk.f_bavail * disk.f_frsize);
}

char *room_trouble(const char *path, int64_t least)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(8192);
	AUTO_FREE char *shown = text_escaped(path);
	struct statvfs disk;

	if (!least || statvfs(path, &disk) < 0)
		return NULL;

	int64_t hundredth = (int64_t)(disk.f_blocks * disk.f_frsize / 100);
	int64_t left = (int64_t)(disk.f_bavail * disk.f_frsize);

	/* The default adapts to small disks. */
	if (least == USUAL_FREE && hundredth < least)
		least = hundredth;
	if (left >= least)
		return NULL;
	buffer_printf(&text, "the disk of '%s' is nearly full: ", shown);
	room_add_size(&text, (uint64_t)left);
	buffer_add_text(&text, " is free, and --min-free is ");
	room_add_size(&text, (uint64_t)least);
	buffer_add_text(&text,
			" (free some space; ringfence clean --older 7d --all removes old loops)");
	return mem_dup(buffer_text(&text));
}
