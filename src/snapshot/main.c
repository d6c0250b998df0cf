/*
 * ringfence-snapshot: what needs libgit2, as a process of its own.
 *
 *	ringfence-snapshot WORK KEY=VALUE ...
 *
 * It prints what a person asked to see on stdout, and what came of it as one JSON object into descriptor 3.
 * Whoever starts it is snapshot.h.
 */
#include "snapshot/git/work.h"
#include "snapshot/look/save.h"
#include "snapshot/store/pack.h"
#include "snapshot/store/prune.h"
#include "snapshot/undo/differ.h"
#include "snapshot/undo/restore.h"
#include "snapshot/undo/stage.h"
#include "snapshot/userwork.h"
#include "util/fd.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER = 3 };

struct request {
	const char *store, *from, *to, *path, *style;
	struct look_options look;
	struct save_options save;
	struct differ_options differ;
	struct prune_options prune;
	struct userwork user;
	struct gitwork git;
	struct json json;
	struct buffer answer;
};

/* What can be said to it; a key with several rows goes to each of them. */
static const struct key {
	const char *name;
	enum { TEXT, FLAG, NUMBER, LIST } type;
	size_t place;
} keys[] = {
#define KEY(name, type, member)                              \
	{                                                    \
		name, type, offsetof(struct request, member) \
	}
	KEY("store", TEXT, store),
	KEY("project", TEXT, look.project),
	KEY("loop", TEXT, look.loop),
	KEY("ignored", FLAG, look.ignored),
	KEY("live", FLAG, look.live),
	KEY("kind", TEXT, save.kind),
	KEY("iteration", NUMBER, save.iteration),
	KEY("from", TEXT, from),
	KEY("to", TEXT, to),
	KEY("path", TEXT, path),
	KEY("style", TEXT, style),
	KEY("only", LIST, differ.paths),
	KEY("color", FLAG, differ.color),
	KEY("terminal", FLAG, differ.terminal),
	KEY("terminal", FLAG, user.apply.terminal),
	KEY("drop", LIST, prune.loops),
	KEY("oldest_ms", NUMBER, prune.oldest_ms),
	KEY("most_bytes", NUMBER, prune.most_bytes),
	KEY("most_bytes", NUMBER, git.import.most_bytes),
	KEY("folder", TEXT, git.import.folder),
	KEY("folder", TEXT, user.worktree.folder),
	KEY("branch", TEXT, user.apply.branch),
	KEY("message", TEXT, user.apply.message),
	KEY("message", TEXT, user.worktree.message),
	KEY("log", TEXT, user.apply.log),
	KEY("tree", TEXT, user.apply.tree),
	KEY("here", FLAG, user.apply.here),
	KEY("squash", FLAG, user.apply.squash),
	KEY("dry", FLAG, user.apply.dry),
	KEY("force", FLAG, user.worktree.force),
#undef KEY
};

static void set(struct request *request, const struct key *key, const char *value)
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

static int take_argument(struct request *request, const char *text, struct error *err)
{
	bool known = false;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const char *value = text_behind(text, keys[i].name);

		if (!value || *value != '=')
			continue;
		set(request, &keys[i], value + 1);
		known = true;
	}
	return known ? 0 : error_set(err, "ringfence-snapshot does not know '%s'", text);
}

/* ---- answers ---- */

static void tell_checkpoint(struct json *json, const struct checkpoint *checkpoint)
{
	char id[GIT_OID_HEXSZ + 1];

	json_number(json, "number", (uint64_t)checkpoint->number);
	json_text(json, "kind", checkpoint->kind);
	json_number(json, "iteration", (uint64_t)checkpoint->iteration);
	json_number(json, "at_ms", (uint64_t)checkpoint->at_ms);
	json_number(json, "files", checkpoint->files);
	json_number(json, "bytes", checkpoint->bytes);
	json_number(json, "skipped", checkpoint->skipped);
	json_text(json, "commit", git_oid_tostr(id, sizeof id, &checkpoint->commit));
}

