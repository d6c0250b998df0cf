/* The gateway's pure parts: rules, addresses, HTTP heads, TLS hellos, SOCKS, configuration, host
 * table. */
#include "unit.h"

#include "gateway/host_table.h"
#include "gateway/owner/gateway.h"
#include "gateway/owner/restarts.h"
#include "gateway/owner_protocol.h"
#include "gateway/proxy/http.h"
#include "gateway/proxy/socks.h"
#include "gateway/proxy/tls_hello.h"
#include "util/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- rules */

static bool is_rule(const char *text)
{
	struct rule rule;
	struct error err;

	return rule_parse(text, &rule, &err) == 0;
}

static const char *shown(const char *text)
{
	static char out[GATEWAY_TEXT];
	struct rule rule;
	struct error err;

	if (rule_parse(text, &rule, &err) < 0)
		return "";
	rule_text(&rule, out);
	return out;
}

static bool allows(const char *text, const char *host, uint16_t port)
{
	struct list rules = { 0 };
	struct error err;
	size_t index = 99;
	int result;

	list_add(&rules, text);
	result = rule_list_allows(&rules, host, port, &index, &err);
	list_release(&rules);
	return result == 1 && index == 0;
}

static void check_rules(void)
{
	static const char *const right[] = {
		"example.com", "example.com:22", "*.example.com",         "*.example.com:8443",
		"192.0.2.1",   "192.0.2.1:80",   "[2001:db8::1]",         "[2001:db8::1]:443",
		"localhost",   "a_b.example",    "xn--bcher-kva.example", "EXAMPLE.com."
	};
	static const char *const wrong[] = { "",
					     "*",
					     "*.com",
					     "*.com:443",
					     "a.*.com",
					     "*a.com",
					     "**.a.com",
					     "a.com:0",
					     "a.com:65536",
					     "a.com:",
					     "a.com:080",
					     "a.com:x",
					     "https://a.com",
					     "a.com/",
					     "u@a.com",
					     "a..com",
					     ".a.com",
					     "a.com..",
					     "-a.com",
					     "a-.com",
					     "a b.com",
					     "2130706433",
					     "0x7f.1",
					     "127.1",
					     "0177.0.0.1",
					     "1.2.3.4.5",
					     "::1",
					     "[::1",
					     "[1.2.3.4]",
					     "[::ffff:1.2.3.4]",
					     "[0:0:0:0:0:0:0:1]",
					     "[::1]x",
					     "*.1.2.3.4",
					     "b\xc3\xbc.de",
					     "a.com:443:443",
					     "[::1]:" };
	bool all = true;
	struct rule rule;
	struct error err;

	for (size_t i = 0; i < sizeof right / sizeof *right; i++)
		all = all && is_rule(right[i]);
	CHECK("valid rules are accepted", all);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (is_rule(wrong[i])) {
			printf("# accepted: %s\n", wrong[i]);
			all = false;
		}
	CHECK("invalid rules are refused", all);
	CHECK("a rule is formatted in its normal form",
	      strcmp(shown("*.Example.COM.:8443"), "*.example.com:8443") == 0 &&
		      strcmp(shown("[2001:db8::1]:80"), "[2001:db8::1]:80") == 0);
	CHECK("names that are not ASCII are refused with the right spelling",
	      rule_parse("b\xc3\xbc.de", &rule, &err) < 0 && strstr(err.text, "xn--"));
	CHECK("a star alone is refused with an alternative",
	      rule_parse("*", &rule, &err) < 0 && strstr(err.text, "--net open"));
}

