/* The entries that the commands of a draft have made: see draft_own.h. */
#include "draft/draft_own.h"

#include "draft/draft_layer.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { TOP, OVER, DRAFTS };

struct draft_own {
	struct draft_layer_root drafts[DRAFTS];
	int front; /* or -1 */
	int project;
};

/* The entry of a layer at a path. */
enum below { BELOW_NOTHING, BELOW_FILE, BELOW_OTHER };

/* ---- opening ---- */

/* A copy of another draft has no record of its own: the other one knows its files. */
static bool is_known_by_other(const struct draft_view *view, const struct draft_kind *kind)
{
	return view->over && !kind->layered;
}

static int open_drafts(const struct draft_view *view, struct draft_own *own, struct error *err)
{
	const struct draft_kind *kind = draft_kind_of(view->folder, err);

	if (!kind)
		return -1;
	if (!is_known_by_other(view, kind) &&
	    draft_layer_open(view->folder, &own->drafts[TOP], err) < 0)
		return -1;
	if (view->over && draft_layer_open(view->over, &own->drafts[OVER], err) < 0)
		return -1;
	for (size_t i = 0; i < DRAFTS; i++)
		own->drafts[i].privileged = view->root;
	return 0;
}

int draft_own_open(const struct draft_view *view, struct draft_own **ret_own, struct error *err)
{
	struct draft_own *own = mem_zero(sizeof *own);

	own->drafts[TOP].top.folder = own->drafts[OVER].top.folder = own->front = -1;
	own->project = draft_kind_open_folder(view->project, err);
	if (own->project < 0 || open_drafts(view, own, err) < 0 ||
	    (view->front && (own->front = draft_kind_open_folder(view->front, err)) < 0)) {
		draft_own_free(own);
		return -1;
	}
	*ret_own = own;
	return 0;
}

void draft_own_free(struct draft_own *own)
{
	if (!own)
		return;
	for (size_t i = 0; i < DRAFTS; i++)
		draft_layer_release(&own->drafts[i]);
	fd_close(&own->front);
	fd_close(&own->project);
	free(own);
}

/* ---- looking ---- */

static enum below look_below(int folder, const char *path)
{
	AUTO_FD fd = fd_openat2(folder, path, O_PATH | O_NOFOLLOW, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	struct stat status;

	if (fd < 0)
		return errno == ENOENT ? BELOW_NOTHING : BELOW_OTHER;
	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? BELOW_FILE : BELOW_OTHER;
}

/* Judges a path by the layers from this draft on, down to the project. `copied`: a layer above has
 * a copy of the file. */
static bool is_made(const struct draft_own *own, size_t from, const char *path, bool copied);

/* Reports whether the layers below a draft have nothing at a path. */
static bool is_new(const struct draft_own *own, size_t draft, const char *path)
{
	const struct draft_layer_root *over = &own->drafts[OVER];

	if (draft == TOP && own->front >= 0 && look_below(own->front, path) != BELOW_NOTHING)
		return false;
	if (draft == TOP && over->kind &&
	    (!over->kind->layered || look_below(over->top.folder, path) != BELOW_NOTHING))
		return false;
	return look_below(own->project, path) == BELOW_NOTHING;
}

static bool is_made_below(const struct draft_own *own, size_t draft, const char *path, bool copied)
{
	if (draft == TOP && own->front >= 0 && look_below(own->front, path) != BELOW_NOTHING)
		return false;
	return is_made(own, draft + 1, path, copied);
}

static bool is_made(const struct draft_own *own, size_t from, const char *path, bool copied)
{
	if (from == DRAFTS)
		return copied && look_below(own->project, path) == BELOW_FILE;
	if (!own->drafts[from].kind)
		return is_made_below(own, from, path, copied);
	switch (own->drafts[from].kind->maker(&own->drafts[from], path)) {
	case DRAFT_MAKER_COMMAND:
		return true;
	case DRAFT_MAKER_COMMAND_MERGED:
		return is_new(own, from, path);
	case DRAFT_MAKER_COPIED:
		return is_made_below(own, from, path, true);
	case DRAFT_MAKER_BELOW:
		return is_made_below(own, from, path, copied);
	case DRAFT_MAKER_UNKNOWN:
		return false;
	}
	return false;
}

bool draft_own_has(const struct draft_own *own, const char *path)
{
	return is_made(own, TOP, path, false);
}