static int tell_skipped(void *context, struct node *node, const char *path)
{
	enum { MOST = 100 };
	struct json *json = context;
	static int told;

	if (node->kind != NODE_SKIPPED || told++ >= MOST)
		return 0;
	json_open(json, NULL, '{');
	json_text(json, "path", path);
	json_text(json, "why", node->why);
	json_close(json);
	return 0;
}

/* ---- work ---- */

/* Before anything else: what was cut off is finished. */
static int begin(struct request *request, struct depot *depot, struct error *err)
{
	bool done;

	if (depot_lock(depot, err) < 0 || depot_check_room(depot, err) < 0)
		return -1;
	pack_clean(depot->path);
	if (restore_recover(depot, &request->look, &done, err) < 0)
		return -1;
	if (done)
		json_flag(&request->json, "recovered", true);
	return 0;
}

/* Old and large things go when new ones come. */
static int make_room(struct request *request, struct depot *depot, struct error *err)
{
	struct prune_result done;

	request->prune.present = request->look.loop;
	if (!prune_needed(depot, &request->prune))
		return 0;
	if (prune_store(depot, &request->prune, &done, err) < 0)
		return -1;
	json_number(&request->json, "pruned", done.removed);
	return 0;
}

static int save(struct request *request, struct depot *depot, struct error *err)
{
	struct checkpoint made;
	struct look look = { 0 };
	bool same;
	int result = -1;

	if (begin(request, depot, err) == 0 && look_take(depot, &request->look, &look, err) == 0 &&
	    save_checkpoint(depot, &request->look, &look, &request->save, &made, &same, err) == 0)
		result = 0;
	if (result == 0 && !same)
		result = make_room(request, depot, err);
	if (result == 0) {
		tell_checkpoint(&request->json, &made);
		json_flag(&request->json, "same", same);
		json_number(&request->json, "read_files", look.walk.content.files);
		json_number(&request->json, "read_bytes", look.walk.content.read);
		json_number(&request->json, "torn", look.walk.content.torn);
		json_number(&request->json, "stored_bytes", pack_bytes(look.pack));
		json_open(&request->json, "not_kept", '[');
		node_each(&look.walk.root, tell_skipped, &request->json);
		json_close(&request->json);
		if (look.notice)
			json_text(&request->json, "notice", look.notice);
	}
	look_release(&look);
	return result;
}

static int tell_one(void *context, const struct checkpoint *checkpoint, struct error *err)
{
	struct json *json = context;

	(void)err;
	json_open(json, NULL, '{');
	tell_checkpoint(json, checkpoint);
	json_close(json);
	return 0;
}

static int list(struct request *request, struct depot *depot, struct error *err)
{
	int result;

	json_flag(&request->json, "pending", restore_pending(depot));
	json_open(&request->json, "checkpoints", '[');
	result = depot_each(depot, request->look.loop, tell_one, &request->json, err);
	json_close(&request->json);
	return result;
}

/* One side of a diff: a checkpoint, or the project as it is. */
static int load_side(struct request *request, struct depot *depot, const char *number,
		     struct node *ret_root, struct error *err)
{
	struct checkpoint checkpoint;
	struct look look = { 0 };
	int result = -1;

	if (number)
		return depot_read(depot, request->look.loop, strtoll(number, NULL, 10), &checkpoint,
				  err) < 0
			       ? -1
			       : depot_load(depot, &checkpoint.tree, ret_root, err);
	if (begin(request, depot, err) == 0 && look_take(depot, &request->look, &look, err) == 0 &&
	    look_finish(depot, &look, err) == 0) {
		*ret_root = look.walk.root;
		look.walk.root = (struct node){ 0 };
		result = 0;
	}
	look_release(&look);
	fd_close(&depot->lock); /* whoever reads the answer may take their time */
	return result;
}

