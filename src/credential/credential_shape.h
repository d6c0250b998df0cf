/* The shapes of tokens that providers issue: one table. */
#ifndef CREDENTIAL_CREDENTIAL_SHAPE_H
#define CREDENTIAL_CREDENTIAL_SHAPE_H

#include <stddef.h>

struct credential_shape {
	const char *what;
	const char *prefix;
	const char *letters;  /* the characters that follow; ranges as "A-Z" */
	size_t least, most;   /* of those; `most` 0: any number */
	const char *contains; /* a text that must be among them, or NULL */
};

/* Ends with a NULL `what`. Where one prefix begins another, the longer one comes first. */
extern const struct credential_shape credential_shapes[];

#endif