static void check_matches(void)
{
	struct list none = { 0 };
	struct error err;
	size_t index;

	CHECK("a host is allowed on 443 and 80 alone", allows("a.com", "a.com", 443) &&
							       allows("a.com", "a.com", 80) &&
							       !allows("a.com", "a.com", 22));
	CHECK("a host with a port is allowed on that port alone",
	      allows("a.com:22", "a.com", 22) && !allows("a.com:22", "a.com", 443));
	CHECK("case and the last dot make no difference",
	      allows("A.com.", "a.COM", 443) && allows("a.com", "a.com.", 443));
	CHECK("a star is for names below, at any depth, and not for the name itself",
	      allows("*.a.com", "x.a.com", 443) && allows("*.a.com", "x.y.a.com", 443) &&
		      !allows("*.a.com", "a.com", 443) && !allows("*.a.com", "xa.com", 443));
	CHECK("a longer name is another one",
	      !allows("a.com", "a.com.evil.com", 443) && !allows("a.com", "xa.com", 443));
	CHECK("an address is allowed in its own spelling alone",
	      allows("127.0.0.1", "127.0.0.1", 80) && !allows("127.0.0.1", "127.1", 80) &&
		      !allows("127.0.0.1", "2130706433", 80) &&
		      !allows("127.0.0.1", "::ffff:127.0.0.1", 80));
	CHECK("an empty list allows nothing, and names the rule that would",
	      rule_list_allows(&none, "a.com", 22, &index, &err) == 0 &&
		      strstr(err.text, "--allow a.com:22 would"));
	CHECK("an invalid host is an error", rule_list_allows(&none, "a b", 443, &index, &err) < 0);
}

/* --- addresses */

static bool special(const char *text)
{
	struct address address;

	return address_parse(text, &address) < 0 || address_special(&address);
}

static void check_addresses(void)
{
	static const char *const inner[] = {
		"0.0.0.0",
		"0.1.2.3",
		"10.0.0.1",
		"100.64.0.1",
		"100.127.255.255",
		"127.0.0.1",
		"127.255.255.255",
		"169.254.169.254",
		"172.16.0.1",
		"172.31.255.255",
		"192.0.0.8",
		"192.0.2.1",
		"192.31.196.1",
		"192.52.193.1",
		"192.88.99.1",
		"192.168.0.1",
		"192.175.48.1",
		"198.18.0.1",
		"198.19.255.255",
		"198.51.100.1",
		"203.0.113.1",
		"224.0.0.1",
		"239.255.255.255",
		"240.0.0.1",
		"255.255.255.255",
		"::",
		"::1",
		"::ffff:8.8.8.8",
		"::ffff:10.0.0.1",
		"64:ff9b::a00:1",
		"64:ff9b::7f00:1",
		"64:ff9b:1::1",
		"100::1",
		"2001::1",
		"2001:2::1",
		"2001:db8::1",
		"2002:7f00:1::",
		"2002:808:808::",
		"2620:4f:8000::1",
		"3ffe::1",
		"3fff::1",
		"4000::1",
		"5f00::1",
		"fc00::1",
		"fd12:3456::1",
		"fe80::1",
		"fec0::1",
		"ff02::1",
		"2001:470::5efe:a00:1",
		"2001:470::200:5efe:7f00:1",
	};
	static const char *const public[] = {
		"1.1.1.1",        "8.8.8.8",         "45.0.0.2",         "100.63.255.255",
		"100.128.0.1",    "126.255.255.255", "128.0.0.1",        "172.15.255.255",
		"172.32.0.1",     "192.0.1.1",       "192.167.1.1",      "192.169.1.1",
		"198.17.255.255", "198.20.0.1",      "223.255.255.255",  "2606:4700::1",
		"2a00:1450::1",   "2001:4860::8888", "64:ff9b::808:808", "2003::1",
		"192.31.195.255", "192.52.194.1",    "192.175.49.1",     "2620:4f:8001::1",
	};
	bool all = true;

	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
		if (!special(inner[i])) {
			printf("# public: %s\n", inner[i]);
			all = false;
		}
	CHECK("addresses outside the public internet are special", all);
	for (size_t i = 0; i < sizeof public / sizeof *public; i++)
		if (special(public[i])) {
			printf("# special: %s\n", public[i]);
			all = false;
		}
	CHECK("public addresses are public, also next to a special range", all);
	CHECK("any spelling that URL parsers read as an address is recognised",
	      address_like("2130706433") && address_like("0x7f.1") && address_like("a.0x") &&
		      address_like("1.2.3.4.") && address_like("::1") && !address_like("a1.com") &&
		      !address_like("1.2.3.4a"));
}

/* --- HTTP */

static const char *read_request(const char *text, struct http_request *ret_request)
{
	return http_request_read(text, strlen(text), HTTP_PROXY, ret_request);
}

