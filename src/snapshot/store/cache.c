/* The stat cache. */
#include "snapshot/store/cache.h"

#include "snapshot/base/fault.h"
#include "snapshot/store/boot.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define NAME      "cache"
#define TEMPORARY "cache.temporary"

static const char magic[8] = "RFCACHE2";

struct header {
	char magic[8];
	char boot[BOOT_ID]; /* the boot in which the project was read */
	char rules[SHA256_HEX + 3];
	uint32_t crc; /* of everything that follows */
};

/* One node; its name follows, then the entries of a folder. */
struct record {
	uint64_t size, device, inode, links;
	int64_t modified_ns, changed_ns;
	uint32_t count; /* number of entries */
	uint16_t mode;
	uint16_t name; /* length of the name */
	uint8_t kind, chunked, unsure, unused;
	unsigned char id[NODE_ID];
};

static void set_boot(struct header *header)
{
	AUTO_BUFFER struct buffer id = BUFFER_INIT(BOOT_ID);

	boot_read_id(&id);
	if (id.used)
		memcpy(header->boot, id.data, id.used);
}

static void write_node(struct buffer *out, const struct node *node)
{
	struct record record = {
		.size = node->size,
		.device = node->device,
		.inode = node->inode,
		.links = node->links,
		.modified_ns = node->modified_ns,
		.changed_ns = node->changed_ns,
		.count = (uint32_t)node->count,
		.mode = (uint16_t)node->mode,
		.name = (uint16_t)(node->name ? strlen(node->name) : 0),
		.kind = (uint8_t)node->kind,
		.chunked = node->chunked,
		.unsure = node->unsure,
	};

	memcpy(record.id, node->id, NODE_ID);
	buffer_add(out, &record, sizeof record);
	buffer_add(out, node->name ? node->name : "", record.name + 1U);
	for (size_t i = 0; i < node->count; i++)
		write_node(out, &node->inner[i]);
}

int cache_write(int folder, const char rules[SHA256_HEX], const struct node *root,
		struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT((size_t)1 << 31);
	AUTO_FD fd = -1;
	struct header header = { 0 };

	buffer_add(&bytes, &header, sizeof header);
	write_node(&bytes, root);
	memcpy(header.magic, magic, sizeof magic);
	set_boot(&header);
	memcpy(header.rules, rules, SHA256_HEX);
	header.crc = (uint32_t)crc32_z(0, (unsigned char *)bytes.data + sizeof header,
				       bytes.used - sizeof header);
	memcpy(bytes.data, &header, sizeof header);
	fault_point();
	fd = openat(folder, TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || buffer_overflowed(&bytes) || fd_write_all(fd, bytes.data, bytes.used) < 0 ||
	    renameat(folder, TEMPORARY, folder, NAME) < 0)
		return error_sys(err, "write the stat cache");
	fault_point();
	return 0;
}

void cache_remove(int folder)
{
	unlinkat(folder, NAME, 0);
}

struct reading {
	const char *at, *end;
};

static bool read_node(struct reading *from, struct node *node, int depth)
{
	struct record record;

	if ((size_t)(from->end - from->at) < sizeof record || depth > NODE_DEEPEST + 1)
		return false;
	memcpy(&record, from->at, sizeof record);
	from->at += sizeof record;
	if ((size_t)(from->end - from->at) < record.name + 1U || from->at[record.name] != '\0' ||
	    record.kind >= NODE_KINDS)
		return false;
	*node = (struct node){
		.name = from->at,
		.kind = (enum node_kind)record.kind,
		.mode = record.mode,
		.chunked = record.chunked,
		.unsure = record.unsure,
		.size = record.size,
		.device = record.device,
		.inode = record.inode,
		.links = record.links,
		.modified_ns = record.modified_ns,
		.changed_ns = record.changed_ns,
	};
	memcpy(node->id, record.id, NODE_ID);
	from->at += record.name + 1;
	if (record.count > (size_t)(from->end - from->at) / sizeof record)
		return false;
	node->inner = record.count ? mem_zero(record.count * sizeof *node->inner) : NULL;
	for (; node->count < record.count; node->count++)
		if (!read_node(from, &node->inner[node->count], depth + 1))
			return false;
	return true;
}

bool cache_read(int folder, struct cache *ret_cache)
{
	AUTO_FD fd = openat(folder, NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct cache cache = { 0 };
	struct header header, now = { 0 };
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || status.st_size < (off_t)sizeof header)
		return false;
	cache.size = (size_t)status.st_size;
	cache.bytes = mmap(NULL, cache.size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (cache.bytes == MAP_FAILED)
		return false;
	memcpy(&header, cache.bytes, sizeof header);
	set_boot(&now);

	struct reading from = { cache.bytes + sizeof header, cache.bytes + cache.size };

	if (memcmp(header.magic, magic, sizeof magic) == 0 &&
	    memcmp(header.boot, now.boot, sizeof now.boot) == 0 &&
	    memchr(header.rules, '\0', SHA256_HEX) &&
	    header.crc ==
		    crc32_z(0, (const unsigned char *)from.at, (size_t)(from.end - from.at)) &&
	    read_node(&from, &cache.root, 0) && from.at == from.end &&
	    cache.root.kind == NODE_FOLDER) {
		memcpy(cache.rules, header.rules, SHA256_HEX);
		*ret_cache = cache;
		return true;
	}
	cache_release(&cache);
	return false;
}

void cache_release(struct cache *cache)
{
	node_release(&cache->root);
	if (cache->bytes)
		munmap(cache->bytes, cache->size);
	*cache = (struct cache){ 0 };
}
