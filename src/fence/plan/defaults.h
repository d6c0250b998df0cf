/* What Ringfence protects without being asked: names, places and patterns, as tables. */
#ifndef FENCE_PLAN_DEFAULTS_H
#define FENCE_PLAN_DEFAULTS_H

#include <stdbool.h>
#include <stddef.h>

/* Why a name is special; NULL where it is not. A name can be both. */
struct defaults_name {
	const char
		*executed; /* the host runs it, or reads it as configuration, without being asked */
	const char *secret; /* keys and credentials */
};

/* Judges the name of an entry anywhere in the project, in any case of letters. */
struct defaults_name defaults_name(const char *name, bool is_dir);

/* Does this text hold certificates and no private key? (start: what a .pem file begins with; it may
 * be cut.) */
bool defaults_public_certificates(const char *text, size_t size);

/* Places below the home folder, without leading slash; NULL ends a list. */
extern const char *const defaults_home_secrets[];
extern const char *const defaults_home_executed[];
extern const char *const defaults_home_toolchains[];

/* Places of the system that are never writable, nor anything below or above them. */
extern const char *const defaults_unwritable[];

/* Places of the system that are shown, read-only; NULL ends the list. /etc is not among them: see below. */
extern const char *const defaults_shown[];

/* Is it in one of them, or in /etc? */
bool defaults_is_system(const char *path);

/* Devices that are in the fence. */
extern const char *const defaults_devices[];

/* Folders that are never a project, nor writable, as a whole: too wide, or shared with others. */
extern const char *const defaults_wide[];

/* What of /etc is visible, as far as everybody may read it. A trailing * is a prefix. */
extern const char *const defaults_etc_files[];
extern const char *const defaults_etc_folders[];

/* Folders of /etc with hundreds of public entries: these are mounted, as full paths. */
extern const char *const defaults_etc_mounts[];

/* Is this path of /etc in the fence? */
bool defaults_etc_shows(const char *path);

/* Variables that pass. A trailing * is a prefix. */
extern const char *const defaults_environment[];

#endif