static void check_http(void)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4096);
	struct rule_target target = { .host = "a.com", .port = 8080 };
	struct http_request request;
	struct http_response response;
	struct http_chunks chunks = { 0 };
	bool held = true;
	static const char text[] =
		"POST http://A.com:8080?q HTTP/1.1\r\nHost: a.com\r\nConnection: x-y\r\n"
		"X-Y: gone\r\nX-Z: here\r\nProxy-Authorization: Basic eA==\r\n"
		"Content-Length: 007\r\n\r\n";

	CHECK("a head is complete once its empty line is there",
	      http_head_size(text, sizeof text - 1, 0) == (ssize_t)sizeof text - 1 &&
		      http_head_size(text, sizeof text - 2, 0) == 0 &&
		      http_head_size("a\nb", 3, 0) == -1);
	CHECK("a request is read",
	      !read_request(text, &request) && strcmp(request.host, "A.com") == 0 &&
		      request.port == 8080 && request.message.length == 7 && request.has_host);
	http_request_write(&request, &target, &out);
	CHECK("and rewritten without headers for this connection only",
	      strcmp(buffer_text(&out), "POST /?q HTTP/1.1\r\nHost: a.com:8080\r\nX-Z: here\r\n"
					"Content-Length: 7\r\n\r\n") == 0);
	CHECK("CONNECT needs a port",
	      read_request("CONNECT a.com HTTP/1.1\r\n\r\n", &request) &&
		      !read_request("CONNECT [::1]:443 HTTP/1.1\r\n\r\n", &request) &&
		      strcmp(request.host, "::1") == 0);
	CHECK("a response to HEAD has a length and no body",
	      !http_response_read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 38, true,
				  &response) &&
		      response.empty && response.message.body == HTTP_LENGTH);
	CHECK("a response without a length ends with its connection",
	      !http_response_read("HTTP/1.1 200\r\n\r\n", 16, false, &response) &&
		      response.message.body == HTTP_UNTIL_CLOSE && !response.message.keep);
	for (unsigned int c = 0; c < 256; c++) {
		char reply[] = "HTTP/1.1 200 O?K\r\nContent-Length: 0\r\n\r\n";
		bool control = (c < ' ' && c != '\t') || c == 0x7f;

		reply[14] = (char)c;
		held = held &&
		       !http_response_read(reply, sizeof reply - 1, false, &response) == !control;
	}
	CHECK("a control character in a reason phrase is refused, and nothing else", held);
	CHECK("the end of chunks is found, and not a byte later",
	      http_chunks_scan(&chunks, "3\r\nabc\r\n0\r\n\r\nNEXT", 17) == 13 && chunks.done);
}

/* --- TLS and SOCKS */

static size_t write_hello(const char *name, uint8_t *bytes)
{
	size_t size = strlen(name);
	uint8_t hello[] = { 22, 3, 1, 0, 0, 1, 0, 0, 0, 3, 3 };
	uint8_t *at = bytes + sizeof hello;

	memcpy(bytes, hello, sizeof hello);
	memset(at, 7, 32);
	at += 32;
	memcpy(at, "\0\0\2\x13\1\1\0", 7);
	at += 7;

	const uint8_t head[] = {
		0, (uint8_t)(size + 9), 0, 0, 0, (uint8_t)(size + 5), 0, (uint8_t)(size + 3), 0,
		0, (uint8_t)size
	};

	memcpy(at, head, sizeof head);
	memcpy(at + sizeof head, name, size);
	at += sizeof head + size;
	bytes[4] = (uint8_t)(at - bytes - 5);
	bytes[8] = (uint8_t)(at - bytes - 9);
	return (size_t)(at - bytes);
}

