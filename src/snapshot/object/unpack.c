/* Inflates zlib streams. */
#include "snapshot/object/unpack.h"

#include <limits.h>
#include <unistd.h>

void unpack_begin(struct unpack *unpack, int fd, off_t at)
{
	unpack->fd = fd;
	unpack->at = at;
	unpack->stream = (z_stream){ 0 };
	unpack->ended = false;
	unpack->begun = inflateInit(&unpack->stream) == Z_OK;
	unpack->broken = !unpack->begun;
}

void unpack_end(struct unpack *unpack)
{
	if (unpack->begun)
		inflateEnd(&unpack->stream);
	unpack->begun = false;
}

static bool refill(struct unpack *unpack)
{
	ssize_t n = pread(unpack->fd, unpack->block, sizeof unpack->block, unpack->at);

	if (n <= 0)
		return false;
	unpack->at += n;
	unpack->stream.next_in = unpack->block;
	unpack->stream.avail_in = (uInt)n;
	return true;
}

size_t unpack_read(struct unpack *unpack, void *bytes, size_t size)
{
	size_t filled = 0;

	while (filled < size && !unpack->ended && !unpack->broken) {
		size_t room = size - filled < INT_MAX ? size - filled : INT_MAX;
		int result;

		if (unpack->stream.avail_in == 0 && !refill(unpack)) {
			unpack->broken = true;
			break;
		}
		unpack->stream.next_out = (unsigned char *)bytes + filled;
		unpack->stream.avail_out = (uInt)room;
		result = inflate(&unpack->stream, Z_NO_FLUSH);
		filled += room - unpack->stream.avail_out;
		unpack->ended = result == Z_STREAM_END;
		unpack->broken = result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
	}
	return filled;
}

bool unpack_is_whole(struct unpack *unpack)
{
	char beyond;

	return unpack_read(unpack, &beyond, 1) == 0 && unpack->ended && !unpack->broken;
}
