/* Remedies: see remedy.h. */
#include "fence/tree/remedy.h"

#include "util/buffer.h"
#include "util/file/fd.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Returns the number in a file below /proc/sys, or -1. */
static long read_sysctl(const char *path)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fd_read_all(fd, &text) < 0 || !text.used)
		return -1;
	return strtol(buffer_text(&text), NULL, 10);
}

int remedy_missing_bwrap(const char *looked_for, struct error *err)
{
	static const struct {
		const char *tool;
		const char *command;
	} managers[] = {
		{ "/usr/bin/apt-get", "apt-get install bubblewrap" },
		{ "/usr/bin/dnf", "dnf install bubblewrap" },
		{ "/usr/bin/zypper", "zypper install bubblewrap" },
		{ "/usr/bin/pacman", "pacman -S bubblewrap" },
		{ "/sbin/apk", "apk add bubblewrap" },
		{ "/usr/bin/nix-env", "nix-env -iA nixpkgs.bubblewrap" },
	};

	for (size_t i = 0; i < sizeof managers / sizeof *managers; i++)
		if (exists(managers[i].tool))
			return error_set(err,
					 "no fence: bubblewrap (%s) is not installed; run: %s%s",
					 looked_for, geteuid() ? "sudo " : "", managers[i].command);
	return error_set(
		err,
		"no fence: bubblewrap (%s) is not installed; install version 0.8 or newer with "
		"this system's package manager",
		looked_for);
}

int remedy_namespaces(const char *complaint, struct error *err)
{
	const char *remedy = NULL;

	if (read_sysctl("/proc/sys/user/max_user_namespaces") == 0)
		remedy =
			"user namespaces are disabled; run: sudo sysctl -w user.max_user_namespaces=15000 (if this is a "
			"container or a sandbox, run it on the host)";
	else if (read_sysctl("/proc/sys/kernel/unprivileged_userns_clone") == 0)
		remedy = "this kernel lets only root create user namespaces; run: sudo sysctl -w "
			 "kernel.unprivileged_userns_clone=1";
	else if (read_sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
		remedy =
			"AppArmor restricts user namespaces to programs with a profile; install Ringfence's profile "
			"(see packaging/apparmor/ringfence), or run: sudo sysctl -w "
			"kernel.apparmor_restrict_unprivileged_userns=0";
	else if (exists("/.dockerenv") || exists("/run/.containerenv"))
		remedy =
			"this container forbids user namespaces; start it with --security-opt seccomp=unconfined "
			"--security-opt apparmor=unconfined, and with a whole /proc: --security-opt systempaths=unconfined "
			"(Docker) or --security-opt unmask=ALL (Podman); or run Ringfence on the host";
	else
		remedy =
			"user namespaces do not work here; if this is a container or a sandbox, run Ringfence on the host; "
			"to see the cause, run: bwrap --unshare-user --ro-bind / / true";
	return error_set(err,
			 "no fence: %s%s%s; --fence landlock needs no user namespaces, and is "
			 "weaker (ringfence doctor says in what)",
			 complaint, *complaint ? "; " : "", remedy);
}

/* The kernel permits a new /proc only to those who see the whole of an old one. */
int remedy_proc(const char *complaint, struct error *err)
{
	return error_set(
		err,
		"no fence: %s; if parts of /proc are covered or read-only, as in most containers, start the container with "
		"--security-opt systempaths=unconfined (Docker) or --security-opt unmask=ALL (Podman), or run "
		"Ringfence on the host",
		complaint);
}
