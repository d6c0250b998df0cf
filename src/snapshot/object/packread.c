/* Reads untrusted packs. */
#include "snapshot/object/packread.h"

#include "snapshot/object/unpack.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HEADER = 12,  /* of a pack */
	TRAILER = 20, /* the checksum */
	FANOUT = 256 * 4,
	MAGIC = 8, /* of an index */
	PER_OBJECT = FSCK_ID + 4 + 4,
	OFFSET_DELTA = 6,
	NAMED_DELTA = 7,
	HEAD_BYTES = 32, /* of an object: type, size, and the reference to its base */
	DEEPEST = 4096,
};

static int open_file(int folder, const char *name, uint64_t *ret_size)
{
	AUTO_FD fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return -1;
	*ret_size = (uint64_t)status.st_size;
	return fd_steal(&fd);
}

static uint32_t number_at(const unsigned char *at)
{
	uint32_t number;

	memcpy(&number, at, sizeof number);
	return ntohl(number);
}

/* Version 2: magic, fan-out table, ids, CRCs, offsets, then offsets beyond 2 GiB. */
bool packread_check(struct packread *pack)
{
	static const unsigned char magic[MAGIC] = { 0xff, 't', 'O', 'c', 0, 0, 0, 2 };

	if (pack->size <= HEADER + TRAILER || pack->index_size < MAGIC + FANOUT + 2 * TRAILER ||
	    memcmp(pack->index, magic, sizeof magic) != 0)
		return false;
	pack->count = number_at(pack->index + MAGIC + FANOUT - 4);
	return pack->index_size - MAGIC - FANOUT - 2 * TRAILER >=
	       (uint64_t)pack->count * PER_OBJECT;
}

bool packread_open(int folder, const char *index, struct packread *ret_pack)
{
	size_t stem = strlen(index) - strlen(".idx");
	AUTO_FREE char *name = mem_format("%.*s.pack", (int)stem, index);
	struct packread pack = { .fd = open_file(folder, name, &pack.size) };
	uint64_t size = 0;
	AUTO_FD fd = open_file(folder, index, &size);
	void *mapped = MAP_FAILED;

	if (pack.fd >= 0 && fd >= 0 && size > 0 && size < SIZE_MAX)
		mapped = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapped != MAP_FAILED) {
		pack.index = mapped;
		pack.index_size = (size_t)size;
	}
	if (mapped == MAP_FAILED || !packread_check(&pack)) {
		packread_close(&pack);
		return false;
	}
	*ret_pack = pack;
	return true;
}

void packread_close(struct packread *pack)
{
	if (pack->index)
		munmap(pack->index, pack->index_size);
	pack->index = NULL;
	fd_close(&pack->fd);
}