static enum differ_style style_of(const char *word)
{
	word = word ? word : "";
	return strcmp(word, "stat") == 0    ? DIFFER_STAT
	       : strcmp(word, "names") == 0 ? DIFFER_NAMES
	       : strcmp(word, "json") == 0  ? DIFFER_JSON
					    : DIFFER_PATCH;
}

static int diff(struct request *request, struct depot *depot, struct error *err)
{
	struct node old = { 0 }, new = { 0 };
	int result = load_side(request, depot, request->to, &new, err);

	request->differ.style = style_of(request->style);
	if (result == 0)
		result = load_side(request, depot, request->from ? request->from : "0", &old, err);
	if (result == 0)
		result = differ_print(depot, &old, &new, &request->differ, stdout, err);
	node_release(&old);
	node_release(&new);
	return result;
}

static int print_part(void *context, const void *bytes, size_t size, uint64_t offset,
		      struct error *err)
{
	const struct request *request = context;

	(void)offset;
	(void)err;
	differ_show(stdout, bytes, size, request->differ.terminal);
	return 0;
}

static void print_entries(const struct node *folder, bool terminal)
{
	for (size_t i = 0; i < folder->count; i++) {
		const struct node *node = &folder->inner[i];

		differ_show(stdout, node->name, strlen(node->name), terminal);
		puts(node->kind == NODE_FOLDER ? "/" : "");
	}
}

/* Pieces of zeros are not stored; here they are needed. */
struct filling {
	const struct request *request;
	uint64_t at;
};

static int fill_to(struct filling *filling, uint64_t offset)
{
	static const char zeros[1 << 16];

	while (filling->at < offset) {
		size_t part = offset - filling->at < sizeof zeros ? (size_t)(offset - filling->at)
								  : sizeof zeros;

		if (fwrite(zeros, 1, part, stdout) != part)
			return -1;
		filling->at += part;
	}
	return 0;
}

static int print_piece(void *context, const void *bytes, size_t size, uint64_t offset,
		       struct error *err)
{
	struct filling *filling = context;

	if (fill_to(filling, offset) < 0)
		return error_sys(err, "write to stdout");
	filling->at += size;
	return print_part((void *)filling->request, bytes, size, offset, err);
}

static int show(struct request *request, struct depot *depot, struct error *err)
{
	struct node root = { 0 };
	struct filling filling = { .request = request };
	struct node *node;
	int result = load_side(request, depot, request->from, &root, err);

	node = result == 0 ? node_at(&root, request->path) : NULL;
	if (result == 0 && (!node || node->kind == NODE_SKIPPED))
		result = error_set(err, "checkpoint %s does not hold '%s'%s%s", request->from,
				   request->path, node ? ": " : "", node ? node->why : "");
	else if (result == 0 && node->kind == NODE_FOLDER)
		print_entries(node, request->differ.terminal);
	else if (result == 0 && node->kind != NODE_FIFO)
		result = stage_read(depot, node, print_piece, &filling, err);
	if (result == 0 && node->chunked && fill_to(&filling, node->size) < 0)
		result = error_sys(err, "write to stdout");
	node_release(&root);
	return result;
}

static int undo(struct request *request, struct depot *depot, struct error *err)
{
	struct restore_result done = { 0 };
	struct checkpoint target, saved;
	struct look look = { 0 };
	bool same;
	int result = -1;

	request->save.kind = "undo";
	if (begin(request, depot, err) == 0 &&
	    depot_read(depot, request->look.loop, strtoll(request->from, NULL, 10), &target, err) ==
		    0 &&
	    look_take(depot, &request->look, &look, err) == 0 &&
	    save_checkpoint(depot, &request->look, &look, &request->save, &saved, &same, err) == 0)
		result = restore_project(depot, &request->look, &look, &target.tree,
					 request->path ? request->path : "", &done, err);
	if (result == 0) {
		json_number(&request->json, "number", (uint64_t)target.number);
		json_number(&request->json, "saved", (uint64_t)saved.number);
		json_number(&request->json, "written", done.written);
		json_number(&request->json, "removed", done.removed);
		json_number(&request->json, "adjusted", done.adjusted);
		json_list(&request->json, "kept", &done.kept);
	}
	list_release(&done.kept);
	look_release(&look);
	return result;
}

