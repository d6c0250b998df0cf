/* Access to the API of the forge that a remote is on. */
#ifndef OPS_LAND_ACCESS_H
#define OPS_LAND_ACCESS_H

#include "ops/op_land.h"

/*
 * Finds out which forge the remote is on, and reads the token. Sets result->place and, if there is
 * a token or gh is logged in, result->client. *ret_forge is the forge, or NULL if the remote is on
 * none. Returns 0, or -1 with err set.
 *
 * A token from a variable is only for the hosts that it was made for: those whose name tells their
 * forge, or for which the user named one. One from the setting is for any host. taint: what is
 * neither run nor read.
 */
int land_access_open(const struct op_land_request *request, const struct taint *taint,
		     const char *url, struct op_land_result *result,
		     const struct land_forge **ret_forge, struct error *err);

#endif