/* Looks up the offset of an object in the index; 0 if it is not there. */
static uint64_t find_offset(const struct packread *pack, const unsigned char *id)
{
	const unsigned char *fanout = pack->index + MAGIC;
	const unsigned char *ids = fanout + FANOUT;
	const unsigned char *places = ids + (size_t)pack->count * (FSCK_ID + 4);
	const unsigned char *far = places + (size_t)pack->count * 4;
	uint32_t low = id[0] ? number_at(fanout + (id[0] - 1) * 4) : 0;
	uint32_t high = number_at(fanout + id[0] * 4);
	uint64_t place = 0;

	high = high < pack->count ? high : pack->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = memcmp(id, ids + (size_t)middle * FSCK_ID, FSCK_ID);

		if (order == 0) {
			place = number_at(places + (size_t)middle * 4);
			break;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	if (place & UINT64_C(1) << 31) {
		uint64_t at = (place & INT32_MAX) * 8;

		if (at + 8 > (uint64_t)(pack->index + pack->index_size - 2 * TRAILER - far))
			return 0;
		place = (uint64_t)number_at(far + at) << 32 | number_at(far + at + 4);
	}
	return place >= HEADER && place < pack->size - TRAILER ? place : 0;
}

/* An object as stored in the pack. */
struct piece {
	unsigned int type;
	uint64_t size; /* unpacked */
	uint64_t data; /* offset of the packed bytes */
	uint64_t base; /* of a delta: offset of its base */
};

/*
 * Decodes type and size: four bits, then groups of seven, lowest first. Returns false if they are
 * invalid.
 */
static bool read_size(const unsigned char *head, size_t have, size_t *used, struct piece *piece)
{
	unsigned int shift = 4;

	piece->type = head[0] >> 4 & 7;
	piece->size = head[0] & 15;
	for (*used = 1; head[*used - 1] & 0x80; shift += 7) {
		if (*used >= have || shift > 57)
			return false;
		piece->size |= (uint64_t)(head[(*used)++] & 0x7f) << shift;
	}
	return true;
}

/* Decodes the distance back to the base: groups of seven bits, highest first. */
static bool read_distance(const unsigned char *head, size_t have, size_t *used, uint64_t place,
			  struct piece *piece)
{
	uint64_t distance = 0;

	for (bool more = true; more; (*used)++) {
		if (*used >= have || distance > INT64_MAX >> 8)
			return false;
		distance = (distance << 7) + (head[*used] & 0x7f);
		more = head[*used] & 0x80;
		distance += more;
	}
	piece->base = place - distance;
	return distance > 0 && distance <= place - HEADER;
}

static bool read_piece(const struct packread *pack, uint64_t place, struct piece *ret_piece)
{
	unsigned char head[HEAD_BYTES];
	ssize_t n = pread(pack->fd, head, sizeof head, (off_t)place);
	size_t used;

	*ret_piece = (struct piece){ 0 };
	if (n <= 0 || !read_size(head, (size_t)n, &used, ret_piece))
		return false;
	if (ret_piece->type == OFFSET_DELTA &&
	    !read_distance(head, (size_t)n, &used, place, ret_piece))
		return false;
	if (ret_piece->type == NAMED_DELTA) {
		ret_piece->base = (size_t)n >= used + FSCK_ID ? find_offset(pack, head + used) : 0;
		used += FSCK_ID;
		if (!ret_piece->base)
			return false;
	}
	ret_piece->data = place + used;
	return ret_piece->type != 0 && ret_piece->type != 5;
}

static char *unpack_piece(const struct packread *pack, const struct piece *piece,
			  struct packread_limits *limits, struct error *err)
{
	struct unpack *unpack;
	char *bytes;
	bool whole;

	if (piece->size > limits->most_bytes) {
		error_set(err, "an object with a base or delta larger than %llu MiB",
			  (unsigned long long)(limits->most_bytes >> 20));
		return NULL;
	}
	if (piece->size > limits->work) {
		error_set(err, "objects with too much data to unpack");
		return NULL;
	}
	limits->work -= piece->size;
	unpack = mem_alloc(sizeof *unpack);
	bytes = mem_alloc((size_t)piece->size + 1);
	bytes[piece->size] = '\0';
	unpack_begin(unpack, pack->fd, (off_t)piece->data);
	whole = unpack_read(unpack, bytes, (size_t)piece->size) == piece->size &&
		unpack_is_whole(unpack);
	unpack_end(unpack);
	free(unpack);
	if (whole)
		return bytes;
	error_set(err, "a damaged object");
	free(bytes);
	return NULL;
}

/* ---- deltas ---- */

struct delta {
	const unsigned char *at, *end;
};

static bool read_length(struct delta *delta, uint64_t *ret_length)
{
	unsigned int shift = 0;
	bool more = true;

	for (*ret_length = 0; more; shift += 7) {
		if (delta->at == delta->end || shift > 56)
			return false;
		*ret_length |= (uint64_t)(*delta->at & 0x7f) << shift;
		more = *delta->at++ & 0x80;
	}
	return true;
}

/* Reads a number whose zero bytes are omitted; a bit for each byte tells whether it is present. */
static bool read_bits(struct delta *delta, unsigned int bits, unsigned int count,
		      uint64_t *ret_number)
{
	*ret_number = 0;
	for (unsigned int i = 0; i < count; i++) {
		if (!(bits & 1U << i))
			continue;
		if (delta->at == delta->end)
			return false;
		*ret_number |= (uint64_t)*delta->at++ << 8 * i;
	}
	return true;
}

/* Performs one instruction: copies from the base, or inserts new bytes. */
static bool run_instruction(struct delta *delta, const struct packread_object *base,
			    struct packread_object *made, uint64_t *filled)
{
	unsigned int order = *delta->at++;
	uint64_t from = 0;
	uint64_t size = order;
	const void *source = delta->at;

	if (order & 0x80) {
		if (!read_bits(delta, order & 15, 4, &from) ||
		    !read_bits(delta, order >> 4 & 7, 3, &size))
			return false;
		size = size ? size : 0x10000;
		if (from > base->size || size > base->size - from)
			return false;
		source = base->bytes + from;
	} else {
		if (!order || size > (uint64_t)(delta->end - delta->at))
			return false;
		delta->at += size;
	}
	if (size > made->size - *filled)
		return false;
	memcpy(made->bytes + *filled, source, (size_t)size);
	*filled += size;
	return true;
}

/* Applies a delta to *object, which is replaced. */
static int apply_delta(const char *bytes, uint64_t size, struct packread_limits *limits,
		       struct packread_object *object, struct error *err)
{
	struct delta delta = { (const unsigned char *)bytes, (const unsigned char *)bytes + size };
	struct packread_object made = { .type = object->type };
	uint64_t base;
	uint64_t length;
	uint64_t filled = 0;
	bool sound = read_length(&delta, &base) && read_length(&delta, &length) &&
		     base == object->size;

	if (sound && (length > limits->most_bytes || length > limits->work))
		return error_set(err, "an object larger than %llu MiB",
				 (unsigned long long)(limits->most_bytes >> 20));
	if (sound) {
		limits->work -= length;
		made.size = (size_t)length;
		made.bytes = mem_alloc(made.size + 1);
		made.bytes[made.size] = '\0';
	}
	while (sound && delta.at < delta.end)
		sound = run_instruction(&delta, object, &made, &filled);
	if (!sound || filled != made.size) {
		free(made.bytes);
		return error_set(err, "a damaged object");
	}
	free(object->bytes);
	*object = made;
	return 0;
}

/* Starts at the base, the last element of the chain. */
static int build(const struct packread *pack, const struct piece *chain, size_t count,
		 struct packread_limits *limits, struct packread_object *ret_object,
		 struct error *err)
{
	const struct piece *base = &chain[count - 1];
	struct packread_object object = { .type = (enum fsck_type)base->type,
					  .size = (size_t)base->size,
					  .bytes = unpack_piece(pack, base, limits, err) };

	if (!object.bytes)
		return -1;
	for (size_t i = count - 1; i-- > 0;) {
		AUTO_FREE char *delta = unpack_piece(pack, &chain[i], limits, err);

		if (!delta || apply_delta(delta, chain[i].size, limits, &object, err) < 0) {
			free(object.bytes);
			return -1;
		}
	}
	*ret_object = object;
	return 1;
}

bool packread_has(const struct packread *pack, const unsigned char id[FSCK_ID])
{
	return find_offset(pack, id) != 0;
}

int packread_find(const struct packread *pack, const unsigned char id[FSCK_ID],
		  struct packread_limits *limits, struct packread_object *ret_object,
		  struct error *err)
{
	AUTO_FREE struct piece *chain = NULL;
	uint64_t place = find_offset(pack, id);
	size_t count = 0;

	if (!place)
		return 0;
	for (;;) {
		if (count == DEEPEST)
			return error_set(err, "an object with a chain of more than %d deltas",
					 DEEPEST);
		chain = mem_extend(chain, count, sizeof *chain);
		if (!read_piece(pack, place, &chain[count]))
			return error_set(err, "a damaged object");
		if (chain[count].type < OFFSET_DELTA)
			return build(pack, chain, count + 1, limits, ret_object, err);
		place = chain[count++].base;
	}
}