static int prune(struct request *request, struct depot *depot, struct error *err)
{
	struct prune_result done;

	if (depot_lock(depot, err) < 0)
		return -1;
	pack_clean(depot->path);
	if (prune_store(depot, &request->prune, &done, err) < 0)
		return -1;
	json_number(&request->json, "removed", done.removed);
	json_number(&request->json, "bytes_before", done.bytes_before);
	json_number(&request->json, "bytes_after", done.bytes_after);
	return 0;
}

static const struct {
	const char *name;
	bool writes; /* to the project */
	int (*run)(struct request *request, struct depot *depot, struct error *err);
} works[] = {
	{ "save", false, save },   { "list", false, list },    { "diff", false, diff },
	{ "show", false, show },   { "rollback", true, undo }, { "restore", true, undo },
	{ "prune", false, prune },
};

/* Is something left of a rollback that was cut off? Then whoever comes next finishes it. */
static bool is_left(const struct request *request)
{
	AUTO_FREE char *note = path_join(request->store, RESTORE_NOTE);
	AUTO_FREE char *stage = path_join(request->look.project, WALK_STAGE);

	return access(note, F_OK) == 0 ||
	       faccessat(AT_FDCWD, stage, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int perform(struct request *request, const char *name, struct error *err)
{
	struct depot depot;
	int result;

	if (userwork_is(name))
		return userwork_run(name, request->look.project, request->look.loop, &request->user,
				    &request->json, err);
	if (gitwork_is(name)) {
		if (!request->git.import.folder)
			return error_set(err, "ringfence-snapshot %s needs a folder", name);
		request->git.project = request->look.project;
		request->git.import.loop = request->look.loop;
		return gitwork_run(name, &request->git, &request->json, err);
	}
	for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
		if (strcmp(works[i].name, name) != 0)
			continue;
		result = depot_open(&depot, request->store,
				    works[i].writes || is_left(request) ? request->look.project
									: NULL,
				    err);
		if (result == 0)
			result = works[i].run(request, &depot, err);
		depot_close(&depot);
		return result;
	}
	return error_set(err, "ringfence-snapshot cannot '%s'", name);
}

static int answer(struct request *request, const struct error *err)
{
	AUTO_BUFFER struct buffer failure = BUFFER_INIT(1 << 16);
	struct json json = JSON_INIT(&failure);

	if (!err) {
		json_close(&request->json);
		return fd_write_all(ANSWER, request->answer.data, request->answer.used);
	}
	json_open(&json, NULL, '{');
	json_text(&json, "error", err->text);
	json_close(&json);
	return fd_write_all(ANSWER, failure.data, failure.used);
}

int main(int argc, char **argv)
{
	struct request request = { .answer = BUFFER_INIT(64 << 20) };
	struct error err;
	int result = 0;

	signal(SIGPIPE, SIG_IGN);
	request.json = JSON_INIT(&request.answer);
	json_open(&request.json, NULL, '{');
	for (int i = 2; i < argc && result == 0; i++)
		result = take_argument(&request, argv[i], &err);
	if (result == 0 &&
	    (argc < 2 || !request.store || !request.look.loop || !request.look.project))
		result = error_set(&err, "ringfence-snapshot is started by ringfence");
	if (result == 0)
		result = perform(&request, argv[1], &err);
	if (fflush(stdout) != 0 && result == 0)
		result = error_sys(&err, "write to stdout");
	if (answer(&request, result < 0 ? &err : NULL) < 0)
		result = -1;
	buffer_release(&request.answer);
	list_release(&request.differ.paths);
	list_release(&request.prune.loops);
	return result < 0;
}