static void check_hello(void)
{
	uint8_t bytes[512];
	uint8_t again[1024];
	size_t size = write_hello("a.com", bytes);
	size_t used = 0;
	char name[GATEWAY_HOST] = "";
	bool more = true;

	CHECK("the name of a hello is read",
	      tls_hello_read(bytes, size, name) == TLS_HELLO_NAMED && strcmp(name, "a.com") == 0);
	for (size_t i = 0; i < size; i++)
		more = more && tls_hello_read(bytes, i, name) == TLS_HELLO_MORE;
	CHECK("before its last byte it is incomplete", more);
	for (size_t i = 5; i < size; i++) {
		const uint8_t record[] = { 22, 3, 1, 0, 1, bytes[i] };

		memcpy(again + used, record, sizeof record);
		used += sizeof record;
	}
	name[0] = '\0';
	CHECK("in records of one byte it is the same",
	      tls_hello_read(again, used, name) == TLS_HELLO_NAMED && strcmp(name, "a.com") == 0);
	bytes[4]++;
	CHECK("data after it in its record is refused",
	      tls_hello_read(bytes, size + 1, name) == TLS_HELLO_WRONG);
	bytes[4]--;
	bytes[8]++;
	CHECK("a wrong length is noticed", tls_hello_read(bytes, size, name) != TLS_HELLO_NAMED);
	CHECK("other protocols are not TLS",
	      tls_hello_read((const uint8_t *)"GET", 3, name) == TLS_HELLO_FOREIGN);
}

static void check_socks(void)
{
	static const uint8_t named[] = "\5\1\0\3\5a.com\1\xbb";
	static const uint8_t nul[] = "\5\1\0\3\5a\0com\1\xbb";
	static const uint8_t four[] = "\5\1\0\1\x7f\0\0\1\0\x50";
	struct socks_request request;

	CHECK("a name is read", socks_read_request(named, sizeof named - 1, &request) == 12 &&
					strcmp(request.host, "a.com") == 0 && request.port == 443);
	CHECK("a name with a NUL in it is invalid",
	      socks_read_request(nul, sizeof nul - 1, &request) == 12 && !request.host[0]);
	CHECK("an address is read", socks_read_request(four, sizeof four - 1, &request) == 10 &&
					    strcmp(request.host, "127.0.0.1") == 0);
	CHECK("half a request waits for the rest",
	      socks_read_request(named, sizeof named - 2, &request) == 0);
}

/* --- the owner protocol */

/* The result of reading a message, for each number of its bytes: incomplete until the last one. */
#define GROWS(read, bytes, size, result)                                                      \
	({                                                                                    \
		bool grows = read((const uint8_t *)(bytes), size, result) == (ssize_t)(size); \
		for (size_t part = 0; part < (size); part++) {                                \
			uint8_t *copy = mem_alloc(part ? part : 1);                           \
			memcpy(copy, bytes, part);                                            \
			grows = grows && read(copy, part, result) == 0;                       \
			free(copy);                                                           \
		}                                                                             \
		grows;                                                                        \
	})

static bool is_socks_request(const char *bytes, size_t size, const char *host, uint16_t port)
{
	struct socks_request request = { 0 };

	return GROWS(socks_read_request, bytes, size, &request) && request.known &&
	       request.command == 1 && strcmp(request.host, host) == 0 && request.port == port;
}

static bool is_bad(ssize_t result)
{
	return result == -1;
}

static void check_socks_bytes(void)
{
	struct socks_methods methods = { 0 };
	struct socks_password password;
	struct socks_request request;
	uint8_t reply[SOCKS_REPLY];

	CHECK("the methods of a client are read",
	      GROWS(socks_read_methods, "\5\1\0", 3, &methods) && methods.none &&
		      !methods.password && GROWS(socks_read_methods, "\5\2\2\1", 4, &methods) &&
		      !methods.none && methods.password);
	CHECK("another version and an empty list of methods are invalid",
	      is_bad(socks_read_methods((const uint8_t *)"\4", 1, &methods)) &&
		      is_bad(socks_read_methods((const uint8_t *)"\5\0", 2, &methods)));
	CHECK("a name and a password are read",
	      GROWS(socks_read_password, "\1\2ab\3cde", 8, &password) &&
		      strcmp(password.user, "ab") == 0 && strcmp(password.password, "cde") == 0 &&
		      GROWS(socks_read_password, "\1\0\0", 3, &password) && !password.user[0]);
	CHECK("another version of them is invalid",
	      is_bad(socks_read_password((const uint8_t *)"\5", 1, &password)));
	CHECK("requests for each kind of address are read",
	      is_socks_request("\5\1\0\1\1\2\3\4\1\273", 10, "1.2.3.4", 443) &&
		      is_socks_request("\5\1\0\3\5a.com\0\120", 12, "a.com", 80) &&
		      is_socks_request("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\120", 22, "::1",
				       80));
	CHECK("another version and a reserved byte are invalid",
	      is_bad(socks_read_request((const uint8_t *)"\4", 1, &request)) &&
		      is_bad(socks_read_request((const uint8_t *)"\5\1\1", 3, &request)));
	CHECK("a host with a NUL is empty", is_socks_request("\5\1\0\3\3a\0b\0\120", 10, "", 80));
	CHECK("another kind of address is unknown",
	      socks_read_request((const uint8_t *)"\5\1\0\2x", 5, &request) == 4 &&
		      !request.known && !request.host[0]);
	socks_write_reply(SOCKS_REFUSED, reply);
	CHECK("a reply has the version, the reason, and an empty address",
	      memcmp(reply, "\5\2\0\1\0\0\0\0\0\0", SOCKS_REPLY) == 0);
}

