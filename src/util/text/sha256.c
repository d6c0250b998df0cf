/* SHA-256: see sha256.h. */
#include "util/text/sha256.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK = 64, WORDS = 8, ROUNDS = 64 };

static const uint32_t constants[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate_right(uint32_t word, unsigned int by)
{
	return word >> by | word << (32 - by);
}

static void schedule(const uint8_t block[BLOCK], uint32_t words[ROUNDS])
{
	for (size_t i = 0; i < 16; i++)
		words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
			   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (size_t i = 16; i < ROUNDS; i++) {
		uint32_t a = words[i - 15];
		uint32_t b = words[i - 2];

		words[i] = words[i - 16] + (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) +
			   words[i - 7] + (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
	}
}

/* The eight values are variables: in an array that moves by one each round, every round would wait
 * for its memory. */
static void hash_block(uint32_t state[WORDS], const uint8_t block[BLOCK])
{
	uint32_t words[ROUNDS];
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

	schedule(block, words);
	for (size_t i = 0; i < ROUNDS; i++) {
		uint32_t one = h +
			       (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
			       ((e & f) ^ (~e & g)) + constants[i] + words[i];
		uint32_t two = (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) +
			       ((a & b) ^ (a & c) ^ (b & c));

		h = g, g = f, f = e, e = d + one;
		d = c, c = b, b = a, a = one + two;
	}
	state[0] += a, state[1] += b, state[2] += c, state[3] += d;
	state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void sha256_init(struct sha256 *sha256)
{
	*sha256 = (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha256 *sha256, const void *data, size_t size)
{
	const uint8_t *at = data;
	size_t used = sha256->size % BLOCK;

	sha256->size += size;
	if (used) {
		size_t part = size < BLOCK - used ? size : BLOCK - used;

		memcpy(sha256->block + used, at, part);
		at += part;
		size -= part;
		if (used + part < BLOCK)
			return;
		hash_block(sha256->state, sha256->block);
	}
	for (; size >= BLOCK; at += BLOCK, size -= BLOCK)
		hash_block(sha256->state, at);
	if (size)
		memcpy(sha256->block, at, size);
}

/* Pads and hashes what is left. */
static void finish(struct sha256 *sha256)
{
	uint8_t tail[2 * BLOCK] = { 0 };
	size_t left = sha256->size % BLOCK;
	size_t end = left < BLOCK - 8 ? BLOCK : 2 * BLOCK;

	memcpy(tail, sha256->block, left);
	tail[left] = 0x80;
	for (size_t i = 0; i < 8; i++)
		tail[end - 1 - i] = (uint8_t)(sha256->size * 8 >> 8 * i);
	for (size_t i = 0; i < end; i += BLOCK)
		hash_block(sha256->state, tail + i);
}

void sha256_end(struct sha256 *sha256, char ret_hex[SHA256_HEX])
{
	finish(sha256);
	for (size_t i = 0; i < SHA256_HEX - 1; i++)
		ret_hex[i] = "0123456789abcdef"[sha256->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
	ret_hex[SHA256_HEX - 1] = '\0';
}

void sha256_hex(const void *data, size_t size, char ret_hex[SHA256_HEX])
{
	struct sha256 sha256;

	sha256_init(&sha256);
	if (size)
		sha256_add(&sha256, data, size);
	sha256_end(&sha256, ret_hex);
}

static void begin_keyed(struct sha256 *sha256, const char *secret, uint8_t mask)
{
	uint8_t block[BLOCK];

	memset(block, mask, BLOCK);
	for (size_t i = 0; i < BLOCK && secret[i]; i++)
		block[i] ^= (uint8_t)secret[i];
	sha256_init(sha256);
	sha256_add(sha256, block, BLOCK);
	explicit_bzero(block, BLOCK);
}

void sha256_hmac_hex(const char *secret, const char *text, char ret_hex[SHA256_HEX])
{
	enum { INNER = 0x36, OUTER = 0x5c };
	struct sha256 sha256;
	uint8_t inner[32];

	begin_keyed(&sha256, secret, INNER);
	sha256_add(&sha256, text, strlen(text));
	finish(&sha256);
	for (size_t i = 0; i < sizeof inner; i++)
		inner[i] = (uint8_t)(sha256.state[i / 4] >> (24 - 8 * (i % 4)));
	begin_keyed(&sha256, secret, OUTER);
	sha256_add(&sha256, inner, sizeof inner);
	sha256_end(&sha256, ret_hex);
}
