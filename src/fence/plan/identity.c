/* The user that runs the command: see identity.h. */
#include "fence/plan/identity.h"

#include "fence/watch/scope.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool identity_is_initial_map(const char *map)
{
	static const unsigned long long wanted[] = { 0, 0, UINT32_MAX };

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		char *end;

		if (strtoull(map, &end, 10) != wanted[i] || end == map)
			return false;
		map = end;
	}
	return *map == '\n';
}

/* uid 0 in a user namespace (a rootless container) has no more rights than a regular user. */
static bool is_real_root(void)
{
	AUTO_BUFFER struct buffer map = BUFFER_INIT(4096);
	AUTO_FD fd = -1;

	if (geteuid() != 0)
		return false;
	fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fd_read_all(fd, &map) < 0)
		return true; /* unreadable: assume the worst */
	return identity_is_initial_map(buffer_text(&map));
}

/* Reads /etc/passwd directly: the name service would load libraries and may use the network. */
static void read_passwd(uid_t uid, char **ret_name, char **ret_home)
{
	FILE *file = fopen("/etc/passwd", "re");

	for (struct passwd *entry; file && (entry = fgetpwent(file));) {
		if (entry->pw_uid == uid) {
			*ret_name = mem_dup(entry->pw_name);
			*ret_home = mem_dup(entry->pw_dir);
			break;
		}
	}
	if (file)
		fclose(file);
}

/* Returns the real path of a home folder, or an empty string if it is not absolute, is missing
 * or is "/". The caller frees it. */
static char *usable_home(const char *text)
{
	char *real = text && text[0] == '/' ? realpath(text, NULL) : NULL;

	if (real && strcmp(real, "/") == 0) {
		free(real);
		real = NULL;
	}
	return real ? real : mem_dup("");
}

static bool usable_name(const char *name)
{
	return name && *name &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
		       strlen(name);
}

/* Becomes the owner of a project, permanently. Returns 0, or -1 with err set. */
static int switch_to(uid_t user, gid_t group, const char *project, struct error *err)
{
	if (setgroups(1, &group) < 0 || setresgid(group, group, group) < 0 ||
	    setresuid(user, user, user) < 0)
		return error_sys(err, "switch to the owner of '%s' (uid %u)", project, user);
	return 0;
}

int identity_assume(const char *project, struct fence_identity *ret_identity,
		    struct scope_broker **ret_broker, struct error *err)
{
	struct fence_identity identity = {
		.uid = geteuid(), .gid = getegid(), .caller = geteuid(), .caller_group = getegid()
	};
	AUTO_FREE char *name = NULL;
	AUTO_FREE char *home = NULL;
	struct scope_broker *broker = NULL;
	struct stat status;

	if (is_real_root()) {
		if (stat(project, &status) < 0)
			return error_sys(err, "stat '%s'", project);
		if (status.st_uid != 0) {
			gid_t group = status.st_gid ? status.st_gid : status.st_uid;

			broker = scope_broker_new();
			if (switch_to(status.st_uid, group, project, err) < 0) {
				scope_broker_free(broker);
				return -1;
			}
			identity = (struct fence_identity){ .uid = status.st_uid,
							    .gid = group,
							    .caller = status.st_uid,
							    .caller_group = group };
			identity.switched = true;
		} else {
			identity.uid = IDENTITY_NOBODY_ELSE;
			identity.gid = IDENTITY_NOBODY_ELSE;
			identity.mapped = true;
		}
	} else if (identity.uid == 0) {
		identity.uid = 1000;
		identity.gid = 1000;
	}
	if (identity.gid == 0)
		identity.gid = identity.uid;
	read_passwd(identity.caller, &name, &home);
	identity.home = usable_home(identity.switched || !env_get("HOME") ? home : env_get("HOME"));
	identity.passwd_home = usable_home(home);
	if (identity.switched) { /* these two still point to root's folders */
		env_set("HOME", identity.home);
		env_set("XDG_STATE_HOME", NULL);
	}
	if (!usable_name(name)) {
		free(name);
		name = usable_name(env_get("USER")) ? mem_dup(env_get("USER")) : mem_dup("user");
	}
	if (identity.mapped) {
		free(name);
		name = mem_dup("ringfence");
	}
	identity.name = name;
	name = NULL;
	*ret_identity = identity;
	*ret_broker = broker;
	return 0;
}

void identity_release(struct fence_identity *identity)
{
	free(identity->name);
	free(identity->home);
	free(identity->passwd_home);
}

int identity_drop(const struct fence_identity *identity, struct error *err)
{
	if (setgroups(0, NULL) < 0 || setresgid(identity->gid, identity->gid, identity->gid) < 0 ||
	    setresuid(identity->uid, identity->uid, identity->uid) < 0)
		return error_sys(err, "switch to uid %u", identity->uid);
	return 0;
}
