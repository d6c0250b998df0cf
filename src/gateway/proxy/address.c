/* Addresses: see address.h. */
#include "gateway/proxy/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

int address_parse(const char *text, struct address *ret_address)
{
	struct address address = { 0 };
	char again[ADDRESS_TEXT];

	/* inet_pton() rejects octal, hexadecimal and short IPv4. It accepts several spellings of
	 * IPv6, so compare with the one that inet_ntop() chooses. */
	if (inet_pton(AF_INET, text, address.bytes) == 1)
		address.family = 4;
	else if (inet_pton(AF_INET6, text, address.bytes) == 1)
		address.family = 6;
	else
		return -1;
	address_text(&address, again);
	if (strcmp(again, text) != 0)
		return -1;
	*ret_address = address;
	return 0;
}

static bool is_number(const char *text, size_t size)
{
	size_t digits;

	if (size >= 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
		digits = strspn(text + 2, "0123456789abcdefABCDEF");
		return digits >= size - 2; /* "0x" alone also counts */
	}
	return size > 0 && strspn(text, "0123456789") >= size;
}

bool address_like(const char *text)
{
	size_t size = strlen(text);

	/* Like URL parsers: the last label is a number. */
	if (size > 0 && text[size - 1] == '.')
		size--;

	size_t start = size;

	while (start > 0 && text[start - 1] != '.')
		start--;
	return is_number(text + start, size - start) || strchr(text, ':');
}

void address_text(const struct address *address, char ret_text[ADDRESS_TEXT])
{
	ret_text[0] = '\0';
	if (address->family)
		inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->bytes, ret_text,
			  ADDRESS_TEXT);
}

bool address_equal(const struct address *a, const struct address *b)
{
	return a->family == b->family && a->family &&
	       memcmp(a->bytes, b->bytes, a->family == 4 ? 4 : 16) == 0;
}

struct range {
	uint8_t bytes[16];
	uint8_t bits;
	const char *what;
};

/* IANA's registry of special-purpose IPv4 addresses, plus multicast and reserved ranges. */
static const struct range special4[] = {
	{ { 0 }, 8, "this network (0.0.0.0/8)" },
	{ { 10 }, 8, "a private network" },
	{ { 100, 64 }, 10, "a provider's shared network" },
	{ { 127 }, 8, "loopback" },
	{ { 169, 254 }, 16, "link-local (where clouds keep their metadata)" },
	{ { 172, 16 }, 12, "a private network" },
	{ { 192, 0, 0 }, 24, "reserved for protocols" },
	{ { 192, 0, 2 }, 24, "reserved for documentation" },
	{ { 192, 31, 196 }, 24, "a special network (AS112)" },
	{ { 192, 52, 193 }, 24, "a special network (AMT)" },
	{ { 192, 88, 99 }, 24, "a 6to4 relay" },
	{ { 192, 168 }, 16, "a private network" },
	{ { 192, 175, 48 }, 24, "a special network (AS112)" },
	{ { 198, 18 }, 15, "reserved for benchmarks" },
	{ { 198, 51, 100 }, 24, "reserved for documentation" },
	{ { 203, 0, 113 }, 24, "reserved for documentation" },
	{ { 224 }, 4, "multicast" },
	{ { 240 }, 4, "reserved" },
};

/* Within 2000::/3, which contains all public IPv6 addresses. */
static const struct range special6[] = {
	{ { 0x20, 0x01, 0x00, 0x00 }, 23, "reserved for protocols" },
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32, "reserved for documentation" },
	{ { 0x26, 0x20, 0x00, 0x4f, 0x80 }, 48, "a special network (AS112)" },
	{ { 0x3f, 0xfe }, 16, "a returned network (6bone)" },
	{ { 0x3f, 0xff, 0x00 }, 20, "reserved for documentation" },
};

