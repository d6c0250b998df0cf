/* Finding loops: see client.h. */
#include "loop/client.h"

#include "journal/journal.h"
#include "loop/state/loop_folder.h"
#include "loop/state/loop_index.h"
#include "util/file/path.h"
#include "util/id.h"
#include "util/mem.h"
#include "util/text/word.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The line of a loop in this index: "CREATED_MS PROJECT ORIGIN BATCH NAME". These never change. A
 * loop has a line once it has ended.
 */
#define INDEX ".index"

/* A loop that was read, or whose line is in the index. There may be many, so they are small. */
struct entry {
	const char *id;
	const char *line;         /* or NULL */
	struct client_loop *loop; /* or NULL */
	int64_t created_ms;
};

struct roll {
	char *loops; /* the folder */
	struct loop_index *index;
	struct list ids;
	struct entry *items;
	size_t count;
};

void client_loops_release(struct client_loops *loops)
{
	for (size_t i = 0; i < loops->count; i++)
		client_loop_release(&loops->items[i]);
	free(loops->items);
	*loops = (struct client_loops){ 0 };
}

static void free_loop(struct client_loop *loop)
{
	if (loop)
		client_loop_release(loop);
	free(loop);
}

static void roll_release(struct roll *roll)
{
	for (size_t i = 0; i < roll->count; i++)
		free_loop(roll->items[i].loop);
	free(roll->items);
	list_release(&roll->ids);
	loop_index_free(roll->index);
	free(roll->loops);
	*roll = (struct roll){ 0 };
}

/* Is this the folder of a loop that has not started, or never did? */
static bool is_reserved(const char *folder)
{
	AUTO_FREE char *journal = path_join(folder, "journal.db");
	AUTO_FREE char *lock = path_join(folder, "lock");

	if (access(lock, F_OK) == 0)
		return false;
	return access(journal, F_OK) < 0 || journal_is_blank(journal);
}

/* Reads a loop. Returns NULL if it does not exist or never started; else the caller frees it. */
static struct client_loop *read_loop(const char *loops, const char *id)
{
	struct client_loop *loop = mem_zero(sizeof *loop);

	loop->id = mem_dup(id);
	loop->folder = path_join(loops, id);
	if (!is_reserved(loop->folder)) {
		client_refresh(loop);
		/* In the step `new`, its creation was cut off. */
		if (loop->damaged || loop->state.step != LOOP_STEP_new)
			return loop;
	}
	free_loop(loop);
	return NULL;
}

static bool has_ended(const struct client_loop *loop)
{
	return !loop->alive && !loop->damaged && loop->state.step == LOOP_STEP_finished;
}

/* Returns the line of a loop that was read. The caller frees it. */
static char *line_of(const struct client_loop *loop)
{
	const struct loop_options *options = &loop->state.options;
	AUTO_FREE char *project = word_from(options->project ? options->project : "");
	AUTO_FREE char *origin = word_from(options->origin ? options->origin : "");
	AUTO_FREE char *batch = word_from(options->batch ? options->batch : "");
	AUTO_FREE char *name = word_from(options->name ? options->name : "");

	return mem_format("%lld %s %s %s %s", (long long)loop->state.created_ms, project, origin,
			  batch, name);
}

static bool is_in(const struct client_loop *loop, const char *project)
{
	return loop->state.options.project && strcmp(loop->state.options.project, project) == 0;
}

bool client_is_of(const struct client_loop *loop, const char *project)
{
	const char *origin = loop->state.options.origin;

	return is_in(loop, project) || (origin && strcmp(origin, project) == 0);
}

/* Does a line name this project, which is a word, as its project or, if wanted, as its origin? */
static bool is_line_of(const char *line, const char *project, bool also_origin)
{
	size_t wanted = strlen(project);

	for (int i = 0; i < 3; i++) {
		size_t size;
		const char *word = word_take(&line, &size);

		if (word && (i == 1 || (i == 2 && also_origin)) && size == wanted &&
		    memcmp(word, project, size) == 0)
			return true;
	}
	return false;
}

/* Reads a loop that has no line, and gives it one if it has ended. Returns false if it never
 * started. */
static bool read_entry(struct roll *roll, struct entry *entry)
{
	entry->loop = read_loop(roll->loops, entry->id);
	if (!entry->loop)
		return false;
	entry->created_ms = entry->loop->state.created_ms;
	if (has_ended(entry->loop)) {
		AUTO_FREE char *line = line_of(entry->loop);

		loop_index_set(roll->index, entry->id, line);
	}
	return true;
}

