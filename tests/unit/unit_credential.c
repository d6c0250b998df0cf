/* Credentials in files. Secrets are made of pieces here, so that no scanner finds them. */
#include "unit.h"

#include "credential/credential.h"
#include "credential/credential_shape.h"
#include "util/mem.h"

#include <string.h>

/* Random letters of each alphabet, longer than any shape needs. */
#define CAPITALS "QZ7WXM3KP5RVB2TJNHC4LFGYD6SAEIUO"
#define LETTERS  "r8KdP2mXw5TzQ9vLb3NhYc6JgF4sRq7WtUyEoIaSjDkHpGnMxBz1VfC0lOuA8eZ5i2X"
#define HEX      "9f3c1e7ab8402d65f1e89c07b3a4d2568e17f0c94ab35d6278e01f9cba437d65"

static struct credential_finding finding;

/* Scans a text, and remembers the first finding. */
static size_t scan(const char *text)
{
	finding = (struct credential_finding){ .what = "nothing" };
	return credential_scan(text, strlen(text), &finding, 1);
}

/* Returns letters of a shape's alphabet. */
static const char *letters_of(const struct credential_shape *shape)
{
	if (strcmp(shape->letters, "a-f0-9") == 0)
		return HEX;
	return strcmp(shape->letters, "A-Z2-7") == 0 ? CAPITALS : LETTERS;
}

static void check_shape(const struct credential_shape *shape)
{
	size_t most = shape->most ? shape->most : 60;
	AUTO_FREE char *secret = mem_format("%s%s%.*s", shape->prefix,
					    shape->contains ? shape->contains : "",
					    (int)(most < 64 ? most : 64), letters_of(shape));
	AUTO_FREE char *line = mem_format("first\ncall(\"%s\");\n", secret);
	AUTO_FREE char *sentence = mem_format("%s: %s is found in line 2", shape->what,
					      shape->prefix);
	AUTO_FREE char *masked = mem_format("%s: %s is shown without its secret", shape->what,
					    shape->prefix);
	AUTO_FREE char *shorter = mem_format("call(\"%s%.*s\")", shape->prefix,
					     (int)shape->least - 1, letters_of(shape));
	AUTO_FREE char *too_short = mem_format("%s: %s and too few letters are not", shape->what,
					       shape->prefix);

	CHECK(sentence,
	      scan(line) == 1 && finding.line == 2 && strcmp(finding.what, shape->what) == 0);
	CHECK(masked, strncmp(finding.shown, shape->prefix, strlen(shape->prefix)) == 0 &&
			      strcmp(finding.shown + strlen(shape->prefix), "...") == 0);
	CHECK(too_short, scan(shorter) == 0);
}

static void test_shapes(void)
{
	for (const struct credential_shape *shape = credential_shapes; shape->what; shape++)
		check_shape(shape);
	CHECK("a token that is assigned is named by its shape",
	      scan("token = \"gh"
		   "p_r8KdP2mXw5TzQ9vLb3NhYc6JgF4sRq7WtUyE\"") == 1 &&
		      strcmp(finding.what, "GitHub token") == 0);
	CHECK("a token within a word is part of something else", scan("xAK"
								      "IAQZ7WXM3KP5RVB2TJ") == 0);
	CHECK("a longer word is not a token of a fixed length", scan("AK"
								     "IAQZ7WXM3KP5RVB2TJN") == 0);
	CHECK("Amazon's documented example is not a secret",
	      scan("aws_access_key_id = AKIAIOSFODNN7EXAMPLE") == 0);
	CHECK("repeated letters are a placeholder",
	      scan("gh"
		   "p_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa") == 0);
}

#define KEY_HEAD "-----BEGIN RSA PRIVATE KEY-----"

static void test_private_keys(void)
{
	CHECK("a private key is found", scan("x\n" KEY_HEAD "\n" LETTERS "\n") == 1 &&
						finding.line == 2 &&
						strcmp(finding.what, "private key") == 0);
	CHECK("it is shown as its kind", strcmp(finding.shown, "RSA PRIVATE KEY...") == 0);
	CHECK("a private key in a JSON string is found",
	      scan("\"k\": \"" KEY_HEAD "\\n" LETTERS "\\n\"") == 1);
	CHECK("the head of a private key alone is documentation",
	      scan(KEY_HEAD "\n...\n-----END RSA PRIVATE KEY-----\n") == 0);
	CHECK("a certificate is not a secret",
	      scan("-----BEGIN CERTIFICATE-----\n" LETTERS "\n") == 0);
	CHECK("a public key is not a secret",
	      scan("-----BEGIN PUBLIC KEY-----\n" LETTERS "\n") == 0);
}