static const char *read_response(const char *text)
{
	struct http_response response;

	return http_response_read(text, strlen(text), false, &response);
}

static void check_responses(void)
{
	static const char first[] = "the first line is not an HTTP/1 response";
	static const char *const lines[] = {
		"\r\n\r\n",           "HTTP/1.1\r\n\r\n",         "HTTP/1.1 20\r\n\r\n",
		"HTTP/2 200\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "200 OK OK\r\n\r\n"
	};
	bool held = true;

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		const char *wrong = read_response(lines[i]);

		held = wrong && strcmp(wrong, first) == 0 && held;
	}
	CHECK("another first line is not a response", held);
	CHECK("a status is a number that ends a request",
	      strcmp(read_response("HTTP/1.1 2x0 OK\r\n\r\n"), "the status is not a number") == 0 &&
		      strcmp(read_response("HTTP/1.1 101 X\r\n\r\n"), "unexpected status") == 0 &&
		      strcmp(read_response("HTTP/1.1 099 X\r\n\r\n"), "unexpected status") == 0 &&
		      !read_response("HTTP/1.1 100 X\r\n\r\n"));
	CHECK("a value has no control characters, not even at its start",
	      strcmp(read_response("HTTP/1.1 200 OK\r\na: \x01z\r\n\r\n"),
		     "control character in the head") == 0 &&
		      strcmp(read_response("HTTP/1.1 200 OK\r\na: z\x7f\r\n\r\n"),
			     "control character in the head") == 0 &&
		      !read_response("HTTP/1.1 200 OK\r\na: b\tc\r\n\r\n"));
	CHECK("nor has the first line", strcmp(read_response("HTTP/1.1 200 O\x01\r\n\r\n"),
					       "control character in the first line") == 0);
}

static void check_config(void)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(OWNER_PROTOCOL_CONFIG);
	struct owner_protocol_config config = { .caps = GATEWAY_CAPS_DEFAULT,
						.token = "0123456789abcdef0123456789abcdef",
						.uid = 7 };
	struct owner_protocol_config again;
	struct list rules = { 0 };
	struct model_access access = { 0 };
	struct keys keys = { .values = { [PROVIDER_ANTHROPIC] = (char *)"sk-0123456789" } };
	struct list models = { 0 };
	struct error err;
	bool torn = true;

	list_add(&rules, "a.com");
	list_add(&rules, "*.b.com:22");
	(void)model_access_upstream_parse("https://api.example:8443/a/v1",
					  &access.upstreams[PROVIDER_ANTHROPIC], &err);
	model_config_write(&access, &keys, 0, &models);
	owner_protocol_config_write(&config, &rules, &models, &bytes);
	CHECK("a configuration is read as it was written",
	      owner_protocol_config_read(bytes.data, bytes.used, &again, &err) == 0 &&
		      again.rule_count == 2 && again.rules[1].below && again.uid == 7 &&
		      again.caps.connections == 1024 && again.models.active &&
		      again.models.providers[0].place.tls &&
		      again.models.providers[0].place.target.port == 8443 &&
		      strcmp(again.models.providers[0].place.prefix, "/a") == 0 &&
		      strcmp(again.models.providers[0].key, "sk-0123456789") == 0);
	owner_protocol_config_release(&again);
	for (size_t i = 0; i < bytes.used; i++)
		torn = torn && owner_protocol_config_read(bytes.data, i, &again, &err) < 0;
	CHECK("a truncated configuration is refused", torn);
	config.caps.connections = 0;
	buffer_release(&bytes);
	owner_protocol_config_write(&config, &rules, &models, &bytes);
	CHECK("a cap out of range is refused and named",
	      owner_protocol_config_read(bytes.data, bytes.used, &again, &err) < 0 &&
		      strstr(err.text, "connections at once"));
	list_release(&rules);
	list_release(&models);
}