static bool use_line(struct roll *roll, struct entry *entry)
{
	uint64_t created_ms;
	const char *line = loop_index_get(roll->index, entry->id);
	const char *at = line;

	if (!line || word_take_number(&at, &created_ms) < 0)
		return false;
	entry->line = line;
	entry->created_ms = (int64_t)created_ms;
	return true;
}

static int by_age(const void *a, const void *b)
{
	const struct entry *left = a;
	const struct entry *right = b;

	if (left->created_ms != right->created_ms)
		return left->created_ms < right->created_ms ? -1 : 1;
	return strcmp(left->id, right->id);
}

/* The ids begin with the time of creation, so loops in the order of their ids are mostly sorted. */
static void sort_by_age(struct roll *roll)
{
	for (size_t i = 1; i < roll->count; i++) {
		if (by_age(&roll->items[i - 1], &roll->items[i]) > 0) {
			qsort(roll->items, roll->count, sizeof *roll->items, by_age);
			return;
		}
	}
}

/* Calls the roll of all loops, oldest first. */
static int call_roll(const char *state, bool trust_index, struct roll *ret_roll, struct error *err)
{
	struct roll roll = { .loops = loop_folder_loops(state, err) };

	if (!roll.loops)
		return -1;
	roll.index = loop_index_load(roll.loops, INDEX);
	if (!trust_index)
		loop_index_forget(roll.index);
	if (loop_folder_list(roll.loops, &roll.ids, err) < 0) {
		roll_release(&roll);
		return -1;
	}
	roll.items = mem_zero((roll.ids.count + 1) * sizeof *roll.items);
	for (size_t i = 0; i < roll.ids.count; i++) {
		struct entry *entry = &roll.items[roll.count];

		*entry = (struct entry){ .id = roll.ids.items[i] };
		if (use_line(&roll, entry) || read_entry(&roll, entry))
			roll.count++;
	}
	sort_by_age(&roll);
	loop_index_save(roll.index);
	*ret_roll = roll;
	return 0;
}

/* Returns the batch that a loop belongs to, or NULL. The caller frees it. */
static char *batch_of(const struct entry *entry)
{
	const char *at = entry->line;
	size_t size;

	if (!at)
		return entry->loop->state.options.batch ? mem_dup(entry->loop->state.options.batch)
							: NULL;
	for (int i = 0; i < 3; i++)
		word_take(&at, &size);
	return word_take_text(&at);
}

static bool is_folded(const struct entry *entry, const struct client_query *query)
{
	AUTO_FREE char *batch = query->folds ? batch_of(entry) : NULL;

	return batch && *batch && query->folds(query->context, batch);
}

/* `word`: the query's project as a word. */
static bool is_wanted(const struct entry *entry, const struct client_query *query, const char *word)
{
	if ((query->until_ms && entry->created_ms > query->until_ms) || is_folded(entry, query))
		return false;
	if (!query->project)
		return true;
	if (entry->line)
		return is_line_of(entry->line, word, true);
	return !entry->loop->state.options.project || client_is_of(entry->loop, query->project);
}

static bool is_ended(const struct entry *entry)
{
	return entry->line || has_ended(entry->loop);
}

/* Was the loop of an entry removed since the roll was called? */
static bool is_gone(const struct roll *roll, const struct entry *entry)
{
	AUTO_FREE char *folder = path_join(roll->loops, entry->id);

	return access(folder, F_OK) < 0;
}

/* Does a loop that was read agree with its line? */
static bool agrees(const struct client_loop *loop, const char *line)
{
	AUTO_FREE char *wanted = loop->damaged ? NULL : line_of(loop);

	/* A command may hold the lock of a loop that has ended. */
	return wanted && strcmp(wanted, line) == 0 && (loop->alive || has_ended(loop));
}

/* Moves the wanted loops from the roll to the result, the newest first. Returns false if a line of
 * the index is not true. */
static bool take_wanted(struct roll *roll, const struct client_query *query,
			struct client_loops *loops)
{
	AUTO_FREE char *word = word_from(query->project ? query->project : "");

