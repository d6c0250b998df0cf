/* SHA-1 (FIPS 180-4). */
#include "snapshot/store/sha1.h"

#include <string.h>

static uint32_t rotate_left(uint32_t value, int bits)
{
	return value << bits | value >> (32 - bits);
}

static void hash_block(struct sha1 *sha1, const unsigned char *block)
{
	uint32_t w[80];
	uint32_t a = sha1->state[0], b = sha1->state[1], c = sha1->state[2], d = sha1->state[3],
		 e = sha1->state[4];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 80; i++)
		w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t f, k;

		if (i < 20) {
			f = d ^ (b & (c ^ d));
			k = 0x5a827999;
		} else if (i < 40) {
			f = b ^ c ^ d;
			k = 0x6ed9eba1;
		} else if (i < 60) {
			f = (b & c) | (d & (b | c));
			k = 0x8f1bbcdc;
		} else {
			f = b ^ c ^ d;
			k = 0xca62c1d6;
		}

		uint32_t next = rotate_left(a, 5) + f + e + k + w[i];

		e = d;
		d = c;
		c = rotate_left(b, 30);
		b = a;
		a = next;
	}
	sha1->state[0] += a;
	sha1->state[1] += b;
	sha1->state[2] += c;
	sha1->state[3] += d;
	sha1->state[4] += e;
}

void sha1_init(struct sha1 *sha1)
{
	*sha1 = (struct sha1){ .state = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
					  0xc3d2e1f0 } };
}

void sha1_add(struct sha1 *sha1, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	while (size > 0) {
		size_t used = sha1->size % 64;
		size_t part = size < 64 - used ? size : 64 - used;

		sha1->size += part;
		if (part == 64) {
			hash_block(sha1, at);
		} else {
			memcpy(sha1->block + used, at, part);
			if (used + part == 64)
				hash_block(sha1, sha1->block);
		}
		at += part;
		size -= part;
	}
}

void sha1_end(struct sha1 *sha1, unsigned char ret_sum[SHA1_SIZE])
{
	static const unsigned char padding[64] = { 0x80 };
	uint64_t bits = sha1->size * 8;
	unsigned char length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha1_add(sha1, padding, 1 + (119 - sha1->size % 64) % 64);
	sha1_add(sha1, length, sizeof length);
	for (int i = 0; i < SHA1_SIZE; i++)
		ret_sum[i] = (unsigned char)(sha1->state[i / 4] >> (24 - 8 * (i % 4)));
}
