/*
 * A part of a loop: who runs in the fence, and on what terms. An iteration runs the part that
 * loop_state_part() chooses from the state; everything that depends on the agent (its command line,
 * its output, its login, its budget) comes from there.
 */
#ifndef LOOP_STATE_LOOP_PART_H
#define LOOP_STATE_LOOP_PART_H

#include "agent/agent.h"
#include "util/error.h"

#include <jansson.h>
#include <stdbool.h>

/* The texts belong to the JSON they were read from. */
struct loop_part {
	const char *agent;   /* "command" and the like */
	const char *command; /* for sh -c; NULL: there is no such part */
	const struct agent_format *format;
	const char *model; /* NULL: the agent's default */
	const char *login; /* a credential file that is copied into the fence, or NULL */
	const char *name;  /* agent and model, such as codex:gpt-5; or NULL */
	bool review;       /* judges the work: may only read, has its own budget and no session */
};

/* Returns the name of a part, for people. */
const char *loop_part_name(const struct loop_part *part);

/* Reads a part from the configuration of a loop. Returns 0, or -1 with err set. */
int loop_part_read(const json_t *json, struct loop_part *ret_part, struct error *err);

#endif
