/*
 * Finds keys, tokens and passwords in bytes that nobody vouches for: source files, settings, git
 * objects. A pure function.
 *
 * There are two kinds of rules. A shape is a prefix that a provider gives its tokens, with the
 * characters and the length that follow (the table in credential_shapes.c). An assignment is a
 * name such as API_KEY or client_secret with a value that looks random: long enough, of letters
 * and digits that alternate, with many different ones. Placeholders and documented examples do not
 * count.
 *
 * A finding never contains a byte of the secret: only the prefix of its shape, or the name that it
 * is assigned to.
 */
#ifndef CREDENTIAL_CREDENTIAL_H
#define CREDENTIAL_CREDENTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CREDENTIAL_SHOWN = 48,    /* bytes of a masked secret, including the NUL */
	CREDENTIAL_BINARY = 8192, /* a NUL in this many first bytes makes a file binary */
};

struct credential_finding {
	const char *what;             /* "AWS access key" */
	uint32_t line;                /* from 1 */
	char shown[CREDENTIAL_SHOWN]; /* "AKIA..." or "API_KEY=..."; printable ASCII */
};

/* Scans the contents of a file, at most one finding per line. Binary files have none. Returns the
 * number of findings, at most `most`. */
size_t credential_scan(const char *bytes, size_t size, struct credential_finding *ret_findings,
		       size_t most);

/* Reports whether a file of this name is likely to hold a secret: it is read first. */
bool credential_is_likely_name(const char *name);

#endif
