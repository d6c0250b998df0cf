/*
 * The baseline of a run: its writable places, and the entries in them that are the user's own. It
 * is written to the run's record (tagged as in wire.h), so that another ringfence can sweep by it,
 * or start beside it.
 */
#ifndef FENCE_AFTER_BASELINE_H
#define FENCE_AFTER_BASELINE_H

#include "fence/fence_plan.h"

/* A folder that the run could write. Another run may move it. */
struct baseline_root {
	const char *path;         /* when the record was written */
	struct fence_inode inode; /* at that time; device numbers may change at a reboot */
	uint64_t device;          /* its device now; at first the same */
	int held;                 /* open on the folder since before the run, or -1 */
	char *now;                /* its path now; NULL until it is found */
	bool gone;                /* deleted */
};

struct baseline_known {
	struct fence_inode inode;
	const char *path;
};

struct baseline_content {
	const char *hash;
	const char *path;
};

struct baseline_link {
	const char *path;
	const char *target; /* empty: nothing to restore */
};

/* A parsed record. Its texts point into the record. */
struct baseline {
	bool foreign; /* written by another version; only the project and the roots are set */
	const char *project;
	struct baseline_root *roots;
	size_t root_count;
	struct baseline_known *known;
	size_t known_count;
	struct baseline_content *contents;
	size_t content_count;
	struct baseline_link *links;
	size_t link_count;
	const char **exempt;
	size_t exempt_count;
	const char **hidden; /* folders hidden by an option or a pattern */
	size_t hidden_count;
	struct fence_inode *secrets; /* sorted */
	size_t secret_count;
	struct fence_seen *seen; /* sorted */
	size_t seen_count;
	struct fence_inode *others; /* sorted; may have been made by a run beside this one */
	size_t other_count;
	struct glob *patterns; /* of entries that are hidden in the project */
	size_t pattern_count;
	uint64_t room; /* how many more entries a fence could hide */
};

/* Returns whether the run can write the folder of a rule. */
bool baseline_is_root(const struct fence_rule *rule);

/* Writes a record. `roots` are descriptors of the folders of the rules that are roots, in their
 * order. */
void baseline_write(const struct fence_plan *plan, const int *roots, struct buffer *record);

/* Parses a record. Returns 0, or -1 with err set. */
int baseline_read(const char *bytes, size_t size, struct baseline *ret_baseline, struct error *err);
void baseline_release(struct baseline *baseline);

/* Reports whether the project or a root overlaps with path. */
bool baseline_overlaps(const struct baseline *baseline, const char *path);

/* Returns the deepest root that the path is below, or NULL. */
struct baseline_root *baseline_root(const struct baseline *baseline, const char *path);

/* Returns whether a folder is this root, by its identity. */
bool baseline_is_same(const struct baseline_root *root, const struct fence_inode *inode);

/* Reports whether an entry, now at this path, is the user's own; true if it has vanished. */
bool baseline_knows(const struct baseline *baseline, const struct baseline_root *root, int folder,
		    const char *name, const char *path);

/* Reports whether the user made a path writable by name, and so accepted what is put there. */
bool baseline_exempts(const struct baseline *baseline, const char *path);

/* Reports whether an entry existed before the run and would be hidden because of its name. */
bool baseline_has_secret(const struct baseline *baseline, const struct baseline_root *root,
			 int folder, const char *name);

/* Reports whether a file that a tool obeys is as it was before the run. */
bool baseline_saw(const struct baseline *baseline, const struct baseline_root *root,
		  const struct fence_seen *seen);

/* Reports whether an entry existed before the run, but may have been made by a run beside it. */
bool baseline_has_other(const struct baseline *baseline, const struct baseline_root *root,
			int folder, const char *name);

/* Report whether the run did not make an entry: it cannot write there, or it knows the entry or a
 * folder above it. A root counts by its identity too, wherever it is now. */
bool baseline_vouches(const struct baseline *baseline, const struct fence_known *known);
bool baseline_vouches_link(const struct baseline *baseline, const struct fence_link *link);

#endif
