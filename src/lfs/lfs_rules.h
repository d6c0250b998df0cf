/*
 * Which files are in Git LFS: the attribute `filter` of a .gitattributes. All other attributes are
 * ignored. Of several lines that match a path, the last decides; of several files, the one in the
 * deepest folder.
 */
#ifndef LFS_LFS_RULES_H
#define LFS_LFS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LFS_RULES_MOST = 20000, LFS_RULES_STEPS = 100000 };

enum lfs_rules_answer { LFS_RULES_SILENT, LFS_RULES_NO, LFS_RULES_YES };

struct lfs_rules;

/*
 * Reads a file. root: the rules of the topmost file, whose macros ([attr]name) can be used, or
 * NULL. The caller frees the rules.
 */
struct lfs_rules *lfs_rules_read(const char *bytes, size_t size, const struct lfs_rules *root);
void lfs_rules_free(struct lfs_rules *rules);

/* Reports whether some path can be in LFS because of these rules. */
bool lfs_rules_matter(const struct lfs_rules *rules);

/* Answers for a path, relative to the folder of the file. Takes at most *steps steps. */
enum lfs_rules_answer lfs_rules_match(const struct lfs_rules *rules, const char *path,
				      uint64_t *steps);

#endif
