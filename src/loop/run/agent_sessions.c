/* The agent's sessions: see agent_sessions.h. */
#include "loop/run/agent_sessions.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/ownership.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOGIN_BYTES = 64 << 10 };

char *agent_sessions_open(const struct supervisor *sup)
{
	const char *sessions = sup->state.options.sessions;
	AUTO_FREE char *place = sessions ? path_join(sessions, path_name(sup->folder)) : NULL;

	if (!place || state_folder_make(place, 0700) < 0)
		return NULL;
	return mem_dup(place);
}

bool agent_sessions_has(const char *keep)
{
	DIR *dir = keep ? opendir(keep) : NULL;
	bool found = false;

	for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
		found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	if (dir)
		closedir(dir);
	return found;
}

void agent_sessions_close(const struct supervisor *sup, const char *keep, const char *iteration)
{
	AUTO_FREE char *target = path_join(iteration, "session");

	if (!keep || sup->state.options.keep_session)
		return;
	if (!agent_sessions_has(keep)) {
		rmdir(keep);
		return;
	}
	/* On another file system it stays, renamed after its iteration. */
	if (rename(keep, target) < 0 && errno == EXDEV) {
		AUTO_FREE char *aside = mem_format("%s.%s", keep, path_name(iteration));

		if (rename(keep, aside) < 0)
			fprintf(stderr, "the session of iteration %s remains in '%s'\n",
				path_name(iteration), keep);
	}
}

char *agent_sessions_login(const struct supervisor *sup, bool *ret_wanted, struct error *err)
{
	const char *path = loop_state_part(&sup->state)->login;
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(LOGIN_BYTES);
	AUTO_FD fd = path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;

	*ret_wanted = path != NULL;
	if (!path)
		return NULL;
	if (fd < 0 || fd_read_all(fd, &bytes) < 0) {
		error_sys(err, "read the agent's login in '%s'", path);
		return NULL;
	}
	if (ownership_check(path, geteuid(), err) < 0)
		return NULL; /* a replaced login decides who pays */
	if (!bytes.used || memchr(bytes.data, '\0', bytes.used)) {
		error_set(err, "'%s' is not an agent's login: it is empty or not text", path);
		return NULL;
	}
	return mem_dup(buffer_text(&bytes));
}
