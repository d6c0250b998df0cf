/* Requests to ringfence-snapshot. */
#include "snapshot/snapshot_request.h"

#include "util/text/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* All arguments. A key with several rows sets each of them. */
static const struct key {
	const char *name;
	enum { TEXT, FLAG, NUMBER, LIST } type;
	size_t place;
} keys[] = {
#define KEY(name, type, member)                                       \
	{                                                             \
		name, type, offsetof(struct snapshot_request, member) \
	}
	KEY("store", TEXT, store),
	KEY("project", TEXT, look.project),
	KEY("project", TEXT, git.project),
	KEY("project", TEXT, apply.project),
	KEY("project", TEXT, worktree.project),
	KEY("project", TEXT, state.project),
	KEY("loop", TEXT, look.loop),
	KEY("loop", TEXT, git.import.loop),
	KEY("loop", TEXT, worktree.loop),
	KEY("ignored", FLAG, look.ignored),
	KEY("live", FLAG, look.live),
	KEY("kind", TEXT, save.kind),
	KEY("iteration", NUMBER, save.iteration),
	KEY("next", NUMBER, save.next),
	KEY("since", TEXT, save.since),
	KEY("from", TEXT, from),
	KEY("to", TEXT, to),
	KEY("other", TEXT, other),
	KEY("base", TEXT, base),
	KEY("path", TEXT, path),
	KEY("style", TEXT, style),
	KEY("findings", FLAG, findings),
	KEY("action", LIST, actions),
	KEY("pinned", TEXT, pinned),
	KEY("most", NUMBER, most),
	KEY("index", NUMBER, index),
	KEY("pin", LIST, pins.chosen),
	KEY("unpin", LIST, pins.unpinned),
	KEY("check", LIST, checks),
	KEY("draft", TEXT, look.draft),
	KEY("edited", FLAG, edited),
	KEY("only", LIST, differ.paths),
	KEY("color", FLAG, differ.color),
	KEY("terminal", FLAG, differ.terminal),
	KEY("most_bytes", NUMBER, differ.most_bytes),
	KEY("terminal", FLAG, apply.terminal),
	KEY("present", TEXT, gate.present),
	KEY("leave", LIST, gate.leave),
	KEY("pick", LIST, gate.pick),
	KEY("hunks", FLAG, gate.hunks),
	KEY("layers", TEXT, gate.layers),
	KEY("drop", LIST, prune.loops),
	KEY("oldest_ms", NUMBER, prune.oldest_ms),
	KEY("most_bytes", NUMBER, prune.most_bytes),
	KEY("most_bytes", NUMBER, git.import.most_bytes),
	KEY("most_bytes", NUMBER, state.most_bytes),
	KEY("most_files", NUMBER, state.most_files),
	KEY("most_commits", NUMBER, state.most_commits),
	KEY("most_ms", NUMBER, state.most_ms),
	KEY("folder", TEXT, git.import.folder),
	KEY("hidden", LIST, git.hidden),
	KEY("head", TEXT, git.head),
	KEY("folder", TEXT, worktree.folder),
	KEY("branch", TEXT, apply.branch),
	KEY("message", TEXT, apply.message),
	KEY("message", TEXT, worktree.message),
	KEY("log", TEXT, apply.log),
	KEY("tree", TEXT, apply.tree),
	KEY("theirs", TEXT, apply.theirs),
	KEY("remote", TEXT, apply.remote),
	KEY("here", FLAG, apply.here),
	KEY("squash", FLAG, apply.squash),
	KEY("dry", FLAG, apply.dry),
	KEY("force", FLAG, worktree.force),
#undef KEY
};

static void set(struct snapshot_request *request, const struct key *key, const char *value)
{
	void *place = (char *)request + key->place;

	switch (key->type) {
	case TEXT:
		*(const char **)place = value;
		break;
	case FLAG:
		*(bool *)place = strcmp(value, "1") == 0;
		break;
	case NUMBER:
		*(int64_t *)place = strtoll(value, NULL, 10);
		break;
	case LIST:
		list_add(place, value);
		break;
	}
}

int snapshot_request_parse(struct snapshot_request *request, const char *text, struct error *err)
{
	bool known = false;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const char *value = text_after_prefix(text, keys[i].name);

		if (!value || *value != '=')
			continue;
		set(request, &keys[i], value + 1);
		known = true;
	}
	return known ? 0 : error_set(err, "ringfence-snapshot: unknown argument '%s'", text);
}

bool snapshot_request_has(const struct snapshot_request *request, const char *name)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].type == TEXT && strcmp(keys[i].name, name) == 0)
			return *(const char *const *)((const char *)request + keys[i].place);
	return false;
}
