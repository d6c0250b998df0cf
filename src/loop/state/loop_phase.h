/*
 * A phase of a loop: what its iterations are told, who works, what may be changed, its limits, and
 * what ends it. The phases are fixed when the loop starts; the state (loop_state.h) says which of
 * them is under way. decision/phase.h decides when one is over, and what follows.
 */
#ifndef LOOP_STATE_LOOP_PHASE_H
#define LOOP_STATE_LOOP_PHASE_H

#include "util/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { LOOP_PHASES_MAX = 16, LOOP_PHASE_CONDITIONS_MAX = 8 };

/* The conditions that end a phase. The name is the condition's kind in the journal. */
#define LOOP_PHASE_CONDITIONS(X)                                      \
	X(done)       /* the rules of the loop hold */                \
	X(promise)    /* the agent's last words are this text */      \
	X(file)       /* there is such a file, and it is not empty */ \
	X(check)      /* the command exits 0, and ran something */    \
	X(iterations) /* the phase had this many */

enum loop_phase_kind {
#define LOOP_PHASE_KIND(name) LOOP_PHASE_##name,
	LOOP_PHASE_CONDITIONS(LOOP_PHASE_KIND)
#undef LOOP_PHASE_KIND
		LOOP_PHASE_KINDS
};

struct loop_phase_condition {
	enum loop_phase_kind kind;
	const char *text; /* the promise, the file or the command; else empty */
	uint32_t count;   /* of iterations; else 0 */
};

/* A range of the loop's agents. */
struct loop_phase_team {
	uint32_t first, count;
};

/* The texts belong to the JSON they were read from. */
struct loop_phase {
	const char *name;
	const char *prompt;  /* added to the objective; or NULL */
	const json_t *write; /* the only paths that it may change; NULL: as the loop may */
	struct loop_phase_condition until[LOOP_PHASE_CONDITIONS_MAX];
	uint32_t until_count;
	struct loop_phase_team agents, rungs;
	uint32_t iterations; /* 0: no limit of its own, here and below */
	int64_t cost_nusd;
	int64_t budget_nusd, timeout_ms; /* of an iteration; the loop's apply as well */
	bool skips;                      /* at a limit, the next phase begins */
};

/* Reads a phase without its agents from the configuration of a loop. Returns 0, or -1 with err
 * set. */
int loop_phase_read(const json_t *json, struct loop_phase *ret_phase, struct error *err);

/* Returns the tighter one of two limits; 0: none. */
int64_t loop_phase_tighter(int64_t loop, int64_t phase);

/* Has the phase a condition of this kind? */
bool loop_phase_has(const struct loop_phase *phase, enum loop_phase_kind kind);

/* Returns how many commands end the phase, and the one with this index. */
size_t loop_phase_checks(const struct loop_phase *phase);
const char *loop_phase_check(const struct loop_phase *phase, size_t index);

#endif