static void check_table(void)
{
	AUTO_FREE struct host_table *table = mem_zero(sizeof *table);
	struct rule_target target = { .port = 443 };
	uint32_t active[HOST_TABLE_ROWS + 1] = { 1 };
	struct host_table_row row;
	bool apart = true;

	host_table_init(table);
	for (int i = 0; i < 2 * HOST_TABLE_ROWS; i++) {
		snprintf(target.host, sizeof target.host, "h%d.com", i);
		host_table_find(table, &target, true, active)->refusals++;
	}
	CHECK("refused hosts get half of the table", table->used == HOST_TABLE_REFUSED);
	for (int i = 0; i < 2 * HOST_TABLE_ROWS; i++) {
		snprintf(target.host, sizeof target.host, "a%d.com", i);
		host_table_find(table, &target, false, active)->connections++;
	}
	CHECK("a host with a connection keeps its row, other refused hosts give "
	      "way to reached ones",
	      strcmp(table->rows[0].host, "h0.com") == 0 &&
		      strcmp(table->rows[1].host, "h1.com") != 0 &&
		      table->rows[HOST_TABLE_ROWS].refusals == 2 * HOST_TABLE_ROWS - 1);
	CHECK("hosts that do not fit share the last row",
	      table->used == HOST_TABLE_ROWS && host_table_find(table, &target, false, active) ==
							&table->rows[HOST_TABLE_ROWS]);
	snprintf(target.host, sizeof target.host, "a3.com");
	apart = host_table_find(table, &target, false, active)->connections == 1;
	target.port = 80;
	CHECK("another port gets another row",
	      apart && host_table_find(table, &target, false, active) ==
			       &table->rows[HOST_TABLE_ROWS]);
	CHECK("a table of ours is valid", host_table_sound(table));
	memset(table->rows[0].host, 'x', sizeof table->rows[0].host);
	table->rows[1].host[0] = '\x1b';
	table->rows[1].verdict = 77;
	CHECK("one that was tampered with is not", !host_table_sound(table));
	CHECK("and values read from it are bounded and printable",
	      host_table_read(table, 0, &row) && strlen(row.host) == sizeof row.host - 1 &&
		      host_table_read(table, 1, &row) && row.host[0] == '?' &&
		      row.verdict == HOST_TABLE_NONE);
	table->used = 0xffffffff;
	CHECK("whatever its fields claim", !host_table_read(table, HOST_TABLE_ROWS + 1, &row));
}

static void check_messages(void)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_LISTEN };
	struct owner_protocol_message got;
	int sockets[2];
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) < 0)
		return;
	CHECK("a message arrives with its descriptors",
	      owner_protocol_send(sockets[0], &message, sockets, 2, false) == 0 &&
		      owner_protocol_receive(sockets[1], &got, fds) == 1 &&
		      got.type == OWNER_PROTOCOL_LISTEN && fds[0] >= 0 && fds[1] >= 0);
	close(fds[0]);
	close(fds[1]);
	message.type = 99;
	CHECK("a message of an unknown type is refused",
	      owner_protocol_send(sockets[0], &message, NULL, 0, false) == 0 &&
		      owner_protocol_receive(sockets[1], &got, fds) < 0 && errno == EPROTO);
	CHECK("nothing to receive is reported as such",
	      owner_protocol_receive(sockets[1], &got, fds) < 0 && errno == EAGAIN);
	close(sockets[0]);
	CHECK("the end of the peer is noticed", owner_protocol_receive(sockets[1], &got, fds) == 0);
	close(sockets[1]);
}