	for (size_t i = roll->count; i-- > 0;) {
		struct entry *entry = &roll->items[i];

		if (!is_wanted(entry, query, word))
			continue;
		if (is_ended(entry) && loops->count + loops->unread >= query->newest) {
			loops->unread++;
			continue;
		}
		if (entry->line)
			entry->loop = read_loop(roll->loops, entry->id);
		if (!entry->loop && is_gone(roll, entry))
			continue;
		if (!entry->loop)
			return false;
		if (entry->line && !agrees(entry->loop, entry->line))
			return false;
		loops->items = mem_extend(loops->items, loops->count, sizeof *loops->items);
		loops->items[loops->count++] = *entry->loop;
		free(entry->loop);
		entry->loop = NULL;
	}
	return true;
}

static void reverse(struct client_loops *loops)
{
	for (size_t i = 0; i < loops->count / 2; i++) {
		struct client_loop other = loops->items[i];

		loops->items[i] = loops->items[loops->count - 1 - i];
		loops->items[loops->count - 1 - i] = other;
	}
}

int client_list(const char *state, const struct client_query *query, struct client_loops *ret_loops,
		struct error *err)
{
	bool trust_index = true;
	bool taken = false;

	*ret_loops = (struct client_loops){ 0 };
	while (!taken) {
		struct roll roll;

		if (call_roll(state, trust_index, &roll, err) < 0)
			return -1;
		taken = take_wanted(&roll, query, ret_loops);
		roll_release(&roll);
		if (!taken)
			client_loops_release(ret_loops);
		trust_index = false;
	}
	reverse(ret_loops);
	return 0;
}

static int call_each(struct loop_index *index, const struct roll *roll, const struct entry *entry,
		     client_each_fn *act, void *context, struct error *err)
{
	const char *line = is_ended(entry) ? loop_index_get(index, entry->id) : NULL;
	AUTO_FREE char *new_line = NULL;
	int result = act(context, roll->loops, entry->id, line, &new_line, err);

	if (result == 0 && new_line && is_ended(entry))
		loop_index_set(index, entry->id, new_line);
	return result;
}

int client_each(const char *state, const char *index_name, client_each_fn *act, void *context,
		struct error *err)
{
	AUTO_FREE char *loops = loop_folder_loops(state, err);
	struct loop_index *index;
	struct roll roll;
	int result = -1;

	if (!loops)
		return -1;
	index = loop_index_load(loops, index_name);
	if (call_roll(state, true, &roll, err) == 0) {
		result = 0;
		for (size_t i = 0; i < roll.count && result == 0; i++)
			result = call_each(index, &roll, &roll.items[i], act, context, err);
		roll_release(&roll);
	}
	if (result == 0)
		loop_index_save(index);
	loop_index_free(index);
	return result;
}

/* Returns the name of an entry, which the caller frees, or NULL. */
static char *name_of(const struct entry *entry)
{
	const char *own = entry->loop ? entry->loop->state.options.name : NULL;
	const char *line = entry->line;
	char *name = own ? mem_dup(own) : NULL;

	for (int i = 0; line && i <= 4; i++) {
		free(name);
		name = word_take_text(&line);
	}
	return name;
}

static bool is_named(const struct entry *entry, const char *wanted)
{
	AUTO_FREE char *name = name_of(entry);

	return name && strcmp(name, wanted) == 0;
}

/* The newest entry of the project with this name, or NULL. */
static const struct entry *find_name(const struct roll *roll, const struct client_query *query,
				     const char *name)
{
	AUTO_FREE char *word = word_from(query->project);

	for (size_t i = roll->count; i-- > 0;)
		if (is_named(&roll->items[i], name) && is_wanted(&roll->items[i], query, word))
			return &roll->items[i];
	return NULL;
}

static void add_matches(const struct roll *roll, const struct client_query *query, const char *word,
			struct list *ids)
{
	AUTO_FREE char *project = word_from(query->project ? query->project : "");

	for (size_t i = 0; roll->items && i < roll->count; i++)
		if (id_matches(roll->items[i].id, word) &&
		    is_wanted(&roll->items[i], query, project))
			list_add(ids, roll->items[i].id);
}

int client_match(const char *state, const char *project, const char *word, struct list *ids,
		 struct error *err)
{
	const struct client_query own = { .project = project };
	const struct client_query all = { 0 };
	const struct entry *named = NULL;
	size_t before = ids->count;
	struct roll roll;