static const struct {
	const char *text, *shown; /* NULL: not a secret */
} assignments[] = {
	{ "API_KEY=r8KdP2mXw5"
	  "TzQ9vLb3NhYc6J",
	  "API_KEY=..." },
	{ "  \"clientSecret\": \"r8KdP2mXw5"
	  "TzQ9vLb3NhYc6J\",",
	  "clientSecret=..." },
	{ "token := 'r8KdP2mXw5"
	  "TzQ9vLb3NhYc6J'",
	  "token=..." },
	{ ":auth_token => \"r8KdP2mXw5"
	  "TzQ9vLb3NhYc6J\"",
	  "auth_token=..." },
	{ "SIGNING_KEY = \"9f3c1e7ab8402d65"
	  "f1e89c07b3a4d256\"",
	  "SIGNING_KEY=..." },
	{ "db.password: r8KdP2mXw5"
	  "TzQ9vLb3NhYc6J # old",
	  "password=..." },
	{ "API_KEY=short1" },
	{ "API_KEY=${API_KEY_OF_STAGING_2}" },
	{ "API_KEY = os.environ[\"API_KEY_9_STAGING_77\"]" },
	{ "apiKey = config.services.v2.apiKey1.value3" },
	{ "const token = readTokenFromRequest2Header(r)" },
	{ "PUBLIC_KEY=r8KdP2mXw5"
	  "TzQ9vLb3NhYc6J" },
	{ "cache-key: r8KdP2mXw5"
	  "TzQ9vLb3NhYc6J" },
	{ "name=r8KdP2mXw5"
	  "TzQ9vLb3NhYc6J" },
	{ "API_KEY=your8KdP2mXw5"
	  "TzQ9vLb3NhYc6J" },
	{ "sort_key: 550e8400-e29b-41d4-a716-446655440123" },
	{ "primary_key = \"a_long_name_of_a_column_in_a_table_2\"" },
	{ "SSH_KEY=/srv/deploy/.ssh/id_ed25519_2024_x7" },
	{ "if key == \"r8KdP2mXw5"
	  "TzQ9vLb3NhYc6J\" or",
	  NULL },
	{ "postgres://app:Kd8P2mXw5"
	  "TzQ9@db:5432/app",
	  "postgres://..." },
	{ "postgres://user:password@localhost/db" },
	{ "http://localhost:8080/path@v1" },
};

static void test_assignments(void)
{
	for (size_t i = 0; i < sizeof assignments / sizeof *assignments; i++) {
		const char *shown = assignments[i].shown;
		AUTO_FREE char *sentence = mem_format("%s: %.24s", shown ? "a secret" : "harmless",
						      assignments[i].text);

		CHECK(sentence, scan(assignments[i].text) == (shown ? 1 : 0) &&
					(!shown || strcmp(finding.shown, shown) == 0));
	}
}

static void test_limits(void)
{
	static char many[1 << 20];
	static const char line[] = "API_KEY=r8KdP2mXw5"
				   "TzQ9vLb3NhYc6J\n";
	struct credential_finding few[3];

	CHECK("an empty file has no secret", credential_scan("", 0, few, 3) == 0);
	CHECK("a binary file is not read",
	      credential_scan("\0" KEY_HEAD LETTERS, sizeof KEY_HEAD LETTERS, few, 3) == 0);
	for (size_t i = 0; i + sizeof line - 1 <= sizeof many; i += sizeof line - 1)
		memcpy(many + i, line, sizeof line - 1);
	CHECK("no more findings are returned than there is room for",
	      credential_scan(many, 1000, few, 3) == 3 && few[2].line == 3);
	/* Each sign could begin a value that ends with the file. */
	for (size_t i = 0; i < sizeof many; i++)
		many[i] = "key="[i % 4];
	CHECK("a file of signs is scanned in linear time",
	      credential_scan(many, sizeof many, few, 3) == 0);
	CHECK("settings are read before sources", credential_is_likely_name("settings.py") &&
							  credential_is_likely_name("x.tfvars") &&
							  !credential_is_likely_name("parser.c"));
}

int main(void)
{
	test_shapes();
	test_private_keys();
	test_assignments();
	test_limits();
	return unit_failures != 0;
}
