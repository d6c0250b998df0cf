/* Tells by the path of a file which language it has, and which part it plays in checking. */
#ifndef DETECT_DETECT_FILE_H
#define DETECT_DETECT_FILE_H

#include <stdbool.h>

enum detect_language {
	DETECT_OTHER,
	DETECT_JAVASCRIPT, /* and TypeScript */
	DETECT_PYTHON,
	DETECT_GO,
	DETECT_RUST,
	DETECT_JAVA, /* and Kotlin */
	DETECT_C,    /* and C++ */
	DETECT_RUBY,
};

struct detect_file {
	enum detect_language language;
	bool test;     /* holds tests, or helps them */
	bool recorded; /* expected results that a tool wrote */
	bool script;   /* a shell script, a Makefile, a CI file: runs checks */
	bool settings; /* of a test runner, linter, compiler or coverage tool, or a manifest */
	bool lockfile; /* pins dependencies */
};

struct detect_file detect_file_of(const char *path);

#endif