static bool within(const uint8_t *bytes, const struct range *range)
{
	size_t whole = range->bits / 8;
	unsigned int rest = range->bits % 8;

	if (memcmp(bytes, range->bytes, whole) != 0)
		return false;
	return rest == 0 || ((bytes[whole] ^ range->bytes[whole]) >> (8 - rest)) == 0;
}

static const char *look(const uint8_t *bytes, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (within(bytes, &ranges[i]))
			return ranges[i].what;
	return NULL;
}

static const char *special_in_4(const uint8_t *bytes)
{
	return look(bytes, special4, sizeof special4 / sizeof *special4);
}

static const struct range mapped = { { [10] = 0xff, [11] = 0xff }, 96, NULL };
static const struct range nat64 = { { 0x00, 0x64, 0xff, 0x9b }, 96, NULL };
static const struct range nat64_local = { { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48, NULL };
static const struct range six_to_four = { { 0x20, 0x02 }, 16, NULL };
static const struct range teredo = { { 0x20, 0x01, 0x00, 0x00 }, 32, NULL };
static const struct range isatap = { { 0x00, 0x00, 0x5e, 0xfe }, 32, NULL };

static const char *special_in_6(const uint8_t *bytes)
{
	static const uint8_t zero[16];

	if (memcmp(bytes, zero, 15) == 0)
		return bytes[15] == 1 ? "loopback" : "not an address";
	/* Refused even if the embedded address is public: no normal name leads here, and the
	 * plain form works. */
	if (within(bytes, &mapped))
		return special_in_4(bytes + 12) ? special_in_4(bytes + 12)
						: "an IPv4-mapped IPv6 address";
	if (within(bytes, &nat64)) /* how an IPv6-only machine reaches the public IPv4 internet */
		return special_in_4(bytes + 12);
	if (within(bytes, &nat64_local))
		return "a local NAT64 translation";
	if (within(bytes, &six_to_four))
		return special_in_4(bytes + 2) ? special_in_4(bytes + 2) : "6to4";
	if (within(bytes, &teredo))
		return "Teredo";
	if ((bytes[0] & 0xe0) != 0x20) {
		if (bytes[0] == 0xff)
			return "multicast";
		if ((bytes[0] & 0xfe) == 0xfc)
			return "a private network";
		return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80 ? "link-local" : "reserved";
	}
	/* ISATAP embeds an IPv4 address in the lower half; one bit of its first byte is
	 * arbitrary. */
	uint8_t low[8];

	memcpy(low, bytes + 8, sizeof low);
	low[0] &= (uint8_t)~2;
	if (within(low, &isatap) && special_in_4(low + 4))
		return special_in_4(low + 4);
	return look(bytes, special6, sizeof special6 / sizeof *special6);
}

const char *address_special(const struct address *address)
{
	if (address->family == 4)
		return special_in_4(address->bytes);
	return address->family == 6 ? special_in_6(address->bytes) : "not an address";
}

int address_from(const struct sockaddr *from, struct address *ret_address)
{
	struct address address = { 0 };

	if (from->sa_family == AF_INET) {
		address.family = 4;
		memcpy(address.bytes, &((const struct sockaddr_in *)(const void *)from)->sin_addr,
		       4);
	} else if (from->sa_family == AF_INET6) {
		address.family = 6;
		memcpy(address.bytes, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr,
		       16);
	} else {
		return -1;
	}
	*ret_address = address;
	return 0;
}

socklen_t address_to(const struct address *address, uint16_t port, struct sockaddr_storage *ret_to)
{
	*ret_to = (struct sockaddr_storage){ 0 };
	if (address->family == 4) {
		struct sockaddr_in *to = (struct sockaddr_in *)ret_to;

		to->sin_family = AF_INET;
		to->sin_port = htons(port);
		memcpy(&to->sin_addr, address->bytes, 4);
		return sizeof *to;
	}

	struct sockaddr_in6 *to = (struct sockaddr_in6 *)ret_to;

	to->sin6_family = AF_INET6;
	to->sin6_port = htons(port);
	memcpy(&to->sin6_addr, address->bytes, 16);
	return sizeof *to;
}
