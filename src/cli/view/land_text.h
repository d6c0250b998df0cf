/* The words of `land`, for people and for programs. */
#ifndef CLI_VIEW_LAND_TEXT_H
#define CLI_VIEW_LAND_TEXT_H

#include "ops/op_land.h"

#include <jansson.h>

/* Names the branch and the request, a line each; the caller frees it. */
char *land_text_result(const struct op_land_result *result);

/* Tells how far CI is, in one line; the caller frees it. */
char *land_text_ci(const struct land_ci *ci);

/* Tells what a dry run would push, and what the request would say; the caller frees it. */
char *land_text_preview(const struct op_land_result *result);

/* The caller owns the objects. */
json_t *land_text_json(const struct op_land_result *result);
json_t *land_text_ci_json(const struct land_ci *ci);

#endif
