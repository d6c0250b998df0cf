/* Which coding agents are installed, told without starting any of them. */
#ifndef DOCTOR_AGENTS_H
#define DOCTOR_AGENTS_H

#include "util/buffer.h"

/* Appends "NAME VERSION, NAME VERSION"; nothing if there are none. */
void agents_describe(struct buffer *out);

#endif