	if (call_roll(state, true, &roll, err) < 0)
		return -1;
	if (id_is_name(word))
		named = find_name(&roll, &own, word);
	if (named)
		list_add(ids, named->id);
	else
		add_matches(&roll, &own, word, ids);
	if (ids->count == before)
		add_matches(&roll, &all, word, ids);
	roll_release(&roll);
	return 0;
}

int client_words(const char *state, const char *project, size_t most, struct list *words,
		 struct error *err)
{
	const struct client_query own = { .project = project };
	AUTO_FREE char *word = word_from(project);
	struct roll roll;

	if (call_roll(state, true, &roll, err) < 0)
		return -1;
	for (size_t i = roll.count; i-- > 0 && most > 0;) {
		AUTO_FREE char *name = name_of(&roll.items[i]);

		if (!is_wanted(&roll.items[i], &own, word))
			continue;
		if (name && id_is_name(name) && !list_has(words, name))
			list_add(words, name);
		list_add(words, roll.items[i].id);
		most--;
	}
	roll_release(&roll);
	return 0;
}

/* Finds a loop by its id without reading the others. */
static int find_named(const char *state, const char *id, struct client_loop *ret_loop,
		      struct error *err)
{
	AUTO_FREE char *loops = loop_folder_loops(state, err);
	struct client_loop *loop = NULL;

	if (!loops)
		return -1;
	if (*id && id[0] != '.' && !strchr(id, '/'))
		loop = read_loop(loops, id);
	if (!loop)
		return error_with(err, ERROR_NOT_FOUND,
				  "there is no loop '%.100s' (see: ringfence status --all)", id);
	*ret_loop = *loop;
	free(loop);
	return 0;
}

/* Describes loops whose project is unknown because they cannot be read, or returns NULL. The caller
 * frees. */
static char *describe_unread(const struct client_loops *all)
{
	const struct client_loop *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++) {
		if (!all->items[i].damaged)
			continue;
		first = first ? first : &all->items[i];
		count++;
	}
	return count ? mem_format(" among those that can be read; %zu cannot (first: %s: %s)",
				  count, first->id, first->trouble)
		     : NULL;
}

static int find_newest(const char *state, const char *project, struct client_loop *ret_loop,
		       struct error *err)
{
	const struct client_query query = { .project = project, .newest = 1 };
	AUTO_FREE char *unread = NULL;
	struct client_loops all;
	size_t found = 0;

	if (client_list(state, &query, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.count; i++)
		if (client_is_of(&all.items[i], project))
			found = i + 1;
	if (found) {
		*ret_loop = all.items[found - 1];
		all.items[found - 1] = (struct client_loop){ 0 };
	}
	unread = found ? NULL : describe_unread(&all);
	client_loops_release(&all);
	return found ? 0
		     : error_with(err, ERROR_NOT_FOUND,
				  "there is no loop of the project '%s'%s (see: ringfence status "
				  "--all)",
				  project, unread ? unread : "");
}

int client_find(const char *state, const char *id, const char *project,
		struct client_loop *ret_loop, struct error *err)
{
	return id ? find_named(state, id, ret_loop, err)
		  : find_newest(state, project, ret_loop, err);
}

/* Is this the id of a running loop that writes to this project? */
static bool is_running(const char *loops, const char *id, const char *project)
{
	AUTO_FREE char *folder = path_join(loops, id);
	bool process = loop_folder_is_locked(folder) || loop_folder_is_kept(folder);
	struct client_loop *loop = process ? read_loop(loops, id) : NULL;
	bool running = loop && loop->alive && is_in(loop, project) && !loop->state.options.draft;

	free_loop(loop);
	return running;
}

/* An index only tells which loops are of other projects, which never changes; whether a loop is
 * running, its lock and that of its keeper tell. */
char *client_running(const char *state, const char *project)
{
	struct error ignored;
	AUTO_FREE char *loops = loop_folder_loops(state, &ignored);
	AUTO_FREE char *word = word_from(project);
	struct list ids = { 0 };
	struct loop_index *index;
	char *found = NULL;

	if (!loops || loop_folder_list(loops, &ids, &ignored) < 0)
		return NULL;
	index = loop_index_load(loops, INDEX);
	for (size_t i = 0; i < ids.count && !found; i++) {
		const char *line = loop_index_get(index, ids.items[i]);

		if ((!line || is_line_of(line, word, false)) &&
		    is_running(loops, ids.items[i], project))
			found = mem_dup(ids.items[i]);
	}
	loop_index_free(index);
	list_release(&ids);
	return found;
}