/* The legal messages of each state and the next states, as in docs/protocols.md. */
static const struct legal {
	enum owner_protocol_state from;
	uint32_t type;
	enum owner_protocol_state to;
} legal[] = {
	{ OWNER_PROTOCOL_NEW, OWNER_PROTOCOL_START, OWNER_PROTOCOL_STARTING },
	{ OWNER_PROTOCOL_STARTING, OWNER_PROTOCOL_REEL, OWNER_PROTOCOL_STARTING },
	{ OWNER_PROTOCOL_STARTING, OWNER_PROTOCOL_REQUESTS, OWNER_PROTOCOL_STARTING },
	{ OWNER_PROTOCOL_STARTING, OWNER_PROTOCOL_READY, OWNER_PROTOCOL_SERVING },
	{ OWNER_PROTOCOL_STARTING, OWNER_PROTOCOL_FAILED, OWNER_PROTOCOL_OVER },
	{ OWNER_PROTOCOL_SERVING, OWNER_PROTOCOL_LISTEN, OWNER_PROTOCOL_SERVING },
	{ OWNER_PROTOCOL_SERVING, OWNER_PROTOCOL_ANSWER, OWNER_PROTOCOL_SERVING },
	{ OWNER_PROTOCOL_SERVING, OWNER_PROTOCOL_GRANT, OWNER_PROTOCOL_SERVING },
	{ OWNER_PROTOCOL_SERVING, OWNER_PROTOCOL_REFUSED, OWNER_PROTOCOL_SERVING },
	{ OWNER_PROTOCOL_SERVING, OWNER_PROTOCOL_LEASE, OWNER_PROTOCOL_SERVING },
	{ OWNER_PROTOCOL_SERVING, OWNER_PROTOCOL_ROW, OWNER_PROTOCOL_SERVING },
	{ OWNER_PROTOCOL_SERVING, OWNER_PROTOCOL_FAILURE, OWNER_PROTOCOL_SERVING },
	{ OWNER_PROTOCOL_SERVING, OWNER_PROTOCOL_NEWS, OWNER_PROTOCOL_SERVING },
	{ OWNER_PROTOCOL_SERVING, OWNER_PROTOCOL_CLOSE, OWNER_PROTOCOL_CLOSING },
	{ OWNER_PROTOCOL_SERVING, OWNER_PROTOCOL_FAILED, OWNER_PROTOCOL_OVER },
	{ OWNER_PROTOCOL_CLOSING, OWNER_PROTOCOL_GRANT, OWNER_PROTOCOL_CLOSING },
	{ OWNER_PROTOCOL_CLOSING, OWNER_PROTOCOL_REFUSED, OWNER_PROTOCOL_CLOSING },
	{ OWNER_PROTOCOL_CLOSING, OWNER_PROTOCOL_LEASE, OWNER_PROTOCOL_CLOSING },
	{ OWNER_PROTOCOL_CLOSING, OWNER_PROTOCOL_ROW, OWNER_PROTOCOL_CLOSING },
	{ OWNER_PROTOCOL_CLOSING, OWNER_PROTOCOL_FAILURE, OWNER_PROTOCOL_CLOSING },
	{ OWNER_PROTOCOL_CLOSING, OWNER_PROTOCOL_NEWS, OWNER_PROTOCOL_CLOSING },
	{ OWNER_PROTOCOL_CLOSING, OWNER_PROTOCOL_CLOSED, OWNER_PROTOCOL_OVER },
	{ OWNER_PROTOCOL_CLOSING, OWNER_PROTOCOL_FAILED, OWNER_PROTOCOL_OVER },
};

static enum owner_protocol_state leads_to(enum owner_protocol_state from, uint32_t type)
{
	for (size_t i = 0; i < sizeof legal / sizeof *legal; i++)
		if (legal[i].from == from && legal[i].type == type)
			return legal[i].to;
	return 0;
}

/* Sends such a message to this side. Returns true if it is accepted with the right next state,
 * or refused where it is illegal. */
static bool behaves(enum owner_protocol_side receiver, enum owner_protocol_state from,
		    uint32_t type, size_t count)
{
	const struct owner_protocol_message message = { .type = type };
	bool fits = owner_protocol_fits(receiver, type, count);
	enum owner_protocol_state state = from;
	enum owner_protocol_state to = leads_to(from, type);
	struct owner_protocol_message got;
	int sockets[2];
	int fds[2] = { -1, -1 };
	int taken;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return false;
	owner_protocol_send(sockets[0], &message, sockets, count, false);
	taken = owner_protocol_take(sockets[1], receiver, &state, &got, fds);
	for (size_t i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	close(sockets[0]);
	close(sockets[1]);
	return fits && to ? taken == 1 && state == to && got.type == type
			  : taken < 0 && errno == EPROTO && state == from;
}

static void check_protocol(void)
{
	bool hold = true;
	bool one_way = true;

	for (int from = 1; from < OWNER_PROTOCOL_STATES; from++)
		for (uint32_t type = 0; type <= OWNER_PROTOCOL_TYPES; type++)
			for (size_t fds = 0; fds <= 2; fds++)
				hold = hold &&
				       behaves(OWNER_PROTOCOL_OWNER,
					       (enum owner_protocol_state)from, type, fds) &&
				       behaves(OWNER_PROTOCOL_GATEWAY,
					       (enum owner_protocol_state)from, type, fds);
	for (uint32_t type = 0; type <= OWNER_PROTOCOL_TYPES; type++)
		for (size_t fds = 0; fds <= 2; fds++)
			one_way = one_way &&
				  !(owner_protocol_fits(OWNER_PROTOCOL_OWNER, type, fds) &&
				    owner_protocol_fits(OWNER_PROTOCOL_GATEWAY, type, fds));
	CHECK("each message is accepted in its states and refused in all others", hold);
	CHECK("no message is legal in both directions", one_way);
}

static void check_start(void)
{
	struct gateway_options options = { .program = "/nonexistent/gateway",
					   .caps = GATEWAY_CAPS_DEFAULT };
	struct gateway *gateway;
	struct error err;

	CHECK("a missing program is named",
	      gateway_start(&options, &gateway, &err) < 0 &&
		      strstr(err.text, "start '/nonexistent/gateway': No such file"));
	list_add(&options.rules, "*.com");
	CHECK("an invalid rule is reported before anything is started",
	      gateway_start(&options, &gateway, &err) < 0 && strstr(err.text, "'*.com'"));
	list_release(&options.rules);
}

/* --- restarts */

/* Dies this often, each time after this long. Returns how often it was restarted. */
static unsigned int restarted(unsigned int deaths, uint64_t after_ms, uint64_t *ret_last_wait_ms)
{
	struct restarts restarts = { 0 };
	uint64_t now_ms = 1000000;
	unsigned int count = 0;

	*ret_last_wait_ms = 0;
	restarts_started(&restarts, now_ms);
	for (unsigned int i = 0; i < deaths; i++) {
		now_ms += after_ms;
		if (!restarts_died(&restarts, now_ms, ret_last_wait_ms))
			break;
		count++;
		now_ms += *ret_last_wait_ms;
		restarts_started(&restarts, now_ms);
	}
	return count;
}

static void check_restarts(void)
{
	uint64_t wait_ms;

	CHECK("a gateway that dies at every start is given up", restarted(100, 0, &wait_ms) == 10);
	CHECK("so is one that dies soon", restarted(100, 9999, &wait_ms) == 10);
	CHECK("one that works for ten seconds is restarted however often it dies",
	      restarted(1000, 10000, &wait_ms) == 1000 && wait_ms == 0);
	CHECK("the first three restarts do not wait",
	      restarted(3, 0, &wait_ms) == 3 && wait_ms == 0);
	CHECK("the fourth is a second after the third",
	      restarted(4, 0, &wait_ms) == 4 && wait_ms == 1000);
	CHECK("a delay counts from the last start",
	      restarted(4, 300, &wait_ms) == 4 && wait_ms == 700);
}

int main(void)
{
	check_rules();
	check_matches();
	check_addresses();
	check_http();
	check_hello();
	check_socks();
	check_socks_bytes();
	check_responses();
	check_config();
	check_table();
	check_messages();
	check_protocol();
	check_start();
	check_restarts();
	return unit_failures > 0;
}
